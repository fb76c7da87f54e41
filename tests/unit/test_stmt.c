// SPDX-License-Identifier: Apache-2.0
//
// Parsing: the three statements, what they point at, and the leftmost fault.
#include "protocol/lang/stmt.h"

#include <criterion/criterion.h>

static struct nvtxt_symtab symtab;
static struct nvtxt_buf scratch;
static struct nvtxt_tokens tokens;
static struct nvtxt_cmddef definitions[NVTXT_CMD_COUNT];
static struct nvtxt_stmt stmt;
static struct nvtxt_diag diag;
static unsigned extensions;

static int parse(const char *line) {
    if (definitions[0].count == 0) {
        for (unsigned command = 0; command < NVTXT_CMD_COUNT; command++) {
            nvtxt_cmddef_default(&definitions[command], (enum nvtxt_command)command);
        }
    }
    cr_assert_eq(nvtxt_lex(nvtxt_slice_of(line), false, &symtab, &scratch, &tokens, &diag), 0, "%s",
                 line);
    return nvtxt_parse(&tokens, definitions, extensions, &stmt, &diag);
}

static void fails(const char *line, enum nvtxt_diag_code code, uint32_t column) {
    cr_assert_eq(parse(line), 1, "%s", line);
    cr_assert_eq(diag.code, code, "%s: %s", line, diag.message);
    cr_assert_eq(diag.column, column, "%s: %u", line, diag.column);
}

static void accepts(const char *line, enum nvtxt_stmt_kind kind) {
    cr_assert_eq(parse(line), 0, "%s: %s", line, diag.message);
    cr_assert_eq(stmt.kind, kind);
}

static void define(const char *line) {
    accepts(line, NVTXT_STMT_DEFINE);
    definitions[stmt.command] = stmt.definition;
}

static void set(const char *name, struct nvtxt_value value) {
    struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    cr_assert_eq(nvtxt_symtab_set(&symtab, &limits, nvtxt_slice_of(name), &value), 0);
}

Test(stmt, reads_an_assignment) {
    accepts("Name = 0x10", NVTXT_STMT_ASSIGN);
    cr_assert(nvtxt_slice_equal(stmt.name->value.string, NVTXT_SLICE("Name")));
    cr_assert_eq(stmt.value->value.integer, 16);
    accepts("Marker='Blue'", NVTXT_STMT_ASSIGN);
    accepts("A=Blue", NVTXT_STMT_ASSIGN);
    cr_assert(nvtxt_slice_equal(stmt.value->value.string, NVTXT_SLICE("Blue")));
}

Test(stmt, reports_what_is_wrong_with_an_assignment) {
    fails("A =", NVTXT_DIAG_EXPECTED_VALUE, 4);
    fails("A = ,", NVTXT_DIAG_EXPECTED_VALUE, 5);
    fails("A = 1 2", NVTXT_DIAG_TRAILING_TEXT, 7);
    fails("A = 1,", NVTXT_DIAG_TRAILING_TEXT, 6);
    fails("'A' = 1", NVTXT_DIAG_EXPECTED_NAME, 1);
    fails("1 = 1", NVTXT_DIAG_EXPECTED_NAME, 1);
    fails("= 1", NVTXT_DIAG_EXPECTED_NAME, 1);
}

Test(stmt, reads_a_definition) {
    accepts("@Marker, Payload, Time", NVTXT_STMT_DEFINE);
    cr_assert_eq(stmt.command, NVTXT_CMD_MARKER);
    cr_assert_eq(stmt.definition.count, 2);
    cr_assert_eq(stmt.definition.args[0], NVTXT_ARG_PAYLOAD);
    cr_assert_eq(stmt.definition.args[1], NVTXT_ARG_TIME);
    accepts("@ Marker", NVTXT_STMT_DEFINE);
    cr_assert_eq(stmt.definition.count, 0);
}

Test(stmt, rejects_definition_with_unknown_argument) {
    fails("@Marker, Time, Nonsense", NVTXT_DIAG_UNKNOWN_ARGUMENT, 16);
    fails("@Marker, Start", NVTXT_DIAG_UNKNOWN_ARGUMENT, 10);
    fails("@Marker, time", NVTXT_DIAG_UNKNOWN_ARGUMENT, 10);
}

Test(stmt, reports_what_is_wrong_with_a_definition) {
    fails("@", NVTXT_DIAG_EXPECTED_NAME, 2);
    fails("@ 'Marker'", NVTXT_DIAG_EXPECTED_NAME, 3);
    fails("@marker", NVTXT_DIAG_UNKNOWN_COMMAND, 2);
    fails("@Nothing, Nonsense", NVTXT_DIAG_UNKNOWN_COMMAND, 2);
    fails("@Marker Time", NVTXT_DIAG_EXPECTED_COMMA, 9);
    fails("@Marker, ", NVTXT_DIAG_EXPECTED_NAME, 9);
    fails("@Marker, 'Time'", NVTXT_DIAG_EXPECTED_NAME, 10);
    fails("@Marker,, Time", NVTXT_DIAG_EXPECTED_NAME, 9);
    fails("@Marker, Time, Time, Nonsense", NVTXT_DIAG_DUPLICATE_ARGUMENT, 16);
    fails("@Marker = 1", NVTXT_DIAG_EXPECTED_COMMA, 9);
    fails("@Marker, Time, TimeBase, ProcessId, ThreadId, CategoryId, Color, Message, Payload, Time",
          NVTXT_DIAG_DUPLICATE_ARGUMENT, 84);
}

Test(stmt, reads_a_call_in_the_order_of_its_definition) {
    define("@Marker, Message, Time");
    accepts("Marker, m, 5 ", NVTXT_STMT_CALL);
    cr_assert_eq(stmt.command, NVTXT_CMD_MARKER);
    cr_assert_eq(stmt.name->column, 1);
    cr_assert_eq(stmt.values[0]->column, 9);
    cr_assert_eq(stmt.values[1]->value.integer, 5);
    cr_assert_eq(stmt.end_column, 13);
    define("@Marker");
    accepts("Marker", NVTXT_STMT_CALL);
    cr_assert_eq(stmt.end_column, 7);
}

Test(stmt, counts_values_before_it_looks_at_their_types) {
    define("@Marker, Time, Message");
    fails("Marker, wrong", NVTXT_DIAG_WRONG_VALUE_COUNT, 14);
    fails("Marker", NVTXT_DIAG_WRONG_VALUE_COUNT, 7);
    fails("Marker, wrong, m, 3, 4", NVTXT_DIAG_WRONG_VALUE_COUNT, 19);
    fails("Marker, wrong, m", NVTXT_DIAG_WRONG_TYPE, 9);
    fails("RangePush, 1", NVTXT_DIAG_WRONG_VALUE_COUNT, 13);
}

Test(stmt, reports_what_is_wrong_with_a_call) {
    fails("Nothing, 1", NVTXT_DIAG_UNKNOWN_COMMAND, 1);
    fails("'Marker', 1", NVTXT_DIAG_EXPECTED_NAME, 1);
    define("@Marker, Time, Message");
    fails("Marker 1, m", NVTXT_DIAG_EXPECTED_COMMA, 8);
    fails("Marker, 1 m", NVTXT_DIAG_EXPECTED_COMMA, 11);
    fails("Marker, 1,", NVTXT_DIAG_EXPECTED_VALUE, 11);
    fails("Marker, , m", NVTXT_DIAG_EXPECTED_VALUE, 9);
    fails("Marker, 1, m @", NVTXT_DIAG_EXPECTED_COMMA, 14);
}

Test(stmt, checks_types_from_left_to_right) {
    define("@Marker, Time, TimeBase, Color, Message, Payload");
    accepts("Marker, 1, Qpc, 5, 6, 7", NVTXT_STMT_CALL);
    accepts("Marker, 1, 'Qpc', Red, m, '-1.5e3'", NVTXT_STMT_CALL);
    fails("Marker, 1, 2, 5, 6, x", NVTXT_DIAG_WRONG_TYPE, 12);
    fails("Marker, 1, b, 5, 6, x", NVTXT_DIAG_BAD_PAYLOAD, 21);
    fails("Marker, a, 2, 5, 6, x", NVTXT_DIAG_WRONG_TYPE, 9);
}

Test(stmt, takes_variables_that_spell_words_for_names) {
    set("C", (struct nvtxt_value){.type = NVTXT_STRING, .string = NVTXT_SLICE("Marker")});
    set("A", (struct nvtxt_value){.type = NVTXT_STRING, .string = NVTXT_SLICE("Time")});
    set("S", (struct nvtxt_value){.type = NVTXT_STRING, .string = NVTXT_SLICE("no word")});
    set("I", (struct nvtxt_value){.type = NVTXT_INTEGER, .integer = 3});
    define("@$C, $A");
    cr_assert_eq(stmt.command, NVTXT_CMD_MARKER);
    accepts("$C, $I", NVTXT_STMT_CALL);
    accepts("$A = $S", NVTXT_STMT_ASSIGN);
    cr_assert(nvtxt_slice_equal(stmt.name->value.string, NVTXT_SLICE("Time")));
    fails("$S = 1", NVTXT_DIAG_EXPECTED_NAME, 1);
    fails("$I = 1", NVTXT_DIAG_EXPECTED_NAME, 1);
    fails("@Marker, $S", NVTXT_DIAG_EXPECTED_NAME, 10);
}

Test(stmt, knows_for_each_argument_which_types_it_takes) {
    static const struct nvtxt_value integer = {.type = NVTXT_INTEGER, .integer = -1};
    static const struct nvtxt_value text = {.type = NVTXT_STRING, .string = {"x", 1}};
    static const struct nvtxt_value number = {.type = NVTXT_STRING, .string = {"1.5", 3}};
    for (unsigned a = 0; a < NVTXT_ARG_COUNT; a++) {
        enum nvtxt_arg arg = (enum nvtxt_arg)a;
        enum nvtxt_arg_type takes = nvtxt_args[a].type;
        enum nvtxt_diag_code fault;
        bool string =
            takes == NVTXT_TAKES_STRING || takes == NVTXT_TAKES_WORD || takes == NVTXT_TAKES_JSON;
        cr_assert_eq(nvtxt_check_type(arg, &integer, 0, &fault), string);
        bool refused = takes == NVTXT_TAKES_INTEGER || takes == NVTXT_TAKES_PAYLOAD ||
                       takes == NVTXT_TAKES_JSON || takes == NVTXT_TAKES_HANDLE;
        cr_assert_eq(nvtxt_check_type(arg, &text, 0, &fault), refused);
        if (refused) {
            cr_assert_eq(fault, takes == NVTXT_TAKES_PAYLOAD ? NVTXT_DIAG_BAD_PAYLOAD
                                : takes == NVTXT_TAKES_JSON  ? NVTXT_DIAG_BAD_JSON
                                                             : NVTXT_DIAG_WRONG_TYPE);
        }
        cr_assert_eq(nvtxt_check_type(arg, &number, 0, &fault), takes == NVTXT_TAKES_INTEGER ||
                                                                    takes == NVTXT_TAKES_WORD ||
                                                                    takes == NVTXT_TAKES_HANDLE);
    }
}

Test(stmt, takes_an_empty_payload_where_there_are_levels) {
    static const struct nvtxt_value empty = {.type = NVTXT_STRING, .string = {"", 0}};
    static const struct nvtxt_value text = {.type = NVTXT_STRING, .string = {"x", 1}};
    enum nvtxt_diag_code fault;
    cr_assert_eq(nvtxt_check_type(NVTXT_ARG_PAYLOAD, &empty, NVTXT_LEVELS, &fault), 0);
    cr_assert_eq(nvtxt_check_type(NVTXT_ARG_PAYLOAD, &empty, 0, &fault), 1);
    cr_assert_eq(fault, NVTXT_DIAG_BAD_PAYLOAD);
    cr_assert_eq(nvtxt_check_type(NVTXT_ARG_PAYLOAD, &text, NVTXT_LEVELS, &fault), 1);
    cr_assert_eq(nvtxt_check_type(NVTXT_ARG_TIME, &empty, NVTXT_LEVELS, &fault), 1);
}

static int check(enum nvtxt_arg arg, const char *text, unsigned flags) {
    struct nvtxt_value value = {.type = NVTXT_STRING, .string = nvtxt_slice_of(text)};
    enum nvtxt_diag_code fault;
    return nvtxt_check_type(arg, &value, flags, &fault);
}

Test(stmt, takes_typed_payloads_only_with_the_extension) {
    cr_assert_eq(check(NVTXT_ARG_PAYLOAD, "u32:7", NVTXT_NVTX), 0);
    cr_assert_eq(check(NVTXT_ARG_PAYLOAD, "", NVTXT_NVTX), 0);
    cr_assert_eq(check(NVTXT_ARG_PAYLOAD, "1.5", NVTXT_NVTX), 0);
    cr_assert_eq(check(NVTXT_ARG_PAYLOAD, "u32:4294967296", NVTXT_NVTX), 1);
    cr_assert_eq(check(NVTXT_ARG_PAYLOAD, "u32:7", 0), 1);
    cr_assert_eq(check(NVTXT_ARG_PAYLOAD, "u32:7", NVTXT_LEVELS), 1);
}

Test(stmt, takes_words_handles_and_json) {
    cr_assert_eq(check(NVTXT_ARG_KIND, "cuStream", NVTXT_NVTX), 0);
    cr_assert_eq(check(NVTXT_ARG_KIND, "cu stream", NVTXT_NVTX), 1);
    cr_assert_eq(check(NVTXT_ARG_KIND, "", NVTXT_NVTX), 1);
    cr_assert_eq(check(NVTXT_ARG_HANDLE, "0xFf", NVTXT_NVTX), 0);
    cr_assert_eq(check(NVTXT_ARG_HANDLE, "0x", NVTXT_NVTX), 1);
    cr_assert_eq(check(NVTXT_ARG_JSON, "", NVTXT_NVTX), 0);
    cr_assert_eq(check(NVTXT_ARG_JSON, "[]", NVTXT_NVTX), 0);
    cr_assert_eq(check(NVTXT_ARG_JSON, "[", NVTXT_NVTX), 1);
}

Test(stmt, knows_the_extension_only_where_it_is_asked_for) {
    fails("SetCounter, c", NVTXT_DIAG_UNKNOWN_COMMAND, 1);
    fails("@SetResourceName", NVTXT_DIAG_UNKNOWN_COMMAND, 2);
    fails("@Marker, Time, Domain", NVTXT_DIAG_UNKNOWN_ARGUMENT, 16);
    fails("@Marker, Time, Json", NVTXT_DIAG_UNKNOWN_ARGUMENT, 16);
    fails("SetCountr, c", NVTXT_DIAG_UNKNOWN_COMMAND, 1);
    cr_assert_not(strstr(diag.message, "did you mean"), "%s", diag.message);
    extensions = NVTXT_NVTX;
    cr_assert_eq(parse("SetCounter, c"), 0);
    cr_assert_eq(parse("@SetResourceName, ProcessId, Domain"), 0);
    cr_assert_eq(parse("@Marker, Time, Json, Domain"), 0);
    cr_assert_eq(stmt.definition.count, 3);
    fails("SetCountr, c", NVTXT_DIAG_UNKNOWN_COMMAND, 1);
    cr_assert(strstr(diag.message, "did you mean 'SetCounter'?"), "%s", diag.message);
    fails("@RangeEnd, Domain", NVTXT_DIAG_UNKNOWN_ARGUMENT, 12);
    fails("@SetProcessName, Domain", NVTXT_DIAG_UNKNOWN_ARGUMENT, 18);
}
