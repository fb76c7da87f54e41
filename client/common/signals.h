// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP as something that an event loop can wait for. The one piece of
// process-wide state of the clients: a signal handler has nowhere else to write to.
#pragma once

// Catches the three signals, SIGHUP unless it is ignored, and ignores SIGPIPE and SIGXFSZ: what
// they are about is a write's error. Returns 0 or -errno.
int stop_init(void);

// For programs that have nothing to lose but a temporary file, which their successors sweep away:
// once a signal came, what still computes ends after STOP_SOON_MS of it, as that signal says.
#define STOP_SOON_MS 700
void stop_soon(void);

int stop_fd(void);     // readable once a signal came; for poll()
int stop_count(void);  // signals so far
int stop_signal(void); // the first one's number, 0 before it
