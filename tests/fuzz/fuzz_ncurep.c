// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a report file: either they are refused with a place in them, or everything that can
// be asked of the report lies within them.
#include "tests/fuzz/replay.h"

#include <string.h>

#include "report/ncurep/matching.h"
#include "report/ncurep/ncurep.h"
#include "report/ncurep/result.h"

static const struct report_ncurep *report;

static void check(struct nvtxt_slice text) {
    must(text.len == 0 || (text.data >= report->bytes.data &&
                           text.data + text.len <= report->bytes.data + report->bytes.len));
}

static void ask_state(const struct report_ncurep_result *result) {
    struct report_state state;
    struct report_state_domains domains = {.next = 0};
    struct report_state_domain domain;
    struct report_state_piles piles = {.started = false};
    struct report_state_pile pile;
    struct report_state_range range;
    report_state_open(&state, result);
    while (report_state_next_domain(&state, &domains, &domain)) {
        check(domain.name);
    }
    while (report_state_next_pile(&state, &piles, &pile)) {
        struct report_wire ranges = report_state_ranges(&pile);
        while (report_state_next_range(&state, &pile, &ranges, &range)) {
            must(range.name.data != NULL);
            check(range.name);
            check(range.message);
        }
    }
}

static void ask_metrics(const struct report_ncurep_result *result) {
    struct report_wire metrics = report_ncurep_metrics(result);
    struct report_ncurep_metric metric;
    struct report_ncurep_value id, value;
    uint64_t count = 0;
    for (; report_ncurep_next_metric(&metrics, &metric); count++) {
        struct report_wire instances = report_ncurep_instances(&metric);
        uint64_t elements = 0;
        check(report_ncurep_string(report, metric.name));
        for (; report_ncurep_next_instance(&instances, &id, &value); elements++) {
            check(id.string);
            check(value.string);
        }
        must(elements == metric.instance_count);
    }
    must(count == result->metric_count);
}

static void filter(struct report_matching *matching, const struct report_ncurep_result *result) {
    struct report_fault fault = {0};
    struct report_state state;
    bool taken;
    report_state_open(&state, result);
    must(report_matching_take(matching, &state, &fault, &taken) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct report_selection selection;
    struct report_matching matching;
    struct report_ncurep_fault fault = {.offset = 0};
    struct report_ncurep *made;
    struct report_fault wrong;
    if (selection.includes_count == 0) {
        must(report_selection_take(&selection, "nvtx-include", "a/*/+/b", &wrong) == 0);
        must(report_selection_take(&selection, "nvtx-include", "a,b", &wrong) == 0);
        must(report_selection_take(&selection, "nvtx-exclude", "regex:.*@[a|b]", &wrong) == 0);
    }
    char *bytes = malloc(size ? size : 1);
    must(bytes != NULL);
    memcpy(bytes, data, size);
    int rc = report_ncurep_take(&made, bytes, size, &fault);
    if (rc != 0) {
        must(rc == REPORT_NCUREP_BROKEN && fault.offset <= size && fault.what[0]);
        return 0;
    }
    report = made;
    must(report_ncurep_index(made, &fault) == 0 || size > 1 << 20);
    must(report_matching_init(&matching, &selection) == 0);
    uint64_t count = 0;
    for (size_t i = 0; i < made->range_count; i++) {
        for (size_t j = 0; j < made->ranges[i].count; j++, count++) {
            struct report_ncurep_result result;
            report_ncurep_result_read(report_ncurep_action(made, i, j), &result);
            check(result.bytes);
            check(result.function);
            must(result.context == made->ranges[i].context);
            ask_state(&result);
            ask_metrics(&result);
            filter(&matching, &result);
        }
    }
    must(count == made->result_count);
    report_matching_deinit(&matching);
    report_ncurep_free(made);
    return 0;
}
