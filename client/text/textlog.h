// SPDX-License-Identifier: Apache-2.0
//
// client/text: plain text to calls of NVTXT. It finds the level, the colour and the time of a line,
// quotes its text, and sees whether an input is NVTXT or a log. It runs on the main thread of
// nvtxt-send and owns no descriptor and no clock: sniff.h alone reads the beginning of a file. It
// does not send and it prints nothing.
//
// This module makes a Marker from each line of a log, which may hold any bytes. Bytes come in with
// the time at which they were read; lines of NVTXT go out. Rules: nvtxt-send(1), "Text".
//
// Each line that goes out is complete: it needs no variable and no definition before it. So a line
// that is lost on the way changes nothing for the others. A line of the log that is too long for
// one line of NVTXT becomes several, in order, all with its time and its level. Memory is bounded
// by that length and one read, also for a log that never ends its line. The lines are for a session
// with escapes and levels.
//
// The time of a line is the time of the read that brought its first byte. With a time format it is
// the time in the line itself; a line without one gets the time of the line before it.
#pragma once

#include "client/text/levels.h"
#include "client/text/timestamp.h"

#define TEXTLOG_READ ((size_t)64 << 10) // bytes of one read, at least
#define TEXTLOG_LINE_LEAST 1024u        // the shortest NVTXT line that it can be held to

struct textlog_options {
    const char *category; // name; NULL: none
    uint32_t color;       // of lines without a level
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

    char *data; // owned: what was read and has not gone out
    size_t cap, at, len;
    size_t scanned;   // no LF between at and here
    bool over;        // the input has ended: what is left is a line
    int64_t begun_ns; // when the first byte of the line at `at` was read
    int64_t read_ns;  // when the last byte was

    bool inside; // pieces of the line at `at` have gone out
    uint32_t line_color;
    int line_level; // NVTXT_LEVEL_NONE: the line has none
    int64_t line_ns;
    bool has_line_ns;
    uint64_t lines;     // begun so far
    uint64_t unstamped; // of these: lines without a time, although there is a format
    uint64_t first_unstamped;

    bool named; // the category's name has gone out
    char *out;  // owned: the line that goes out
};

// `category` NULL: the options' one. `line_max` is what the daemon takes, TEXTLOG_LINE_LEAST or
// more. Returns 0 or -ENOMEM; in any case it can be deinitialised.
int textlog_init(struct textlog *log, const struct textlog_options *options, const char *category,
                 uint32_t pid, size_t line_max);
void textlog_deinit(struct textlog *log); // zeroed ones are fine

// Lowers the limit to what the daemon takes, TEXTLOG_LINE_LEAST or more; never raises it.
void textlog_limit(struct textlog *log, size_t line_max);

// Room for the next read, TEXTLOG_READ bytes or more. Call it only when textlog_next() returns
// false.
char *textlog_space(struct textlog *log, size_t *size);
void textlog_filled(struct textlog *log, size_t n, int64_t now_ns);

// The input has ended: a last line without an LF counts.
void textlog_finish(struct textlog *log);

// The next line of NVTXT, with its LF; good until the next call. False when there is none (yet).
bool textlog_next(struct textlog *log, struct nvtxt_slice *line);
bool textlog_has_next(const struct textlog *log);

// The id for a category of this name, the same in every session: 0x80000000 or above, because
// people choose small numbers.
uint32_t textlog_category(const char *name);

// Makes one call of NVTXT with a string near its end, such as "SetCategoryName": writes `head`, the
// quoted string, `tail` and LF to `out`, which has `room` bytes. A string that does not fit is cut,
// and its last characters say so. Returns the length.
size_t textlog_call(char *out, size_t room, const char *head, struct nvtxt_slice string,
                    const char *tail);

// A marker of a session with levels and escapes, without its text.
struct textlog_marker {
    int64_t time_ns;
    uint32_t pid, tid;
    uint32_t category; // 0: none
    uint32_t color;
    int level; // NVTXT_LEVEL_NONE: it has none
};

// Writes it with its LF to `out`, which has room for `line_max` bytes and one more, for as many
// bytes of the text as fit, at least one character. Returns their number and sets `*written`.
size_t textlog_mark(char *out, size_t line_max, const struct textlog_marker *marker,
                    struct nvtxt_slice text, size_t *written);

// ---- Any bytes as a string ----------------------------------------------------------------------

// Writes any bytes as a quoted string of NVTXT, for a session with escapes (nvtxt-protocol(7)).
// Text in UTF-8 arrives unchanged, with all its quotes and backslashes. What the store cannot hold
// as text is spelled out, so that it can be read back exactly:
//
//   a byte that is not UTF-8, or NUL   \xHH, two small hexadecimal digits
//   \x5c, \x00, \x80 to \xff in the text itself   with \x5c for their backslash
//
// Every other backslash stays. printable_decode() is the way back.
#define PRINTABLE_LEAST 64 // room in which any one character fits

// Writes the string with its quotes to `out`, at most `room` bytes (PRINTABLE_LEAST or more), for
// as many bytes of `text` as fit, at least one character of a text that is not empty. No character
// of UTF-8 is cut. The result depends on the first `room` bytes of the text only. Returns the
// number of bytes of `text` that were used and sets `*written`.
size_t printable_encode(char *out, size_t room, struct nvtxt_slice text, size_t *written);

// Writes the bytes that a stored message stands for to `out`, which has room for text.len bytes.
// Returns their number.
size_t printable_decode(char *out, struct nvtxt_slice text);
