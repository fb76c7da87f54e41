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

// Every how many calls one fails: each with NVTXT_TEST_LONG, few under valgrind and
// ThreadSanitizer. Under AddressSanitizer, the first of those that fail without it and then each
// third, with NVTXT_TEST_SHORT each ninth; with NVTXT_TEST_LONG all of them.
static inline unsigned fault_stride(unsigned usual, unsigned slow) {
#ifdef __SANITIZE_THREAD__
    return slow;
#elif defined(__SANITIZE_ADDRESS__)
    const unsigned full = usual, some = (getenv("NVTXT_TEST_SHORT") ? 9 : 3) * usual;
#else
    const unsigned full = 1, some = usual;
#endif
    return getenv("NVTXT_TEST_LONG") ? full : getenv("NVTXT_TEST_WRAPPER") ? slow : some;
}

// In memory if possible: thousands of files are made, and no test here is about their syncs.
static inline const char *make_folder(void) {
    static char in_memory[] = "/dev/shm/nvtxt-fault-XXXXXX", on_disk[] = "/tmp/nvtxt-fault-XXXXXX";
    const char *made = mkdtemp(in_memory) ? in_memory : mkdtemp(on_disk);
    must(made != NULL, "a folder");
    return made;
}

static inline void remove_store(const char *path) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char name[160];
        snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        unlink(name);
    }
}
