// SPDX-License-Identifier: Apache-2.0
//
// For people the rows become a table, which is written like those of `stats`.
#include "report/render/render.h"

#include <string.h>

#include "protocol/base/origin.h"
#include "report/table/number.h"
#include "report/table/plain.h"
#include "store/read/event_members.h"

struct nvtxt_slice report_render_diff_kind(const struct report_diff *diff,
                                           const struct report_diff_row *row) {
    if (diff->of_kernels) {
        return NVTXT_SLICE("kernel");
    }
    return store_event_kind(row->kind == REPORT_PUSH_POP ? NVTXT_EVENT_PUSH_POP
                                                         : NVTXT_EVENT_START_END);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_sum(struct report_json *json, const char *name, unsigned __int128 sum) {
    char digits[REPORT_NUMBER_WIDE];
    if (sum <= UINT64_MAX) {
        report_json_uint(json, name, (uint64_t)sum);
    } else {
        report_json_slice(json, name, report_number_wide(digits, sum));
    }
}

static void put_side(struct report_json *json, const char *name,
                     const struct report_diff_side *side) {
    if (side->count == 0) {
        report_json_null(json, name);
        return;
    }
    report_json_object(json, name);
    report_json_uint(json, "count", side->count);
    put_sum(json, "total", side->total);
    report_json_double(json, "avg", side->avg);
    report_json_double(json, "med", side->med);
    put_sum(json, "self", side->self);
    report_json_end_object(json);
}

static void put_number(struct report_json *json, const char *name, bool has, double value) {
    if (has) {
        report_json_double(json, name, value);
    } else {
        report_json_null(json, name);
    }
}

static void put_row(struct report_json *json, const struct report_diff *diff,
                    const struct report_diff_row *row) {
    report_json_object(json, NULL);
    report_json_slice(json, "name", row->name);
    report_json_slice(json, "kind", report_render_diff_kind(diff, row));
    put_side(json, "base", &row->base);
    put_side(json, "new", &row->new);
    put_number(json, "deltaPct", row->has_delta, row->delta_pct);
    put_number(json, "z", row->has_z, row->z);
    report_json_text(json, "verdict", report_diff_change_name(row->change));
    report_json_optional(json, "runsNeeded", row->runs_needed > 0, (int64_t)row->runs_needed);
    report_json_end_object(json);
}

void report_render_diff_json(struct report_json *json, const struct report_diff *diff,
                             const struct report_diff_view *view) {
    report_json_text(json, "base", view->base);
    report_json_text(json, "new", view->new);
    report_json_double(json, "gate", view->gate);
    report_json_text(json, "verdict", report_diff_verdict_name(diff->verdict));
    report_json_text(json, "reason", diff->reason);
    report_json_array(json, "rows");
    for (size_t i = 0; i < diff->row_count; i++) {
        put_row(json, diff, &diff->rows[i]);
    }
    report_json_end_array(json);
    report_json_array(json, "warnings");
    for (size_t i = 0; i < view->warning_count; i++) {
        report_json_text(json, NULL, view->warnings[i]);
    }
    report_json_end_array(json);
}

// ---- Text ---------------------------------------------------------------------------------------

static const struct report_column columns[] = {
    {"Verdict", REPORT_COLUMN_TEXT},
    {"Change (%)", REPORT_COLUMN_NUMBER},
    {"z", REPORT_COLUMN_NUMBER},
    {"Base Count", REPORT_COLUMN_NUMBER},
    {"New Count", REPORT_COLUMN_NUMBER},
    {"Base Avg (ns)", REPORT_COLUMN_NUMBER},
    {"New Avg (ns)", REPORT_COLUMN_NUMBER},
    {"Base Med (ns)", REPORT_COLUMN_NUMBER},
    {"New Med (ns)", REPORT_COLUMN_NUMBER},
    {"Base Self (ns)", REPORT_COLUMN_NUMBER},
    {"New Self (ns)", REPORT_COLUMN_NUMBER},
    {"Runs Needed", REPORT_COLUMN_NUMBER},
    {"Kind", REPORT_COLUMN_TEXT},
    {"Range", REPORT_COLUMN_TEXT},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define RUNS_NEEDED 11 // a column that is there only if a name is inconclusive

// The cells of a side stand in every other column.
static void put_cells(struct report_table *table, struct report_cell *cells,
                      const struct report_diff_side *side) {
    if (side->count > 0) {
        cells[0] = report_cell_uint(side->count);
        cells[2] = report_cell_real(side->avg);
        cells[4] = report_cell_real(side->med);
        cells[6] = report_cell_total(table, side->self);
    }
}

static int fill_table(struct report_table *table, const struct report_diff *diff) {
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct report_diff_row *row = &diff->rows[i];
        struct report_cell *cells = report_table_row(table);
        if (!cells) {
            return nvtxt_origin(-ENOMEM);
        }
        cells[0] = report_cell_text(nvtxt_slice_of(report_diff_change_name(row->change)));
        if (row->has_delta) {
            cells[1] = report_cell_real(row->delta_pct);
        }
        if (row->has_z) {
            cells[2] = report_cell_real(row->z);
        }
        put_cells(table, cells + 3, &row->base);
        put_cells(table, cells + 4, &row->new);
        if (row->runs_needed > 0) {
            cells[RUNS_NEEDED] = report_cell_uint(row->runs_needed);
        }
        cells += RUNS_NEEDED + (diff->undecided > 0);
        cells[0] = report_cell_text(report_render_diff_kind(diff, row));
        cells[1] = report_cell_text(row->name);
    }
    return 0;
}

static enum report_style style_of(enum report_diff_verdict verdict) {
    switch (verdict) {
    case REPORT_DIFF_REGRESSION:
        return REPORT_STYLE_RED;
    case REPORT_DIFF_IMPROVEMENT:
        return REPORT_STYLE_GREEN;
    case REPORT_DIFF_INCONCLUSIVE:
        return REPORT_STYLE_YELLOW;
    case REPORT_DIFF_NEUTRAL:
        break;
    }
    return REPORT_STYLE_BOLD;
}

static void put_verdict(struct nvtxt_out *out, const struct report_diff *diff, bool markdown) {
    const char *verdict = report_diff_verdict_name(diff->verdict);
    nvtxt_out_slice(out, markdown ? NVTXT_SLICE("**") : NVTXT_SLICE(""));
    report_screen_styled(out, style_of(diff->verdict), verdict);
    nvtxt_out_slice(out, markdown ? NVTXT_SLICE("**: ") : NVTXT_SLICE(": "));
    if (markdown) {
        report_plain_markdown(out, nvtxt_slice_of(diff->reason));
    } else {
        report_plain_text(out, nvtxt_slice_of(diff->reason));
    }
    NVTXT_OUT_LITERAL(out, "\n\n");
}

int report_render_diff_text(struct nvtxt_out *out, const struct report_diff *diff,
                            const struct report_table_view *view, bool markdown) {
    struct report_table table;
    struct report_column shown[COLUMNS];
    const size_t count = COLUMNS - (diff->undecided == 0);
    memcpy(shown, columns, sizeof(columns));
    if (diff->undecided == 0) {
        memmove(shown + RUNS_NEEDED, columns + RUNS_NEEDED + 1,
                (count - RUNS_NEEDED) * sizeof(*shown));
    }
    if (diff->of_kernels) {
        shown[count - 1].title = "Kernel";
    }
    report_table_init(&table, NULL, shown, count);
    int r = fill_table(&table, diff);
    if (r == 0) {
        put_verdict(out, diff, markdown);
        if (markdown) {
            report_table_markdown(out, &table, view);
        } else {
            report_table_text(out, &table, view);
        }
    }
    report_table_deinit(&table);
    return r;
}
