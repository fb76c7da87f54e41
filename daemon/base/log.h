// SPDX-License-Identifier: Apache-2.0
//
// daemon/base: what all rooms of the daemon use: the log, clocks, totals, notes of losses, the
// number of descriptors. The room owns the log's output and nothing else; the structs belong to
// those who include them. It knows no libuv and no configuration. Any thread may log and read
// clocks; the rest is the loop's.
//
// The log: standard error, one line for a fact, with `key=value` pairs at its end. A thread that
// logs never waits for the reader of the log (log_out.h). When standard error is the journal
// (JOURNAL_STREAM is set) a line begins with its priority, as sd-daemon(3) says. Text from a peer
// goes through log_escape() first and is never a format.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

// To be called before the first line; `journal`: lines begin with their priority. log_close() waits
// up to a second until the waiting lines are read.
void log_open(bool journal);
void log_close(void);

// For the loop, which writes lines that had to wait: log_out_set_waker() and log_out_retry().
void log_set_waker(void (*on_wait)(void *context), void *context);
bool log_retry(void);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

// A sentence without priority, at any level: why the daemon does not start.
void log_sentence(const char *format, ...) __attribute__((format(printf, 1, 2)));

// For lines that a peer can cause as often as it likes: a few are logged in each window, the others
// are counted, and the next line that is logged says how many. Zeroed it is ready for use, with
// five lines in ten seconds. Only one thread may use a limit.
struct log_limit {
    int64_t window_ms; // 0: ten seconds
    unsigned most;     // lines in a window; 0: five
    int64_t window_start_ms;
    unsigned lines;     // logged in this window
    uint64_t held_back; // not logged since the last line
};

void log_limited(struct log_limit *limit, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Makes text safe for a line: control characters, quotes, backslashes and bytes above 0x7E become
// \xNN. A text that does not fit ends in "...". Returns `buffer`.
const char *log_escape(char *buffer, size_t size, struct nvtxt_slice text);
