// SPDX-License-Identifier: Apache-2.0
//
// Times and lengths of time on the command line.
#include "protocol/text/forms.h"

#include <criterion/criterion.h>

#define SECOND INT64_C(1000000000)

static void is_time(const char *text, int64_t wanted) {
    int64_t ns = 0;
    cr_expect(nvtxt_time_parse(text, &ns), "%s", text);
    cr_expect_eq(ns, wanted, "%s: %lld", text, (long long)ns);
}

static void is_length(const char *text, int64_t wanted) {
    int64_t ns = 0;
    cr_expect(nvtxt_duration_parse(text, &ns), "%s", text);
    cr_expect_eq(ns, wanted, "%s: %lld", text, (long long)ns);
}

Test(export_time, takes_dates) {
    is_time("1970-01-01", 0);
    is_time("2026-11-21T06:24:00Z", 1795242240 * SECOND);
    is_time("2026-11-21 06:24", 1795242240 * SECOND);
    is_time("2026-11-21T06:24:00", 1795242240 * SECOND);
    is_time("2026-11-21T06:24:00.000000001Z", 1795242240 * SECOND + 1);
    is_time("2026-11-21T06:24:00.5", 1795242240 * SECOND + SECOND / 2);
    is_time("2026-11-21T06:24:00.1234567899", 1795242240 * SECOND + 123456789);
    is_time("2026-11-21T07:24:00+01:00", 1795242240 * SECOND);
    is_time("2026-11-21T02:54-0330", 1795242240 * SECOND);
    is_time("2026-11-21T08:24+02", 1795242240 * SECOND);
    is_time("2000-02-29", 951782400 * SECOND);
    is_time("1969-12-31T23:59:59", -SECOND);
    is_time("1900-03-01", -2203891200 * SECOND);
}

Test(export_time, takes_seconds_and_nanoseconds) {
    is_time("0", 0);
    is_time("-5", -5);
    is_time("9223372036854775807", INT64_MAX);
    is_time("@1795242240", 1795242240 * SECOND);
    is_time("@1795242240.25", 1795242240 * SECOND + SECOND / 4);
    is_time("@-1.5", -SECOND - SECOND / 2);
}

Test(export_time, refuses_what_is_none) {
    static const char *const texts[] = {"",
                                        "-",
                                        "@",
                                        "x",
                                        "12x",
                                        "9223372036854775808",
                                        "2026-13-01",
                                        "2026-02-29",
                                        "2026-00-01",
                                        "2026-1-1",
                                        "2026-11-21T",
                                        "2026-11-21T24:00",
                                        "2026-11-21T06",
                                        "2026-11-21T06:24:00.",
                                        "2026-11-21Tx",
                                        "2026-11-21 06:24 ",
                                        "2026-11-21T06:24+1",
                                        "@1.",
                                        "@1.5x",
                                        "@9223372037",
                                        "9999-01-01",
                                        "-2026-11-21",
                                        "2026-11-21T06:24+01:0"};
    int64_t ns;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_not(nvtxt_time_parse(texts[i], &ns), "%s", texts[i]);
    }
}

Test(export_time, takes_lengths) {
    is_length("90", 90 * SECOND);
    is_length("5m", 300 * SECOND);
    is_length("1.5h", 5400 * SECOND);
    is_length("2h30m", 9000 * SECOND);
    is_length("1d", 86400 * SECOND);
    is_length("250ms", SECOND / 4);
    is_length("7us", 7000);
    is_length("8ns", 8);
    is_length("0.25", SECOND / 4);
    is_length("0", 0);
}

Test(export_time, refuses_lengths_that_are_none) {
    static const char *const texts[] = {"",    "m",    "5x", "5 m", "-5m", "1.", "99999999999d",
                                        "5mm", "1h-2m"};
    int64_t ns;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_not(nvtxt_duration_parse(texts[i], &ns), "%s", texts[i]);
    }
}
