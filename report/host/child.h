// SPDX-License-Identifier: Apache-2.0
//
// The process of a rule: started with limits, watched, and ended with all of its group. It gets one
// end of a socket as descriptor REPORT_CHILD_SOCKET, and what it prints is kept.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/base/buf.h"

#define REPORT_CHILD_SOCKET 3
#define REPORT_CHILD_MEMORY ((size_t)512 << 20) // of its address space
#define REPORT_CHILD_OUTPUT ((size_t)64 * 1024) // bytes of what it prints that are kept
#define REPORT_CHILD_TICK_MS 20                 // how often it is looked at without a pidfd

// Whoever started this program by exec has a few children, if any. With as many as these, what left
// the group of a rule is not ended.
#define REPORT_CHILD_OTHERS 64

struct report_child {
    pid_t pid;  // leads its group; 0: none
    int pidfd;  // -1: there is none
    int socket; // our end; does not block
    int prints; // what stdout and stderr write to; -1: closed
    int64_t deadline_ns;
    struct nvtxt_buf output;
    bool ended;
    int status, signal; // once it ended: its exit status, or the signal that killed it, else 0
    int interrupt_fd;
    // Children that this process had before, of whoever it was before exec; not ours to end.
    pid_t others[REPORT_CHILD_OTHERS];
    size_t other_count; // as many as there is room for: some may be missing
};

// Starts argv[0], which is a path. Returns 0 or -errno. report_child_end() in each case.
int report_child_start(struct report_child *child, const char *const *argv, double timeout_s,
                       int interrupt_fd);

// What there is to do; a set of bits.
enum report_child_event {
    REPORT_CHILD_READ = 1,    // the socket may be read
    REPORT_CHILD_WRITE = 2,   // ... written
    REPORT_CHILD_ENDED = 4,   // the process ended; `status` and `signal` say how
    REPORT_CHILD_LATE = 8,    // its time is over
    REPORT_CHILD_SIGNAL = 16, // a signal came for us
};

// Waits until there is something to do, and reads what the process prints. `reads`, `writes`: what
// the socket is asked for. Returns a set of bits above 0, or -errno.
int report_child_wait(struct report_child *child, bool reads, bool writes);

// Gives it so many milliseconds more, or what is left of its time if that is less.
void report_child_hurry(struct report_child *child, int64_t ms);

// Kills the group and what left it, waits for the process and takes what it had printed; frees all
// but `output`.
void report_child_end(struct report_child *child);
