// SPDX-License-Identifier: Apache-2.0
//
// A whole terminal for as long as a program wants it: the alternate screen, keys one by one. The
// terminal is given back in screen_leave(), and the signals that would end or stop the program
// without it are caught: one object a process. Plain ANSI sequences, as every terminal of today has
// them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "protocol/base/buf.h"

struct screen {
    bool entered;
    bool has_keys; // standard input is a terminal
    struct termios saved;
    size_t rows, columns;
};

enum screen_key { SCREEN_NONE, SCREEN_REDRAW, SCREEN_QUIT, SCREEN_SUSPEND };

// Takes the terminal, or gives it back; each is fine twice.
void screen_enter(struct screen *screen);
void screen_leave(struct screen *screen);

// Gives the terminal back, stops the process as its shell expects, and takes the terminal again.
void screen_suspend(struct screen *screen);

void screen_measure(struct screen *screen); // rows and columns, as they are now

enum screen_key screen_read_key(const struct screen *screen); // standard input is readable

// A signal other than those of signals.h came: SCREEN_SUSPEND, SCREEN_REDRAW (another size), or
// SCREEN_QUIT; each is told once.
enum screen_key screen_signalled(void);

// Puts `lines`, text with LF behind each line, onto the screen: no more than it has rows. Lines
// are printable and fit.
void screen_draw(const struct screen *screen, const struct nvtxt_buf *lines);
