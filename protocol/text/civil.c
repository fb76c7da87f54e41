// SPDX-License-Identifier: Apache-2.0
//
// Days are counted here, because timegm() would need a struct tm for each try. The C library is
// asked for the local zone once for each hour of a log.
#include "protocol/text/civil.h"

#include <time.h>

#define DAY_S 86400
#define YEARS_BACK 8 // from one 29 February to the next are at most so many

static bool is_leap(int64_t year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of(int64_t year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

// Days from 1970-01-01 to the first day of a year from 0 on (Gregorian, also before 1582).
static int64_t days_to_year(int64_t year) {
    int64_t before = year - 1 + 400; // counted from the year -399, so that divisions round down
    return before * 365 + before / 4 - before / 100 + before / 400 - 865259;
}

// Days since the epoch of the date, or false when the year has no such day.
static bool find_day(const struct nvtxt_civil *civil, int64_t year, int64_t *day) {
    *day = days_to_year(year);
    if (civil->yday > 0) {
        *day += civil->yday - 1;
        return civil->yday <= 365 + is_leap(year);
    }
    for (int month = 1; month < civil->month; month++) {
        *day += days_of(year, month);
    }
    *day += civil->day - 1;
    return civil->day <= days_of(year, civil->month);
}

// Seconds east of Greenwich when local clocks show `wall_s` (as if it were UTC).
static int64_t local_offset(struct nvtxt_civil_zone *zone, int64_t wall_s) {
    int64_t hour = wall_s / 3600 - (wall_s % 3600 < 0);
    if (zone->known && zone->hour == hour) {
        return zone->offset_s;
    }
    time_t wall = (time_t)wall_s;
    struct tm tm;
    zone->known = true;
    zone->hour = hour;
    zone->offset_s = 0;
    if (gmtime_r(&wall, &tm)) {
        tm.tm_isdst = -1;
        time_t real = mktime(&tm);
        zone->offset_s = real == (time_t)-1 ? 0 : wall_s - (int64_t)real;
    }
    return zone->offset_s;
}

static bool to_ns(struct nvtxt_civil_zone *zone, const struct nvtxt_civil *civil, int64_t day,
                  int64_t *ns) {
    int hour = civil->twelve ? civil->hour % 12 + (civil->pm ? 12 : 0) : civil->hour;
    int64_t wall_s = day * DAY_S + hour * 3600 + civil->minute * 60 + civil->second;
    int64_t real_s = wall_s - (civil->has_zone ? civil->zone_s : local_offset(zone, wall_s));
    return !__builtin_mul_overflow(real_s, NVTXT_NS_A_SECOND, ns) &&
           !__builtin_add_overflow(*ns, civil->ns, ns);
}

// The latest year that puts it not more than a day after `near_ns`.
static bool guess_year(struct nvtxt_civil_zone *zone, const struct nvtxt_civil *civil,
                       int64_t near_ns, int64_t *ns) {
    int64_t year =
        1970 + near_ns / NVTXT_NS_A_SECOND / DAY_S / 365 + 1; // the real one or a later one
    int64_t day;
    for (int64_t tried = 0; tried <= YEARS_BACK + 2; tried++, year--) {
        if (find_day(civil, year, &day) && to_ns(zone, civil, day, ns) &&
            *ns <= near_ns + DAY_S * NVTXT_NS_A_SECOND) {
            return true;
        }
    }
    return false;
}

static bool guess_day(struct nvtxt_civil_zone *zone, const struct nvtxt_civil *civil,
                      int64_t near_ns, int64_t *ns) {
    int64_t today = near_ns / NVTXT_NS_A_SECOND / DAY_S;
    uint64_t best = UINT64_MAX;
    int64_t candidate;
    for (int64_t day = today - 2; day <= today + 2; day++) {
        if (to_ns(zone, civil, day, &candidate)) {
            uint64_t apart = candidate > near_ns ? (uint64_t)candidate - (uint64_t)near_ns
                                                 : (uint64_t)near_ns - (uint64_t)candidate;
            if (apart < best) {
                best = apart;
                *ns = candidate;
            }
        }
    }
    return best < UINT64_MAX;
}

bool nvtxt_civil_to_ns(const struct nvtxt_civil *civil, struct nvtxt_civil_zone *zone,
                       int64_t near_ns, int64_t *ns) {
    int64_t day;
    if (civil->has_epoch) {
        return !__builtin_add_overflow(civil->epoch_ns,
                                       civil->epoch_ns < 0 ? -civil->ns : civil->ns, ns);
    }
    if (civil->day == 0 && civil->yday == 0) {
        return guess_day(zone, civil, near_ns, ns);
    }
    if (!civil->has_year) {
        return guess_year(zone, civil, near_ns, ns);
    }
    return find_day(civil, civil->year, &day) && to_ns(zone, civil, day, ns);
}
