// SPDX-License-Identifier: Apache-2.0
//
// The iterations of the model as rows, and a note for each way in which there may be none or fewer.

#include "report/stats/reports.h"

static int put_row(struct report_table *table, const struct report_capture *capture,
                   const struct report_iteration *iteration) {
    const struct report_event *marker = &capture->events[iteration->event];
    const struct report_thread *thread = &capture->threads[marker->thread];
    const struct report_cell cells[] = {
        report_cell_uint(iteration->number),
        report_cell_int(marker->start),
        report_cell_uint(iteration->duration),
        iteration->has_interval ? report_cell_uint(iteration->interval) : REPORT_NO_CELL,
        iteration->is_outlier ? report_cell_text(NVTXT_SLICE("yes")) : REPORT_NO_CELL,
        report_cell_uint(capture->processes[thread->process].pid),
        report_cell_uint(report_tid(thread)),
    };
    return report_table_add(table, cells);
}

static int put_notes(struct report_table *table, const struct report_iterations *iterations) {
    if (!iterations->declared) {
        return report_table_note(table, "no iterations declared");
    }
    int r = 0;
    if (iterations->count + iterations->skipped == 0) {
        r = report_table_note(table, "no range has the declared name");
    }
    if (r == 0 && iterations->skipped > 0) {
        r = iterations->skipped == 1
                ? report_table_note(table, "the first iteration is left out")
                : report_table_note(table, "the first %zu iterations are left out",
                                    iterations->skipped);
    }
    if (r == 0 && iterations->open > 0) {
        r = report_table_note(table, "%zu open %s left out: %s no end", iterations->open,
                              iterations->open == 1 ? "range is" : "ranges are",
                              iterations->open == 1 ? "it has" : "they have");
    }
    return r;
}

int report_nvtx_iteration_sum(struct report_table *table, const struct report_model *model,
                              const struct report_stats_options *options) {
    const struct report_iterations *iterations = &model->iterations;
    int r = 0;
    (void)options;
    for (size_t i = 0; r == 0 && i < iterations->count; i++) {
        r = put_row(table, model->capture, &iterations->list[i]);
    }
    return r ?: put_notes(table, iterations);
}
