// SPDX-License-Identifier: Apache-2.0
//
// Texts are cut by the columns of their characters, from small tables of Unicode ranges, because a
// terminal's columns are not bytes. Times and sizes go through snprintf() and localtime_r().
#include "client/ctl/ctl_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/common/term.h"
#include "protocol/base/utf8.h"

int64_t format_integer(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

const char *format_text(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ?: "";
}

void format_json(const json_t *value) {
    json_dumpf(value, stdout, JSON_COMPACT | (isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0));
    putchar('\n');
}

// ---- Columns ------------------------------------------------------------------------------------

struct range {
    uint32_t first, last;
};

static bool is_in(const struct range *ranges, size_t count, uint32_t character) {
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

// Columns of a character that is shown, as most terminals have it.
static size_t width_of(uint32_t character) {
    static const struct range none[] = {{0x300, 0x36f}, {0x20d0, 0x20ff}};
    static const struct range wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                        {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                        {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if (character < 0x300) {
        return 1;
    }
    return is_in(none, sizeof(none) / sizeof(none[0]), character)   ? 0
           : is_in(wide, sizeof(wide) / sizeof(wide[0]), character) ? 2
                                                                    : 1;
}

static size_t columns_of(const char *text, size_t len) {
    return len > 0 ? width_of(nvtxt_utf8_point(text, len)) : 1;
}

size_t format_columns(const char *text) {
    size_t columns = 0;
    for (size_t left = strlen(text); left > 0;) {
        size_t len = nvtxt_utf8_sequence(text, left);
        columns += columns_of(text, len);
        len = len ?: 1;
        text += len;
        left -= len;
    }
    return columns;
}

void format_fit(char *out, size_t size, const char *text, size_t columns) {
    size_t used = 0, at = 0;
    term_printable(out, size, text);
    for (size_t left = strlen(out); left > 0;) {
        size_t len = nvtxt_utf8_sequence(out + at, left);
        size_t width = columns_of(out + at, len);
        if (columns > 0 && width > 0 && used + width > columns) {
            break;
        }
        len = len ?: 1;
        used += width;
        at += len;
        left -= len;
    }
    out[at] = '\0';
}

// ---- Numbers ------------------------------------------------------------------------------------

const char *format_moment(char out[static FORMAT_SIZE], int64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
    struct tm tm;
    if (!localtime_r(&seconds, &tm) || strftime(out, FORMAT_SIZE, "%Y-%m-%d %H:%M:%S", &tm) == 0) {
        snprintf(out, FORMAT_SIZE, "----------  --:--:--");
    }
    return out;
}

const char *format_day(char out[static FORMAT_SIZE], int64_t ns) {
    format_moment(out, ns);
    *strchr(out, ' ') = '\0';
    return out;
}

const char *format_clock(char out[static FORMAT_SIZE], int64_t ns) {
    char moment[FORMAT_SIZE];
    int64_t rest = ns % 1000000000 + (ns % 1000000000 < 0 ? 1000000000 : 0);
    const char *clock = strrchr(format_moment(moment, ns), ' ') + 1;
    snprintf(out, FORMAT_SIZE, "%.8s.%03d", clock, (int)(rest / 1000000));
    return out;
}

const char *format_duration(char out[static FORMAT_SIZE], int64_t ns) {
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{86400e9, "d"}, {3600e9, "h"}, {60e9, "min"},
                 {1e9, "s"},     {1e6, "ms"},   {1e3, "us"}};
    double value = (double)ns;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        double amount = value / units[i].ns;
        if (amount >= 1 || amount <= -1) {
            snprintf(out, FORMAT_SIZE, "%.*f%s",
                     amount < 9.995   ? 2
                     : amount < 99.95 ? 1
                                      : 0,
                     amount, units[i].unit);
            return out;
        }
    }
    snprintf(out, FORMAT_SIZE, "%" PRId64 "ns", ns);
    return out;
}

const char *format_bytes(char out[static FORMAT_SIZE], int64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++) {
        value /= 1024;
    }
    snprintf(out, FORMAT_SIZE, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}

static const char *format_counted(char *out, size_t size, int64_t count, const char *what) {
    char text[TERM_COUNT_SIZE];
    snprintf(out, size, "%s %s%s", term_count(text, (uint64_t)count), what, count == 1 ? "" : "s");
    return out;
}

bool format_removed(char *out, size_t size, const json_t *removed) {
    char segments[64], events[64], bytes[FORMAT_SIZE], keys[256] = "";
    const char *key;
    json_t *by;
    size_t len = 0;
    if (format_integer(removed, "segments") <= 0) {
        return false;
    }
    json_object_foreach(json_object_get(removed, "by"), key, by) {
        int64_t count = format_integer(by, "segments");
        if (count > 0 && len < sizeof(keys)) {
            len += (size_t)snprintf(keys + len, sizeof(keys) - len, "%s%.32s %" PRId64,
                                    len > 0 ? ", " : "", key, count);
        }
    }
    snprintf(
        out, size, "%s, %s, %s (%s)",
        format_counted(segments, sizeof(segments), format_integer(removed, "segments"), "segment"),
        format_counted(events, sizeof(events), format_integer(removed, "events"), "event"),
        format_bytes(bytes, format_integer(removed, "bytes")), keys);
    return true;
}
