// SPDX-License-Identifier: Apache-2.0
//
// report/diffpage: the page of `nvtxt-report diff --format html`: one HTML file with the verdict,
// both sides, a table of the names, a flame graph with the changes of self times, and histograms.
// It owns nothing but what it needs while it writes. One thread. It opens no file, and computes no
// figure that report/diff knows. Style, scripts and pieces of HTML are those of report/page.
//
// This header is what such a page is made of, and its writer: nvtxt-report(1), "DIFF". It is
// written from start to end, and nothing of it is kept.
#pragma once

#include "report/diff/paths.h"
#include "report/render/render.h"

// Of more than these only the number is told.
#define REPORT_DIFF_PAGE_ROWS 10000      // of a table of names; --limit says otherwise
#define REPORT_DIFF_PAGE_HISTOGRAMS 1000 // of the first names
#define REPORT_DIFF_PAGE_PATHS 2000      // of the flame graph
#define REPORT_DIFF_PAGE_TREE_ROWS 1000  // of the table below it

struct report_diff_page_side {
    const char *path; // as it was given
    const struct report_durations *durations;
    const struct report_model *model; // of one store; NULL: a baseline, or a report file
    bool is_baseline;
};

// Everything is borrowed.
struct report_diff_page {
    const struct report_diff *diff;
    const struct report_diff_view *view;
    struct report_diff_page_side sides[2]; // BASE and NEW
    const struct report_diff_paths *paths; // NULL: a side has no model
    struct nvtxt_slice command_line;
    const char *title; // NULL: the names of both sides
    size_t limit;      // rows of a table of names
};

// Returns 0 or -ENOMEM; a failure of the output is in `out`.
int report_diff_page_write(struct nvtxt_out *out, const struct report_diff_page *page);
