// SPDX-License-Identifier: Apache-2.0
//
// report/page: the page of `nvtxt-report html`: one HTML file with summaries, findings, sections,
// source lines and the data of the timeline. It owns the readable sources of style and script in
// assets/, which the build puts into the program, and what it computes while it writes. One thread,
// beside which another makes the data of the pictures (timeline.h). It opens no file, and computes
// no figure that another room knows.
//
// This header is what a page is made of, and its writer: nvtxt-report(1), "THE PAGE". It is written
// from start to end, and nothing of it is kept.
#pragma once

#include <stddef.h>

#include "protocol/text/out.h"
#include "report/model/model.h"
#include "report/rule/rules.h"
#include "report/section/show.h"
#include "report/stats/reports.h"
#include "report/table/table.h"
#include "report/text/message.h"

// The lines of a source's file, with the columns Line, metrics and Source.
struct report_page_lines {
    const struct report_source *source;
    const struct report_table *table;
};

// Of more than these only the number is told.
#define REPORT_PAGE_TREE_ROWS 1000 // of nvtx_tree
#define REPORT_PAGE_NAMES 1000     // of nvtx_sum
#define REPORT_PAGE_PATHS 2000     // of the flame graph
#define REPORT_PAGE_INSTANCES 1000 // of a metric
#define REPORT_PAGE_PATTERNS 1000  // of lines of logs
#define REPORT_PAGE_LINES 20000    // of a source's file

struct page_drawing;

// Of a page that is written again and again: it loads itself again. This attribute of its <html>
// says so, at the beginning of the page; without it the page is like any other.
#define REPORT_PAGE_FOLLOWS " data-follows=\"1\""
struct report_page_follow {
    int64_t interval_ms; // how often it is written at most
    int64_t written_ns;  // now
    int64_t newest_ns;   // when something came into the stores last; 0: not known
};

// Everything is borrowed but the drawing.
struct report_page {
    const struct report_model *model;
    const struct report_overview *overviews;
    const struct report_shown_section *sections;
    size_t section_count;
    const struct report_results *results;
    const char *title;                // NULL: the host and the stores
    const struct report_table *names; // nvtx_sum, with the percentiles 90 and 99
    const struct report_table *tree;  // nvtx_tree, of so many rows at most
    const struct report_table *logs;  // patterns of lines of logs; NULL: there are no lines
    const struct report_paths *paths; // of the same ranges, for the flame graph
    const struct report_page_lines *lines;
    size_t line_count;
    const struct report_messages *messages; // of files of sections and rules
    struct nvtxt_slice refused;             // why files of sources have no lines here, a line each
    struct nvtxt_slice command_line;
    size_t max_events;                       // more are merged
    const struct report_page_follow *follow; // NULL: it is written once
    struct page_drawing *drawing;            // of report_page_begin()
};

// Begins to make the data of the pictures, beside all that is computed until the page is written;
// of `page` only the model and max_events are needed. Returns 0 or -ENOMEM.
int report_page_begin(struct report_page *page);
void report_page_end(struct report_page *page); // fine when it was not begun

// Of a page that was begun. Returns 0 or -ENOMEM; a failure of the output is in `out`. `*single` is
// how many events stand in the timeline alone; fewer than are selected when some were merged.
int report_page_write(struct nvtxt_out *out, const struct report_page *page, size_t *single);
