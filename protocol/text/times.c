// SPDX-License-Identifier: Apache-2.0
//
// Small recursive-descent readers of a string; each moves `*at` to the end of what it has read.
#include "protocol/text/times.h"

#include <stddef.h>
#include <string.h>

#include "protocol/base/chars.h"
#include "protocol/text/civil.h"

static bool is_digit(char byte) {
    return nvtxt_char_is(byte, NVTXT_CHAR_DIGIT);
}

// Decimal digits, at least one. False when there is none or they do not fit.
static bool take_number(const char **at, int64_t *value) {
    const char *begin = *at;
    *value = 0;
    for (; is_digit(**at); ++*at) {
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, **at - '0', value)) {
            return false;
        }
    }
    return *at > begin;
}

// ".5" as a part of `unit`; digits that are worth less than 1 do not count.
static bool take_fraction(const char **at, int64_t unit, int64_t *part) {
    *part = 0;
    if (**at != '.') {
        return true;
    }
    const char *begin = ++*at;
    for (; is_digit(**at); ++*at) {
        unit /= 10;
        *part += (**at - '0') * unit;
    }
    return *at > begin;
}

// Exactly so many digits, within the bounds.
static bool take_field(const char **at, int digits, int least, int most, int *value) {
    *value = 0;
    for (int i = 0; i < digits; i++, ++*at) {
        if (!is_digit(**at)) {
            return false;
        }
        *value = *value * 10 + (**at - '0');
    }
    return *value >= least && *value <= most;
}

static bool take_byte(const char **at, char byte) {
    if (**at != byte) {
        return false;
    }
    ++*at;
    return true;
}

static bool take_date(const char **at, struct nvtxt_civil *to) {
    int year = 0;
    bool good = take_field(at, 4, 1, 9999, &year) && take_byte(at, '-') &&
                take_field(at, 2, 1, 12, &to->month) && take_byte(at, '-') &&
                take_field(at, 2, 1, 31, &to->day);
    to->year = year;
    to->has_year = true;
    return good;
}

// "06:24", "06:24:00", "06:24:00.5".
static bool take_clock(const char **at, struct nvtxt_civil *to) {
    return take_field(at, 2, 0, 23, &to->hour) && take_byte(at, ':') &&
           take_field(at, 2, 0, 59, &to->minute) &&
           (!take_byte(at, ':') || (take_field(at, 2, 0, 60, &to->second) &&
                                    take_fraction(at, NVTXT_NS_A_SECOND, &to->ns)));
}

// "Z", "+01:00", "-0330" or nothing: seconds east of UTC.
static bool take_zone(const char **at, struct nvtxt_civil *to) {
    int hour;
    int minute = 0;
    char sign = **at;
    to->has_zone = true;
    if (sign == '\0' || sign == 'Z') {
        *at += sign == 'Z';
        return true;
    }
    if (sign != '+' && sign != '-') {
        return false;
    }
    ++*at;
    if (!take_field(at, 2, 0, 23, &hour)) {
        return false;
    }
    if ((take_byte(at, ':') || **at) && !take_field(at, 2, 0, 59, &minute)) {
        return false;
    }
    to->zone_s = (hour * 3600 + minute * 60) * (sign == '-' ? -1 : 1);
    return true;
}

static bool to_ns(int64_t seconds, int64_t part, int64_t *ns) {
    return !__builtin_mul_overflow(seconds, NVTXT_NS_A_SECOND, ns) &&
           !__builtin_add_overflow(*ns, part, ns);
}

static bool parse_date(const char *at, int64_t *ns) {
    struct nvtxt_civil civil = {0};
    struct nvtxt_civil_zone zone = {0};
    return take_date(&at, &civil) &&
           ((*at != 'T' && *at != ' ') || (++at, take_clock(&at, &civil))) &&
           take_zone(&at, &civil) && *at == '\0' && nvtxt_civil_to_ns(&civil, &zone, 0, ns);
}

bool nvtxt_time_parse(const char *text, int64_t *ns) {
    const char *at = text + (*text == '@');
    bool minus = *at == '-';
    int64_t value;
    int64_t part = 0;
    at += minus;
    if (!take_number(&at, &value)) {
        return false;
    }
    if (*text != '@') {
        *ns = minus ? -value : value;
        return *at == '\0' || (!minus && parse_date(text, ns));
    }
    if (!take_fraction(&at, NVTXT_NS_A_SECOND, &part) || *at || !to_ns(value, part, ns)) {
        return false;
    }
    *ns = minus ? -*ns : *ns;
    return true;
}

static bool take_unit(const char **at, int64_t *unit) {
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1},
                 {"us", 1000},
                 {"ms", 1000000},
                 {"s", NVTXT_NS_A_SECOND},
                 {"m", 60 * NVTXT_NS_A_SECOND},
                 {"h", 3600 * NVTXT_NS_A_SECOND},
                 {"d", 86400 * NVTXT_NS_A_SECOND}};
    size_t len = 0;
    while ((*at)[len] && !is_digit((*at)[len])) {
        len++;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == len && strncmp(*at, units[i].name, len) == 0) {
            *unit = units[i].ns;
            *at += len;
            return true;
        }
    }
    *unit = NVTXT_NS_A_SECOND;
    return len == 0;
}

bool nvtxt_duration_parse(const char *text, int64_t *ns) {
    const char *at = text;
    *ns = 0;
    do {
        int64_t number, unit, part, piece;
        const char *fraction;
        if (!take_number(&at, &number)) {
            return false;
        }
        fraction = at;
        if (!take_fraction(&at, 1, &part) || !take_unit(&at, &unit) ||
            !take_fraction(&fraction, unit, &part) ||
            __builtin_mul_overflow(number, unit, &piece) ||
            __builtin_add_overflow(piece, part, &piece) || __builtin_add_overflow(*ns, piece, ns)) {
            return false;
        }
    } while (*at);
    return true;
}
