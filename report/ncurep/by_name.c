// SPDX-License-Identifier: Apache-2.0
//
// Equal strings get one number: strings are sorted, and equal ones are neighbours then. A metric is
// noted under the number of its name, together with the number of its turn, so that nothing has to
// be emptied for the next result.
#include "report/ncurep/by_name.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

static int compare_strings(const void *a, const void *b, void *context) {
    const struct report_ncurep *report = context;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    int order =
        nvtxt_slice_order(report_ncurep_string(report, one), report_ncurep_string(report, other));
    return order ?: NVTXT_ORDER(one, other);
}

static void sort_texts(struct report_by_name *by_name) {
    const struct report_ncurep *report = by_name->report;
    size_t count = (size_t)report->string_count;
    for (size_t i = 0; i < count; i++) {
        by_name->order[i] = (uint32_t)i;
    }
    if (count > 0) {
        qsort_r(by_name->order, count, sizeof(*by_name->order), compare_strings, (void *)report);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t string = by_name->order[i];
        struct nvtxt_slice text = report_ncurep_string(report, string);
        size_t last = by_name->text_count;
        if (last == 0 ||
            nvtxt_slice_order(report_ncurep_string(report, by_name->order[last - 1]), text) != 0) {
            by_name->order[by_name->text_count++] = string;
        }
        by_name->texts[string] = (uint32_t)by_name->text_count - 1;
    }
}

int report_by_name_init(struct report_by_name *by_name, const struct report_ncurep *report) {
    size_t count = (size_t)report->string_count + 1;
    *by_name = (struct report_by_name){
        .report = report,
        .order = calloc(count, sizeof(*by_name->order)),
        .texts = calloc(count, sizeof(*by_name->texts)),
        .places = calloc(count, sizeof(*by_name->places)),
    };
    if (!by_name->order || !by_name->texts || !by_name->places) {
        return nvtxt_origin(-ENOMEM);
    }
    sort_texts(by_name);
    return 0;
}

void report_by_name_deinit(struct report_by_name *by_name) {
    free(by_name->order);
    free(by_name->texts);
    free(by_name->places);
    *by_name = (struct report_by_name){.report = NULL};
}

void report_by_name_set(struct report_by_name *by_name, struct nvtxt_slice result) {
    struct report_ncurep_result read = {.bytes = result};
    struct report_wire metrics = report_ncurep_metrics(&read);
    struct report_ncurep_metric metric;
    if (by_name->turn > 0 && by_name->result.data == result.data) {
        return;
    }
    by_name->result = result;
    if (++by_name->turn == 0) { // all turns are used: start over
        memset(by_name->places, 0, by_name->text_count * sizeof(*by_name->places));
        by_name->turn = 1;
    }
    while (report_ncurep_next_metric(&metrics, &metric)) {
        if (metric.name >= by_name->report->string_count) {
            continue;
        }
        struct report_by_name_place *at = &by_name->places[by_name->texts[metric.name]];
        if (at->turn != by_name->turn) {
            at->turn = by_name->turn;
            at->place = report_wire_place(result.data, metric.bytes);
        }
    }
}

// The place in `order` of a text, or `text_count`.
static size_t find_text(const struct report_by_name *by_name, struct nvtxt_slice name) {
    size_t low = 0;
    for (size_t count = by_name->text_count; count > 0;) {
        size_t middle = low + count / 2;
        int order =
            nvtxt_slice_order(report_ncurep_string(by_name->report, by_name->order[middle]), name);
        if (order == 0) {
            return middle;
        }
        low = order < 0 ? middle + 1 : low;
        count = order < 0 ? count - count / 2 - 1 : count / 2;
    }
    return by_name->text_count;
}

bool report_by_name_find(const struct report_by_name *by_name, struct nvtxt_slice name,
                         struct report_ncurep_metric *metric) {
    size_t text = find_text(by_name, name);
    if (text == by_name->text_count || by_name->places[text].turn != by_name->turn) {
        return false;
    }
    report_ncurep_metric_read(report_wire_at(by_name->result.data, by_name->places[text].place),
                              metric);
    return true;
}

bool report_by_name_knows(const struct report_by_name *by_name, struct nvtxt_slice name) {
    return find_text(by_name, name) < by_name->text_count;
}

bool report_by_name_name(const struct report_by_name *by_name,
                         const struct report_ncurep_metric *metric, struct nvtxt_slice *name) {
    if (metric->name >= by_name->report->string_count) {
        return false;
    }
    *name = report_ncurep_string(by_name->report, metric->name);
    return by_name->places[by_name->texts[metric->name]].place ==
           report_wire_place(by_name->result.data, metric->bytes);
}
