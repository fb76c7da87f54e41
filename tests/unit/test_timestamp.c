// SPDX-License-Identifier: Apache-2.0
//
// Stamps of logs: every form, what is left out, what is no time. The zone is New York's.
#include "client/text/timestamp.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define S INT64_C(1000000000)
#define NEAR (INT64_C(1763730000) * S) // 2025-11-21 13:00:00 UTC

static struct timestamp stamp;

static void zone(void) {
    setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
    tzset();
}

static void use(const char *format) {
    const char *fault;
    cr_assert_eq(timestamp_init(&stamp, format, &fault), 0, "%s", format);
}

static void reads_ns(const char *line, int64_t near, int64_t wanted) {
    int64_t ns = 0;
    cr_assert(timestamp_read(&stamp, nvtxt_slice_of(line), near, &ns), "%s", line);
    cr_assert_eq(ns, wanted, "%s: %" PRId64 " not %" PRId64, line, ns, wanted);
}

static void reads(const char *line, int64_t wanted_s) {
    reads_ns(line, NEAR, wanted_s * S);
}

static void no_time(const char *line) {
    int64_t ns;
    cr_assert_not(timestamp_read(&stamp, nvtxt_slice_of(line), NEAR, &ns), "%s", line);
}

TestSuite(timestamp, .init = zone);

Test(timestamp, reads_iso_8601_with_fractions_and_zones) {
    use("iso");
    reads("2025-11-21T13:00:00Z message", 1763730000);
    reads("2025-11-21 13:00:00 UTC", 1763730000);
    reads("2025-11-21T14:30:00+01:30", 1763730000);
    reads("2025-11-21t12:00:00-0100 x", 1763730000);
    reads("2025-11-21_15:00:00+02", 1763730000);
    reads("[2025-11-21 13:00:00 +0000] x", 1763730000);
    reads("Fri 2025-11-21 13:00:00 UTC h", 1763730000);
    reads("<34>1 2025-11-21T13:00:00.000Z host", 1763730000);
    reads_ns("2025-11-21T13:00:00.123456789Z", NEAR, 1763730000 * S + 123456789);
    reads_ns("2025-11-21T13:00:00,5Z", NEAR, 1763730000 * S + 500000000);
    reads_ns("2025-11-21T13:00:00.1234567899Z", NEAR, 1763730000 * S + 123456789);
    reads("1969-12-31T23:59:58Z", -2);
    reads("2000-02-29T00:00:00Z", 951782400);
    reads("1999-12-31T23:59:60Z", 946684800);
}

Test(timestamp, without_a_zone_is_local) {
    use("iso");
    reads("2025-11-21T08:00:00 message", 1763730000);
    reads("2025-11-21T08:00:00 -5 degrees", 1763730000);
    reads("2025-07-01T00:00:00", 1751342400);
    reads("2025-07-01T00:59:59", 1751345999);
    reads("2025-01-01T00:00:00", 1735707600);
}

Test(timestamp, reads_seconds_since_the_epoch_in_any_unit) {
    use("epoch");
    reads("1763730000 x", 1763730000);
    reads("@1763730000", 1763730000);
    reads("[1763730000] x", 1763730000);
    reads_ns("1763730000.25 x", NEAR, 1763730000 * S + 250000000);
    reads("1763730000000 x", 1763730000);
    reads("1763730000000000 x", 1763730000);
    reads_ns("1763730000000000007 x", NEAR, 1763730000 * S + 7);
    no_time("12345678");
    no_time("17637300000000000070");
    no_time("9999999999999999999");
}

Test(timestamp, of_syslog_gets_its_year_from_when_it_was_read) {
    use("syslog");
    reads("Nov 21 08:00:00 host x", 1763730000);
    reads("<3>Nov  1 00:00:00 host", 1761969600);
    reads("Nov 22 07:59:59 a day ahead", 1763816399);
    reads("Nov 22 08:00:01 is last year's", 1732280401);
    reads("Dec 31 23:59:59 too", 1735707599);
    reads("Feb 29 00:00:00 of the last leap year", 1709182800);
    reads_ns("Nov 21 08:00:00.000001 x", NEAR, 1763730000 * S + 1000);
    // read a moment after the year has changed
    reads_ns("Dec 31 23:59:59", INT64_C(1767243601) * S, INT64_C(1767243599) * S);
    reads_ns("Jan  1 00:00:00", INT64_C(1767243599) * S, INT64_C(1767243600) * S);
    no_time("Feb 30 00:00:00");
    no_time("Nov 21 24:00:00");
    no_time("Now 21 08:00:00");
}

Test(timestamp, of_any_known_kind_is_found_by_auto) {
    use("auto");
    reads("Nov 21 08:00:00 host", 1763730000);
    reads("2025-11-21T13:00:00Z", 1763730000);
    reads("1763730000.0 x", 1763730000);
    no_time("no time in here");
    no_time("");
    no_time("20251121 x");
}

Test(timestamp, follows_a_format_of_ones_own) {
    use("%d/%b/%Y:%H:%M:%S %z");
    reads("21/Nov/2025:13:00:00 +0000", 1763730000);
    reads("21/november/2025:13:00:00+0000", 1763730000);
    use("%F %T.%f%z %%");
    reads_ns("2025-11-21 13:00:00.5Z   %", NEAR, 1763730000 * S + 500000000);
    no_time("2025-11-21 13:00:00.5Z");
    use("%a, %e %B %y %I:%M %p");
    reads("Fri, 21 Nov 25 08:00 AM", 1763730000);
    reads("Friday, 21 November 25  8:00 pm", 1763773200);
    reads("Fri, 21 Nov 25 12:00 am", 1763701200);
    use("%y-%m-%dT%H:%M:%S%z");
    reads("68-12-31T23:59:59+0000", 3124223999);
    reads("69-01-01T00:00:00+0000", -31536000);
    use("%s,%f");
    reads_ns("1763730000,5", NEAR, 1763730000 * S + 500000000);
    reads_ns("-1,25", NEAR, -1250000000);
    use("%Y%j%n%R");
    reads("2025325 \t08:00", 1763730000);
    no_time("2025366 08:00");
}

Test(timestamp, without_a_date_is_the_nearest) {
    use("%T");
    reads("08:00:01 x", 1763730001);
    reads("19:59:59", 1763730000 + 43199);
    reads("20:00:01", 1763730000 - 43199);
}

Test(timestamp, is_searched_where_the_format_says_so) {
    use("%*[%d/%b/%Y:%H:%M:%S %z]");
    reads("::1 - [x] [21/Nov/2025:13:00:00 +0000] \"GET / HTTP/1.1\"", 1763730000);
    no_time("::1 - - [21/Nov/2025:13:00:00] x");
    char line[4096];
    memset(line, '[', sizeof(line));
    memcpy(line + 1024, "[21/Nov/2025:13:00:00 +0000]", 29);
    reads(line, 1763730000);
    memset(line + 1024, '[', 1);
    memcpy(line + 1025, "[21/Nov/2025:13:00:00 +0000]", 29);
    no_time(line);
}

Test(timestamp, out_of_range_is_none) {
    use("iso");
    no_time("2300-01-01T00:00:00Z");
    no_time("1600-01-01T00:00:00Z");
    no_time("2025-13-01T00:00:00Z");
    no_time("2025-02-29T00:00:00Z");
    no_time("0000-00-00T00:00:00Z");
    no_time("2025-11-21T13:60:00Z");
    no_time("2025-11-21");
    int64_t ns;
    cr_assert_not(
        timestamp_read(&stamp, (struct nvtxt_slice){"2025-11-21\0 13:00:00", 20}, NEAR, &ns));
}

Test(timestamp, of_every_day_agrees_with_the_library) {
    setenv("TZ", "UTC0", 1);
    tzset();
    use("%F %T");
    for (int64_t day = -106750; day < 106750; day += 13) {
        time_t wall = (time_t)(day * 86400 + 86399);
        struct tm tm;
        char line[64];
        gmtime_r(&wall, &tm);
        strftime(line, sizeof(line), "%Y-%m-%d %H:%M:%S", &tm);
        reads(line, (int64_t)wall);
    }
}

Test(timestamp, refuses_formats_that_give_no_time) {
    const char *fault = NULL;
    static const char *const bad[] = {"%Y-%m-%d %Q", "%", "%H:%M:%", "%H%*", "%E"};
    static const char *const scant[] = {"",   "time",  "%Y",       "%m %H:%M",
                                        "%d", "%M:%S", "%Y %H:%M", "%%H"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(timestamp_init(&stamp, bad[i], &fault), 1, "%s", bad[i]);
        cr_assert_eq(*fault, '%', "%s", bad[i]);
    }
    for (size_t i = 0; i < sizeof(scant) / sizeof(scant[0]); i++) {
        cr_assert_eq(timestamp_init(&stamp, scant[i], &fault), 2, "%s", scant[i]);
    }
}
