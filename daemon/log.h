// SPDX-License-Identifier: Apache-2.0
//
// The daemon's log: standard error, one line a fact, a `key=value` tail. Each line is one write,
// so both threads may log. When standard error is the journal (JOURNAL_STREAM is set) a line
// begins with its priority, as sd-daemon(3) says. Text that came from a peer goes through
// log_escape() first and is never a format.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/slice.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);
void log_set_journal(int journal); // prefix lines with their priority

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

// For what a peer can cause at will: a few lines each window, the rest is counted and the count
// stands on the next line that is let through. Zeroed is ready. One thread uses one limit.
struct log_limit {
    uint64_t window_start_ms;
    unsigned lines;
    uint64_t held_back;
};

void log_limited(struct log_limit *limit, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Makes text safe for a line: control characters, quotes, backslashes and bytes above 0x7E become
// \xNN; cut with "..." when it does not fit. Returns `buffer`.
const char *log_escape(char *buffer, size_t size, struct nvtxt_slice text);
