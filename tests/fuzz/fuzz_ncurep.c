// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a report file: either they are refused with a place in them, or everything that can
// be asked of the report lies within them.
#include "tests/fuzz/replay.h"

#include <string.h>

#include "report/launch/launches.h"
#include "report/ncurep/state.h"

static const struct report_ncurep *report;

static void check(struct nvtxt_slice text) {
    must(text.len == 0 || (text.data >= report->bytes.data &&
                           text.data + text.len <= report->bytes.data + report->bytes.len));
}

static void ask_state(const struct report_ncurep_result *result) {
    static struct report_state state;
    size_t domains = 0;
    struct report_state_domain domain;
    must(report_state_open(&state, result) == 0);
    while (report_state_next_domain(&state, &domains, &domain)) {
        struct report_state_piles piles = {.begun = false};
        struct report_pile pile;
        check(domain.name);
        while (report_state_next_pile(&state, &domain, &piles, &pile)) {
            struct report_wire ranges = report_ranges_of(&pile);
            struct report_range range;
            while (report_range_next(&state, &pile, &ranges, &range)) {
                must(range.name.data != NULL);
                check(range.name);
                check(range.message);
            }
        }
    }
    report_state_deinit(&state); // so that a sanitizer sees what is beyond its lists
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

// Each metric is found again by its name, and is the first one of that name.
static void ask_names(struct report_by_name *by_name, const struct report_ncurep_result *result) {
    struct report_wire metrics = report_ncurep_metrics(result);
    struct report_ncurep_metric metric, found;
    struct nvtxt_slice name;
    report_by_name_set(by_name, result->bytes);
    while (report_ncurep_next_metric(&metrics, &metric)) {
        if (report_by_name_name(by_name, &metric, &name)) {
            must(report_by_name_find(by_name, name, &found));
            must(found.bytes.data == metric.bytes.data && found.bytes.len == metric.bytes.len);
        } else {
            name = report_ncurep_string(report, metric.name);
            must(!name.data || (report_by_name_find(by_name, name, &found) &&
                                found.bytes.data < metric.bytes.data));
        }
    }
}

// As a scope has it: instances have the type of their metric, so that expressions can take them.
static void ask_scope(const struct report_launches *launches) {
    for (size_t i = 0; i < launches->count; i++) {
        const struct report_given *given = &launches->list[i].given;
        struct store_arena arena = {0};
        const char *name;
        must(report_launch_arch(&launches->list[i]) < 11000);
        for (size_t n = 0; (name = given->name_at(given, n)); n++) {
            struct report_metric metric;
            must(given->known(given, name) && given->get(given, name, NULL, NULL) == 0);
            must(given->get(given, name, &arena, &metric) == 0);
            must(metric.na || metric.value.type == metric.type);
            for (size_t k = 0; k < metric.instance_count; k++) {
                must(metric.instances[k].value.type == metric.type);
            }
            must(memchr(report_metric_words(name).description, '\0', REPORT_DESCRIPTION_BYTES));
            must(report_metric_unit(name) != NULL);
            store_arena_reset(&arena, STORE_CHUNK_BYTES);
        }
        store_arena_deinit(&arena);
    }
}

static void filter(struct report_matching *matching, const struct report_ncurep_result *result) {
    struct report_fault fault = {0};
    static struct report_state state; // its memory serves all
    bool taken;
    must(report_state_open(&state, result) == 0);
    must(report_matching_take(matching, &state, &fault, &taken) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct report_selection selection;
    struct report_matching matching;
    struct report_by_name by_name;
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
    must(report_ncurep_index(made, &fault) == 0 || size > 16 << 20);
    must(report_matching_init(&matching, &selection) == 0);
    must(report_by_name_init(&by_name, made) == 0);
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
            ask_names(&by_name, &result);
            filter(&matching, &result);
        }
    }
    must(count == made->result_count);
    report_by_name_deinit(&by_name);
    struct report_gathered gathered = {.incomplete = false};
    struct report_launches *launches;
    const struct report_launches_wish wish = {.matching = &matching, .gathered = &gathered};
    must(report_launches_new(&launches, made, nvtxt_slice_of("a"), &wish, &fault, &wrong) == 0);
    must(launches->result_count == count);
    ask_scope(launches);
    report_launches_free(launches);
    report_gathered_deinit(&gathered);
    report_matching_deinit(&matching);
    return 0;
}
