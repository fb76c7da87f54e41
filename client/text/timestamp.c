// SPDX-License-Identifier: Apache-2.0
//
// Goes through the format and the line together, directive by directive. The named formats are
// formats of the same kind; they have five further directives, below, which no user can write.
#include "client/text/timestamp.h"

#include <string.h>

#include "client/common/clock.h"
#include "protocol/text/civil.h"

// Directives of the named formats only.
#define FRACTION "\1" // [.,] and digits, or nothing
#define ZONE "\2"     // a zone, perhaps after a blank, or nothing
#define BREAK "\3"    // T, t, _ or a blank
#define WEEKDAY "\4"  // a day's name and a blank, or nothing
#define EPOCH "\5"    // seconds, milliseconds, microseconds or nanoseconds, by their digits

#define ISO WEEKDAY "%Y-%m-%d" BREAK "%H:%M:%S" FRACTION ZONE
#define SYSLOG WEEKDAY "%b %e %H:%M:%S" FRACTION

struct cursor {
    const char *at, *end;
};

// ---- Pieces of a line ---------------------------------------------------------------------------

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

static void skip_blanks(struct cursor *in) {
    while (in->at < in->end && is_blank(*in->at)) {
        in->at++;
    }
}

// A number of at most `most` digits, from `low` to `high`.
static bool read_number(struct cursor *in, int most, int64_t low, int64_t high, int64_t *value) {
    const char *begin = in->at;
    int64_t sum = 0;
    while (in->at < in->end && is_digit(*in->at) && in->at - begin < most) {
        sum = sum * 10 + (*in->at++ - '0');
    }
    *value = sum;
    return in->at > begin && sum >= low && sum <= high;
}

static bool read_int(struct cursor *in, int most, int low, int high, int *value) {
    int64_t wide;
    bool good = read_number(in, most, low, high, &wide);
    *value = (int)wide;
    return good;
}

// Digits after a point; what is finer than a nanosecond is left out.
static bool read_fraction(struct cursor *in, int64_t *ns) {
    const char *begin = in->at;
    int64_t unit = NS_A_SECOND;
    *ns = 0;
    for (; in->at < in->end && is_digit(*in->at); in->at++) {
        unit /= 10;
        *ns += unit * (*in->at - '0');
    }
    return in->at > begin;
}

// The first three letters of a name, in any case, and then the rest of it if the line has it.
static bool read_name(struct cursor *in, const char *const *names, int count, int *index) {
    for (int i = 0; i < count; i++) {
        const char *at = in->at;
        const char *name = names[i];
        while (at < in->end && *name && (*at | 0x20) == (*name | 0x20)) {
            at++;
            name++;
        }
        if (at - in->at >= 3) {
            in->at = *name ? in->at + 3 : at;
            *index = i;
            return true;
        }
    }
    return false;
}

static bool read_month(struct cursor *in, int *month) {
    static const char *const names[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    int index = 0;
    bool good = read_name(in, names, 12, &index);
    *month = index + 1;
    return good;
}

static bool read_weekday(struct cursor *in) {
    static const char *const names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};
    int index;
    return read_name(in, names, 7, &index);
}

// Z, UTC, GMT, +hh, +hhmm, +hh:mm.
static bool read_zone(struct cursor *in, struct nvtxt_civil *to) {
    size_t left = (size_t)(in->end - in->at);
    to->has_zone = true;
    to->zone_s = 0;
    if (left >= 3 && (memcmp(in->at, "UTC", 3) == 0 || memcmp(in->at, "GMT", 3) == 0)) {
        in->at += 3;
        return true;
    }
    if (left >= 1 && (*in->at == 'Z' || *in->at == 'z')) {
        in->at++;
        return true;
    }
    if (left < 3 || (*in->at != '+' && *in->at != '-') || !is_digit(in->at[2])) {
        return false;
    }
    int sign = *in->at++ == '-' ? -1 : 1;
    int hours = 0;
    int minutes = 0;
    if (!read_int(in, 2, 0, 23, &hours)) {
        return false;
    }
    const char *more = in->at;
    more += more < in->end && *more == ':';
    if (in->end - more >= 2 && is_digit(more[0]) && is_digit(more[1])) {
        in->at = more;
        if (!read_int(in, 2, 0, 59, &minutes)) {
            return false;
        }
    }
    to->zone_s = sign * (hours * 3600 + minutes * 60);
    return true;
}

static bool read_epoch(struct cursor *in, struct nvtxt_civil *to) {
    in->at += in->at < in->end && *in->at == '@';
    const char *begin = in->at;
    int64_t value;
    int64_t unit = NS_A_SECOND;
    bool good = read_number(in, 18, 0, INT64_MAX, &value);
    int digits = (int)(in->at - begin);
    if (in->at < in->end && is_digit(*in->at) && digits == 18) {
        digits++;
        good = good && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, *in->at - '0', &value);
        in->at++;
    }
    for (int more = 11; more < 19 && more < digits; more += more == 11 ? 2 : 3) {
        unit /= 1000; // 12 and 13 digits are milliseconds, up to 16 micro, up to 19 nanoseconds
    }
    to->has_epoch = true;
    return good && digits >= 9 && !(in->at < in->end && is_digit(*in->at)) &&
           !__builtin_mul_overflow(value, unit, &to->epoch_ns);
}

static void read_optional_zone(struct cursor *in, struct nvtxt_civil *to) {
    struct cursor try = *in;
    try.at += try.at < try.end && *try.at == ' ';
    if (read_zone(&try, to) &&
        (try.at == try.end || !(is_digit(*try.at) || is_letter(*try.at) || *try.at == ':'))) {
        *in = try;
        return;
    }
    to->has_zone = false;
}

static void read_optional_fraction(struct cursor *in, int64_t *ns) {
    if (in->end - in->at >= 2 && (*in->at == '.' || *in->at == ',') && is_digit(in->at[1])) {
        in->at++;
        (void)read_fraction(in, ns);
    }
}

static void read_optional_weekday(struct cursor *in) {
    struct cursor try = *in;
    if (read_weekday(&try) && try.at < try.end && (is_blank(*try.at) || *try.at == ',')) {
        try.at += *try.at == ',';
        skip_blanks(&try);
        *in = try;
    }
}

static bool read_break(struct cursor *in) {
    return in->at < in->end && (is_blank(*in->at) || memchr("Tt_", *in->at, 3)) && *in->at++;
}

// ---- A format along a line ----------------------------------------------------------------------

static bool read_format(const char *format, struct cursor *in, struct nvtxt_civil *to);

static bool read_half(struct cursor *in, struct nvtxt_civil *to) {
    bool good = in->end - in->at >= 2 && (in->at[1] | 0x20) == 'm' &&
                ((in->at[0] | 0x20) == 'a' || (in->at[0] | 0x20) == 'p');
    if (good) {
        to->pm = (in->at[0] | 0x20) == 'p';
        in->at += 2;
    }
    return good;
}

static bool read_year(struct cursor *in, bool century, struct nvtxt_civil *to) {
    const char *begin = in->at;
    to->has_year = true;
    if (century) {
        return read_number(in, 4, 0, 9999, &to->year) && in->at - begin == 4;
    }
    bool good = read_number(in, 2, 0, 99, &to->year) && in->at - begin == 2;
    to->year += to->year < 69 ? 2000 : 1900; // as POSIX has it
    return good;
}

static bool read_seconds(struct cursor *in, struct nvtxt_civil *to) {
    bool minus = in->at < in->end && *in->at == '-';
    int64_t value;
    in->at += minus;
    to->has_epoch = true;
    return read_number(in, 12, 0, INT64_MAX / NS_A_SECOND, &value) &&
           !__builtin_mul_overflow(minus ? -value : value, NS_A_SECOND, &to->epoch_ns);
}

static bool read_date(char directive, struct cursor *in, struct nvtxt_civil *to) {
    switch (directive) {
    case 'Y':
    case 'y':
        return read_year(in, directive == 'Y', to);
    case 'm':
        return read_int(in, 2, 1, 12, &to->month);
    case 'b':
    case 'B':
    case 'h':
        return read_month(in, &to->month);
    case 'd':
    case 'e':
        skip_blanks(in);
        return read_int(in, 2, 1, 31, &to->day);
    case 'j':
        return read_int(in, 3, 1, 366, &to->yday);
    case 'F':
        return read_format("%Y-%m-%d", in, to);
    default: // a, A
        return read_weekday(in);
    }
}

static bool read_time(char directive, struct cursor *in, struct nvtxt_civil *to) {
    switch (directive) {
    case 'H':
    case 'I':
        to->twelve = directive == 'I';
        skip_blanks(in);
        return read_int(in, 2, to->twelve, to->twelve ? 12 : 23, &to->hour);
    case 'M':
        return read_int(in, 2, 0, 59, &to->minute);
    case 'S':
        return read_int(in, 2, 0, 60, &to->second);
    case 'f':
        return read_fraction(in, &to->ns);
    case 'p':
        return read_half(in, to);
    case 's':
        return read_seconds(in, to);
    case 'R':
        return read_format("%H:%M", in, to);
    case 'T':
        return read_format("%H:%M:%S", in, to);
    default: // z
        return read_zone(in, to);
    }
}

static bool read_literal(char byte, struct cursor *in) {
    if (is_blank(byte)) {
        skip_blanks(in);
        return true;
    }
    return in->at < in->end && *in->at == byte && in->at++;
}

static bool read_own(char directive, struct cursor *in, struct nvtxt_civil *to) {
    switch (directive) {
    case '\1': // fraction
        read_optional_fraction(in, &to->ns);
        return true;
    case '\2': // zone
        read_optional_zone(in, to);
        return true;
    case '\4': // weekday
        read_optional_weekday(in);
        return true;
    case '\3': // break
        return read_break(in);
    default:
        return read_epoch(in, to);
    }
}

#define DATE_DIRECTIVES "YymbBhdejFaA"
#define TIME_DIRECTIVES "HIMSfpsRTz"
#define BLANK_DIRECTIVES "nt"

static bool read_format(const char *format, struct cursor *in, struct nvtxt_civil *to) {
    for (; *format; format++) {
        bool good;
        if (*format > '\0' && *format <= EPOCH[0]) {
            good = read_own(*format, in, to);
        } else if (*format != '%') {
            good = read_literal(*format, in);
        } else if (*++format == '%') {
            good = read_literal('%', in);
        } else if (strchr(BLANK_DIRECTIVES, *format)) {
            good = read_literal(' ', in);
        } else {
            good = strchr(DATE_DIRECTIVES, *format) ? read_date(*format, in, to)
                                                    : read_time(*format, in, to);
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

// ---- Formats and lines --------------------------------------------------------------------------

static bool read_at(struct timestamp *stamp, struct nvtxt_slice line, size_t begin, int64_t near_ns,
                    int64_t *ns) {
    for (size_t i = 0; i < 3 && stamp->formats[i]; i++) {
        struct cursor in = {line.data + begin, line.data + line.len};
        struct nvtxt_civil civil = {0};
        if (read_format(stamp->formats[i], &in, &civil) &&
            nvtxt_civil_to_ns(&civil, &stamp->zone, near_ns, ns)) {
            return true;
        }
    }
    return false;
}

// What stands before the stamp of a log: <34>, or <34>1 and a blank, then blanks and brackets.
static size_t pass_over(struct nvtxt_slice line) {
    struct cursor in = {line.data, line.data + line.len};
    int priority;
    if (in.at < in.end && *in.at == '<') {
        in.at++;
        if (!read_int(&in, 3, 0, 191, &priority) || !read_literal('>', &in)) {
            return 0;
        }
        if (in.end - in.at >= 2 && in.at[0] == '1' && in.at[1] == ' ') {
            in.at += 2;
        }
    }
    while (in.at < in.end && (is_blank(*in.at) || *in.at == '[' || *in.at == '(')) {
        in.at++;
    }
    return (size_t)(in.at - line.data);
}

bool timestamp_read(struct timestamp *stamp, struct nvtxt_slice line, int64_t near_ns,
                    int64_t *ns) {
    size_t begin = stamp->named ? pass_over(line) : 0;
    size_t last = stamp->search ? line.len : begin;
    if (last > TIMESTAMP_SEARCH_BYTES && stamp->search) {
        last = TIMESTAMP_SEARCH_BYTES;
    }
    for (; begin <= last; begin++) {
        if (read_at(stamp, line, begin, near_ns, ns)) {
            return true;
        }
    }
    return false;
}

static bool has_one_of(const char *format, const char *directives) {
    for (; *format; format++) {
        if (*format == '%' && strchr(directives, *++format)) {
            return true;
        }
    }
    return false;
}

// A format gives a time when it has seconds since the epoch, a date, a day of the year, or a time
// of day alone; half a date is not enough.
static bool is_enough(const char *format) {
    bool day = has_one_of(format, "de");
    bool month = has_one_of(format, "mbBh");
    if (has_one_of(format, "sFj") || (day && month)) {
        return true;
    }
    return has_one_of(format, "HIRT") && !day && !month && !has_one_of(format, "Yy");
}

int timestamp_init(struct timestamp *stamp, const char *format, const char **fault) {
    static const struct {
        const char *name;
        const char *formats[3];
    } named[] = {
        {"auto", {ISO, SYSLOG, EPOCH FRACTION}},
        {"iso", {ISO, NULL, NULL}},
        {"syslog", {SYSLOG, NULL, NULL}},
        {"epoch", {EPOCH FRACTION, NULL, NULL}},
    };
    *stamp = (struct timestamp){0};
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        if (strcmp(named[i].name, format) == 0) {
            memcpy(stamp->formats, named[i].formats, sizeof(stamp->formats));
            stamp->named = true;
            return 0;
        }
    }
    stamp->search = strncmp(format, "%*", 2) == 0;
    stamp->formats[0] = stamp->search ? format + 2 : format;
    for (const char *at = stamp->formats[0]; *at; at++) {
        if (*at != '%') {
            continue;
        }
        *fault = at++;
        if (!*at || !strchr(DATE_DIRECTIVES TIME_DIRECTIVES BLANK_DIRECTIVES "%", *at)) {
            return 1;
        }
    }
    return is_enough(stamp->formats[0]) ? 0 : 2;
}
