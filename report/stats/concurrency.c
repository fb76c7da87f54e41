// SPDX-License-Identifier: Apache-2.0
//
// Ranges of a name that are open at a time, of both kinds and of all threads and processes
// together.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/spans.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

static uint32_t name_of(const void *context, const struct report_event *event) {
    (void)context;
    return report_is_timed(event) ? event->name : REPORT_NONE;
}

static int by_text(const void *left, const void *right, void *context) {
    const struct nvtxt_slice *names = context;
    return nvtxt_slice_order(names[*(const uint32_t *)left], names[*(const uint32_t *)right]);
}

static int put_name(struct report_table *table, const struct report_model *model,
                    const struct report_groups *groups, uint32_t name, struct nvtxt_slice text) {
    struct report_concurrency found;
    int r = report_concurrency_of(model->capture, groups->events + groups->first[name],
                                  report_group_size(groups, name), REPORT_BOTH_KINDS, &found);
    if (r != 0) {
        return r;
    }
    double mean = (double)((long double)found.area / (long double)model->elapsed_ns);
    const struct report_cell cells[] = {
        model->elapsed_ns > 0 ? report_cell_real(mean) : REPORT_NO_CELL,
        report_cell_uint(found.max),
        report_cell_uint(found.overlap),
        report_cell_text(text),
    };
    return report_table_add(table, cells);
}

int report_nvtx_concurrency(struct report_table *table, const struct report_model *model,
                            const struct report_stats_options *options) {
    struct report_groups groups;
    struct nvtxt_slice *names = report_name_texts(model->capture);
    uint32_t *order = malloc((model->capture->name_count + 1) * sizeof(*order));
    size_t count = 0;
    (void)options;
    int r = report_groups_init(&groups, model, model->capture->name_count, name_of, NULL);
    table->owned = names; // the cells point into it
    r = names && order ? r : nvtxt_origin(-ENOMEM);
    for (uint32_t name = 0; r == 0 && name < groups.group_count; name++) {
        order[count] = name;
        count += report_group_size(&groups, name) > 0;
    }
    if (r == 0) {
        qsort_r(order, count, sizeof(*order), by_text, names);
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = put_name(table, model, &groups, order[i], names[order[i]]);
    }
    report_groups_deinit(&groups);
    free(order);
    return r ?: report_note_open(table, model, REPORT_BOTH_KINDS, "left out");
}
