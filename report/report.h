// SPDX-License-Identifier: Apache-2.0
//
// report: the face of report/, for those who make reports. Open this header first; it has no code.
//
// The way of the data. What stands lower may read what stands above it, and nothing reads what
// stands below:
//
//   stores, exports of Nsight Systems, NVTXT files      report files of Nsight Compute
//     load                arrays: the capture             |
//     select              which events count              |
//     model               order, stacks, times          ncurep        results, open ranges
//     catalogue, metric   values of a scope, derived ones
//     text, section       files of sections, laid out
//     table, stats, logs  tables; figures as tables; patterns of lines of logs
//     diff                what two captures differ in
//     rule                what is wrong
//     render              results in each format, also those of Nsight Compute
//     page, serve         all of it as one page; figures and ranges for scripts
//     host                rules in Python, a process each
//
// A caller goes this way:
//
//   report_load()           stores to a capture; after it no file is open
//   report_model_build()    puts its events in order: everything reads the model
//   report_select()         marks those that the options take, a report_selection
//   then what is asked for:
//     report_stats_make()       a table             report_table_text(), report_table_json(), ...
//     report_metrics_new()      metrics of a scope  report_render_metric_text(), ...
//     report_section_show()     a section of it     report_render_section()
//     report_rules_apply()      the results of it   report_render_rule_text(), ...
//     report_page_write()       a page of all
//     report_diff_page_write()  a page of two, after report_diff_init()
//     report_serve_line()       the answer to a line of a script
//
// Who makes a thing frees it, in the reverse order; what is made later borrows from what was made
// before. One thread, except for the pictures of a page. Functions return 0, a negative errno, or a
// condition that their header names. What is wrong with files of sections and rules is told by
// report_messages, with the place.
#pragma once

#include "report/diffpage/diffpage.h"
#include "report/load/load.h"
#include "report/metric/metric.h"
#include "report/model/model.h"
#include "report/ncurep/ncurep.h"
#include "report/page/page.h"
#include "report/render/render.h"
#include "report/rule/rules.h"
#include "report/section/show.h"
#include "report/select/selection.h"
#include "report/serve/serve.h"
#include "report/stats/reports.h"
#include "report/table/write.h"
