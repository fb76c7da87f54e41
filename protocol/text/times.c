// SPDX-License-Identifier: Apache-2.0
//
// Small recursive-descent readers of a string; each moves the cursor to the end of what it has
// read.
#include "protocol/text/forms.h"

#include <stddef.h>

#include "protocol/base/scan.h"
#include "protocol/text/civil.h"

// Decimal digits, at least one. False when there is none or they do not fit.
static bool take_number(struct nvtxt_scan *in, int64_t *value) {
    const char *begin = in->at;
    uint64_t size = 0;
    bool fits = nvtxt_scan_take_uint(in, &size) && size <= INT64_MAX;
    *value = (int64_t)size;
    return fits && in->at > begin;
}

// ".5" as a part of `unit`; digits that are worth less than 1 do not count.
static bool take_fraction(struct nvtxt_scan *in, int64_t unit, int64_t *part) {
    *part = 0;
    if (!nvtxt_scan_take(in, '.')) {
        return true;
    }
    struct nvtxt_slice digits = nvtxt_scan_take_run(in, NVTXT_CHAR_DIGIT);
    for (size_t i = 0; i < digits.len; i++) {
        unit /= 10;
        *part += (digits.data[i] - '0') * unit;
    }
    return digits.len > 0;
}

// Exactly so many digits, within the bounds.
static bool take_field(struct nvtxt_scan *in, int digits, int least, int most, int *value) {
    *value = 0;
    for (int i = 0; i < digits; i++, in->at++) {
        if (!nvtxt_scan_is(in, NVTXT_CHAR_DIGIT)) {
            return false;
        }
        *value = *value * 10 + (*in->at - '0');
    }
    return *value >= least && *value <= most;
}

static bool take_date(struct nvtxt_scan *in, struct nvtxt_civil *to) {
    int year = 0;
    bool good = take_field(in, 4, 1, 9999, &year) && nvtxt_scan_take(in, '-') &&
                take_field(in, 2, 1, 12, &to->month) && nvtxt_scan_take(in, '-') &&
                take_field(in, 2, 1, 31, &to->day);
    to->year = year;
    to->has_year = true;
    return good;
}

// "06:24", "06:24:00", "06:24:00.5".
static bool take_clock(struct nvtxt_scan *in, struct nvtxt_civil *to) {
    return take_field(in, 2, 0, 23, &to->hour) && nvtxt_scan_take(in, ':') &&
           take_field(in, 2, 0, 59, &to->minute) &&
           (!nvtxt_scan_take(in, ':') || (take_field(in, 2, 0, 60, &to->second) &&
                                          take_fraction(in, NVTXT_NS_A_SECOND, &to->ns)));
}

// "Z", "+01:00", "-0330" or nothing: seconds east of UTC.
static bool take_zone(struct nvtxt_scan *in, struct nvtxt_civil *to) {
    int hour;
    int minute = 0;
    char sign = nvtxt_scan_byte(in, 0);
    to->has_zone = true;
    if (sign == '\0' || nvtxt_scan_take(in, 'Z')) {
        return true;
    }
    if (!nvtxt_scan_take(in, '+') && !nvtxt_scan_take(in, '-')) {
        return false;
    }
    if (!take_field(in, 2, 0, 23, &hour)) {
        return false;
    }
    if ((nvtxt_scan_take(in, ':') || nvtxt_scan_left(in) > 0) &&
        !take_field(in, 2, 0, 59, &minute)) {
        return false;
    }
    to->zone_s = (hour * 3600 + minute * 60) * (sign == '-' ? -1 : 1);
    return true;
}

static bool to_ns(int64_t seconds, int64_t part, int64_t *ns) {
    return !__builtin_mul_overflow(seconds, NVTXT_NS_A_SECOND, ns) &&
           !__builtin_add_overflow(*ns, part, ns);
}

static bool parse_date(struct nvtxt_scan in, int64_t *ns) {
    struct nvtxt_civil civil = {0};
    struct nvtxt_civil_zone zone = {0};
    if (!take_date(&in, &civil)) {
        return false;
    }
    bool clock = nvtxt_scan_take(&in, 'T') || nvtxt_scan_take(&in, ' ');
    return (!clock || take_clock(&in, &civil)) && take_zone(&in, &civil) &&
           nvtxt_scan_left(&in) == 0 && nvtxt_civil_to_ns(&civil, &zone, 0, ns);
}

bool nvtxt_time_parse(const char *text, int64_t *ns) {
    struct nvtxt_scan in = nvtxt_scan(nvtxt_slice_of(text));
    const struct nvtxt_scan begin = in;
    bool since_epoch = nvtxt_scan_take(&in, '@');
    bool minus = nvtxt_scan_take(&in, '-');
    int64_t value;
    int64_t part = 0;
    if (!take_number(&in, &value)) {
        return false;
    }
    if (!since_epoch) {
        *ns = minus ? -value : value;
        return nvtxt_scan_left(&in) == 0 || (!minus && parse_date(begin, ns));
    }
    if (!take_fraction(&in, NVTXT_NS_A_SECOND, &part) || nvtxt_scan_left(&in) > 0 ||
        !to_ns(value, part, ns)) {
        return false;
    }
    *ns = minus ? -*ns : *ns;
    return true;
}

static bool take_unit(struct nvtxt_scan *in, int64_t *unit) {
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
    const char *begin = in->at;
    while (nvtxt_scan_left(in) > 0 && !nvtxt_scan_is(in, NVTXT_CHAR_DIGIT)) {
        in->at++;
    }
    struct nvtxt_slice name = nvtxt_slice_between(begin, in->at);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (nvtxt_slice_equal(name, nvtxt_slice_of(units[i].name))) {
            *unit = units[i].ns;
            return true;
        }
    }
    *unit = NVTXT_NS_A_SECOND;
    return name.len == 0;
}

bool nvtxt_duration_parse(const char *text, int64_t *ns) {
    struct nvtxt_scan in = nvtxt_scan(nvtxt_slice_of(text));
    *ns = 0;
    do {
        int64_t number, unit, part, piece;
        if (!take_number(&in, &number)) {
            return false;
        }
        struct nvtxt_scan fraction = in;
        if (!take_fraction(&in, 1, &part) || !take_unit(&in, &unit) ||
            !take_fraction(&fraction, unit, &part) ||
            __builtin_mul_overflow(number, unit, &piece) ||
            __builtin_add_overflow(piece, part, &piece) || __builtin_add_overflow(*ns, piece, ns)) {
            return false;
        }
    } while (nvtxt_scan_left(&in) > 0);
    return true;
}
