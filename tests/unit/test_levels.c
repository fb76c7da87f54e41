// SPDX-License-Identifier: Apache-2.0
//
// Levels of log lines: the usual words where they are levels and where they are not, and patterns
// of the user.
#include "client/text/levels.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "protocol/lang/names.h"

static struct levels levels;
static char fault[128];

static void is(const char *line, uint32_t wanted) {
    uint32_t color = 0;
    (void)levels_find(&levels, nvtxt_slice_of(line), &color);
    cr_assert_eq(color, wanted, "%s: %08x not %08x", line, color, wanted);
}

static void has_none(const char *line) {
    uint32_t color = 1;
    cr_assert_eq(levels_find(&levels, nvtxt_slice_of(line), &color), NVTXT_LEVEL_NONE, "%s", line);
    cr_assert_eq(color, 1, "%s", line);
}

#define RED 0xffff0000u
#define ORANGE 0xffffa500u
#define DODGER_BLUE 0xff1e90ffu
#define GRAY 0xff808080u
#define DARK_RED 0xff8b0000u

Test(levels, are_found_where_they_are_written_as_levels) {
    is("ERROR something", RED);
    is("2026-11-21 12:00:00 ERROR [main] x", RED);
    is("cc: error: no input", RED);
    is("[warn] x", ORANGE);
    is("(info) x", DODGER_BLUE);
    is("ts=1 level=debug msg=x", GRAY);
    is("{\"level\":\"error\"}", RED);
    is("{\"level\": \"fatal\"}", DARK_RED);
    is("Warning: x", ORANGE);
    is("INFO:root:handled ERROR page", DODGER_BLUE);
    is("Traceback ERR", RED);
    is("Traceback (most recent call last):", RED);
    is("TypeError: x is no function", RED);
    is("json.decoder.JSONDecodeError: Expecting value", RED);
    is("Caused by: java.io.IOException: closed", RED);
    is("EMERGENCY", 0xff8b008bu);
    is("INFORMATION x", DODGER_BLUE);
}

Test(levels, are_not_every_word_of_that_kind) {
    has_none("");
    has_none("no error at all");
    has_none("for more info see");
    has_none("the warning light");
    has_none("0 errors, 0 warnings");
    has_none("TERROR ERRORS ERROR_CODE 2ERR");
    has_none("\"error\" is a word");
    has_none("MyError is a class");
    has_none("myError: x");
    has_none("Traceback is a word");
}

Test(levels, are_searched_for_at_the_beginning_only) {
    char line[LEVELS_BYTES + 16];
    memset(line, ' ', sizeof(line));
    snprintf(line + LEVELS_BYTES - 5, 6, "ERROR");
    is(line, RED);
    memset(line, ' ', sizeof(line));
    snprintf(line + LEVELS_BYTES, 6, "ERROR");
    has_none(line);
}

Test(levels, come_of_syslog_priorities) {
    is("<3>x", RED);
    is("<11>x INFO", RED);
    is("<191>", GRAY);
    is("<0>x", 0xff8b008bu);
    is("<4>", ORANGE);
    has_none("<192>x");
    has_none("<>x");
    has_none("<3");
    has_none("<0003>x");
    has_none("x <3>");
}

static int level_of(const char *line) {
    uint32_t color = 0;
    return levels_find(&levels, nvtxt_slice_of(line), &color);
}

Test(levels, are_those_of_syslog_whatever_the_colour) {
    cr_assert_eq(level_of("<34>x"), 2);
    cr_assert_eq(level_of("panic: x"), 0);
    cr_assert_eq(level_of("ERROR x"), 3);
    cr_assert_eq(level_of("Traceback (most recent call last):"), 3);
    cr_assert_eq(level_of("TypeError: x"), 3);
    cr_assert_eq(level_of("[warn] x"), 4);
    cr_assert_eq(level_of("TRACE x"), 7);
    cr_assert_eq(level_of("x"), NVTXT_LEVEL_NONE);
    cr_assert_eq(levels_add(&levels, "ERROR=Gray", fault, sizeof(fault)), 0);
    is("ERROR x", GRAY);
    cr_assert_eq(level_of("ERROR x"), 3);
    cr_assert_eq(levels_add(&levels, "none", fault, sizeof(fault)), 0);
    cr_assert_eq(level_of("ERROR x"), NVTXT_LEVEL_NONE);
    levels_deinit(&levels);
}

Test(levels, of_ones_own_come_first_and_in_order) {
    cr_assert_eq(levels_add(&levels, "^E[0-9]{4}=Red", fault, sizeof(fault)), 0);
    cr_assert_eq(levels_add(&levels, "a=b=#00FF00", fault, sizeof(fault)), 0);
    cr_assert_eq(levels_add(&levels, "ERROR=0x10", fault, sizeof(fault)), 0);
    is("E1234 ERROR", RED);
    is("x a=b ERROR", 0xff00ff00u);
    is("ERROR", 0x10);
    is("WARN", ORANGE);
    has_none("");
    uint32_t color = 0;
    cr_assert_eq(levels_find(&levels, (struct nvtxt_slice){"\0\0a=b", 5}, &color),
                 NVTXT_LEVEL_NONE);
    cr_assert_eq(color, 0xff00ff00u, "after a NUL");
    cr_assert_eq(levels_add(&levels, "none", fault, sizeof(fault)), 0);
    has_none("WARN <3>");
    is("ERROR", 0x10);
    levels_deinit(&levels);
}

Test(levels, that_make_no_sense_are_refused_with_a_sentence) {
    static const char *const bad[] = {
        "x", "=Red", "x=Blau", "x=", "(=Red", "x=0x100000000", "x=-1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        *fault = '\0';
        cr_assert_eq(levels_add(&levels, bad[i], fault, sizeof(fault)), 1, "%s", bad[i]);
        cr_assert(*fault, "%s", bad[i]);
    }
    cr_assert_eq(levels.count, 0);
    for (int i = 0; i < LEVELS_RULES; i++) {
        cr_assert_eq(levels_add(&levels, "x=Red", fault, sizeof(fault)), 0);
    }
    cr_assert_eq(levels_add(&levels, "x=Red", fault, sizeof(fault)), 1);
    levels_deinit(&levels);
}
