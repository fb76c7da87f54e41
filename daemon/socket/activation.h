// SPDX-License-Identifier: Apache-2.0
//
// What the service manager and the daemon say to each other: sd_listen_fds(3), sd_notify(3),
// sd_watchdog_enabled(3). The manager hands listening sockets over at the start; the daemon reports
// its state and its progress. What is handed over is checked: it must be a listening Unix stream
// socket with one of the two names, each once.
//
// activation_systemd.c does it with libsystemd, activation_none.c without. The build takes one of
// them, and no other file knows which. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct activation {
    int data, control; // listening descriptors, ours from now on; -1 when not handed over
};

// Takes what was handed over, and clears the variables of the environment that say so. Returns 0,
// or an exit status of sysexits.h with a sentence in `why`.
int activation_take(struct activation *activation, char *why, size_t size);

// sd_notify(3): "READY=1\nSTATUS=...". Does nothing without a manager.
void activation_notify(const char *state);

// How often at least the manager wants a WATCHDOG=1, in milliseconds; 0: never.
uint64_t activation_watchdog_ms(void);

// ---- For activation_*.c and tests ---------------------------------------------------------------

// Takes one descriptor with its name. Returns as activation_take().
int activation_assign(struct activation *activation, int fd, const char *name, char *why,
                      size_t size);

// The path that a socket is bound to ("@..." for an abstract one). Returns 0 or -errno.
int activation_path(int fd, char *path, size_t size);
