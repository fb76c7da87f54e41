// SPDX-License-Identifier: Apache-2.0
//
// Conditions and texts of rules: precedence, exact comparison, what has no value, and the places of
// faults. The metrics are constants, and those of F1.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/metric/metric.h"
#include "report/model/model.h"
#include "report/rule/rules_state.h"
#include "report/rule/scope_values.h"
#include "tests/unit/report_kit.h"

static const struct report_instance instances[] = {
    {.id = {.is_text = true, .text = {":a", 2}}, .value = {.type = REPORT_U64, .u64 = 4}},
    {.id = {.is_text = true, .text = {":b", 2}}, .value = {.type = REPORT_U64, .u64 = 5}},
    {.id = {.number = 3}, .value = {.type = REPORT_U64, .u64 = 9}},
};

#define U64(name_, number)                                                                         \
    {                                                                                              \
        .name = name_, .unit = "", .description = "", .type = REPORT_U64, .value = {               \
            .type = REPORT_U64,                                                                    \
            .u64 = number                                                                          \
        }                                                                                          \
    }
#define REAL(name_, number)                                                                        \
    {                                                                                              \
        .name = name_, .unit = "", .description = "", .type = REPORT_DOUBLE, .value = {            \
            .type = REPORT_DOUBLE,                                                                 \
            .real = number                                                                         \
        }                                                                                          \
    }

static const struct report_metric given[] = {
    U64("one", 1),
    U64("two", 2),
    U64("zero", 0),
    U64("big", UINT64_MAX),
    U64("odd", (1ull << 53) + 1),
    REAL("half", 0.5),
    REAL("even", 9007199254740992.0),
    REAL("huge", 18446744073709551616.0),
    REAL("minus", -1.0),
    REAL("nan", NAN),
    REAL("inf", INFINITY),
    {.name = "text",
     .unit = "",
     .description = "",
     .type = REPORT_STRING,
     .value = {.type = REPORT_STRING, .string = {"a \"b\"", 5}}},
    {.name = "parts",
     .unit = "",
     .description = "",
     .type = REPORT_U64,
     .value = {.type = REPORT_U64, .u64 = 18},
     .instanced = true,
     .instances = instances,
     .instance_count = 3},
    {.name = "missing", .unit = "", .description = "", .type = REPORT_U64, .na = "no ranges"},
};

static const struct report_metric *find(const void *context, const char *name) {
    (void)context;
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        if (strcmp(given[i].name, name) == 0) {
            return &given[i];
        }
    }
    return NULL;
}

struct world {
    struct report_model *model;
    struct report_scopes *scopes;
    struct report_rule_values values;
};

static struct world world_new(void) {
    struct world world = {.model = report_kit_f1()};
    cr_assert_eq(report_scopes_new(&world.scopes, world.model, REPORT_SCOPE_CAPTURE), 0);
    cr_assert_eq(report_metrics_new(&world.values.metrics, world.model,
                                    report_scopes_at(world.scopes, 0), NULL),
                 0);
    world.values.lookup.find = find;
    return world;
}

static void world_free(struct world *world) {
    report_metrics_free(world->values.metrics);
    report_scopes_free(world->scopes);
    report_kit_free(world->model);
}

static void tests(struct world *world, const char *text, int expected) {
    struct report_expression *condition;
    struct report_expression_fault fault = {0};
    cr_assert_eq(report_expression_parse(&condition, nvtxt_slice_of(text),
                                         REPORT_EXPRESSION_CONDITION, &fault),
                 0, "%s: %u: %s", text, fault.column, fault.text);
    world->values.reason[0] = '\0';
    cr_assert_eq(report_rule_test(&world->values, condition), expected, "%s: %s", text,
                 world->values.reason);
    report_expression_free(condition);
}

Test(conditions, compare_and_join_by_precedence) {
    static const char *const hold[] = {
        "one < two",
        "one <= 1",
        "two > one",
        "two >= 2.0",
        "one == 1",
        "one != two",
        "one",
        "not zero",
        "not one > two",
        "zero and zero or one",
        "one or zero and zero",
        "not zero and one",
        "not (one and zero)",
        "not not one",
        "(one + two) * 2 == 6",
        "((one < two) and (two > one))",
        "(one) and ((two))",
        "(one + two) > (two)",
        "one - 2 < 0 and one - 2 == minus",
        "text == \"a \\\"b\\\"\"",
        "text == 'a \"b\"'",
        "'x' == 'x'",
        "'x' != text",
        "text != \"a\"",
        "pushpop__count.sum == 10",
        "pushpop__depth.max == 2",
    };
    static const char *const fail[] = {
        "one > two",
        "zero",
        "not one",
        "one and zero",
        "(one or zero) and zero",
        "text != text",
        "'x' == 'y'",
        "nan",
        "nan == nan",
        "nan < 1",
        "nan >= 1",
        "not one or zero",
    };
    struct world world = world_new();
    for (size_t i = 0; i < sizeof(hold) / sizeof(hold[0]); i++) {
        tests(&world, hold[i], REPORT_CONDITION_TRUE);
    }
    for (size_t i = 0; i < sizeof(fail) / sizeof(fail[0]); i++) {
        tests(&world, fail[i], REPORT_CONDITION_FALSE);
    }
    world_free(&world);
}

Test(conditions, compare_integers_and_doubles_exactly) {
    static const char *const hold[] = {
        "odd > even",   "odd != even", "even < odd", "big < huge",  "huge > big", "big > minus",
        "minus < zero", "big > half",  "half < one", "half > zero", "inf > big",  "nan != 1",
    };
    struct world world = world_new();
    for (size_t i = 0; i < sizeof(hold) / sizeof(hold[0]); i++) {
        tests(&world, hold[i], REPORT_CONDITION_TRUE);
    }
    world_free(&world);
}

Test(conditions, look_at_instances) {
    static const char *const hold[] = {
        "parts == 18",
        "min(parts) == 4",
        "max(parts) == 9",
        "count(parts) == 3",
        "at(parts, \":b\") == 5",
        "at(parts, ':b') == 5",
        "at(parts, 3) == 9",
        "max(parts) - min(parts) > 4",
        "count(parts) * 6 == parts",
    };
    struct world world = world_new();
    for (size_t i = 0; i < sizeof(hold) / sizeof(hold[0]); i++) {
        tests(&world, hold[i], REPORT_CONDITION_TRUE);
    }
    tests(&world, "at(parts, \":c\") > 0", REPORT_CONDITION_NA);
    tests(&world, "(at(parts, \":a\\\") > 0)", REPORT_CONDITION_NA);
    world_free(&world);
}

Test(conditions, say_what_has_no_value) {
    struct world world = world_new();
    tests(&world, "missing > 1", REPORT_CONDITION_NA);
    cr_assert_str_eq(world.values.reason, "missing N/A: no ranges");
    tests(&world, "one + missing * 2 > 1", REPORT_CONDITION_NA);
    cr_assert_str_eq(world.values.reason, "missing N/A: no ranges");
    tests(&world, "nowhere__at_all.sum", REPORT_CONDITION_NA);
    cr_assert_str_eq(world.values.reason, "nowhere__at_all.sum N/A: no such metric");
    world.values.reason[0] = '\0';
    tests(&world, "min(one) > 1", REPORT_CONDITION_NA);
    cr_assert_str_eq(world.values.reason, "one N/A: it has no instances");
    world.values.reason[0] = '\0';
    tests(&world, "at(parts, \":nope\") > 1", REPORT_CONDITION_NA);
    cr_assert_str_eq(world.values.reason, "parts N/A: no such instance");
    tests(&world, "zero and missing", REPORT_CONDITION_FALSE);
    tests(&world, "one or missing", REPORT_CONDITION_TRUE);
    tests(&world, "not missing", REPORT_CONDITION_NA);
    world_free(&world);
}

Test(conditions, do_not_compare_texts_with_numbers) {
    struct world world = world_new();
    tests(&world, "text == 1", REPORT_CONDITION_BAD);
    tests(&world, "one == 'a'", REPORT_CONDITION_BAD);
    tests(&world, "text < text", REPORT_CONDITION_BAD);
    tests(&world, "text", REPORT_CONDITION_BAD);
    world_free(&world);
}

Test(conditions, refuse_at_a_place) {
    static const struct {
        const char *text;
        unsigned column;
    } bad[] = {
        {"", 1},
        {"one <", 6},
        {"one = 1", 5},
        {"one < two < 3", 11},
        {"and one", 1},
        {"one and", 8},
        {"one or or two", 8},
        {"(one < two", 1},
        {"one < two)", 10},
        {"'a' < text", 5},
        {"text > 'a'", 6},
        {"'a'", 4},
        {"'a", 1},
        {"one two", 5},
        {"(one and two) + 1", 15},
        {"one & two", 5},
        {"not", 4},
        {"1 < 2 3", 7},
        {"capture__attribute_path > 1", 25},
        {"range__count.sum == 'a'", 18},
        {"one and capture__attribute_path", 9},
        {"capture__attribute_path < capture__attribute_path", 25},
        {"(one two) > 1", 6},
        {"(one + two", 1},
        {"('a') == text", 2},
        {"2 * (one > 1)", 10},
        {"(one > two) > 1", 13},
        {"min(one > 1)", 9},
        {"one == (two > 1)", 13},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct report_expression *condition;
        struct report_expression_fault fault = {0};
        cr_assert_eq(report_expression_parse(&condition, nvtxt_slice_of(bad[i].text),
                                             REPORT_EXPRESSION_CONDITION, &fault),
                     1, "%s", bad[i].text);
        cr_assert_null(condition);
        cr_expect_eq(fault.column, bad[i].column, "'%s': %u: %s", bad[i].text, fault.column,
                     fault.text);
        cr_assert_str_eq(fault.code, "bad-expression");
    }
}

Test(conditions, are_not_nested_without_end) {
    char text[4096];
    struct report_expression *condition;
    struct report_expression_fault fault = {0};
    for (int kind = 0; kind < 2; kind++) {
        size_t len = 0;
        for (int i = 0; i < 500; i++) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, kind ? "(" : "not ");
        }
        snprintf(text + len, sizeof(text) - len, "one < 2");
        cr_assert_eq(report_expression_parse(&condition, nvtxt_slice_of(text),
                                             REPORT_EXPRESSION_CONDITION, &fault),
                     1);
    }
}

// ---- Texts --------------------------------------------------------------------------------------

static void writes(struct world *world, const char *text, const char *expected) {
    struct report_template *parsed;
    struct report_expression_fault fault = {0};
    struct nvtxt_buf out = {0};
    cr_assert_eq(report_template_parse(&parsed, nvtxt_slice_of(text), &fault), 0, "%s: %s", text,
                 fault.text);
    cr_assert_eq(report_template_write(parsed, &world->values, &out), 0);
    nvtxt_buf_add(&out, "", 1);
    cr_assert_str_eq(out.data, expected, "%s: '%s'", text, out.data);
    nvtxt_buf_deinit(&out);
    report_template_free(parsed);
}

Test(texts, have_values) {
    struct world world = world_new();
    writes(&world, "", "");
    writes(&world, "plain }", "plain }");
    writes(&world, "{{one}", "{one}");
    writes(&world, "{{{one}}", "{1}");
    writes(&world, "{one} of {big}", "1 of 18446744073709551615");
    writes(&world, "{half} {two / 4.0} {1 / 3.0} {3.0 / 1} {2.0005}", "0.5 0.5 0.333 3 2.001");
    writes(&world, "{minus / 10000}", "0");
    writes(&world, "{text}, {missing}, {nan}, {inf}, {0 - inf}", "a \"b\", N/A, nan, inf, -inf");
    writes(&world, "{ max(parts) } {at(parts, \":a\")}", "9 4");
    writes(&world, "{pushpop__time_duration.sum}", "580");
    world_free(&world);
}

Test(texts, have_units) {
    struct world world = world_new();
    writes(&world, "{1500000|ns} {999|ns} {1000|ns} {zero|ns}", "1.5 ms 999 ns 1 us 0 ns");
    writes(&world, "{999999999.9999|ns} {90000000000|ns}", "1 s 90 s");
    writes(&world, "{1 / 3.0 * 100|%} {half|%} {100|%}", "33.3% 0.5% 100.0%");
    writes(&world, "{two|ranges}", "2 ranges");
    world_free(&world);
}

Test(texts, refuse_at_a_place) {
    static const struct {
        const char *text;
        unsigned column;
    } bad[] = {{"a {one", 3}, {"a {one|ns", 3}, {"{}", 2}, {"{one two}", 6}, {"{one +}", 7}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct report_template *parsed;
        struct report_expression_fault fault = {0};
        cr_assert_eq(report_template_parse(&parsed, nvtxt_slice_of(bad[i].text), &fault), 1, "%s",
                     bad[i].text);
        cr_assert_null(parsed);
        cr_expect_eq(fault.column, bad[i].column, "'%s': %u: %s", bad[i].text, fault.column,
                     fault.text);
    }
}
