// SPDX-License-Identifier: Apache-2.0
//
// Which lines are read by their shape, and what their statements hold. That they are the same as
// those of the lexer and the parser is what tests/plain/plan_streams.c and tests/fuzz/fuzz_plan.c
// compare.
#include "protocol/lang/shape.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct nvtxt_cmddef definitions[NVTXT_CMD_COUNT];
static struct nvtxt_shape shape;
static struct nvtxt_tokens tokens;
static struct nvtxt_stmt stmt;

static void define(enum nvtxt_command command, unsigned count, const enum nvtxt_arg *args) {
    definitions[command] = (struct nvtxt_cmddef){0};
    for (unsigned i = 0; i < count; i++) {
        nvtxt_cmddef_add(&definitions[command], args[i]);
    }
}

// Marker, Time, Message; RangePop alone; the others by default.
static void begin(unsigned extensions, bool escapes) {
    for (unsigned command = 0; command < NVTXT_CMD_COUNT; command++) {
        nvtxt_cmddef_default(&definitions[command], (enum nvtxt_command)command);
    }
    define(NVTXT_CMD_MARKER, 2, (enum nvtxt_arg[]){NVTXT_ARG_TIME, NVTXT_ARG_MESSAGE});
    define(NVTXT_CMD_RANGE_POP, 0, NULL);
    nvtxt_shape_init(&shape, definitions, extensions, escapes);
}

static bool fits(const char *line) {
    return nvtxt_shape_read(&shape, nvtxt_slice_of(line), &tokens, &stmt);
}

static void reads_time(const char *digits, int64_t time) {
    char line[64];
    snprintf(line, sizeof(line), "Marker, %s, m", digits);
    cr_assert(fits(line), "%s", line);
    cr_assert_eq(stmt.values[0]->value.integer, time, "%s: %lld", line,
                 (long long)stmt.values[0]->value.integer);
    snprintf(line, sizeof(line), "RangePush, %s, %s", digits, digits);
    define(NVTXT_CMD_RANGE_PUSH, 2, (enum nvtxt_arg[]){NVTXT_ARG_THREAD_ID, NVTXT_ARG_TIME});
    cr_assert(fits(line), "%s", line);
    cr_assert_eq(stmt.values[1]->value.integer, time, "%s, at the end of the line", line);
}

Test(shape, reads_the_values_of_a_call) {
    begin(0, false);
    cr_assert(fits("Marker, 12,\"a b\""));
    cr_assert_eq(stmt.kind, NVTXT_STMT_CALL);
    cr_assert_eq(stmt.command, NVTXT_CMD_MARKER);
    cr_assert_eq(stmt.name->column, 1);
    cr_assert_eq(stmt.end_column, 17);
    cr_assert_eq(stmt.values[0]->column, 9);
    cr_assert_eq(stmt.values[0]->kind, NVTXT_TOKEN_INTEGER);
    cr_assert_eq(stmt.values[1]->column, 12);
    cr_assert_eq(stmt.values[1]->kind, NVTXT_TOKEN_STRING);
    cr_assert(nvtxt_slice_equal(stmt.values[1]->value.string, NVTXT_SLICE("a b")));
    cr_assert(nvtxt_slice_equal(stmt.values[1]->source, NVTXT_SLICE("\"a b\"")));
    cr_assert(fits("Marker, 12, word_1"));
    cr_assert_eq(stmt.values[1]->kind, NVTXT_TOKEN_WORD);
    cr_assert(fits("Marker, 12, 13"));
    cr_assert(fits("Marker, 12, 'it\"s'"));
}

Test(shape, reads_integers_of_every_length) {
    char digits[32];
    int64_t value = 0;
    begin(0, false);
    for (size_t len = 1; len <= 18; len++) {
        int64_t next = (int64_t)(len * 7 % 10);
        value = value * 10 + next;
        digits[len - 1] = (char)('0' + next);
        digits[len] = '\0';
        reads_time(digits, value);
    }
    reads_time("0", 0);
    reads_time("0000000000000000007", 7);
    reads_time("9223372036854775807", INT64_MAX);
}

Test(shape, leaves_integers_that_are_odd_to_the_lexer) {
    static const char *const odd[] = {
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999",
        "00000000000000000001",
        "18446744073709551617",
        "0x10",
        "1a",
        "1.5",
        "-",
        "-1",
        "--1",
        "+1",
        "1234567a",
        "12345678a",
        "1234567890123456x",
        "12345678/2345678",
        "1234567:",
        "\"1\"",
        "12345678\xff",
        "1234567\xb9",
    };
    begin(0, false);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        char line[64];
        snprintf(line, sizeof(line), "Marker, %s, m", odd[i]);
        cr_assert(!fits(line), "%s", line);
    }
}

Test(shape, leaves_what_does_not_fit_to_the_lexer) {
    static const char *const lines[] = {
        "",
        " ",
        "# Marker, 1, m",
        "Marker",
        "Marker,",
        "Marker, ",
        "Marker, 1",
        "Marker, 1,",
        "Marker, 1, ",
        "Marker, 1, m,",
        "Marker, 1, m ",
        "Marker, 1, m, 2",
        "Marker, 1 , m",
        "Marker, 1,  m",
        "Marker,\t1, m",
        " Marker, 1, m",
        "Marker , 1, m",
        "Marker, m, 1",
        "Marker, 1, $m",
        "$Marker, 1, m",
        "Marker, 1, \"m",
        "Marker, 1, \"m'",
        "Marker, 1, \"m\"m",
        "Marker, 1, \"\xff\"",
        "Marker, 1, m-n",
        "Marker = 1",
        "@Marker, Time",
        "Markers, 1, m",
        "RangePop,",
        "RangePop, 1",
        "RangePops",
        "SetCounter, m",
    };
    begin(0, false);
    cr_assert(fits("Marker, 1, m"));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        cr_assert(!fits(lines[i]), "%s", lines[i]);
    }
    cr_assert(!nvtxt_shape_read(&shape, (struct nvtxt_slice){NULL, 0}, &tokens, &stmt));
    cr_assert(!nvtxt_shape_read(&shape, NVTXT_SLICE("Marker, 1, \"a\0b\""), &tokens, &stmt));
}

Test(shape, takes_strings_that_are_utf_8) {
    begin(0, false);
    cr_assert(fits("Marker, 1, \"d\xc3\xa9j\xc3\xa0 vu, encore une fois\""));
    cr_assert(fits("Marker, 1, \"\""));
    cr_assert(fits("Marker, 1, \"1234567\x7f\""));
    cr_assert(fits("Marker, 1, \"1234567890\\\""), "a backslash is data");
}

Test(shape, leaves_escapes_to_the_lexer) {
    begin(0, true);
    cr_assert(!fits("Marker, 1, \"a\\nb\""));
    cr_assert(fits("Marker, 1, 'a\\nb'"), "there are none in single quotes");
    cr_assert(fits("Marker, 1, \"a b\""));
}

Test(shape, knows_the_commands_and_payloads_of_extensions) {
    begin(NVTXT_NVTX, true);
    cr_assert(fits("SetCounter, m"));
    define(NVTXT_CMD_MARKER, 2, (enum nvtxt_arg[]){NVTXT_ARG_TIME, NVTXT_ARG_PAYLOAD});
    cr_assert(fits("Marker, 1, \"u64:7\""));
    cr_assert(fits("Marker, 1, \"\""));
    cr_assert(!fits("Marker, 1, \"u64:x\""));
    begin(0, false);
    define(NVTXT_CMD_MARKER, 2, (enum nvtxt_arg[]){NVTXT_ARG_TIME, NVTXT_ARG_PAYLOAD});
    cr_assert(!fits("Marker, 1, \"u64:7\""));
    cr_assert(fits("Marker, 1, \"1.5\""));
}

Test(shape, goes_by_the_definition_in_force) {
    begin(0, false);
    cr_assert(fits("RangePop"));
    define(NVTXT_CMD_RANGE_POP, 1, (enum nvtxt_arg[]){NVTXT_ARG_TIME});
    cr_assert(!fits("RangePop"));
    cr_assert(fits("RangePop, 1"));
    define(NVTXT_CMD_RANGE_POP, 1, (enum nvtxt_arg[]){NVTXT_ARG_TIME_BASE});
    cr_assert(!fits("RangePop, 1"));
    cr_assert(fits("RangePop, Manual"));
}

Test(shape, guesses_the_next_command_and_is_told_when_it_is_wrong) {
    begin(0, false);
    define(NVTXT_CMD_RANGE_START, 2, (enum nvtxt_arg[]){NVTXT_ARG_TIME, NVTXT_ARG_RANGE_ID});
    define(NVTXT_CMD_RANGE_START_END, 2, (enum nvtxt_arg[]){NVTXT_ARG_START, NVTXT_ARG_END});
    for (int turn = 0; turn < 3; turn++) {
        cr_assert(fits("RangeStart, 1, 2"));
        cr_assert_eq(stmt.command, NVTXT_CMD_RANGE_START);
        cr_assert(fits("RangeStartEnd, 1, 2"));
        cr_assert_eq(stmt.command, NVTXT_CMD_RANGE_START_END);
    }
    cr_assert(fits("Marker, 1, m"));
    cr_assert(fits("RangeStart, 1, 2"));
    cr_assert_eq(stmt.command, NVTXT_CMD_RANGE_START);
    cr_assert_eq(stmt.values[1]->value.integer, 2);
    cr_assert(fits("Marker, 1, m"));
    cr_assert(fits("RangeStartEnd, 1, 2"), "its name begins with the one that is guessed");
    cr_assert_eq(stmt.command, NVTXT_CMD_RANGE_START_END);
}
