// SPDX-License-Identifier: Apache-2.0
//
// Texts are cut by the columns of their characters, because a terminal's columns are not bytes.
#include "client/ctl/ctl_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
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

static size_t columns_of(const char *text, size_t len) {
    return len > 0 ? nvtxt_utf8_columns(nvtxt_utf8_point(text, len)) : 1;
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
