// SPDX-License-Identifier: Apache-2.0
//
// report/render: how results look: tables, metrics, sections and rules as text, CSV, TSV, JSON and
// Markdown. It owns nothing but what one call needs; every function puts bytes into the output of
// its caller, which remembers a failure. One thread. It computes no figures and opens no file.
//
// This header is tables of report/stats in each format of `nvtxt-report stats`. Cells of columns
// whose title ends with " (ns)" are divided by the unit, and the title names the unit.
#pragma once

#include "report/render/kit/json.h"
#include "report/stats/table.h"

struct report_table_view {
    uint64_t unit_ns; // 1, 1,000, 1,000,000 or 1,000,000,000
    size_t width;     // columns of the terminal that reads the text; 0: no terminal, nothing is cut
};

// A headline (when the table has a name), the titles, the rows with aligned columns, then the
// notes. A table without rows says so. On a terminal long texts are cut, so that a row fits into a
// line when its numbers do.
void report_table_text(struct nvtxt_out *out, const struct report_table *table,
                       const struct report_table_view *view);

// The rows alone: the cells of each with a blank between them.
void report_table_lines(struct nvtxt_out *out, const struct report_table *table,
                        const struct report_table_view *view);

void report_table_markdown(struct nvtxt_out *out, const struct report_table *table,
                           const struct report_table_view *view);

// The titles, then the rows; `separator` is ',' or a tab. No notes. Lines end with LF.
void report_table_separated(struct nvtxt_out *out, const struct report_table *table,
                            const struct report_table_view *view, char separator);

// An object with the members report, columns, rows and notes.
void report_table_json(struct report_json *json, const struct report_table *table,
                       const struct report_table_view *view);
