// SPDX-License-Identifier: Apache-2.0
//
// A program that records itself, for the tests of the runner: run_client NOTES THREADS COUNT END.
// Each thread T makes COUNT marks "T i" (0: for ever), each 8th with a range "T i" around it, and
// notes in the file NOTES how many calls of its own have returned: a number of 8 bytes a thread.
// END: "return", "_exit", "kill", "open" (killed in a range), "wait" (for the end of stdin),
// "leave" (a child goes on without end), or a program that takes this one's place.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/nvtxt.h"

#define THREADS 64

static _Atomic uint64_t *notes;
static uint64_t count;

static void *record(void *of) {
    uint64_t thread = (uint64_t)(uintptr_t)of;
    const struct timespec pause = {0, 20000};
    for (uint64_t i = 0; count == 0 || i < count; i++) {
        char text[40];
        snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)thread,
                 (unsigned long long)i);
        if (i % 8 == 0) {
            nvtxt_push(text);
        }
        nvtxt_mark(text);
        atomic_store(&notes[thread], i + 1);
        if (i % 8 == 0) {
            nvtxt_pop();
        }
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void map_notes(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, THREADS * 8) != 0) {
        perror(path);
        _exit(1);
    }
    notes = mmap(NULL, THREADS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

// Returns in the parent when the child has recorded something.
static void leave(void) {
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0 || fork() != 0) {
        (void)!read(ends[0], &byte, 1);
        return;
    }
    nvtxt_mark("left");
    (void)!write(ends[1], &byte, 1);
    for (;;) {
        pause();
    }
}

static int end(const char *how, char **argv) {
    char byte;
    if (strcmp(how, "_exit") == 0) {
        _exit(3);
    } else if (strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(how, "open") == 0) {
        nvtxt_push(how);
        raise(SIGKILL);
    } else if (strcmp(how, "wait") == 0) {
        (void)!read(STDIN_FILENO, &byte, 1);
    } else if (strcmp(how, "leave") == 0) {
        leave();
    } else if (*how == '/') {
        execv(how, argv);
    }
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    if (argc < 5 || strtoul(argv[2], NULL, 10) > THREADS) {
        return 2;
    }
    uint64_t number = strtoul(argv[2], NULL, 10);
    map_notes(argv[1]);
    count = strtoull(argv[3], NULL, 10);
    for (uint64_t i = 0; i < number; i++) {
        pthread_create(&threads[i], NULL, record, (void *)(uintptr_t)i);
    }
    for (uint64_t i = 0; i < number; i++) {
        pthread_join(threads[i], NULL);
    }
    return end(argv[4], argv + 4);
}
