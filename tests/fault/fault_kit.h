// SPDX-License-Identifier: Apache-2.0
//
// What the programs of this folder share: conditions that must hold, how many of the faults are
// tried, and the files of a store.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void must(bool condition, const char *what) {
    if (!condition) {
        printf("# %s\n", what);
        exit(1);
    }
}

// Every how many calls one fails: each with NVTXT_TEST_LONG, few under valgrind.
static inline unsigned fault_stride(unsigned usual, unsigned slow) {
    return getenv("NVTXT_TEST_LONG") ? 1 : getenv("NVTXT_TEST_WRAPPER") ? slow : usual;
}

static inline void remove_store(const char *path) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char name[160];
        snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        unlink(name);
    }
}
