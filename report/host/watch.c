// SPDX-License-Identifier: Apache-2.0
//
// The processes of a rule, all together. Each has its own bound of memory, which says nothing of
// their sum, so that is looked at now and then. What they share counts once: pages are shared among
// the processes that have them. In a sandbox the kernel's memory for names and sockets counts too.
#include "report/host/child.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "report/host/sandbox.h"

#define MOST ((size_t)1024) // processes that are looked at: far above what a rule may have
#define NAME_BYTES 1536     // of an inode of tmpfs and its name, as seen; rounded up
#define SOCKET_BYTES 425984 // twice net.core.wmem_max as it is by default

// Adds the children of a thread. The kernel may be built without this list.
static size_t add_children(const char *pid, const char *thread, pid_t *children, size_t count,
                           size_t most) {
    char path[sizeof("/proc//task//children") + 2 * 256];
    int child;
    snprintf(path, sizeof(path), "/proc/%s/task/%s/children", pid, thread);
    FILE *file = fopen(path, "re");
    while (file && count < most && fscanf(file, "%d", &child) == 1) {
        children[count++] = child;
    }
    if (file) {
        fclose(file);
    }
    return count;
}

size_t report_watch_children(pid_t parent, pid_t *children, size_t most) {
    char pid[16], path[sizeof("/proc//task") + sizeof(pid)];
    size_t count = 0;
    snprintf(pid, sizeof(pid), "%d", (int)parent);
    snprintf(path, sizeof(path), "/proc/%s/task", pid);
    DIR *threads = opendir(path);
    for (const struct dirent *entry; threads && (entry = readdir(threads));) {
        if (entry->d_name[0] != '.') {
            count = add_children(pid, entry->d_name, children, count, most);
        }
    }
    if (threads) {
        closedir(threads);
    }
    return count;
}

pid_t report_watch_orphan(const struct report_child *child, pid_t after) {
    pid_t all[REPORT_CHILD_OTHERS + 1];
    size_t count = report_watch_children(getpid(), all, REPORT_CHILD_OTHERS + 1);
    bool passed = after == 0;
    for (size_t i = 0; i < count && child->other_count < REPORT_CHILD_OTHERS; i++) {
        size_t other = 0;
        while (other < child->other_count && child->others[other] != all[i]) {
            other++;
        }
        if (passed && other == child->other_count) {
            return all[i];
        }
        passed = passed || all[i] == after;
    }
    return 0;
}

// ---- Memory -------------------------------------------------------------------------------------

static size_t resident(pid_t pid) {
    char path[64];
    size_t all, pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%zu %zu", &all, &pages) != 2) {
        pages = 0;
    }
    if (file) {
        fclose(file);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

// Its part of what it shares; all of it where the process does not let itself be looked at.
static size_t proportional(pid_t pid) {
    char line[256];
    size_t kib = SIZE_MAX;
    snprintf(line, sizeof(line), "/proc/%d/smaps_rollup", (int)pid);
    FILE *file = fopen(line, "re");
    while (file && kib == SIZE_MAX && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "Pss: %zu kB", &kib) != 1) {
            kib = SIZE_MAX;
        }
    }
    if (file) {
        fclose(file);
    }
    return kib == SIZE_MAX ? resident(pid) : kib * 1024;
}

static size_t sum_of(size_t (*memory)(pid_t pid), const pid_t *pids, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += memory(pids[i]);
    }
    return sum;
}

// What the kernel keeps for the names in the /tmp of a sandbox. Until that is made, it is the
// host's that is seen there, which has another size.
static size_t of_names(pid_t inside) {
    char path[64];
    struct statvfs status;
    snprintf(path, sizeof(path), "/proc/%d/root/tmp", (int)inside);
    bool is_its_own = statvfs(path, &status) == 0 && status.f_files > status.f_ffree &&
                      status.f_blocks * status.f_frsize == REPORT_SANDBOX_TMP;
    return is_its_own ? (size_t)(status.f_files - status.f_ffree) * NAME_BYTES : 0;
}

static bool has_its_own_network(pid_t inside) {
    char path[64];
    struct stat ours, theirs;
    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)inside);
    return stat(path, &theirs) == 0 && stat("/proc/self/ns/net", &ours) == 0 &&
           ours.st_ino != theirs.st_ino;
}

// What may wait in the sockets of a sandbox.
static size_t of_sockets(pid_t inside) {
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/net/unix", (int)inside);
    FILE *file = has_its_own_network(inside) ? fopen(path, "re") : NULL;
    for (int c; file && (c = getc(file)) != EOF;) {
        count += c == '\n';
    }
    if (file) {
        fclose(file);
    }
    return count * SOCKET_BYTES;
}

// The first process in a sandbox is bubblewrap's own: a rule cannot hide it.
static bool is_too_much(const struct report_child *child, const pid_t *pids, size_t count) {
    size_t kept = 0;
    if (child->confined && count > 1) {
        kept = of_names(pids[1]) + of_sockets(pids[1]);
    }
    return count == MOST || (kept + sum_of(resident, pids, count) > REPORT_CHILD_MEMORY &&
                             kept + sum_of(proportional, pids, count) > REPORT_CHILD_MEMORY);
}

bool report_watch_is_too_much(const struct report_child *child) {
    pid_t pids[MOST];
    size_t count = 1;
    pids[0] = child->pid;
    if (!child->confined) { // what left its parent is a child of ours
        for (pid_t pid = 0; count < MOST && (pid = report_watch_orphan(child, pid)) > 0;) {
            pids[count] = pid;
            count += pid != child->pid;
        }
    }
    for (size_t i = 0; i < count && count < MOST; i++) {
        count += report_watch_children(pids[i], pids + count, MOST - count);
    }
    return is_too_much(child, pids, count);
}

// ---- Number -------------------------------------------------------------------------------------

// Since Linux 5.14 the processes of a user are counted for each user namespace.
static bool counts_apart(void) {
    struct utsname name;
    unsigned major = 0, minor = 0;
    return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

// The threads that a user has.
static unsigned threads_of(uid_t uid) {
    char path[sizeof("/proc//task") + 256];
    unsigned count = 0;
    struct stat stat_;
    DIR *all = opendir("/proc");
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        snprintf(path, sizeof(path), "/proc/%s/task", entry->d_name);
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && stat(path, &stat_) == 0 &&
            stat_.st_uid == uid) {
            count += (unsigned)stat_.st_nlink - 2; // a folder each
        }
    }
    if (all) {
        closedir(all);
    }
    return count;
}

unsigned report_watch_processes(uid_t uid, bool confined) {
    return REPORT_CHILD_PROCESSES + (confined && counts_apart() ? 0 : threads_of(uid));
}
