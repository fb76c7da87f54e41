// SPDX-License-Identifier: Apache-2.0
//
// Derived metrics: the vectors of nvtxt-metrics(7), type by type, and what cannot be read.
#include "report/metric/expression.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/metric/definitions.h"
#include "tests/unit/report_kit.h"

// A, B and s of the page; the metrics of the guide's example.
static const char metrics_file[] =
    "{\"metrics\":["
    "{\"name\":\"A\",\"type\":\"u64\",\"instances\":[{\"id\":0,\"value\":4},{\"id\":1,\"value\":5}]"
    "},"
    "{\"name\":\"B\",\"type\":\"u64\",\"value\":30,"
    "\"instances\":[{\"id\":1,\"value\":10},{\"id\":2,\"value\":20}]},"
    "{\"name\":\"s\",\"type\":\"u64\",\"value\":7},"
    "{\"name\":\"z\",\"type\":\"u64\",\"value\":0},"
    "{\"name\":\"C\",\"type\":\"u64\",\"instances\":[{\"id\":\"0\",\"value\":3}]},"
    "{\"name\":\"big\",\"type\":\"u64\",\"value\":\"18446744073709551615\"},"
    "{\"name\":\"small\",\"type\":\"u32\",\"value\":4294967295},"
    "{\"name\":\"f\",\"type\":\"float\",\"value\":0.1},"
    "{\"name\":\"text\",\"type\":\"string\",\"value\":\"hello\"},"
    "{\"name\":\"Z\",\"type\":\"u64\",\"instances\":[{\"id\":0,\"value\":0},{\"id\":1,\"value\":2}]"
    "},"
    "{\"name\":\"thread_inst_executed_true\",\"type\":\"u64\",\"instances\":["
    "{\"id\":0,\"value\":4194304},{\"id\":1,\"value\":4194304},{\"id\":2,\"value\":4194304},"
    "{\"id\":3,\"value\":4194304},{\"id\":4,\"value\":4194304},{\"id\":5,\"value\":4194304},"
    "{\"id\":6,\"value\":4194304},{\"id\":7,\"value\":4194304},{\"id\":8,\"value\":4194304},"
    "{\"id\":9,\"value\":4194304},{\"id\":10,\"value\":4194304},{\"id\":11,\"value\":4194304},"
    "{\"id\":12,\"value\":0}]},"
    "{\"name\":\"inst_executed\",\"type\":\"u64\",\"instances\":["
    "{\"id\":0,\"value\":131072},{\"id\":1,\"value\":131072},{\"id\":2,\"value\":131072},"
    "{\"id\":3,\"value\":131072},{\"id\":4,\"value\":131072},{\"id\":5,\"value\":131072},"
    "{\"id\":6,\"value\":131072},{\"id\":7,\"value\":131072},{\"id\":8,\"value\":131072},"
    "{\"id\":9,\"value\":131072},{\"id\":10,\"value\":131072},{\"id\":11,\"value\":131072},"
    "{\"id\":12,\"value\":131072}]}]}";

static void no_fault(void *context, const struct report_expression_fault *fault) {
    (void)context;
    cr_expect_fail("%s", fault->text);
}

struct kit {
    struct report_model *model;
    struct report_scopes *scopes;
    struct report_definitions *definitions;
    struct report_metrics *metrics;
};

static struct kit open_kit(void) {
    struct kit kit = {.model = report_kit_f1()};
    cr_assert_eq(report_scopes_new(&kit.scopes, kit.model, REPORT_SCOPE_CAPTURE), 0);
    cr_assert_eq(report_definitions_new(&kit.definitions), 0);
    cr_assert_eq(
        report_definitions_add_file(kit.definitions, nvtxt_slice_of(metrics_file), no_fault, NULL),
        0);
    cr_assert_eq(report_metrics_new(&kit.metrics, kit.model, report_scopes_at(kit.scopes, 0),
                                    kit.definitions),
                 0);
    return kit;
}

static void close_kit(struct kit *kit) {
    report_metrics_free(kit->metrics);
    report_definitions_free(kit->definitions);
    report_scopes_free(kit->scopes);
    report_kit_free(kit->model);
}

static void put_value(FILE *out, const struct report_value *value) {
    if (value->type == REPORT_STRING) {
        fprintf(out, "%.*s", (int)value->string.len, value->string.data);
    } else if (value->type == REPORT_U32 || value->type == REPORT_U64) {
        fprintf(out, "%" PRIu64, value->u64);
    } else if (isnan(value->real)) {
        fputs("nan", out); // of either sign
    } else {
        fprintf(out, "%.17g", value->real);
    }
}

// "TYPE VALUE, ID:VALUE ... (NOTE)"
static char *shown(const struct report_metric *metric) {
    static const char *const types[] = {"u32", "u64", "float", "double", "string"};
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (metric->na) {
        fprintf(out, "N/A %s", metric->na);
    } else {
        fprintf(out, "%s ", types[metric->type]);
        cr_expect_eq(metric->value.type, metric->type);
        put_value(out, &metric->value);
    }
    for (size_t i = 0; i < metric->instance_count; i++) {
        const struct report_instance *instance = &metric->instances[i];
        cr_expect_eq(instance->value.type, metric->type);
        if (instance->id.is_text) {
            fprintf(out, "%s \"%s\":", i == 0 ? "," : "", instance->id.text.data);
        } else {
            fprintf(out, "%s %" PRIu64 ":", i == 0 ? "," : "", instance->id.number);
        }
        put_value(out, &instance->value);
    }
    for (size_t i = 0; i < metric->note_count; i++) {
        fprintf(out, " (%s)", metric->notes[i]);
    }
    fclose(out);
    return text;
}

static void expect_as(const struct kit *kit, const char *text, enum report_aggregate aggregate,
                      const char *wanted) {
    struct report_expression *expression;
    struct report_expression_fault fault;
    const struct report_metric *metric;
    cr_assert_eq(report_expression_parse(&expression, nvtxt_slice_of(text),
                                         REPORT_EXPRESSION_DERIVED, &fault),
                 0, "%s: %s", text, fault.text);
    cr_assert_eq(
        report_expression_evaluate(expression, kit->metrics, NULL, aggregate, NULL, &metric), 0);
    char *got = shown(metric);
    cr_expect_str_eq(got, wanted, "%s: %s, not %s", text, got, wanted);
    free(got);
    report_expression_free(expression);
}

static void expect(const struct kit *kit, const char *text, const char *wanted) {
    expect_as(kit, text, REPORT_AGGREGATE_UNSAID, wanted);
}

Test(expression, vectors_of_the_page) {
    struct kit kit = open_kit();
    expect(&kit, "A + 1", "u64 11, 0:5 1:6");
    expect(&kit, "1 + A", "u64 11, 0:5 1:6");
    expect(&kit, "A - 1", "u64 7, 0:3 1:4");
    expect(&kit, "1 - A", "double -7, 0:-3 1:-4");
    expect(&kit, "A / 2", "u64 4, 0:2 1:2");
    expect(&kit, "A / 2.0", "double 4.5, 0:2 1:2.5");
    expect(&kit, "s - 9", "double -2");
    expect(&kit, "s / 2.", "double 3.5");
    expect(&kit, "simplify(A) + 1", "u64 10");
    expect(&kit, "A + B", "u64 39, 0:4 1:15 2:20");
    expect(&kit, "A - B", "double 19, 0:4 1:-5 2:20");
    expect(&kit, "B - A", "u64 29, 1:5 2:20 0:4");
    expect(&kit, "A * B", "u64 50, 1:50");
    expect(&kit, "A / B", "u64 0, 1:0 (sum of ratios; consider revise_avg())");
    expect(&kit, "(A + B) * 2", "u64 78, 0:8 1:30 2:40");
    expect(&kit, "revise_avg(A + 1.0)", "double 5.5, 0:5 1:6");
    expect(&kit, "revise_max(A) + B", "u64 39, 0:4 1:15 2:20");
    close_kit(&kit);
}

#define TRUE "thread_inst_executed_true"
#define INST "inst_executed"

Test(expression, the_example_of_the_guide) {
    struct kit kit = open_kit();
    expect(&kit, TRUE " / " INST,
           "u64 384, 0:32 1:32 2:32 3:32 4:32 5:32 6:32 7:32 8:32 9:32 10:32 11:32 12:0 "
           "(sum of ratios; consider revise_avg())");
    expect_as(&kit, TRUE " / " INST, REPORT_AGGREGATE_OPERANDS,
              "u64 29, 0:32 1:32 2:32 3:32 4:32 5:32 6:32 7:32 8:32 9:32 10:32 11:32 12:0");
    expect(&kit, "simplify(" TRUE ") / simplify(" INST ")", "u64 29");
    expect(&kit, "simplify(" TRUE ")", "u64 50331648");
    expect(&kit, "simplify(" INST ")", "u64 1703936");
    expect(&kit, "simplify(revise_avg(" TRUE " * 1.0 / " INST "))", "double 29.53846153846154");
    close_kit(&kit);
}

Test(expression, operators_bind_as_usual_from_left_to_right) {
    struct kit kit = open_kit();
    expect(&kit, "1 + 2 * 3", "u64 7");
    expect(&kit, "10 - 3 - 2", "u64 5");
    expect(&kit, "100 / 10 / 5", "u64 2");
    expect(&kit, "((1))", "u64 1");
    expect(&kit, "`s`*2", "u64 14");
    expect(&kit, " 2\t*s ", "u64 14");
    close_kit(&kit);
}

Test(expression, types_grow_only_as_far_as_they_must) {
    struct kit kit = open_kit();
    expect(&kit, "small * small", "u64 18446744065119617025");
    expect(&kit, "small + small", "u64 8589934590");
    expect(&kit, "small - small", "u32 0");
    expect(&kit, "small + 0", "u64 4294967295");
    expect(&kit, "big + 1", "double 1.8446744073709552e+19");
    expect(&kit, "big * big", "double 3.4028236692093846e+38");
    expect(&kit, "big - big", "u64 0");
    // 2^53 + 1 and 2^53 + 3: rounded once, after the exact difference.
    expect(&kit, "0 - 9007199254740993", "double -9007199254740992");
    expect(&kit, "1 - 9007199254740996", "double -9007199254740996");
    expect(&kit, "f + 1", "float 1.1000000238418579");
    expect(&kit, "f + 1.0", "double 1.1000000014901161");
    close_kit(&kit);
}

Test(expression, division_by_zero) {
    struct kit kit = open_kit();
    expect(&kit, "s / z", "u64 7 (division by zero)");
    expect(&kit, "s / 0.0", "double inf");
    expect(&kit, "z / 0.0", "double nan");
    expect(&kit, "A / 0", "u64 9, 0:4 1:5 (division by zero)");
    expect(&kit, "A / Z",
           "u64 6, 0:4 1:2 (division by zero) (sum of ratios; consider revise_avg())");
    expect(&kit, "revise_max(A / Z) ", "u64 4, 0:4 1:2 (division by zero)");
    close_kit(&kit);
}

Test(expression, instances_meet_by_type_and_value_of_their_ids) {
    struct kit kit = open_kit();
    expect(&kit, "A * C", "u64 0 (no common instances)");
    expect(&kit, "(A * C) + 1", "u64 0 (no common instances)");
    expect(&kit, "revise_avg(A * C)", "double 0 (no common instances)");
    expect(&kit, "revise_max(A * C)", "u64 0 (no common instances)");
    expect(&kit, "range__open_count_per_name.sum + 1", "u64 0 (no common instances)");
    expect(&kit, "A + C", "u64 12, 0:4 1:5 \"0\":3");
    expect_as(&kit, "A * B", REPORT_AGGREGATE_OPERANDS, "u64 270, 1:50");
    expect_as(&kit, "A - B", REPORT_AGGREGATE_OPERANDS, "double -21, 0:4 1:-5 2:20");
    expect(&kit, "revise_min(A)", "u64 4, 0:4 1:5");
    expect(&kit, "revise_sum(B)", "u64 30, 1:10 2:20");
    expect(&kit, "revise_avg(A)", "double 4.5, 0:4 1:5");
    expect(&kit, "revise_avg(s)", "u64 7");
    close_kit(&kit);
}

Test(expression, what_is_not_there_makes_it_not_available) {
    struct kit kit = open_kit();
    expect(&kit, "s + nothing__here", "N/A needs nothing__here");
    expect(&kit, "iteration__count.sum * 2", "N/A needs iteration__count.sum");
    expect(&kit, "text + 1", "N/A needs text");
    expect(&kit, "text", "string hello");
    close_kit(&kit);
}

static void expect_fault(const char *text, unsigned column, const char *wanted) {
    struct report_expression *expression;
    struct report_expression_fault fault;
    cr_assert_eq(report_expression_parse(&expression, nvtxt_slice_of(text),
                                         REPORT_EXPRESSION_DERIVED, &fault),
                 1, "%s", text);
    cr_expect_null(expression);
    cr_expect_str_eq(fault.code, "bad-expression");
    cr_expect_eq(fault.column, column, "%s: column %u, not %u", text, fault.column, column);
    cr_expect(strstr(fault.text, wanted), "%s: '%s' has no '%s'", text, fault.text, wanted);
}

Test(expression, faults_have_a_column) {
    expect_fault("", 1, "expected");
    expect_fault("1 +", 4, "expected");
    expect_fault("-1", 1, "0 - x");
    expect_fault("1 - -1", 5, "0 - x");
    expect_fault("(1", 3, "')'");
    expect_fault("1)", 2, "end");
    expect_fault("a b", 3, "operator");
    expect_fault("1e5", 2, "exponents");
    expect_fault("1.2.3", 4, "exponents");
    expect_fault("2x", 2, "number ends");
    expect_fault("18446744073709551616", 1, "64 bits");
    expect_fault("`a", 1, "back-tick");
    expect_fault("1 + ``", 5, "name");
    expect_fault("sum(a)", 1, "unknown function 'sum'");
    expect_fault("min(a)", 1, "unknown function 'min'");
    expect_fault("revise_avg(a, b)", 13, "')'");
    expect_fault("1 + capture__attribute_path", 5, "text");
    expect_fault("capture__attribute_path * 2", 1, "text");
    expect_fault("simplify(capture__attribute_path)", 10, "text");
    expect_fault("a ! b", 3, "operator");
}

// `depth` parentheses around a number.
static int parse_nested(size_t depth) {
    char text[512] = "";
    struct report_expression *expression;
    struct report_expression_fault fault;
    memset(text, '(', depth);
    text[depth] = '1';
    memset(text + depth + 1, ')', depth);
    int result = report_expression_parse(&expression, nvtxt_slice_of(text),
                                         REPORT_EXPRESSION_DERIVED, &fault);
    report_expression_free(expression);
    return result;
}

Test(expression, depth_has_a_limit_and_length_has_none) {
    cr_expect_eq(parse_nested(64), 0);
    cr_expect_eq(parse_nested(65), 1);
    size_t count = 100000;
    char *text = malloc(2 * count + 2);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + 2 * i, "1+", 2);
    }
    memcpy(text + 2 * count, "1", 2);
    struct kit kit = open_kit();
    expect(&kit, text, "u64 100001");
    close_kit(&kit);
    free(text);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

Test(expression, many_different_names_take_no_time_each_for_all_others) {
    size_t count = 300000, len = 0;
    char *text = malloc(8 * count);
    for (size_t i = 0; i < count; i++) {
        len += (size_t)sprintf(text + len, "%sa%zu", i > 0 ? "+" : "", i);
    }
    struct report_expression_fault fault;
    struct report_expression *expression;
    double begin = seconds_now();
    cr_assert_eq(report_expression_parse(&expression, (struct nvtxt_slice){text, len},
                                         REPORT_EXPRESSION_DERIVED, &fault),
                 0);
    cr_expect_lt(seconds_now() - begin, 60);
    cr_expect_str_eq(report_expression_name(expression, count - 1), "a299999");
    cr_expect_null(report_expression_name(expression, count));
    report_expression_free(expression);
    free(text);
}

// ---- Definitions --------------------------------------------------------------------------------

static int define(const struct kit *kit, const char *text, struct report_expression_fault *fault) {
    return report_definitions_add_option(kit->definitions, nvtxt_slice_of(text), fault);
}

Test(expression, definitions_use_each_other_in_any_order) {
    struct kit kit = open_kit();
    struct report_expression_fault fault;
    const struct report_metric *metric;
    cr_assert_eq(define(&kit, "first = second + 1", &fault), 0);
    cr_assert_eq(define(&kit, "second=range__time_duration.sum", &fault), 0);
    cr_assert_eq(define(&kit, "third = missing", &fault), 0);
    cr_assert_eq(report_metrics_get(kit.metrics, "first", &metric), 0);
    cr_expect_eq(metric->value.u64, 701);
    cr_assert_eq(report_metrics_get(kit.metrics, "third", &metric), 0);
    cr_expect_str_eq(metric->na, "needs missing");
    cr_expect_str_eq(report_definitions_name(kit.definitions, 0), "A");
    close_kit(&kit);
}

Test(expression, definitions_are_refused) {
    struct kit kit = open_kit();
    struct report_expression_fault fault;
    cr_expect_eq(define(&kit, "a=1", &fault), 0);
    cr_expect_eq(define(&kit, "a=1", &fault), 1);
    cr_expect_str_eq(fault.code, "duplicate-definition");
    cr_expect_eq(define(&kit, "A=1", &fault), 1);
    cr_expect_eq(define(&kit, "event__count.sum=1", &fault), 1);
    cr_expect_str_eq(fault.code, "duplicate-definition");
    cr_expect_eq(define(&kit, "b", &fault), 1);
    cr_expect_eq(define(&kit, "=1", &fault), 1);
    cr_expect_eq(define(&kit, "b = 1 +", &fault), 1);
    cr_expect_eq(fault.column, 8);
    close_kit(&kit);
}

Test(expression, a_cycle_is_named) {
    struct kit kit = open_kit();
    struct report_expression_fault fault;
    const char *name;
    const void *owner;
    cr_assert_eq(define(&kit, "x = a + 1", &fault), 0);
    cr_assert_eq(define(&kit, "a = b", &fault), 0);
    cr_assert_eq(define(&kit, "b = 1 + c", &fault), 0);
    cr_assert_eq(report_definitions_cycle(kit.definitions, &fault, &name, &owner), 0);
    cr_assert_eq(define(&kit, "c = a", &fault), 0);
    cr_assert_eq(report_definitions_cycle(kit.definitions, &fault, &name, &owner), 1);
    cr_expect_str_eq(fault.code, "definition-cycle");
    cr_expect_str_eq(fault.text, "cycle of definitions: a -> b -> c -> a");
    cr_expect_str_eq(name, "a");
    close_kit(&kit);
}

Test(expression, definitions_of_an_owner_can_be_dropped) {
    struct kit kit = open_kit();
    struct report_expression_fault fault;
    const char *name;
    const void *owner;
    struct report_definition own = {.name = NVTXT_SLICE("own"),
                                    .expression = NVTXT_SLICE("own"),
                                    .origin = REPORT_FROM_SECTION,
                                    .owner = &kit};
    cr_assert_eq(report_definitions_add(kit.definitions, &own, &fault), 0);
    cr_assert_eq(report_definitions_cycle(kit.definitions, &fault, &name, &owner), 1);
    cr_expect_eq(owner, &kit);
    report_definitions_drop(kit.definitions, owner);
    cr_expect_eq(report_definitions_cycle(kit.definitions, &fault, &name, &owner), 0);
    cr_expect_not(report_metric_exists(kit.definitions, "own"));
    close_kit(&kit);
}

// ---- Files --------------------------------------------------------------------------------------

static void keep_fault(void *context, const struct report_expression_fault *fault) {
    char *all = context;
    size_t len = strlen(all);
    cr_expect_str_eq(fault->code, "bad-metrics");
    snprintf(all + len, 1024 - len, "%s|", fault->text);
}

static void expect_file(const char *json, size_t taken, const char *wanted) {
    struct report_definitions *definitions;
    char faults[1024] = "";
    cr_assert_eq(report_definitions_new(&definitions), 0);
    int result = report_definitions_add_file(definitions, nvtxt_slice_of(json), keep_fault, faults);
    cr_expect_eq(result, wanted[0] ? 1 : 0, "%s", json);
    cr_expect(wanted[0] ? strstr(faults, wanted) != NULL : faults[0] == '\0', "%s: %s", json,
              faults);
    size_t count = 0;
    while (report_definitions_name(definitions, count)) {
        count++;
    }
    cr_expect_eq(count, taken, "%s", json);
    report_definitions_free(definitions);
}

#define FILE_OF(metrics) "{\"metrics\":[" metrics "]}"
#define GOOD "{\"name\":\"good\",\"type\":\"u64\",\"value\":1}"

Test(expression, metrics_of_a_file_are_left_out_one_by_one) {
    expect_file(FILE_OF(GOOD), 1, "");
    expect_file("{", 0, "expected");
    expect_file("[]", 0, "\"metrics\"");
    expect_file(FILE_OF("1," GOOD), 1, "without a name");
    expect_file(FILE_OF(GOOD "," GOOD), 1, "defined already");
    expect_file(FILE_OF("{\"name\":\"event__count.sum\",\"type\":\"u64\",\"value\":1}," GOOD), 1,
                "catalogue");
    expect_file(FILE_OF("{\"name\":\"a\",\"type\":\"u8\",\"value\":1}," GOOD), 1, "type");
    expect_file(FILE_OF("{\"name\":\"a\",\"type\":\"u32\",\"value\":4294967296}," GOOD), 1, "u32");
    expect_file(FILE_OF("{\"name\":\"a\",\"type\":\"u64\",\"value\":-1}," GOOD), 1, "u64");
    expect_file(FILE_OF("{\"name\":\"a\",\"type\":\"u64\"}," GOOD), 1, "missing");
    expect_file(FILE_OF("{\"name\":\"a\",\"type\":\"u64\",\"instances\":["
                        "{\"id\":1,\"value\":1},{\"id\":1,\"value\":1}]}," GOOD),
                1, "same id");
    expect_file(FILE_OF("{\"name\":\"a\",\"type\":\"u64\",\"instances\":["
                        "{\"id\":1,\"value\":1},{\"id\":\"1\",\"value\":1}]}," GOOD),
                2, "");
}
