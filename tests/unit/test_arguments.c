// SPDX-License-Identifier: Apache-2.0
//
// Numbers on the command line, the time mapping, figures for people, the socket's path.
#include "client/common/arguments.h"
#include "client/common/outcome.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct term term;

static void quiet(void) { // the e2e tests check the sentences
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    close(null);
    term_init(&term, "test");
}

TestSuite(options, .init = quiet);

Test(options, reads_integers_to_their_limits) {
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"007", 7},
                {"-1", -1},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"0x7fffffffffffffff", INT64_MAX},
                {"0XfF", 255}};
    static const char *const bad[] = {"",
                                      "-",
                                      "0x",
                                      "-0x1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.5",
                                      "1e3",
                                      "0x1g",
                                      "a",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "0x8000000000000000",
                                      "--1"};
    int64_t value;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert(options_int64(good[i].text, &value), "%s", good[i].text);
        cr_assert_eq(value, good[i].value, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_not(options_int64(bad[i], &value), "%s", bad[i]);
    }
}

Test(options, reads_seconds) {
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"0", 0},       {"2", 2000},   {"0.5", 500},
                {"1.25", 1250}, {"0.0001", 1}, {"1.000", 1000}};
    static const char *const bad[] = {
        "", ".", ".5", "5.", "-1", "1s", "1.2.3", "1e3", "99999999999999999999"};
    int64_t ms;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert(options_seconds(good[i].text, &ms), "%s", good[i].text);
        cr_assert_eq(ms, good[i].ms, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_not(options_seconds(bad[i], &ms), "%s", bad[i]);
    }
}

Test(options, bounds_process_ids) {
    uint32_t pid = 7;
    cr_assert_eq(options_pid(&term, "0xFFFFFF", &pid), 0);
    cr_assert_eq(pid, 0xFFFFFF);
    cr_assert_eq(options_pid(&term, "16777216", &pid), OUTCOME_USAGE);
    cr_assert_eq(options_pid(&term, "-1", &pid), OUTCOME_USAGE);
    cr_assert_eq(options_pid(&term, "x", &pid), OUTCOME_USAGE);
}

// Takes "mode=lerp ns-a=1 …" and returns the result of the check of the whole.
static int check(const char *text, bool live, struct options_mapping *mapping) {
    static const struct {
        const char *name;
        int option;
    } names[] = {{"mode=", OPTIONS_MODE},       {"ns-a=", OPTIONS_NS_A},
                 {"ns-b=", OPTIONS_NS_B},       {"nvtxt-a=", OPTIONS_NVTXT_A},
                 {"nvtxt-b=", OPTIONS_NVTXT_B}, {"freq=", OPTIONS_FREQ}};
    char copy[256];
    *mapping = (struct options_mapping){0};
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            size_t len = strlen(names[i].name);
            if (strncmp(word, names[i].name, len) == 0) {
                int result = options_take_mapping(mapping, &term, names[i].option, word + len);
                if (result != 0) {
                    return result;
                }
            }
        }
    }
    return options_check_mapping(mapping, &term, live);
}

Test(options, takes_whole_mappings_only) {
    static const struct {
        const char *text;
        int of_file, live;
    } cases[] = {
        {"", 0, 0},
        {"mode=lin ns-a=1 freq=2 nvtxt-a=3", 0, 0},
        {"mode=lin ns-a=1 freq=2", 0, OUTCOME_USAGE},
        {"mode=lerp ns-a=1 ns-b=2 nvtxt-a=3 nvtxt-b=4", 0, 0},
        {"mode=lerp ns-a=1 ns-b=2 nvtxt-a=3", 0, OUTCOME_USAGE},
        {"mode=lerp ns-a=1 ns-b=2", 0, OUTCOME_USAGE},
        {"ns-a=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"freq=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=exp", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lin", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lin ns-a=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lin ns-a=1 freq=0", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lin ns-a=1 freq=0 nvtxt-a=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lin ns-a=x freq=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lin ns-a=1 freq=1 nvtxt-a=1 ns-b=2", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lin ns-a=1 freq=1 nvtxt-a=1 nvtxt-b=2", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lerp ns-a=1 ns-b=2 nvtxt-a=3 nvtxt-b=4 freq=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lerp ns-a=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lerp ns-a=2 ns-b=2", OUTCOME_USAGE, OUTCOME_USAGE},
        {"mode=lerp ns-a=1 ns-b=2 nvtxt-a=3 nvtxt-b=3", OUTCOME_USAGE, OUTCOME_USAGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct options_mapping mapping;
        cr_assert_eq(check(cases[i].text, false, &mapping), cases[i].of_file, "%s", cases[i].text);
        cr_assert_eq(check(cases[i].text, true, &mapping), cases[i].live, "%s", cases[i].text);
    }
}

Test(options, knows_when_the_file_must_be_asked_for_its_times) {
    struct options_mapping mapping;
    check("", false, &mapping);
    cr_assert_not(options_mapping_needs_times(&mapping));
    check("mode=lin ns-a=1 freq=2", false, &mapping);
    cr_assert(options_mapping_needs_times(&mapping));
    check("mode=lerp ns-a=1 ns-b=2 nvtxt-a=3", false, &mapping);
    cr_assert(options_mapping_needs_times(&mapping));
    check("mode=lerp ns-a=1 ns-b=2 nvtxt-a=3 nvtxt-b=4", false, &mapping);
    cr_assert_not(options_mapping_needs_times(&mapping));
    cr_assert_eq(options_take_mapping(&mapping, &term, OPTIONS_OWN, "x"), OPTIONS_OTHER);
}

Test(term, groups_digits) {
    char out[TERM_COUNT_SIZE];
    cr_assert_str_eq(term_count(out, 0), "0");
    cr_assert_str_eq(term_count(out, 999), "999");
    cr_assert_str_eq(term_count(out, 1000), "1,000");
    cr_assert_str_eq(term_count(out, 1234567), "1,234,567");
    cr_assert_str_eq(term_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
}

Test(term, removes_control_characters) {
    char out[8];
    term_printable(out, sizeof(out), "a\033[1mb\n\x7f");
    cr_assert_str_eq(out, "a [1mb ");
    term_printable(out, sizeof(out), "\xc2\x9b\xc3\x9b\xc2\xa0");
    cr_assert_str_eq(out, "  \xc3\x9b\xc2\xa0");
    term_printable(out, 3, "abcdef");
    cr_assert_str_eq(out, "ab");
}

Test(options, bytes_have_units_of_1024) {
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},        {"7", 7},           {"4096K", 4 << 20},
                {"4M", 4 << 20}, {"1G", 1ull << 30}, {"16777215T", 16777215ull << 40}};
    static const char *const bad[] = {"",
                                      "M",
                                      "-1",
                                      "1.5M",
                                      "4MB",
                                      "4m",
                                      " 4M",
                                      "4M ",
                                      "0x10",
                                      "16777216T",
                                      "18446744073709551616"};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert(options_bytes(good[i].text, &bytes), "%s", good[i].text);
        cr_assert_eq(bytes, good[i].bytes, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_not(options_bytes(bad[i], &bytes), "%s", bad[i]);
    }
}

Test(outcome, has_the_exit_status_that_the_manuals_name) {
    static const struct {
        enum outcome outcome;
        int status;
    } cases[] = {
        {OUTCOME_DONE, 0},      {OUTCOME_FAULTS, 1},      {OUTCOME_USAGE, 64},
        {OUTCOME_BAD_DATA, 65}, {OUTCOME_NO_INPUT, 66},   {OUTCOME_NO_DAEMON, 69},
        {OUTCOME_SYSTEM, 71},   {OUTCOME_NO_OUTPUT, 73},  {OUTCOME_IO, 74},
        {OUTCOME_LATER, 75},    {OUTCOME_PROTOCOL, 76},   {OUTCOME_FORBIDDEN, 77},
        {OUTCOME_STOPPED, 128}, {OUTCOME_NO_READER, 141}, {OUTCOME_ANSWERED, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(outcome_exit_status(cases[i].outcome), cases[i].status, "%d", cases[i].status);
    }
}

Test(outcome, follows_from_an_error_of_the_system) {
    cr_assert_eq(outcome_of_error(-ENOMEM, OUTCOME_IO), OUTCOME_SYSTEM);
    cr_assert_eq(outcome_of_error(-EIO, OUTCOME_NO_INPUT), OUTCOME_NO_INPUT);
    cr_assert_eq(outcome_of_error(0, OUTCOME_DONE), OUTCOME_DONE);
    cr_assert_eq(outcome_of_open(-EACCES), OUTCOME_NO_INPUT);
    cr_assert_eq(outcome_of_open(-EIO), OUTCOME_IO);
    cr_assert_eq(outcome_of_write(-ENOSPC), OUTCOME_IO);
    cr_assert_eq(outcome_of_write(-EACCES), OUTCOME_NO_OUTPUT);
}
