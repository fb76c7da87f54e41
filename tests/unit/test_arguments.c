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

TestSuite(arguments, .init = quiet);

Test(arguments, reads_integers_to_their_limits) {
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
        cr_assert(nvtxt_option_int64(good[i].text, &value), "%s", good[i].text);
        cr_assert_eq(value, good[i].value, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_not(nvtxt_option_int64(bad[i], &value), "%s", bad[i]);
    }
}

Test(arguments, reads_seconds) {
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"0", 0},      {"2", 2000},     {"0.5", 500},     {"1.25", 1250},
                {"0.0001", 1}, {"1.000", 1000}, {"0.00011111", 1}};
    static const char *const bad[] = {
        "", ".", ".5", "5.", "-1", "1s", "1.2.3", "1e3", "99999999999999999999"};
    int64_t ms;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert(nvtxt_option_seconds(good[i].text, &ms), "%s", good[i].text);
        cr_assert_eq(ms, good[i].ms, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_not(nvtxt_option_seconds(bad[i], &ms), "%s", bad[i]);
    }
}

Test(arguments, bounds_process_ids) {
    uint32_t pid = 7;
    cr_assert(nvtxt_option_pid("0xFFFFFF", &pid));
    cr_assert_eq(pid, 0xFFFFFF);
    cr_assert_not(nvtxt_option_pid("16777216", &pid));
    cr_assert_not(nvtxt_option_pid("-1", &pid));
    cr_assert_not(nvtxt_option_pid("x", &pid));
}

static enum outcome parse(struct arguments_parser *parser, const char *text) {
    static char copy[256];
    char *argv[32] = {"test"};
    int argc = 1;
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    parser->options.context = &term;
    return arguments_parse(parser, argc, argv);
}

// Takes "--mode=lerp --ns-a=1 …" and returns the result of the check of the whole.
static enum outcome check(const char *text, bool live, struct arguments_mapping *mapping) {
    struct arguments_parser parser = {.options = {arguments_mapping_rows, .values = mapping}};
    *mapping = (struct arguments_mapping){0};
    enum outcome result = parse(&parser, text);
    return result ? result : arguments_check_mapping(mapping, &term, live);
}

Test(arguments, takes_whole_mappings_only) {
    static const struct {
        const char *text;
        int of_file, live;
    } cases[] = {
        {"", 0, 0},
        {"--mode=lin --ns-a=1 --freq=2 --nvtxt-a=3", 0, 0},
        {"--mode=lin --ns-a=1 --freq=2", 0, OUTCOME_USAGE},
        {"--mode=lerp --ns-a=1 --ns-b=2 --nvtxt-a=3 --nvtxt-b=4", 0, 0},
        {"--mode=lerp --ns-a=1 --ns-b=2 --nvtxt-a=3", 0, OUTCOME_USAGE},
        {"--mode=lerp --ns-a=1 --ns-b=2", 0, OUTCOME_USAGE},
        {"--ns-a=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--freq=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=exp", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lin", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lin --ns-a=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lin --ns-a=1 --freq=0", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lin --ns-a=1 --freq=0 --nvtxt-a=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lin --ns-a=x --freq=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lin --ns-a=1 --freq=1 --nvtxt-a=1 --ns-b=2", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lin --ns-a=1 --freq=1 --nvtxt-a=1 --nvtxt-b=2", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lerp --ns-a=1 --ns-b=2 --nvtxt-a=3 --nvtxt-b=4 --freq=1", OUTCOME_USAGE,
         OUTCOME_USAGE},
        {"--mode=lerp --ns-a=1", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lerp --ns-a=2 --ns-b=2", OUTCOME_USAGE, OUTCOME_USAGE},
        {"--mode=lerp --ns-a=1 --ns-b=2 --nvtxt-a=3 --nvtxt-b=3", OUTCOME_USAGE, OUTCOME_USAGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arguments_mapping mapping;
        cr_assert_eq(check(cases[i].text, false, &mapping), cases[i].of_file, "%s", cases[i].text);
        cr_assert_eq(check(cases[i].text, true, &mapping), cases[i].live, "%s", cases[i].text);
    }
}

Test(arguments, knows_when_the_file_must_be_asked_for_its_times) {
    struct arguments_mapping mapping;
    check("", false, &mapping);
    cr_assert_not(arguments_mapping_needs_times(&mapping));
    check("--mode=lin --ns-a=1 --freq=2", false, &mapping);
    cr_assert(arguments_mapping_needs_times(&mapping));
    check("--mode=lerp --ns-a=1 --ns-b=2 --nvtxt-a=3", false, &mapping);
    cr_assert(arguments_mapping_needs_times(&mapping));
    check("--mode=lerp --ns-a=1 --ns-b=2 --nvtxt-a=3 --nvtxt-b=4", false, &mapping);
    cr_assert_not(arguments_mapping_needs_times(&mapping));
}

struct values {
    bool flag, has_number, waits;
    const char *text;
    int64_t number, wait_ms;
    uint64_t bytes;
    struct nvtxt_option_list list;
    struct arguments_mapping mapping;
    int taken;
};

static int take_two(const struct nvtxt_option_value *value) {
    *(int *)value->field += strcmp(value->row->name, "two") == 0 ? 2 : 1;
    return strcmp(value->text, "wrong") == 0 ? NVTXT_WRONG : 0;
}

#define AT(field) offsetof(struct values, field)

static const struct nvtxt_option rows[] = {
    {.kind = NVTXT_OPTION_GROUP, .at = AT(mapping), .group = arguments_mapping_rows},
    {"flag", 'f', NVTXT_OPTION_FLAG, .at = AT(flag)},
    {"text", 't', NVTXT_OPTION_TEXT, .at = AT(text), .wanted = "a text", .alias = "words"},
    {"number", 0, NVTXT_OPTION_NUMBER, .at = AT(number), .has = AT(has_number),
     .wanted = "a number from 1 to 9", .least = 1, .most = 9},
    {"wait", 0, NVTXT_OPTION_SECONDS, .at = AT(wait_ms), .has = AT(waits), .wanted = "seconds",
     .optional = true},
    {"bytes", 0, NVTXT_OPTION_BYTES, .at = AT(bytes), .wanted = "bytes", .least = 1024},
    {"list", 0, NVTXT_OPTION_LIST, .at = AT(list)},
    {"two", 0, NVTXT_OPTION_OTHER, .at = AT(taken), .wanted = "two", .take = take_two},
    {0},
};

Test(arguments, sets_the_fields_of_its_rows) {
    struct values values = {.wait_ms = 5};
    struct arguments_parser parser = {.options = {rows, .values = &values}};
    cr_assert_eq(parse(&parser, "a -f --words=x --number=9 --wait --bytes=1K --list=a --list=b "
                                "--two=2 --freq=3 -- b"),
                 0);
    cr_expect(values.flag && values.has_number && values.waits);
    cr_expect_str_eq(values.text, "x");
    cr_expect_eq(values.number, 9);
    cr_expect_eq(values.wait_ms, -1);
    cr_expect_eq(values.bytes, 1024);
    cr_expect(values.list.count == 2 && strcmp(values.list.words[1], "b") == 0);
    cr_expect_eq(values.taken, 2);
    cr_expect(values.mapping.has_freq && values.mapping.mapping.freq == 3);
    free(values.list.words);
}

Test(arguments, knows_the_end_of_the_options_from_a_value) {
    struct values values = {0};
    struct arguments_parser parser = {.options = {rows, .values = &values}};
    cr_expect_eq(parse(&parser, "-f --"), 0);
    cr_expect(parser.options.dashes);
    cr_expect_eq(parse(&parser, "-t --"), 0);
    cr_expect_not(parser.options.dashes);
    cr_expect_eq(parser.options.letter, 't');
}

Test(arguments, refuses_wrong_values) {
    static const char *const texts[] = {"--number=0", "--number=10", "--number=x",  "--bytes=1023",
                                        "--wait=x",   "--text=",     "--two=wrong", "--flag=1",
                                        "--none",     "-n",          "--number"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct values values = {0};
        struct arguments_parser parser = {.options = {rows, .values = &values}};
        cr_expect_eq(parse(&parser, texts[i]), OUTCOME_USAGE, "%s", texts[i]);
    }
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
    cr_assert_str_eq(out, " \xc3\x9b\xc2\xa0");
    term_printable(out, 3, "abcdef");
    cr_assert_str_eq(out, "ab");
}

Test(arguments, bytes_have_units_of_1024) {
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"0", 0},        {"7", 7},        {"4096K", 4 << 20},
                {"4M", 4 << 20}, {"1G", 1 << 30}, {"8388607T", INT64_C(8388607) << 40}};
    static const char *const bad[] = {"",
                                      "M",
                                      "-1",
                                      "1.5M",
                                      "4MB",
                                      "4m",
                                      " 4M",
                                      "4M ",
                                      "0x10",
                                      "8388608T",
                                      "18446744073709551616"};
    int64_t bytes;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert(nvtxt_option_bytes(good[i].text, &bytes), "%s", good[i].text);
        cr_assert_eq(bytes, good[i].bytes, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_not(nvtxt_option_bytes(bad[i], &bytes), "%s", bad[i]);
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
