// SPDX-License-Identifier: Apache-2.0
//
// report/stats: the reports of `nvtxt-report stats`, each as a table, and what two captures differ
// in. One thread, no I/O. It computes nothing that report/model knows already, and prints nothing.
//
// This header is which reports there are, and the overview of a store. One table is the source of
// -r, of `list reports` and of the table in nvtxt-report(1): the name, and the columns in order.
#pragma once

#include "report/model/model.h"
#include "report/table/table.h"

#define REPORT_T(title)                                                                            \
    { title, REPORT_COLUMN_TEXT }
#define REPORT_N(title)                                                                            \
    { title, REPORT_COLUMN_NUMBER }
#define REPORT_I(title)                                                                            \
    { title, REPORT_COLUMN_ID }
#define REPORT_S(title)                                                                            \
    { title, REPORT_COLUMN_SHARE }
#define REPORT_M(title)                                                                            \
    { title, REPORT_COLUMN_MOMENT }

#define REPORT_L(title)                                                                            \
    { title, REPORT_COLUMN_LABEL }

#define REPORT_COLUMNS_OF_SUM                                                                      \
    REPORT_S("Time (%)"), REPORT_N("Total Time (ns)"), REPORT_N("Instances"),                      \
        REPORT_N("Avg (ns)"), REPORT_N("Med (ns)"), REPORT_N("Min (ns)"), REPORT_N("Max (ns)"),    \
        REPORT_N("StdDev (ns)")

// X(name, takes --percentiles, columns...)
#define REPORT_STATS_REPORTS(X)                                                                    \
    X(nvtx_sum, true, REPORT_COLUMNS_OF_SUM, REPORT_T("Style"), REPORT_T("Range"))                 \
    X(nvtx_pushpop_sum, true, REPORT_COLUMNS_OF_SUM, REPORT_T("Range"))                            \
    X(nvtx_startend_sum, true, REPORT_COLUMNS_OF_SUM, REPORT_T("Range"))                           \
    X(nvtx_pushpop_trace, false, REPORT_M("Start (ns)"), REPORT_M("End (ns)"),                     \
      REPORT_N("Duration (ns)"), REPORT_N("DurChild (ns)"), REPORT_N("DurNonChild (ns)"),          \
      REPORT_T("Name"), REPORT_I("PID"), REPORT_I("TID"), REPORT_N("Lvl"), REPORT_N("NumChild"),   \
      REPORT_I("RangeId"), REPORT_I("ParentId"), REPORT_T("RangeStack"), REPORT_T("NameTree"))     \
    X(nvtx_mark_sum, false, REPORT_N("Instances"), REPORT_N("Rate (1/s)"),                         \
      REPORT_N("Avg Interval (ns)"), REPORT_N("Med Interval (ns)"), REPORT_N("Min Interval (ns)"), \
      REPORT_N("Max Interval (ns)"), REPORT_M("First (ns)"), REPORT_M("Last (ns)"),                \
      REPORT_T("Mark"))                                                                            \
    X(nvtx_tree, false, REPORT_N("Total Time (ns)"), REPORT_N("Self Time (ns)"),                   \
      REPORT_N("Instances"), REPORT_N("Avg (ns)"), REPORT_N("Lvl"), REPORT_T("Path"))              \
    X(nvtx_folded, false, REPORT_T("Path"), REPORT_N("Self Time (ns)"))                            \
    X(nvtx_thread_sum, false, REPORT_S("Busy (%)"), REPORT_N("Busy (ns)"), REPORT_N("Ranges"),     \
      REPORT_N("Marks"), REPORT_N("Max Lvl"), REPORT_I("PID"), REPORT_I("TID"),                    \
      REPORT_T("Thread"))                                                                          \
    X(nvtx_gap_sum, false, REPORT_N("Total Gap (ns)"), REPORT_N("Gaps"), REPORT_N("Avg (ns)"),     \
      REPORT_N("Med (ns)"), REPORT_N("Max (ns)"), REPORT_M("Longest At (ns)"), REPORT_T("After"),  \
      REPORT_T("Before"), REPORT_I("PID"), REPORT_I("TID"))                                        \
    X(nvtx_concurrency, false, REPORT_N("Avg"), REPORT_N("Max"), REPORT_N("Overlap (ns)"),         \
      REPORT_T("Range"))                                                                           \
    X(nvtx_iteration_sum, false, REPORT_I("Iteration"), REPORT_M("Start (ns)"),                    \
      REPORT_N("Duration (ns)"), REPORT_N("Interval (ns)"), REPORT_T("Outlier"), REPORT_I("PID"),  \
      REPORT_I("TID"))                                                                             \
    X(nvtx_kern_sum, false, REPORT_T("NVTX Range"), REPORT_T("Style"), REPORT_I("PID"),            \
      REPORT_I("TID"), REPORT_N("NVTX Inst"), REPORT_N("Kern Inst"), REPORT_N("Total Time (ns)"),  \
      REPORT_N("Avg (ns)"), REPORT_N("Med (ns)"), REPORT_N("Min (ns)"), REPORT_N("Max (ns)"),      \
      REPORT_N("StdDev (ns)"), REPORT_T("Kernel Name"))                                            \
    X(nvtx_gpu_proj_sum, false, REPORT_T("Range"), REPORT_T("Style"),                              \
      REPORT_N("Total Proj Time (ns)"), REPORT_N("Total Range Time (ns)"),                         \
      REPORT_N("Range Instances"), REPORT_N("Proj Avg (ns)"), REPORT_N("Proj Med (ns)"),           \
      REPORT_N("Proj Min (ns)"), REPORT_N("Proj Max (ns)"), REPORT_N("Proj StdDev (ns)"),          \
      REPORT_N("Total GPU Ops"), REPORT_N("Avg GPU Ops"), REPORT_N("Avg Range Lvl"),               \
      REPORT_N("Avg Num Child"))                                                                   \
    X(step_tree, false, REPORT_S("Time (%)"), REPORT_N("Total (ns)"), REPORT_N("Self (ns)"),       \
      REPORT_N("Count"), REPORT_L("Slot"), REPORT_T("Step"))                                       \
    X(critical_path, false, REPORT_M("At (ns)"), REPORT_S("Time (%)"), REPORT_N("On Path (ns)"),   \
      REPORT_I("Slot"), REPORT_T("Step"))                                                          \
    X(slots, false, REPORT_I("Busy"), REPORT_S("Time (%)"), REPORT_N("Time (ns)"),                 \
      REPORT_T("Alone"), REPORT_T("Build"))

// A path of nvtx_tree, in a list in which parents stand before what lies below them.
struct report_path {
    uint32_t parent;      // an index of the list; REPORT_NONE: it is the first step
    uint32_t name;        // of the capture: that of its last step
    uint64_t count, open; // selected ranges: closed ones, and open ones. Both 0: parents alone
    unsigned __int128 total, self;
};

// The widest paths. A path is as wide as its total, or as all directly below it if that is more.
struct report_paths {
    size_t most;              // of the list; set by the caller; SIZE_MAX: all
    struct report_path *list; // owned; the widest first
    size_t count;
    size_t left_out;         // narrower ones
    unsigned __int128 width; // of all first steps together
};

void report_paths_deinit(struct report_paths *paths); // fine when zeroed

struct report_stats_options {
    const double *percentiles;           // in the order of the columns; from 0 to 100
    const char *const *percentile_names; // "50", "99.9": as the user wrote them
    size_t percentile_count;
    size_t most_rows;           // of nvtx_tree and sums of ranges; 0: all. The table says how many
                                // were left out
    struct report_paths *paths; // of nvtx_tree; filled if not NULL, zeroed but for `most`
    bool *parents_said; // of several tables, the first one has the notes of parents; NULL: each
};

// A function that fills the table. It gets one with its columns and without rows: with
// percentiles, their columns stand after "StdDev (ns)". Returns 0 or -ENOMEM.
typedef int report_stats_function(struct report_table *table, const struct report_model *model,
                                  const struct report_stats_options *options);

#define X(name, percentiles, ...) report_stats_function report_##name;
REPORT_STATS_REPORTS(X)
#undef X

struct report_stats_report {
    const char *name;
    bool takes_percentiles;
    const struct report_column *columns;
    size_t column_count;
    report_stats_function *fill;
};

extern const struct report_stats_report report_stats_reports[];
extern const size_t report_stats_report_count;

const struct report_stats_report *report_stats_find(const char *name); // NULL: there is none

// Computes a report. Free the table with report_table_deinit(), also after a failure. It borrows
// texts from the capture. Returns 0 or -ENOMEM.
int report_stats_make(struct report_table *table, const struct report_stats_report *report,
                      const struct report_model *model, const struct report_stats_options *options);

// What a store holds, in numbers: of its selected events, and of its sources and losses.
struct report_overview {
    size_t events, marks, pushpop, startend, open; // open ones are in the three kinds, too
    bool has_events;
    int64_t first_ns, last_ns; // smallest start, largest start or end
    size_t processes, threads, domains;
    uint64_t losses;
    uint64_t errors, warnings;
    size_t files_with_errors; // sources
};

// One for each store of the capture, which is one block of memory: free() it. NULL when memory is
// short.
struct report_overview *report_overviews(const struct report_model *model);
