// SPDX-License-Identifier: Apache-2.0
//
// A control group for the processes of a rule, where one can be made: the kernel itself bounds
// their memory then, with all that it keeps for them. In version 1 it is below the group of this
// program; in version 2, where a group with processes has no groups below that share memory out,
// beside it. Both need the right to do so: root has it, or who got the group from systemd.
//
// Where there is none, what report_watch_is_too_much() sees now and then has to do.
#include "report/host/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"
#define NAME "nvtxt-rule-"
#define ENDS_MS 1000 // for the kernel to take the last process out

// Reads the first bytes of a file of a group. False: there is none.
static bool read_file(const char *folder, const char *name, char *text, size_t size) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, size - 1);
    text[len < 0 ? 0 : len] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return len >= 0;
}

static bool write_file(const char *folder, const char *name, const char *text) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool wrote = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) {
        close(fd);
    }
    return wrote;
}

// Whether a list of words, parted by `between`, has one.
static bool has_word(const char *list, const char *word, char between) {
    size_t len = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += len) {
        bool begins = at == list || at[-1] == between;
        if (begins && (at[len] == '\0' || at[len] == between || at[len] == '\n')) {
            return true;
        }
    }
    return false;
}

// A line of /proc/self/cgroup: NUMBER:CONTROLLERS:PATH. Where a new group would be.
static bool find_parent(char *line, char parent[PATH_MAX]) {
    char controls[256];
    char *path = strchr(line, '/'), *names = strchr(line, ':');
    line[strcspn(line, "\n")] = '\0';
    if (!path || !names || path < names || path[-1] != ':') {
        return false;
    }
    path[-1] = '\0';
    if (has_word(names + 1, "memory", ',')) {
        return snprintf(parent, PATH_MAX, ROOT "/memory%s", path[1] ? path : "") < PATH_MAX;
    }
    if (strncmp(line, "0:", 2) != 0 || !path[1]) {
        return false;
    }
    *strrchr(path, '/') = '\0';
    return snprintf(parent, PATH_MAX, ROOT "%s", path) < PATH_MAX &&
           read_file(parent, "cgroup.subtree_control", controls, sizeof(controls)) &&
           has_word(controls, "memory", ' ');
}

// Removes what killed programs left: a group that has processes stays.
static void sweep(const char *parent) {
    char path[PATH_MAX + 300];
    DIR *dir = opendir(parent);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, NAME, sizeof(NAME) - 1) == 0) {
            snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name);
            (void)rmdir(path);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static bool bound(const char *path, size_t bytes) {
    char text[32];
    snprintf(text, sizeof(text), "%zu", bytes);
    if (write_file(path, "memory.max", text)) { // version 2
        (void)write_file(path, "memory.swap.max", "0");
        (void)write_file(path, "memory.oom.group", "1");
        return true;
    }
    if (write_file(path, "memory.limit_in_bytes", text)) {
        (void)write_file(path, "memory.memsw.limit_in_bytes", text);
        return true;
    }
    return false;
}

static bool make_group(struct report_cgroup *group, const char *parent) {
    static unsigned number;
    char path[PATH_MAX + 64];
    sweep(parent);
    if (snprintf(group->path, sizeof(group->path), "%s/" NAME "%d-%u", parent, (int)getpid(),
                 number++) >= (int)sizeof(group->path) ||
        mkdir(group->path, 0755) != 0) {
        group->path[0] = '\0';
        return false;
    }
    snprintf(path, sizeof(path), "%s/cgroup.procs", group->path);
    group->fd = bound(group->path, REPORT_CHILD_MEMORY + REPORT_GROUP_MORE)
                    ? open(path, O_WRONLY | O_CLOEXEC)
                    : -1;
    return true;
}

void report_cgroup_open(struct report_cgroup *group) {
    char line[PATH_MAX + 256], parent[PATH_MAX];
    bool made = false;
    *group = (struct report_cgroup){.fd = -1};
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !made && fgets(line, sizeof(line), file)) {
        made = find_parent(line, parent) && make_group(group, parent);
    }
    if (file) {
        fclose(file);
    }
    if (made && group->fd < 0) {
        report_cgroup_close(group);
    }
}

bool report_cgroup_ran_out(const struct report_cgroup *group) {
    char text[512];
    const char *at;
    bool known =
        group->path[0] && (read_file(group->path, "memory.events", text, sizeof(text)) ||
                           read_file(group->path, "memory.oom_control", text, sizeof(text)));
    return known && (at = strstr(text, "oom_kill ")) && strtoul(at + 9, NULL, 10) > 0;
}

void report_cgroup_close(struct report_cgroup *group) {
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; group->path[0] && i < ENDS_MS && rmdir(group->path) != 0 && errno == EBUSY;
         i++) {
        nanosleep(&moment, NULL);
    }
    if (group->fd >= 0) {
        close(group->fd);
    }
    *group = (struct report_cgroup){.fd = -1};
}
