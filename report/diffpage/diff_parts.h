// SPDX-License-Identifier: Apache-2.0
//
// The parts of the page: the head, the tables of names, the flame graph; and the pieces that they
// are made of. A failure of the output is in `out`. Only this room includes it.
#pragma once

#include "protocol/text/shown.h"
#include "report/diffpage/diffpage.h"
#include "report/table/json.h"

extern const char *const diff_page_sides[2]; // "BASE", "NEW"

// ---- Pieces (diff_cells.c) ----------------------------------------------------------------------

// "+12 %", "−3.4 %", "0 %": at most one decimal, and always with a sign.
void diff_page_change(struct nvtxt_out *out, double percent);

// What happened to a name or a path: a sign that is not read aloud, and the word.
void diff_page_verdict(struct nvtxt_out *out, enum report_diff_change change);

// A cell that is sorted by this number, with a text of the caller up to diff_page_end_cell().
void diff_page_begin_cell(struct nvtxt_out *out, double value);
void diff_page_end_cell(struct nvtxt_out *out);
void diff_page_no_cell(struct nvtxt_out *out);

// How the times of a column look: one unit, and points above one another. It is made of the times:
// first all are shown to look(), then begin() chooses the unit, then all are shown to fit().
struct diff_page_look {
    struct nvtxt_shown_unit unit;
    double most; // ns
    int decimals;
};
void diff_page_look_at(struct diff_page_look *look, double ns);
void diff_page_look_begin(struct diff_page_look *look);
void diff_page_look_fit(struct diff_page_look *look, double ns);

// Times; the exact nanoseconds are the title of the cell.
void diff_page_time(struct nvtxt_out *out, double ns, const struct diff_page_look *look);
void diff_page_time_cell(struct nvtxt_out *out, double ns, const struct diff_page_look *look);
void diff_page_sum_cell(struct nvtxt_out *out, unsigned __int128 ns,
                        const struct diff_page_look *look);

// The title of a column that can be sorted: "text" or "number" says how. Two of one figure stand
// side by side, below their common title.
struct diff_page_column {
    const char *title;
    const char *unit; // NULL: none
    const char *sort;
    const char *side; // "BASE" or "NEW" of such two; else NULL
    bool is_left;     // aligned as texts are
};
void diff_page_titles(struct nvtxt_out *out, const struct diff_page_column *columns, size_t count);

// ---- Parts --------------------------------------------------------------------------------------

// diff_head.c: the verdict with its reason and the warnings; how many names did what; both sides.
void diff_page_head(struct nvtxt_out *out, const struct report_diff_page *page);
int diff_page_facts(struct nvtxt_out *out, const struct report_diff_page *page); // 0 or -ENOMEM

// diff_rows.c: the names, and the member "histograms" of the data: [row, low, high, [counts of
// BASE], [counts of NEW]] of each.
void diff_page_names(struct nvtxt_out *out, const struct report_diff_page *page);
void diff_page_histograms(struct report_json *json, const struct report_diff_page *page);

// diff_flame.c: the table of paths, and the member "flame" of the data: total, leftOut, names (each
// [DOMAIN:MESSAGE, step]) and paths (each [parent, name, count, open, total, self, open and closed
// ranges of BASE, self of BASE]), where parent is 0, or 1 and an index. Both return 0 or -ENOMEM.
int diff_page_paths(struct nvtxt_out *out, const struct report_diff_page *page);
int diff_page_flame(struct report_json *json, const struct report_diff_page *page);
