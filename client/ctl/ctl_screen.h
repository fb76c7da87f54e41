// SPDX-License-Identifier: Apache-2.0
//
// Takes the whole terminal: the alternate screen, and keys one by one. screen_leave() restores the
// terminal. The signals that would end or stop the program before that are caught, so a process can
// have only one of these. Uses plain ANSI sequences, which every terminal of today knows.
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

// Takes the terminal, or restores it; a second call does nothing.
void screen_enter(struct screen *screen);
void screen_leave(struct screen *screen);

// Restores the terminal, stops the process as its shell expects, and then takes the terminal again.
void screen_suspend(struct screen *screen);

void screen_measure(struct screen *screen); // rows and columns, as they are now

enum screen_key screen_read_key(const struct screen *screen); // standard input is readable

// What the signals that came since the last call ask for, other than those of outcome.h:
// SCREEN_SUSPEND, SCREEN_REDRAW (another size), or SCREEN_QUIT; each is returned once.
enum screen_key screen_signalled(void);

// Shows `lines`, each with an LF at its end, as many as the screen has rows. The caller has made
// them printable and short enough.
void screen_draw(const struct screen *screen, const struct nvtxt_buf *lines);
