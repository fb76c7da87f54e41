// SPDX-License-Identifier: Apache-2.0
//
// stat(2) of /proc/PID gives the effective user, also of zombies and of processes that may not be
// dumped; the files in that folder are root's then. A number without a folder is asked of kill(2),
// because a /proc that is mounted with hidepid= does not show all.
#include "daemon/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "protocol/base/scan.h"

// Commands of make in make in make have about a dozen. A hostile user may have more: each costs a
// read.
#define ANCESTORS_MAX 32

enum process_state process_look(int64_t pid, int64_t *uid) {
    char path[64];
    struct stat status;
    if (pid <= 0) {
        return PROCESS_GONE;
    }
    snprintf(path, sizeof(path), "/proc/%" PRId64, pid);
    if (stat(path, &status) == 0) {
        *uid = (int64_t)status.st_uid;
        return PROCESS_ALIVE;
    }
    return kill((pid_t)pid, 0) < 0 && errno == ESRCH ? PROCESS_GONE : PROCESS_HIDDEN;
}

// Reads the beginning of a file of a process. Returns false when there is nothing.
static bool read_file(int64_t pid, const char *name, char *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t n = read(fd, buffer, size - 1);
    close(fd);
    buffer[n > 0 ? n : 0] = '\0';
    return n > 0;
}

// A field of proc(5)'s stat that is a number. `after_comm` points to the byte after the closing
// parenthesis: field 3 is next. Returns -1 if it is missing.
static int64_t stat_field(const char *after_comm, int wanted) {
    const char *at = after_comm;
    for (int field = 2; field < wanted; field++) {
        at = strchr(at, ' ');
        if (!at) {
            return -1;
        }
        at++;
    }
    struct nvtxt_slice digits = {at, strspn(at, "0123456789")};
    uint64_t value;
    bool good = digits.len > 0 && nvtxt_decimal_value(digits, &value) && value <= INT64_MAX;
    return good ? (int64_t)value : -1;
}

// All of it is in one file, so it is of one process.
bool process_read_stat(int64_t pid, struct process_stat *stat) {
    char text[1024];
    if (!read_file(pid, "stat", text, sizeof(text))) {
        return false;
    }
    const char *open = strchr(text, '(');
    const char *close = strrchr(text, ')');
    if (!open || !close || close <= open) {
        return false;
    }
    stat->parent = stat_field(close + 1, 4);
    stat->start = stat_field(close + 1, 22);
    size_t len = (size_t)(close - open - 1);
    if (len >= sizeof(stat->comm)) {
        len = sizeof(stat->comm) - 1;
    }
    memcpy(stat->comm, open + 1, len);
    stat->comm[len] = '\0';
    return stat->parent >= 0 && stat->start >= 0;
}

bool process_descends(int64_t pid, int64_t ancestor, int64_t start) {
    struct process_stat stat;
    for (int step = 0; step < ANCESTORS_MAX && pid > 1; step++) {
        if (pid == ancestor) {
            return step > 0 && process_read_stat(pid, &stat) && stat.start == start;
        }
        if (!process_read_stat(pid, &stat)) {
            return false;
        }
        pid = stat.parent;
    }
    return false;
}

bool process_is_elsewhere(int64_t pid) {
    char text[4096];
    if (!read_file(pid, "status", text, sizeof(text))) {
        return false;
    }
    // NSpid: its number here, then in each namespace below.
    const char *at = strstr(text, "\nNSpid:\t");
    at = at ? at + sizeof("\nNSpid:\t") - 1 : "";
    return at[strspn(at, "0123456789")] == '\t';
}
