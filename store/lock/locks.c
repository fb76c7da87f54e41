// SPDX-License-Identifier: Apache-2.0
//
// The child opens, asks and writes its answer to a pipe, nothing else: a child of a process with
// threads may do no more. It passes over the locks of the process that asks.
#include "store/lock/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Bytes of -shm: the write lock, those that recovery needs as well, the marks of readers, and the
// one that everybody locks who has it open. Whoever opens the store first recovers it, and who
// finds its header broken.
#define WRITE_AT 120
#define RECOVERY_AT 121
#define RECOVERY_BYTES 2
#define READERS_AT 124
#define READERS_BYTES 4
#define OPEN_AT 128

#define HEADER_BYTES 48 // the index begins with two copies of it
#define IS_INIT_AT 12

#define MAIN_AT 0x40000000 // of the main file: pending, reserved, shared
#define MAIN_BYTES 512

struct answer {
    bool found, blocks, recovery;
    pid_t pid;
};

// The process that has any of the bytes; 0 when that cannot be seen, -1 when nobody has them.
static pid_t holder_of(int fd, off_t at, off_t bytes, pid_t self) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = bytes};
    if (fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK || lock.l_pid == self) {
        return -1;
    }
    return lock.l_pid > 0 ? lock.l_pid : 0;
}

static struct answer answer_of(pid_t holder, bool blocks) {
    return (struct answer){.found = holder >= 0, .blocks = blocks, .pid = holder};
}

static bool has_header(int fd) {
    unsigned char copies[2][HEADER_BYTES];
    return pread(fd, copies, sizeof(copies), 0) == (ssize_t)sizeof(copies) &&
           copies[0][IS_INIT_AT] == 1 && memcmp(copies[0], copies[1], HEADER_BYTES) == 0;
}

static struct answer look(const char *file, const char *shm, pid_t self) {
    int fd = open(shm, O_RDONLY | O_CLOEXEC);
    struct answer answer = answer_of(holder_of(fd, WRITE_AT, 1, self), true);
    if (!answer.found) {
        bool recovers = holder_of(fd, OPEN_AT, 1, self) < 0 || !has_header(fd);
        answer = answer_of(holder_of(fd, RECOVERY_AT, RECOVERY_BYTES, self), recovers);
        answer.recovery = answer.found && recovers;
    }
    if (!answer.found) {
        answer = answer_of(holder_of(fd, READERS_AT, READERS_BYTES, self), false);
    }
    if (!answer.found) {
        answer = answer_of(holder_of(open(file, O_RDONLY | O_CLOEXEC), MAIN_AT, MAIN_BYTES, self),
                           false);
    }
    return answer;
}

static bool ask_child(const char *file, const char *shm, struct answer *answer) {
    int ends[2];
    pid_t self = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        *answer = look(file, shm, self);
        _exit(write(ends[1], answer, sizeof(*answer)) == (ssize_t)sizeof(*answer) ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got;
    do {
        got = child < 0 ? -1 : read(ends[0], answer, sizeof(*answer));
    } while (got < 0 && child >= 0 && errno == EINTR);
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return got == (ssize_t)sizeof(*answer);
}

static void name_process(struct store_locks *locks) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof(path), "/proc/%" PRId64, locks->pid);
    locks->uid = stat(path, &status) == 0 ? (int64_t)status.st_uid : -1;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/comm", locks->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, locks->name, sizeof(locks->name) - 1);
    if (fd >= 0) {
        close(fd);
    }
    locks->name[got > 0 ? got : 0] = '\0';
    for (char *at = locks->name; *at; at++) { // a process chooses its own name
        *at = *at == '\n' && !at[1] ? '\0' : *at < ' ' || *at > '~' ? '?' : *at;
    }
}

void store_locks_find(const char *file, struct store_locks *locks) {
    char real[PATH_MAX], shm[PATH_MAX + 8];
    struct answer answer = {0};
    *locks = (struct store_locks){.uid = -1};
    if (!realpath(file, real)) {
        return;
    }
    snprintf(shm, sizeof(shm), "%s-shm", real);
    if (!ask_child(real, shm, &answer)) {
        return;
    }
    locks->found = answer.found;
    locks->blocks = answer.found && answer.blocks;
    locks->recovery = locks->blocks && answer.recovery;
    locks->pid = answer.found ? answer.pid : 0;
    if (locks->pid > 0) {
        name_process(locks);
    }
}

void store_locks_say(const struct store_locks *locks, char *text, size_t size) {
    if (!locks->found) {
        snprintf(text, size, "another process");
    } else if (locks->pid == 0) {
        snprintf(text, size, "a process that cannot be seen");
    } else if (locks->uid < 0) {
        snprintf(text, size, "process %" PRId64, locks->pid);
    } else {
        snprintf(text, size, "process %" PRId64 " (%s, uid %" PRId64 ")", locks->pid, locks->name,
                 locks->uid);
    }
}
