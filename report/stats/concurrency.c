// SPDX-License-Identifier: Apache-2.0
//
// Ranges of a name that are open at a time, of both kinds and of all threads and processes
// together.
#include <errno.h>
#include <stdlib.h>

#include "report/model/name_text.h"
#include "report/model/spans.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

static uint32_t name_of(const void *context, const struct report_event *event) {
    (void)context;
    return report_is_timed(event) ? event->name : REPORT_NONE;
}

static int by_text(const void *left, const void *right, void *context) {
    const struct nvtxt_slice *names = context;
    return report_text_order(names[*(const uint32_t *)left], names[*(const uint32_t *)right]);
}

static int put_name(struct report_table *table, const struct report_model *model,
                    const struct report_groups *groups, uint32_t name, struct nvtxt_slice text) {
    struct report_concurrency found;
    int rc = report_concurrency_of(model->capture, groups->events + groups->first[name],
                                   report_group_size(groups, name), REPORT_BOTH_KINDS, &found);
    struct report_cell *cells = rc == 0 ? report_table_row(table) : NULL;
    if (!cells) {
        return -ENOMEM;
    }
    if (model->elapsed_ns > 0) {
        cells[0] =
            report_cell_real((double)((long double)found.area / (long double)model->elapsed_ns));
    }
    cells[1] = report_cell_uint(found.max);
    cells[2] = report_cell_uint(found.overlap);
    cells[3] = report_cell_text(text);
    return 0;
}

int report_nvtx_concurrency(struct report_table *table, const struct report_model *model,
                            const struct report_stats_options *options) {
    struct report_groups groups;
    struct nvtxt_slice *names = report_name_texts(model->capture);
    uint32_t *order = malloc((model->capture->name_count + 1) * sizeof(*order));
    size_t count = 0;
    (void)options;
    int rc = report_groups_init(&groups, model, model->capture->name_count, name_of, NULL);
    table->owned = names; // the cells point into it
    rc = names && order ? rc : -ENOMEM;
    for (uint32_t name = 0; rc == 0 && name < groups.group_count; name++) {
        order[count] = name;
        count += report_group_size(&groups, name) > 0;
    }
    if (rc == 0) {
        qsort_r(order, count, sizeof(*order), by_text, names);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = put_name(table, model, &groups, order[i], names[order[i]]);
    }
    report_groups_deinit(&groups);
    free(order);
    return rc == 0 ? report_note_open(table, model, REPORT_BOTH_KINDS) : rc;
}
