// SPDX-License-Identifier: Apache-2.0
//
// The columns that lines of sources have: the metrics of the groups of the shown sections. Without
// --section, SourceMetrics is among them.
#pragma once

#include "client/report/command/loaded.h"
#include "report/section/show.h"

struct report_source_columns {
    struct report_shown_metric *columns; // owned
    size_t count;
    struct store_arena arena;
};

// `metrics` is borrowed. Returns 0, an enum outcome after a sentence, or -errno; deinit it in any
// case.
int report_source_columns_init(struct report_source_columns *columns, struct report_loaded *loaded,
                               const struct report_job *job, struct report_metrics *metrics);
void report_source_columns_deinit(struct report_source_columns *columns); // fine when zeroed
