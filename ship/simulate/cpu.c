// SPDX-License-Identifier: Apache-2.0
//
// The CPU of a PostgreSQL server of this machine: its first process counts those that have ended,
// and its children are asked one by one.
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "ship/simulate/inner.h"

struct process { // see proc_pid_stat(5)
    int64_t parent;
    int64_t own, children; // ticks
    char name[32];
};

static bool read_process(int64_t pid, struct process *process) {
    char path[64], text[1024];
    int64_t ticks[4];
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    const char *name = strchr(text, '('), *end = strrchr(text, ')'); // the name may be anything
    if (!name || !end ||
        sscanf(end + 1,
               " %*c %" SCNd64 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNd64 " %" SCNd64
               " %" SCNd64 " %" SCNd64,
               &process->parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 5) {
        return false;
    }
    snprintf(process->name, sizeof(process->name), "%.*s", (int)(end - name - 1), name + 1);
    process->own = ticks[0] + ticks[1];
    process->children = ticks[2] + ticks[3];
    return true;
}

void cpu_add_server(struct cpu *cpu, int fd) {
    struct ucred peer = {0};
    socklen_t len = sizeof(peer);
    int r = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
    int64_t pid = r == 0 && peer.pid > 0 ? peer.pid : 0;
    for (size_t i = 0; i < cpu->count; i++) {
        if (cpu->servers[i] == pid) {
            return;
        }
    }
    if (pid == 0 || cpu->count == SERVERS_MAX) {
        cpu->is_unknown = true;
    } else {
        cpu->servers[cpu->count++] = pid;
    }
}

// Ticks of a server, by the id of its first process. False: it has ended, or is no server.
static bool ticks_of(int64_t pid, int64_t *ticks) {
    struct process first;
    DIR *folder = read_process(pid, &first) ? opendir("/proc") : NULL;
    bool is_known = folder && strcmp(first.name, "postgres") == 0; // no pooler
    const struct dirent *entry;
    *ticks = is_known ? first.own + first.children : 0;
    while (is_known && (entry = readdir(folder))) {
        struct process process;
        int64_t number = strtoll(entry->d_name, NULL, 10);
        if (number > 0 && read_process(number, &process) && process.parent == pid) {
            *ticks += process.own;
        }
    }
    if (folder) {
        closedir(folder);
    }
    return is_known;
}

bool cpu_of_engine(const struct cpu *cpu, int64_t *ns) {
    *ns = 0;
    for (size_t i = 0; i < cpu->count; i++) {
        int64_t ticks;
        if (!ticks_of(cpu->servers[i], &ticks)) {
            return false;
        }
        *ns += ticks * (NVTXT_NS_A_SECOND / sysconf(_SC_CLK_TCK));
    }
    return cpu->count > 0 && !cpu->is_unknown;
}

// Not that of getrusage(2), which counts what the process was before its exec, too.
int64_t cpu_peak_kib(void) {
    char text[4096];
    long long kib = 0;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, "VmHWM:");
    return line && sscanf(line, "VmHWM: %lld", &kib) == 1 ? kib : 0;
}
