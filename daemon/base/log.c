// SPDX-License-Identifier: Apache-2.0
//
// A line is formatted on the stack of the thread that logs and then given to the one log_out of the
// process. Level and prefix are atomic, because both threads read them.
#include "daemon/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/clocks.h"
#include "daemon/base/log_out.h"
#include "protocol/base/clock.h"
#include "protocol/base/scan.h"
#include "protocol/base/utf8.h"

#define LINE_BYTES LOG_OUT_LINE_BYTES
#define LAST_MS 1000 // how long the end waits for the reader of the log
#define WINDOW_MS 10000
#define WINDOW_LINES 5

static atomic_int current_level = LOG_LEVEL_INFO;
static atomic_int journal_prefix;

void log_set_level(enum log_level level) {
    atomic_store(&current_level, (int)level);
}
enum log_level log_get_level(void) {
    return (enum log_level)atomic_load(&current_level);
}

// ---- Output -------------------------------------------------------------------------------------

static size_t format_lost(char *line, size_t size, uint64_t lines) {
    int n = snprintf(line, size,
                     "%slog lines are lost: standard error was not read lines=%" PRIu64 "\n",
                     atomic_load(&journal_prefix) ? "<4>" : "", lines);
    return n > 0 ? (size_t)n : 0;
}

static struct log_out out = LOG_OUT_INIT(STDERR_FILENO, format_lost);

void log_open(bool journal) {
    atomic_store(&journal_prefix, journal);
    log_out_open(&out);
}

void log_close(void) {
    log_out_drain(&out, LAST_MS);
    log_out_close(&out);
}

void log_set_waker(void (*on_wait)(void *context), void *context) {
    log_out_set_waker(&out, on_wait, context);
}

bool log_retry(void) {
    return log_out_retry(&out);
}

// ---- Lines --------------------------------------------------------------------------------------

// Returns the length of what fits.
__attribute__((format(printf, 3, 0))) static size_t print(char *text, size_t size,
                                                          const char *format, va_list args) {
    text[0] = '\0';
    int len = vsnprintf(text, size, format, args);
    return len < 0 ? 0 : (size_t)len < size ? (size_t)len : size - 1;
}

// `line` has LINE_BYTES, the first `len` of which are written.
static void write_line(char *line, size_t len, const char *text) {
    len += nvtxt_utf8_show(line + len, LINE_BYTES - len - 1, nvtxt_slice_of(text));
    line[len++] = '\n';
    log_out_write(&out, line, len);
}

__attribute__((format(printf, 3, 0))) static void emit(enum log_level level, uint64_t held_back,
                                                       const char *format, va_list args) {
    static const char priority[] = {'3', '4', '6', '7'}; // syslog's err, warning, info, debug
    char line[LINE_BYTES], text[LINE_BYTES];
    size_t len = 0;
    if (atomic_load(&journal_prefix)) {
        line[len++] = '<';
        line[len++] = priority[level];
        line[len++] = '>';
    }
    int saved = errno;
    size_t text_len = print(text, sizeof(text), format, args);
    if (held_back) {
        snprintf(text + text_len, sizeof(text) - text_len, " held_back=%llu",
                 (unsigned long long)held_back);
    }
    write_line(line, len, text);
    errno = saved;
}

void log_line(enum log_level level, const char *format, ...) {
    if ((int)level > atomic_load(&current_level)) {
        return;
    }
    va_list args;
    va_start(args, format);
    emit(level, 0, format, args);
    va_end(args);
}

void log_sentence(const char *format, ...) {
    char line[LINE_BYTES], text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    print(text, sizeof(text), format, args);
    va_end(args);
    write_line(line, 0, text);
}

void log_limited(struct log_limit *limit, enum log_level level, const char *format, ...) {
    if ((int)level > atomic_load(&current_level)) {
        return;
    }
    int64_t now = nvtxt_monotonic_ns() / 1000000, window = limit->window_ms ?: WINDOW_MS;
    if (limit->lines == 0 || now - limit->window_start_ms >= window) {
        limit->window_start_ms = now;
        limit->lines = 0;
    }
    if (limit->lines >= (limit->most ?: WINDOW_LINES)) {
        limit->held_back++;
        return;
    }
    limit->lines++;
    va_list args;
    va_start(args, format);
    emit(level, limit->held_back, format, args);
    va_end(args);
    limit->held_back = 0;
}

const char *log_escape(char *buffer, size_t size, struct nvtxt_slice text) {
    static const char digits[] = "0123456789abcdef";
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        bool plain = nvtxt_is_printable((char)byte) && byte != '"' && byte != '\\';
        if (len + 4 + 4 > size) { // room for one escape, "..." and the NUL
            for (int dot = 0; dot < 3 && len + 1 < size; dot++) {
                buffer[len++] = '.';
            }
            break;
        }
        if (plain) {
            buffer[len++] = (char)byte;
        } else {
            buffer[len++] = '\\';
            buffer[len++] = 'x';
            buffer[len++] = digits[byte >> 4];
            buffer[len++] = digits[byte & 15];
        }
    }
    if (size > 0) {
        buffer[len] = '\0';
    }
    return buffer;
}
