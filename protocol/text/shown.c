// SPDX-License-Identifier: Apache-2.0
//
// A text is walked through character by character. Of one that is too long the end is found from
// behind, so that a name of many megabytes costs as much as one of a line.
#include "protocol/text/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "protocol/base/clock.h"
#include "protocol/base/utf8.h"

// ---- Texts --------------------------------------------------------------------------------------

#define ELLIPSIS "\xE2\x80\xA6"

struct walk {
    struct nvtxt_slice rest;
    bool broken; // a line end was the last character, and its blank is shown
    bool blank;  // the last character that is shown is a blank
};

static bool is_control(unsigned char byte) {
    return byte < ' ' || byte == 0x7F;
}

// The next character that is shown, and its columns. What is empty is not shown.
static struct nvtxt_slice next_shown(struct walk *walk, size_t *columns) {
    struct nvtxt_slice shown;
    bool breaks = is_control((unsigned char)*walk->rest.data);
    size_t taken = nvtxt_utf8_shown(walk->rest, &shown);
    walk->rest.data += taken;
    walk->rest.len -= taken;
    *columns = shown.len > 0 ? nvtxt_utf8_columns(nvtxt_utf8_point(shown.data, shown.len)) : 0;
    bool blank = shown.len == 1 && *shown.data == ' ';
    if (blank && (walk->broken || (breaks && walk->blank))) {
        walk->broken = true;
        shown.len = *columns = 0;
        return shown;
    }
    walk->broken = breaks;
    walk->blank = blank;
    return shown;
}

size_t nvtxt_shown_columns(struct nvtxt_slice text, size_t most) {
    struct walk walk = {.rest = text};
    size_t used = 0, columns;
    while (walk.rest.len > 0 && used < most) {
        (void)next_shown(&walk, &columns);
        used += columns;
    }
    return used < most ? used : most;
}

// Writes what takes at most so many columns; returns the new length.
static size_t put_shown(char *out, size_t len, size_t size, struct nvtxt_slice text, size_t most) {
    struct walk walk = {.rest = text};
    size_t used = 0;
    while (walk.rest.len > 0) {
        size_t columns;
        struct nvtxt_slice shown = next_shown(&walk, &columns);
        if (used + columns > most || len + shown.len >= size) {
            break;
        }
        memcpy(out + len, shown.data, shown.len);
        len += shown.len;
        used += columns;
    }
    return len;
}

// The length of the character that ends there; a byte that is no UTF-8 is one.
static size_t last_character(const char *data, size_t len) {
    for (size_t n = 1; n <= NVTXT_UTF8_MOST && n <= len; n++) {
        if (nvtxt_utf8_sequence(data + len - n, n) == n) {
            return n;
        }
    }
    return 1;
}

// The end of a text: as much as takes at most so many columns.
static struct nvtxt_slice end_of(struct nvtxt_slice text, size_t most) {
    size_t at = text.len, begin = at, used = 0;
    while (at > 0) {
        struct nvtxt_slice shown;
        at -= last_character(text.data, at);
        nvtxt_utf8_shown((struct nvtxt_slice){text.data + at, text.len - at}, &shown);
        size_t columns =
            shown.len > 0 ? nvtxt_utf8_columns(nvtxt_utf8_point(shown.data, shown.len)) : 0;
        if (used + columns > most) {
            break;
        }
        used += columns;
        begin = columns > 0 ? at : begin; // what combines stays with its character
    }
    return (struct nvtxt_slice){text.data + begin, text.len - begin};
}

size_t nvtxt_shown_fit(char *out, size_t size, struct nvtxt_slice text, size_t columns) {
    size_t len = 0, end = columns > 1 ? (columns - 1) / 2 : 0;
    if (nvtxt_shown_columns(text, columns + 1) <= columns) {
        len = put_shown(out, 0, size, text, columns);
    } else {
        len = put_shown(out, 0, size, text, columns - 1 - end);
        if (len + sizeof(ELLIPSIS) <= size) {
            memcpy(out + len, ELLIPSIS, sizeof(ELLIPSIS) - 1);
            len += sizeof(ELLIPSIS) - 1;
        }
        len = put_shown(out, len, size, end_of(text, end), end);
    }
    out[len] = '\0';
    return len;
}

// ---- Times --------------------------------------------------------------------------------------

// Since 1970; `*rest` of a second is not below 0.
static time_t seconds_of(int64_t ns, int64_t *rest) {
    int64_t past = ns % NVTXT_NS_A_SECOND;
    *rest = past < 0 ? past + NVTXT_NS_A_SECOND : past;
    return (time_t)(ns / NVTXT_NS_A_SECOND - (past < 0));
}

const char *nvtxt_shown_moment(char out[NVTXT_SHOWN_TIME], int64_t ns, bool utc) {
    struct tm tm;
    int64_t rest;
    time_t seconds = seconds_of(ns, &rest);
    bool known = (utc ? gmtime_r(&seconds, &tm) : localtime_r(&seconds, &tm)) != NULL;
    if (!known || strftime(out, NVTXT_SHOWN_TIME, "%Y-%m-%d %H:%M:%S", &tm) == 0) {
        snprintf(out, NVTXT_SHOWN_TIME, "----------  --:--:--");
    }
    return out;
}

const char *nvtxt_shown_day(char out[NVTXT_SHOWN_TIME], int64_t ns, bool utc) {
    char *blank;
    nvtxt_shown_moment(out, ns, utc);
    blank = strchr(out, ' ');
    snprintf(blank, NVTXT_SHOWN_TIME - (size_t)(blank - out), "%s", utc ? " UTC" : "");
    return out;
}

const char *nvtxt_shown_clock(char out[NVTXT_SHOWN_TIME], int64_t ns, bool utc, int decimals) {
    char moment[NVTXT_SHOWN_TIME];
    int64_t rest;
    seconds_of(ns, &rest);
    const char *clock = strrchr(nvtxt_shown_moment(moment, ns, utc), ' ') + 1;
    int len = snprintf(out, NVTXT_SHOWN_TIME, "%.8s.%09" PRId64, clock, rest);
    out[decimals > 0 ? len - 9 + decimals : len - 10] = '\0';
    return out;
}

static const struct nvtxt_shown_unit units[] = {
    {1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {60e9, "min"}, {3600e9, "h"}, {86400e9, "d"},
};
#define UNITS (sizeof(units) / sizeof(units[0]))

const char *nvtxt_shown_length(char out[NVTXT_SHOWN_TIME], int64_t ns) {
    double value = (double)ns, size = fabs(value);
    size_t i = UNITS - 1;
    while (i > 0 && size < units[i].ns) {
        i--;
    }
    double amount = value / units[i].ns;
    int decimals = i == 0 || fabs(amount) >= 99.95 ? 0 : fabs(amount) >= 9.995 ? 1 : 2;
    snprintf(out, NVTXT_SHOWN_TIME, "%.*f%s", decimals, amount, units[i].name);
    return out;
}

#define LARGE 999.5 // is shown with four digits

struct nvtxt_shown_unit nvtxt_shown_unit(double most_ns) {
    size_t i = 0;
    while (i + 1 < UNITS && most_ns >= LARGE * units[i].ns) {
        i++;
    }
    return units[i];
}

int nvtxt_shown_digits(char out[NVTXT_SHOWN_TIME], double value) {
    double size = fabs(value);
    int decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    if (size > 0 && size < 0.001) {
        snprintf(out, NVTXT_SHOWN_TIME, "%s", value < 0 ? ">-0.001" : "<0.001");
    } else {
        snprintf(out, NVTXT_SHOWN_TIME, "%.*f", decimals, value);
    }
    return decimals;
}
