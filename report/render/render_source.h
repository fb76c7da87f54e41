// SPDX-License-Identifier: Apache-2.0
//
// The lines of a source's file with a column for each metric, in each format.
#pragma once

#include <stdbool.h>

#include "report/load/capture.h"
#include "report/load/replay.h"
#include "report/section/show.h"
#include "report/table/json.h"
#include "report/table/table.h"

// A source with what is said of its lines. Everything is borrowed but `cells`.
struct report_source_page {
    const struct report_source *source;
    const struct report_file_text *text;       // no lines: the file is not at hand
    const struct report_shown_metric *columns; // instances have ids FILE:LINE
    size_t column_count;
    bool all_lines; // also those without value and diagnostic
    struct report_source_cell {
        int64_t line;
        size_t column;
        const struct report_value *value;
    } *cells; // by line, then column; owned
    size_t cell_count;
};

// Finds the values of the lines of this source. Returns 0 or -ENOMEM. Deinit is fine after both.
int report_source_page_fill(struct report_source_page *page);
void report_source_page_deinit(struct report_source_page *page);

// True when there is no line to show.
bool report_source_page_is_empty(const struct report_source_page *page);

// An object of "files".
void report_source_page_json(struct report_json *json, const struct report_source_page *page);

// The columns Line, one each metric, Source; with `with_file` File comes first, and the table keeps
// copies of the lines. Deinit the table in any case. Returns 0 or -ENOMEM.
int report_source_page_columns(struct report_table *table, const struct report_source_page *page,
                               const char *name, bool with_file);
int report_source_page_rows(struct report_table *table, const struct report_source_page *page,
                            bool with_file);

// The diagnostics, as nvtxt-check prints them.
void report_source_page_diagnostics(struct nvtxt_out *out, const struct report_source_page *page,
                                    bool full_names);

// An array of diagnostics.
void report_render_diagnostics_json(struct report_json *json, const char *name,
                                    const struct report_diagnostic *diagnostics, size_t count);
