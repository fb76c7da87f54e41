// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP as something that an event loop can wait for. The one piece of
// process-wide state of the clients: a signal handler has nowhere else to write to.
#pragma once

#include <stdbool.h>

// Catches the three signals, SIGHUP unless it is ignored. Ignores SIGPIPE and SIGXFSZ: a write
// returns an error instead. Returns 0 or -errno.
int signals_init(void);

// For programs that lose nothing but a temporary file: after the first signal the program may
// go on for SIGNALS_SOON_MS more, then it ends with that signal's status.
#define SIGNALS_SOON_MS 500 // who presses the key sees the end within a second
void signals_stop_soon(void);

// The file that such an end removes; borrowed. NULL: none.
void signals_remove(const char *path);

int signals_fd(void);    // readable once a signal came; for poll()
int signals_count(void); // signals so far
bool signals_came(void); // whether there was one
int signals_first(void); // the first one's number, 0 before it
