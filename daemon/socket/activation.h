// SPDX-License-Identifier: Apache-2.0
//
// What the service manager and the daemon tell each other: listening sockets handed over at the
// start, state and progress on the way back. sd_listen_fds(3), sd_notify(3),
// sd_watchdog_enabled(3). What is handed over is checked, not trusted: a listening Unix stream
// socket under one of the two names, each once, and nothing else.
//
// activation_systemd.c does it with libsystemd, activation_none.c without: the build takes one of
// them, and no other file knows which. Loop thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct activation {
    int data, control; // listening descriptors, ours from now on; -1 when not handed over
};

// Takes what was handed over and forgets the environment's word of it. Returns 0, or an exit status
// of sysexits.h with a sentence in `why`.
int activation_take(struct activation *activation, char *why, size_t size);

// sd_notify(3): "READY=1\nSTATUS=..."; without a manager nothing happens.
void activation_notify(const char *state);

// How often at least the manager wants to hear of us, in milliseconds; 0: not at all.
uint64_t activation_watchdog_ms(void);

// ---- For activation_*.c and tests ---------------------------------------------------------------

// One descriptor under its name. Returns as activation_take().
int activation_assign(struct activation *activation, int fd, const char *name, char *why,
                      size_t size);

// The path that a socket is bound to ("@..." for an abstract one). Returns 0 or -errno.
int activation_path(int fd, char *path, size_t size);
