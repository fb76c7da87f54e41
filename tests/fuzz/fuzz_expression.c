// SPDX-License-Identifier: Apache-2.0
//
// Any first line as an expression, over the metrics of a file that is the rest, or over those of
// the page when there is none: a fault is in the text, and all values of a result have one type.
#include "tests/fuzz/replay.h"

#include <string.h>

#include "report/metric/definitions.h"
#include "report/metric/expression.h"
#include "report/model/model.h"

static const char metrics_of_page[] =
    "{\"metrics\":["
    "{\"name\":\"A\",\"type\":\"u64\",\"instances\":[{\"id\":0,\"value\":4},{\"id\":1,\"value\":5}]"
    "},"
    "{\"name\":\"B\",\"type\":\"u64\",\"instances\":[{\"id\":1,\"value\":10},{\"id\":2,\"value\":"
    "20}]},"
    "{\"name\":\"C\",\"type\":\"u32\",\"instances\":[{\"id\":\"1\",\"value\":4294967295}]},"
    "{\"name\":\"f\",\"type\":\"float\",\"value\":0.1},"
    "{\"name\":\"m\",\"type\":\"u64\",\"value\":\"18446744073709551615\"},"
    "{\"name\":\"n\",\"type\":\"u32\",\"value\":4294967295},"
    "{\"name\":\"s\",\"type\":\"u64\",\"value\":7},"
    "{\"name\":\"t\",\"type\":\"string\",\"value\":\"x\"}]}";

static void check_fault(void *context, const struct report_expression_fault *fault) {
    (void)context;
    must(fault->code && fault->text[0] && memchr(fault->text, '\0', sizeof(fault->text)));
}

static void check_metric(const struct report_metric *metric) {
    must(metric->na || metric->value.type == metric->type);
    must(metric->instanced || metric->instance_count == 0);
    for (size_t i = 0; i < metric->instance_count; i++) {
        must(metric->instances[i].value.type == metric->type);
    }
    for (size_t i = 0; i < metric->note_count; i++) {
        must(metric->notes[i][0] != '\0');
    }
}

static void evaluate(const struct report_expression *expression, struct report_metrics *metrics,
                     const struct report_definitions *definitions) {
    const struct report_metric *result;
    const char *name;
    for (size_t i = 0; i < 2 && (name = report_expression_name(expression, i)); i++) {
        report_metric_near(definitions, nvtxt_slice_of(name));
    }
    for (int way = REPORT_AGGREGATE_UNSAID; way <= REPORT_AGGREGATE_OPERANDS; way++) {
        must(report_expression_evaluate(expression, metrics, NULL, (enum report_aggregate)way, NULL,
                                        &result) == 0);
        check_metric(result);
    }
}

static void define(struct report_definitions *definitions, struct nvtxt_slice line) {
    struct report_expression_fault fault;
    const char *name;
    const void *owner;
    if (report_definitions_add_option(definitions, line, &fault) != 0) {
        must(fault.column >= 1 && fault.column <= line.len + 1);
        check_fault(NULL, &fault);
    }
    must(report_definitions_cycle(definitions, &fault, &name, &owner) <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct report_capture capture; // without events
    static struct report_model model = {.capture = &capture};
    const char *end = size ? memchr(data, '\n', size) : NULL;
    struct nvtxt_slice line = {(const char *)data, end ? (size_t)(end - (const char *)data) : size};
    struct nvtxt_slice file = nvtxt_slice_of(metrics_of_page);
    if (end && size - line.len > 1) {
        file = (struct nvtxt_slice){end + 1, size - line.len - 1};
    }
    struct report_definitions *definitions;
    struct report_expression *expression;
    struct report_expression_fault fault;
    struct report_scopes *scopes;
    struct report_metrics *metrics;
    must(report_definitions_new(&definitions) == 0);
    must(report_definitions_add_file(definitions, file, check_fault, NULL) >= 0);
    define(definitions, line);
    must(report_scopes_new(&scopes, &model, REPORT_SCOPE_CAPTURE) == 0);
    must(report_metrics_new(&metrics, &model, report_scopes_at(scopes, 0), definitions) == 0);
    if (report_expression_parse(&expression, line, REPORT_EXPRESSION_DERIVED, &fault) == 0) {
        evaluate(expression, metrics, definitions);
        report_expression_free(expression);
    } else {
        must(fault.column >= 1 && fault.column <= line.len + 1);
        check_fault(NULL, &fault);
    }
    size_t at = 0;
    if (report_expression_parse_at(&expression, line, &at, REPORT_EXPRESSION_OF_RULE, &fault) ==
        0) {
        must(at <= line.len);
        evaluate(expression, metrics, definitions);
        report_expression_free(expression);
    }
    report_metrics_free(metrics);
    report_scopes_free(scopes);
    report_definitions_free(definitions);
    return 0;
}
