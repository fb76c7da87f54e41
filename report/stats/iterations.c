// SPDX-License-Identifier: Apache-2.0
//
// The iterations of the model as rows, and a note for each way in which there may be none or fewer.
#include <errno.h>

#include "report/model/model.h"
#include "report/stats/reports.h"

static int put_row(struct report_table *table, const struct report_capture *capture,
                   const struct report_iteration *iteration) {
    const struct report_event *marker = &capture->events[iteration->event];
    const struct report_thread *thread = &capture->threads[marker->thread];
    struct report_cell *cells = report_table_row(table);
    if (!cells) {
        return -ENOMEM;
    }
    cells[0] = report_cell_uint(iteration->number);
    cells[1] = report_cell_int(marker->start);
    cells[2] = report_cell_uint(iteration->duration);
    if (iteration->has_interval) {
        cells[3] = report_cell_uint(iteration->interval);
    }
    if (iteration->is_outlier) {
        cells[4] = report_cell_text(NVTXT_SLICE("yes"));
    }
    cells[5] = report_cell_uint(capture->processes[thread->process].pid);
    cells[6] = report_cell_uint(report_tid(thread));
    return 0;
}

static int put_notes(struct report_table *table, const struct report_iterations *iterations) {
    if (!iterations->declared) {
        return report_table_note(table, "no iterations declared");
    }
    int rc = 0;
    if (iterations->count + iterations->skipped == 0) {
        rc = report_table_note(table, "no range has the declared name");
    }
    if (rc == 0 && iterations->skipped > 0) {
        rc = iterations->skipped == 1
                 ? report_table_note(table, "the first iteration is left out")
                 : report_table_note(table, "the first %zu iterations are left out",
                                     iterations->skipped);
    }
    if (rc == 0 && iterations->open > 0) {
        rc = report_table_note(table, "%zu open %s left out: %s no end", iterations->open,
                               iterations->open == 1 ? "range is" : "ranges are",
                               iterations->open == 1 ? "it has" : "they have");
    }
    return rc;
}

int report_nvtx_iteration_sum(struct report_table *table, const struct report_model *model,
                              const struct report_stats_options *options) {
    const struct report_iterations *iterations = &model->iterations;
    int rc = 0;
    (void)options;
    for (size_t i = 0; rc == 0 && i < iterations->count; i++) {
        rc = put_row(table, model->capture, &iterations->list[i]);
    }
    return rc == 0 ? put_notes(table, iterations) : rc;
}
