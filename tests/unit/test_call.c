// SPDX-License-Identifier: Apache-2.0
//
// From a call to its meaning: values, variables and defaults. The plan that is kept of the
// variables is never out of date.
#include "protocol/interp/call.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "protocol/lang/lexer.h"

static struct nvtxt_source_config config = {.limits = NVTXT_LIMITS_DEFAULT, .default_pid = 7};
static struct nvtxt_clock_offset clocks[NVTXT_TIMEBASE_COUNT];
static struct nvtxt_symtab symtab;
static struct nvtxt_buf scratch;
static struct nvtxt_cmddef definitions[NVTXT_CMD_COUNT];
static struct nvtxt_plan plans[NVTXT_CMD_COUNT];
static struct nvtxt_tokens tokens;
static struct nvtxt_stmt stmt;
static struct nvtxt_call call;
static struct nvtxt_diag diag;

// Takes a line as the interpreter does: an assignment or a definition has its effect, a call is
// resolved.
static int take(const char *line) {
    if (definitions[0].count == 0) {
        for (unsigned command = 0; command < NVTXT_CMD_COUNT; command++) {
            nvtxt_cmddef_default(&definitions[command], (enum nvtxt_command)command);
        }
    }
    cr_assert_eq(nvtxt_lex(nvtxt_slice_of(line), false, &symtab, &scratch, &tokens, &diag), 0, "%s",
                 line);
    cr_assert_eq(nvtxt_parse(&tokens, definitions, config.levels, &stmt, &diag), 0, "%s: %s", line,
                 diag.message);
    if (stmt.kind == NVTXT_STMT_ASSIGN) {
        return nvtxt_symtab_set(&symtab, &config.limits, stmt.name->value.string,
                                &stmt.value->value);
    }
    if (stmt.kind == NVTXT_STMT_DEFINE) {
        definitions[stmt.command] = stmt.definition;
        plans[stmt.command].made = false;
        return 0;
    }
    struct nvtxt_call_context context = {
        &config, NULL, clocks, &symtab, &definitions[stmt.command], &plans[stmt.command]};
    return nvtxt_call_resolve(&context, &stmt, &call, &diag);
}

static void takes(const char *line) {
    cr_assert_eq(take(line), 0, "%s: %s", line, diag.message);
}

static void fails(const char *line, enum nvtxt_diag_code code, uint32_t column) {
    cr_assert_eq(take(line), 1, "%s", line);
    cr_assert_eq(diag.code, code, "%s: %s", line, diag.message);
    cr_assert_eq(diag.column, column, "%s: %u", line, diag.column);
}

static bool text_is(const char *wanted) {
    return nvtxt_slice_equal(call.text, nvtxt_slice_of(wanted));
}

Test(call, knows_colors_again_and_tells_them_apart) {
    static const struct {
        const char *text;
        uint32_t color;
    } colors[] = {
        {"Blue", 0xFF0000FF},
        {"Lime", 0xFF00FF00},
        {"blue", 0xFF0000FF},
        {"Blue", 0xFF0000FF},
        {"Lame", 0},
        {"Lime", 0xFF00FF00},
        {"'#80FF8000'", 0x80FF8000},
        {"'#80FF8008'", 0x80FF8008},
        {"''", 0},
        {"'#80FF8000'", 0x80FF8000},
        {"7", 7},
        {"LightGoldenrodYellow", 0xFFFAFAD2},
        {"LightGoldenrodYellows", 0},
        {"LightGoldenrodYellow", 0xFFFAFAD2},
    };
    takes("@Marker, Time, Color");
    for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
        char line[64];
        snprintf(line, sizeof(line), "Marker, 1, %s", colors[i].text);
        takes(line);
        cr_assert_eq(call.color, colors[i].color, "%zu: %s", i, line);
        cr_assert_eq(call.bad_color, colors[i].color == 0, "%zu: %s", i, line);
    }
}

Test(call, takes_every_value_that_it_lists) {
    takes("Marker, 5, Relative, 1, 2, 3, '#80FF0000', m, '2.5'");
    cr_assert_eq(call.raw_time, 5);
    cr_assert_eq(call.timebase, NVTXT_TIMEBASE_RELATIVE);
    cr_assert_eq(call.pid, 1);
    cr_assert_eq(call.tid, 2);
    cr_assert_eq(call.category, 3);
    cr_assert_eq(call.color, 0x80FF0000);
    cr_assert(text_is("m"));
    cr_assert_eq(call.payload.kind, NVTXT_PAYLOAD_DOUBLE);
    cr_assert_eq(call.payload.real, 2.5);
    cr_assert_eq(call.given, nvtxt_commands[NVTXT_CMD_MARKER].accepted);
}

Test(call, has_defaults_for_what_is_optional) {
    takes("@Marker, Time");
    takes("Marker, 5");
    cr_assert_eq(call.timebase, NVTXT_TIMEBASE_MANUAL);
    cr_assert_eq(call.time, 5);
    cr_assert_eq(call.pid, 7);
    cr_assert_eq(call.tid, 7, "a main thread");
    cr_assert_eq(call.category, 0);
    cr_assert_eq(call.color, 0);
    cr_assert_not(call.bad_color);
    cr_assert_eq(call.text.len, 0);
    cr_assert_eq(call.payload.kind, NVTXT_PAYLOAD_NONE);
    cr_assert_eq(call.given, nvtxt_arg_bit(NVTXT_ARG_TIME));
}

Test(call, takes_the_process_in_force_for_its_thread) {
    takes("@Marker, Time, ProcessId");
    takes("Marker, 1, 9");
    cr_assert_eq(call.tid, 9);
    takes("@Marker, Time");
    takes("ProcessId = 11");
    takes("Marker, 1");
    cr_assert_eq(call.pid, 11);
    cr_assert_eq(call.tid, 11);
    takes("ThreadId = 12");
    takes("Marker, 1");
    cr_assert_eq(call.tid, 12);
}

Test(call, sees_a_variable_that_changed_since_the_call_before) {
    takes("@Marker, Time");
    takes("Marker, 1");
    takes("Message = first");
    takes("Marker, 1");
    cr_assert(text_is("first"));
    takes("Message = \"second, and too long for the storage of the first one\"");
    takes("Marker, 1");
    cr_assert(text_is("second, and too long for the storage of the first one"));
    takes("Message = 0x10");
    takes("Marker, 1");
    cr_assert(text_is("16"));
    takes("Message = ''");
    takes("Marker, 1");
    cr_assert_eq(call.text.len, 0);
    takes("Color = Red");
    takes("Marker, 1");
    cr_assert_eq(call.color, 0xFFFF0000);
    takes("Color = nocolor");
    takes("Marker, 1");
    cr_assert(call.bad_color);
    cr_assert_eq(call.color, 0);
    takes("Color = 4294967295");
    takes("Marker, 1");
    cr_assert_not(call.bad_color);
    cr_assert_eq(call.color, 0xFFFFFFFF);
}

Test(call, sees_a_definition_that_changed_since_the_call_before) {
    takes("CategoryId = 5");
    takes("@Marker, Time");
    takes("Marker, 1");
    cr_assert_eq(call.category, 5);
    takes("@Marker, Time, CategoryId");
    takes("Marker, 1, 6");
    cr_assert_eq(call.category, 6, "what is listed comes from the call");
    takes("@Marker, Time");
    takes("Marker, 1");
    cr_assert_eq(call.category, 5);
}

Test(call, prefers_listed_values_also_after_faulty_variables) {
    takes("ProcessId = text");
    takes("@Marker, Time, ProcessId");
    takes("Marker, 1, 3");
    takes("@Marker, Time");
    fails("Marker, 1", NVTXT_DIAG_STATIC_WRONG_TYPE, 1);
    takes("ProcessId = 4");
    takes("Marker, 1");
    cr_assert_eq(call.pid, 4);
}

Test(call, ignores_variables_of_arguments_that_the_command_does_not_take) {
    takes("Payload = nonsense");
    takes("Start = text");
    takes("@RangePop, Time");
    takes("RangePop, 1");
    takes("@Marker, Time");
    fails("Marker, 1", NVTXT_DIAG_STATIC_WRONG_TYPE, 1);
}

Test(call, misses_required_arguments_after_its_last_token) {
    takes("@RangeStartEnd, Message");
    fails("RangeStartEnd, m", NVTXT_DIAG_MISSING_ARGUMENT, 17);
    takes("Start = 1");
    fails("RangeStartEnd, m", NVTXT_DIAG_MISSING_ARGUMENT, 17);
    takes("End = 2");
    takes("RangeStartEnd, m");
    cr_assert_eq(call.time, 1);
    cr_assert_eq(call.end, 2);
    takes("@Marker");
    fails("Marker", NVTXT_DIAG_MISSING_ARGUMENT, 7);
}

Test(call, refuses_static_arguments_of_a_wrong_type) {
    static const char *const lines[] = {"Time = a",     "TimeBase = 1",   "ProcessId = a",
                                        "ThreadId = a", "CategoryId = a", "Payload = a"};
    takes("@Marker");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        nvtxt_symtab_deinit(&symtab);
        memset(plans, 0, sizeof(plans));
        takes(lines[i]);
        fails("Marker", NVTXT_DIAG_STATIC_WRONG_TYPE, 1);
    }
}

Test(call, refuses_what_is_out_of_range) {
    takes("@Marker, Time, ProcessId, ThreadId, CategoryId");
    takes("Marker, 1, 0xFFFFFF, 0, 0xFFFFFFFF");
    fails("Marker, 1, 0x1000000, -1, -1", NVTXT_DIAG_ID_OUT_OF_RANGE, 12);
    fails("Marker, 1, 1, -1, -1", NVTXT_DIAG_ID_OUT_OF_RANGE, 15);
    fails("Marker, 1, 1, 1, 0x100000000", NVTXT_DIAG_CATEGORY_OUT_OF_RANGE, 18);
    takes("ThreadId = -1");
    takes("Marker, 1, 1, 1, 1");
    takes("@Marker, Time, ProcessId");
    fails("Marker, 1, -1", NVTXT_DIAG_ID_OUT_OF_RANGE, 1);
}

Test(call, reports_the_leftmost_of_its_faults) {
    config.origin_ns = INT64_MAX;
    config.claim = true;
    config.claimed_pid = 7;
    takes("TimeBase = Relative");
    takes("@RangeStartEnd, CategoryId, End, Start, ProcessId");
    fails("RangeStartEnd, -1, 1, 1, 8", NVTXT_DIAG_CATEGORY_OUT_OF_RANGE, 16);
    fails("RangeStartEnd, 1, 1, 1, 8", NVTXT_DIAG_TIME_OUT_OF_RANGE, 19);
    fails("RangeStartEnd, 1, 0, 1, 8", NVTXT_DIAG_TIME_OUT_OF_RANGE, 22);
    fails("RangeStartEnd, 1, 0, 0, 8", NVTXT_DIAG_FOREIGN_PROCESS, 25);
    takes("RangeStartEnd, 1, 0, 0, 7");
    takes("@RangeStartEnd, CategoryId, ProcessId");
    fails("RangeStartEnd, 1, 8", NVTXT_DIAG_FOREIGN_PROCESS, 19);
    fails("RangeStartEnd, 1, 7", NVTXT_DIAG_MISSING_ARGUMENT, 20);
}

Test(call, takes_who_began_a_session_for_its_sender) {
    config.claim = true;
    config.claimed_pid = 7;
    config.began_pid = 6;
    takes("@Marker, Time, ProcessId");
    takes("Marker, 1, 7");
    takes("Marker, 1, 6");
    fails("Marker, 1, 0", NVTXT_DIAG_FOREIGN_PROCESS, 12);
    config.began_pid = 0;
    fails("Marker, 1, 6", NVTXT_DIAG_FOREIGN_PROCESS, 12);
    fails("Marker, 1, 0", NVTXT_DIAG_FOREIGN_PROCESS, 12);
}

Test(call, moves_times_by_origin_clock_or_mapping) {
    config.origin_ns = 1000;
    clocks[NVTXT_TIMEBASE_BOOTTIME] = (struct nvtxt_clock_offset){true, 50, 0};
    takes("@Marker, Time, TimeBase");
    takes("Marker, 1, Relative");
    cr_assert_eq(call.time, 1001);
    takes("Marker, 1, ClockBoottime");
    cr_assert_eq(call.time, 51);
    takes("Marker, 1, ClockMonotonic");
    cr_assert_eq(call.time, 1, "not measured");
    config.mapping = (struct nvtxt_mapping){.mode = NVTXT_MAPPING_LIN, .freq = 1000000000};
    config.mapping.ns_a = 7;
    takes("Marker, 1, Relative");
    cr_assert_eq(call.time, 8);
    cr_assert_eq(call.raw_time, 1);
}

Test(call, gives_the_column_of_an_argument) {
    takes("@Marker, Time, Message");
    takes("Marker, 1, m");
    const struct nvtxt_cmddef *definition = &definitions[NVTXT_CMD_MARKER];
    cr_assert_eq(nvtxt_call_column(&stmt, definition, NVTXT_ARG_MESSAGE), 12);
    cr_assert_eq(nvtxt_call_column(&stmt, definition, NVTXT_ARG_COLOR), 1);
}

Test(call, writes_the_digits_of_an_integer_message) {
    takes("@Marker, Time, Message");
    takes("Marker, 1, -9223372036854775808");
    cr_assert(text_is("-9223372036854775808"));
    cr_assert(call.text_is_digits);
}
