// SPDX-License-Identifier: Apache-2.0
//
// client/common: what the client programs share. Words for people (term, diag_print), the command
// line (arguments), input and output files (input, out_file, result_file), and how a program ends
// (outcome, signals). It owns the program's standard error, its signals and its exit status. One
// thread. It knows neither daemon nor store.
//
// Words for people, on stderr: sentences, and on a terminal also colour and one progress line,
// which is wiped before anything else is printed. All output on stderr goes through here, so that
// no message lands inside a progress line. Text of others (file names, a daemon's sentences)
// reaches the terminal as nvtxt_utf8_show() has it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TERM_HEARD 1000 // different lines of a round; more are not shown
struct term_round {
    uint64_t lines[TERM_HEARD]; // hash values of what was said
    size_t count;
    bool has_more; // there were more lines than that
};

struct term {
    const char *program;             // before every sentence; borrowed
    bool is_terminal;                // progress is shown
    bool colour;                     // on a terminal, unless NO_COLOR or TERM=dumb is set
    bool drawn;                      // a progress line is shown
    int64_t drawn_ms;                // when it was drawn
    struct term_round *before, *now; // of term_begin_round(); NULL: none has begun
};

// Also opens /dev/null for those of the descriptors 0 to 2 that are closed.
void term_init(struct term *term, const char *program);

// One sentence with its line end: "program: …", as nvtxt_utf8_show() has it.
void term_say(struct term *term, const char *format, ...) __attribute__((format(printf, 2, 3)));

// For a program that does the same again and again: from now on a line that was said in the round
// before is not said again, and neither in the rounds after it, until one has gone by without it.
// Of the lines of a round the first TERM_HEARD are shown, and then a line that more are not.
// The rounds belong to the caller and live as long as the terminal.
void term_begin_round(struct term *term, struct term_round rounds[2]);

// One line as it is (already printable), without the program's name.
void term_line(struct term *term, const char *line);

// The progress line, cut to the terminal's width. Does nothing elsewhere, and not more often than
// every TERM_PROGRESS_MS.
#define TERM_PROGRESS_MS 100
void term_progress(struct term *term, int64_t now_ms, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void term_wipe(struct term *term); // takes the progress line away

// Columns of the terminal that a descriptor is: $COLUMNS if that is a number, else what the
// terminal says, else 80. 0: it is no terminal.
size_t term_columns(int fd);

// Whether colours are wanted on it: not with NO_COLOR, or TERM=dumb.
bool term_has_colour(int fd);

// Text for stdout, of whatever lines. A terminal gets it as nvtxt_utf8_shown_in_lines() has it,
// others get it as it is. Returns false when it cannot be written.
bool term_print(const char *text, size_t len);

// Copies `text` as nvtxt_utf8_show() has it, cut to `size` with its NUL. `out` is no part of it.
void term_printable(char *out, size_t size, const char *text);

// "1,234,567" into `out`; returns `out`. For numbers that people read.
#define TERM_COUNT_SIZE 27 // 20 digits, 6 commas, NUL
const char *term_count(char out[TERM_COUNT_SIZE], uint64_t value);

// ---- Diagnostics (client/common/diag_print.c) ---------------------------------------------------
//
// One line each as a compiler prints it, in colour on a terminal, and a summary for a file that had
// any. nvtxt-send, nvtxt-check and nvtxt-import print the same.

struct diag_print {
    struct term *term; // borrowed
    const char *name;  // of the file, as given; borrowed
    bool quiet;        // nothing is printed
    FILE *file;        // where the lines go instead of the terminal, without colour; may be NULL
    uint64_t printed;  // diagnostics so far
};

// One diagnostic: `file.nvtxt:12:9: error: undefined variable '$Pid' [undefined-variable]`.
void diag_print_line(struct diag_print *report, uint64_t line, uint32_t column,
                     const char *severity, const char *message, const char *code);

// The summary, when there was any error or warning. It says so when not all were printed.
void diag_print_summary(struct diag_print *report, uint64_t lines, uint64_t events, uint64_t errors,
                        uint64_t warnings);
