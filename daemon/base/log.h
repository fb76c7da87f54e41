// SPDX-License-Identifier: Apache-2.0
//
// The daemon's log: standard error, one line a fact, a `key=value` tail. Both threads may log, and
// neither ever waits for who reads the log (log_out.h). When standard error is the journal
// (JOURNAL_STREAM is set) a line begins with its priority, as sd-daemon(3) says. Text that came
// from a peer goes through log_escape() first and is never a format.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

// Before the first line; `journal`: lines begin with their priority. At the end, log_close() gives
// what waits a second to be read.
void log_open(bool journal);
void log_close(void);

// For who writes on: see log_out_set_waker() and log_out_retry().
void log_set_waker(void (*on_wait)(void *context), void *context);
bool log_retry(void);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

// A sentence as it is, whatever the level: why there is no daemon.
void log_sentence(const char *format, ...) __attribute__((format(printf, 1, 2)));

// For what a peer can cause at will: a few lines each window, the rest is counted and the count
// stands on the next line that is let through. Zeroed is ready: five lines in ten seconds. One
// thread uses one limit.
struct log_limit {
    uint64_t window_ms; // 0: the usual one
    unsigned most;      // lines in a window; 0: the usual number
    uint64_t window_start_ms;
    unsigned lines;
    uint64_t held_back;
};

void log_limited(struct log_limit *limit, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Makes text safe for a line: control characters, quotes, backslashes and bytes above 0x7E become
// \xNN; cut with "..." when it does not fit. Returns `buffer`.
const char *log_escape(char *buffer, size_t size, struct nvtxt_slice text);
