// SPDX-License-Identifier: Apache-2.0
//
// Goes through the format and the line together, directive by directive. The named formats are
// formats of the same kind; they have five further directives, below, which no user can write.
#include "client/text/timestamp.h"

#include <string.h>

#include "protocol/base/clock.h"
#include "protocol/base/scan.h"

// Directives of the named formats only.
#define FRACTION "\1" // [.,] and digits, or nothing
#define ZONE "\2"     // a zone, perhaps after a blank, or nothing
#define BREAK "\3"    // T, t, _ or a blank
#define WEEKDAY "\4"  // a day's name and a blank, or nothing
#define EPOCH "\5"    // seconds, milliseconds, microseconds or nanoseconds, by their digits

#define ISO WEEKDAY "%Y-%m-%d" BREAK "%H:%M:%S" FRACTION ZONE
#define SYSLOG WEEKDAY "%b %e %H:%M:%S" FRACTION

// ---- Pieces of a line ---------------------------------------------------------------------------

static void skip_blanks(struct nvtxt_scan *in) {
    nvtxt_scan_skip(in, NVTXT_CHAR_BLANK);
}

static bool is_digit(char byte) {
    return nvtxt_char_is(byte, NVTXT_CHAR_DIGIT);
}

static bool at_digit(const struct nvtxt_scan *in) {
    return nvtxt_scan_is(in, NVTXT_CHAR_DIGIT);
}

// A number of at most `most` digits, from `low` to `high`.
static bool read_number(struct nvtxt_scan *in, int most, int64_t low, int64_t high,
                        int64_t *value) {
    const char *begin = in->at;
    int64_t sum = 0;
    while (at_digit(in) && in->at - begin < most) {
        sum = sum * 10 + (*in->at++ - '0');
    }
    *value = sum;
    return in->at > begin && sum >= low && sum <= high;
}

static bool read_int(struct nvtxt_scan *in, int most, int low, int high, int *value) {
    int64_t wide;
    bool good = read_number(in, most, low, high, &wide);
    *value = (int)wide;
    return good;
}

// Digits after a point; what is finer than a nanosecond is left out.
static bool read_fraction(struct nvtxt_scan *in, int64_t *ns) {
    const char *begin = in->at;
    int64_t unit = NVTXT_NS_A_SECOND;
    *ns = 0;
    for (; at_digit(in); in->at++) {
        unit /= 10;
        *ns += unit * (*in->at - '0');
    }
    return in->at > begin;
}

// The first three letters of a name, in any case, and then the rest of it if the line has it.
static bool read_name(struct nvtxt_scan *in, const char *const *names, int count, int *index) {
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

static bool read_month(struct nvtxt_scan *in, int *month) {
    static const char *const names[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    int index = 0;
    bool good = read_name(in, names, 12, &index);
    *month = index + 1;
    return good;
}

static bool read_weekday(struct nvtxt_scan *in) {
    static const char *const names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};
    int index;
    return read_name(in, names, 7, &index);
}

// Z, UTC, GMT, +hh, +hhmm, +hh:mm.
static bool read_zone(struct nvtxt_scan *in, struct nvtxt_civil *to) {
    to->has_zone = true;
    to->zone_s = 0;
    if (nvtxt_scan_take_text(in, "UTC") || nvtxt_scan_take_text(in, "GMT") ||
        nvtxt_scan_take(in, 'Z') || nvtxt_scan_take(in, 'z')) {
        return true;
    }
    char first = nvtxt_scan_byte(in, 0);
    if ((first != '+' && first != '-') || !is_digit(nvtxt_scan_byte(in, 2))) {
        return false;
    }
    int sign = *in->at++ == '-' ? -1 : 1;
    int hours = 0;
    int minutes = 0;
    if (!read_int(in, 2, 0, 23, &hours)) {
        return false;
    }
    struct nvtxt_scan more = *in;
    (void)nvtxt_scan_take(&more, ':');
    if (at_digit(&more) && is_digit(nvtxt_scan_byte(&more, 1))) {
        *in = more;
        if (!read_int(in, 2, 0, 59, &minutes)) {
            return false;
        }
    }
    to->zone_s = sign * (hours * 3600 + minutes * 60);
    return true;
}

static bool read_epoch(struct nvtxt_scan *in, struct nvtxt_civil *to) {
    (void)nvtxt_scan_take(in, '@');
    const char *begin = in->at;
    int64_t value;
    int64_t unit = NVTXT_NS_A_SECOND;
    bool good = read_number(in, 18, 0, INT64_MAX, &value);
    int digits = (int)(in->at - begin);
    if (at_digit(in) && digits == 18) {
        digits++;
        good = good && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, *in->at - '0', &value);
        in->at++;
    }
    for (int more = 11; more < 19 && more < digits; more += more == 11 ? 2 : 3) {
        unit /= 1000; // 12 and 13 digits are milliseconds, up to 16 micro, up to 19 nanoseconds
    }
    to->has_epoch = true;
    return good && digits >= 9 && !(at_digit(in)) &&
           !__builtin_mul_overflow(value, unit, &to->epoch_ns);
}

static void read_optional_zone(struct nvtxt_scan *in, struct nvtxt_civil *to) {
    struct nvtxt_scan try = *in;
    (void)nvtxt_scan_take(&try, ' ');
    if (read_zone(&try, to) && nvtxt_scan_byte(&try, 0) != ':' &&
        (nvtxt_scan_byte(&try, 0) == '_' || !nvtxt_scan_is(&try, NVTXT_CHAR_WORD))) {
        *in = try;
        return;
    }
    to->has_zone = false;
}

static void read_optional_fraction(struct nvtxt_scan *in, int64_t *ns) {
    if (is_digit(nvtxt_scan_byte(in, 1)) &&
        (nvtxt_scan_take(in, '.') || nvtxt_scan_take(in, ','))) {
        (void)read_fraction(in, ns);
    }
}

static void read_optional_weekday(struct nvtxt_scan *in) {
    struct nvtxt_scan try = *in;
    if (read_weekday(&try) &&
        (nvtxt_scan_take(&try, ',') || nvtxt_scan_is(&try, NVTXT_CHAR_BLANK))) {
        skip_blanks(&try);
        *in = try;
    }
}

static bool read_break(struct nvtxt_scan *in) {
    bool is_next = in->at < in->end && memchr("Tt_ \t", *in->at, 5);
    in->at += is_next;
    return is_next;
}

// ---- A format along a line ----------------------------------------------------------------------

static bool read_format(const char *format, struct nvtxt_scan *in, struct nvtxt_civil *to);

static bool read_half(struct nvtxt_scan *in, struct nvtxt_civil *to) {
    bool good = in->end - in->at >= 2 && (in->at[1] | 0x20) == 'm' &&
                ((in->at[0] | 0x20) == 'a' || (in->at[0] | 0x20) == 'p');
    if (good) {
        to->pm = (in->at[0] | 0x20) == 'p';
        in->at += 2;
    }
    return good;
}

static bool read_year(struct nvtxt_scan *in, bool century, struct nvtxt_civil *to) {
    const char *begin = in->at;
    to->has_year = true;
    if (century) {
        return read_number(in, 4, 0, 9999, &to->year) && in->at - begin == 4;
    }
    bool good = read_number(in, 2, 0, 99, &to->year) && in->at - begin == 2;
    to->year += to->year < 69 ? 2000 : 1900; // as POSIX has it
    return good;
}

static bool read_seconds(struct nvtxt_scan *in, struct nvtxt_civil *to) {
    bool minus = nvtxt_scan_take(in, '-');
    int64_t value;
    to->has_epoch = true;
    return read_number(in, 12, 0, INT64_MAX / NVTXT_NS_A_SECOND, &value) &&
           !__builtin_mul_overflow(minus ? -value : value, NVTXT_NS_A_SECOND, &to->epoch_ns);
}

static bool read_date(char directive, struct nvtxt_scan *in, struct nvtxt_civil *to) {
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

static bool read_time(char directive, struct nvtxt_scan *in, struct nvtxt_civil *to) {
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

static bool read_literal(char byte, struct nvtxt_scan *in) {
    if (nvtxt_char_is(byte, NVTXT_CHAR_BLANK)) {
        skip_blanks(in);
        return true;
    }
    return nvtxt_scan_take(in, byte);
}

static bool read_own(char directive, struct nvtxt_scan *in, struct nvtxt_civil *to) {
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

static bool read_format(const char *format, struct nvtxt_scan *in, struct nvtxt_civil *to) {
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
        struct nvtxt_scan in = nvtxt_scan(line);
        struct nvtxt_civil civil = {0};
        in.at += begin;
        if (read_format(stamp->formats[i], &in, &civil) &&
            nvtxt_civil_to_ns(&civil, &stamp->zone, near_ns, ns)) {
            return true;
        }
    }
    return false;
}

// What stands before the stamp of a log: <34>, or <34>1 and a blank, then blanks and brackets.
static size_t pass_over(struct nvtxt_slice line) {
    struct nvtxt_scan in = nvtxt_scan(line);
    int priority;
    if (nvtxt_scan_take(&in, '<')) {
        if (!read_int(&in, 3, 0, 191, &priority) || !nvtxt_scan_take(&in, '>')) {
            return 0;
        }
        (void)nvtxt_scan_take_text(&in, "1 ");
    }
    while (nvtxt_scan_is(&in, NVTXT_CHAR_BLANK) || nvtxt_scan_byte(&in, 0) == '[' ||
           nvtxt_scan_byte(&in, 0) == '(') {
        in.at++;
    }
    return nvtxt_scan_place(&in);
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
