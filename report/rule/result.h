// SPDX-License-Identifier: Apache-2.0
//
// What a rule said: nvtxt-rule(5), "RESULTS". All texts live as long as the results
// (report_results_free()).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/metric/metric.h"
#include "report/table/table.h"

enum report_rule_status {
    REPORT_RULE_FINDINGS, // at least one message of optimization, warning or error
    REPORT_RULE_NO_ISSUE,
    REPORT_RULE_NOT_APPLICABLE, // a metric that it requires is N/A
    REPORT_RULE_FAILED,         // the rule itself, such as its query
    REPORT_RULE_NOT_RUN,        // nobody asked it
};

// In order: check compares them.
enum report_level {
    REPORT_LEVEL_NONE,
    REPORT_LEVEL_OK,
    REPORT_LEVEL_OPTIMIZATION,
    REPORT_LEVEL_WARNING,
    REPORT_LEVEL_ERROR,
};

enum report_rule_kind { REPORT_RULE_DECLARATIVE, REPORT_RULE_PYTHON, REPORT_RULE_BUILTIN };

enum report_focus_severity { REPORT_FOCUS_DEFAULT, REPORT_FOCUS_LOW, REPORT_FOCUS_HIGH };

// Ids count from 0 in a result.
struct report_rule_message {
    enum report_level level;
    struct nvtxt_slice title, text; // may have links, see report/table/links.h
};

// An estimate of the time that would be saved; estimates are never added up. Local: of this range
// in isolation. Global: of the whole.
struct report_speedup {
    size_t message; // id
    bool global;
    double percent;
};

struct report_focus_metric {
    size_t message;
    struct nvtxt_slice name;
    bool has_value;
    struct report_value value;
    enum report_focus_severity severity;
    struct nvtxt_slice info;
};

// All of `table` is in the memory of the results. Its columns are MIXED, but for numbers and times
// of the program's own rules: these look as in other tables.
struct report_shown_item; // report/section

// How a rule wants a column to look; pages do so.
struct report_rule_style {
    struct nvtxt_slice tooltip; // of its title; empty: none
    double percent;             // of the table's width; 0: as wide as it has to be
    bool header_bold, header_italic, bold, italic;
};

struct report_rule_table {
    size_t message;
    struct nvtxt_slice title, description; // may have links
    struct report_table table;
    const struct report_rule_style *styles; // one a column; NULL: none
    // What is drawn in its place, where people read; its figures are those of the table. NULL: none
    const struct report_shown_item *chart;
};

#define REPORT_NO_MESSAGE SIZE_MAX // of a marker that stands for itself

enum report_marker_kind { REPORT_MARKER_SOURCE, REPORT_MARKER_SASS };

struct report_source_marker {
    size_t message; // or REPORT_NO_MESSAGE
    enum report_marker_kind kind;
    enum report_level level; // without a message
    struct nvtxt_slice file; // may be empty without a message
    uint64_t line;           // of SASS an address
    struct nvtxt_slice text;
};

struct report_result {
    struct nvtxt_slice identifier, name, description;
    struct nvtxt_slice section; // data NULL: of no section
    enum report_rule_kind kind;
    struct nvtxt_slice file; // data NULL: part of the program
    enum report_rule_status status;
    struct nvtxt_slice reason; // data NULL: none; there for not applicable, failed, not run
    const struct report_rule_message *messages;
    size_t message_count;
    const struct report_speedup *speedups;
    size_t speedup_count;
    const struct report_focus_metric *focus;
    size_t focus_count;
    const struct report_rule_table *tables;
    size_t table_count;
    const struct report_source_marker *markers;
    size_t marker_count;
    const struct nvtxt_slice *proposals; // identifiers of rules
    size_t proposal_count;
    struct nvtxt_slice output; // what it printed
};

// The words of nvtxt-report(1): "no-issue", "optimization", "builtin", "high".
const char *report_rule_status_name(enum report_rule_status status);
const char *report_level_name(enum report_level level);
const char *report_level_word(enum report_level level); // for people: of NONE "hint"
const char *report_rule_kind_name(enum report_rule_kind kind);
const char *report_focus_severity_name(enum report_focus_severity severity);

// What stands between the file of a marker and its number.
const char *report_marker_joint(const struct report_source_marker *marker);

// The highest level of the messages of a result; NONE without messages.
enum report_level report_result_worst(const struct report_result *result);
