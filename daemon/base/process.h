// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says now of a process, by its number: whether there is one, whose it is, who
// started it. A number may be another process's at the next moment. Costs one system call, or one
// read of a file of /proc for each step up in process_descends().
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_COMM_SIZE 64 // the kernel's own limit is 16; threads of user space can do no better

enum process_state {
    PROCESS_GONE,
    PROCESS_ALIVE,  // or a zombie: its number is taken
    PROCESS_HIDDEN, // alive, but /proc does not show whose it is (hidepid=)
};

// `*uid` is the effective user, as SO_PEERCRED has it; set only when it is ALIVE.
enum process_state process_look(int64_t pid, int64_t *uid);

struct process_stat {
    char comm[PROCESS_COMM_SIZE];
    int64_t parent;
    int64_t start; // in clock ticks since boot
};

// All of it is of one process. Returns false when there is none, or its file cannot be read.
bool process_read_stat(int64_t pid, struct process_stat *stat);

// Whether the process was started by `ancestor`, which began at `start`, or by a descendant of it.
// What a parent left behind when it ended is nobody's descendant.
bool process_descends(int64_t pid, int64_t ancestor, int64_t start);

// Whether it lives in a pid namespace of its own: then the numbers that it knows are others than
// ours. False also when it is gone.
bool process_is_elsewhere(int64_t pid);

// ---- The descriptors of this process (daemon/base/descriptors.c) --------------------------------
//
// How many there may be, and what for. To be called before the loop runs.

// Opens /dev/null on those of the descriptors 0 to 2 that are closed. Otherwise the next file or
// socket would get that number, and what is printed would go into it.
void descriptors_occupy(void);

// Raises the limit as far as it goes. Returns 0, or an exit status with a sentence in `why` when it
// is too low to start.
int descriptors_check(char *why, size_t size);

// How many descriptors data connections and followed files may take together.
size_t descriptors_for_connections(void);
