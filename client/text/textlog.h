// SPDX-License-Identifier: Apache-2.0
//
// Lines of a log, any bytes, to calls of NVTXT: a Marker for each. No I/O and no clock: bytes come
// in with the time at which they were read, lines of NVTXT go out. Rules: nvtxt-send(1), "Text".
//
// Every line that goes out says all there is to say (no variable, no definition), so that one that
// is dropped on the way changes nothing for the others. A line of the log that is too long for one
// line of NVTXT becomes several, in order, all with its time and its level. Memory is bounded by
// that length and one read, also for a log that never ends its line. The lines are for a session
// with escapes and levels.
//
// The time of a line is that of the read which brought its first byte. With a time format it is the
// one that stands in the line, and a line without one has that of the line before it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/text/levels.h"
#include "client/text/timestamp.h"
#include "protocol/base/slice.h"

#define TEXTLOG_READ ((size_t)64 << 10) // bytes of one read, at least
#define TEXTLOG_LINE_LEAST 1024u        // the shortest NVTXT line that it can be held to

struct textlog_options {
    const char *category; // name; NULL: none
    uint32_t color;       // of lines that no level is found in
    struct levels levels;
    struct timestamp stamp;
    bool has_stamp;
};

struct textlog {
    const struct textlog_options *options; // borrowed
    struct timestamp stamp;                // of the options; remembers the zone
    const char *category;
    uint32_t category_id; // 0: none
    uint32_t pid, tid;
    size_t line_max; // bytes of a line of NVTXT, without its LF

    char *data; // owned: what was read, and is not given out
    size_t cap, at, len;
    size_t scanned;   // no LF between at and here
    bool over;        // no more is read: what is left is a line
    int64_t begun_ns; // when the first byte of the line at `at` was read
    int64_t read_ns;  // when the last byte was

    bool inside; // pieces of the line at `at` went out before
    uint32_t line_color;
    int line_level; // NVTXT_LEVEL_NONE: it says none
    int64_t line_ns;
    bool has_line_ns;
    uint64_t lines;     // begun so far
    uint64_t unstamped; // of them: without a time, although there is a format
    uint64_t first_unstamped;

    bool named; // the category's name went out
    char *out;  // owned: the line that goes out
};

// `category` NULL: the options' one. `line_max` is what the daemon takes, TEXTLOG_LINE_LEAST or
// more. Returns 0 or -ENOMEM; in any case it can be deinitialised.
int textlog_init(struct textlog *log, const struct textlog_options *options, const char *category,
                 uint32_t pid, size_t line_max);
void textlog_deinit(struct textlog *log); // zeroed ones are fine

// The daemon takes only so much: TEXTLOG_LINE_LEAST or more. Never raises it.
void textlog_limit(struct textlog *log, size_t line_max);

// Where the next read may go to, TEXTLOG_READ bytes or more; only when textlog_next() has nothing.
char *textlog_space(struct textlog *log, size_t *size);
void textlog_filled(struct textlog *log, size_t n, int64_t now_ns);

// No more will be read: an unfinished last line counts.
void textlog_finish(struct textlog *log);

// The next line of NVTXT, with its LF; good until the next call. False when there is none (yet).
bool textlog_next(struct textlog *log, struct nvtxt_slice *line);
bool textlog_has_next(const struct textlog *log);

// The id that stands for a category of this name, in every session alike: from 0x80000000 on, out
// of the way of numbers that people choose.
uint32_t textlog_category(const char *name);

// A line of NVTXT from elsewhere: "SetCategoryName", or another call with a string as its last
// value or the last but one. Writes `head`, the string, `tail` and LF to `out` (room for `room`
// bytes); cuts what does not fit and says so in it. Returns the length.
size_t textlog_call(char *out, size_t room, const char *head, struct nvtxt_slice string,
                    const char *tail);
