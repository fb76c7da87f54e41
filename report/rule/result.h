// SPDX-License-Identifier: Apache-2.0
//
// report/rule: what rules say and what they are written in: results, links in texts, conditions,
// texts with values, and the guard around the SQL of strangers. It owns what it parsed, and the
// connections of queries, which are read-only. One thread. It reads no file of rules and prints
// nothing.
//
// This header is what a rule said: nvtxt-rule(5), "RESULTS". All texts live as long as the results
// (report_results_free()).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/metric/metric.h"

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
struct report_message {
    enum report_level level;
    struct nvtxt_slice title, text; // may have links, see report/rule/links.h
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

enum report_rule_cell_kind {
    REPORT_RULE_CELL_NULL,
    REPORT_RULE_CELL_INT,
    REPORT_RULE_CELL_REAL,
    REPORT_RULE_CELL_TEXT
};

struct report_rule_cell {
    enum report_rule_cell_kind kind;
    union {
        int64_t number;
        double real;
        struct nvtxt_slice text; // UTF-8
    };
};

struct report_rule_table {
    size_t message;
    struct nvtxt_slice title, description;
    const struct nvtxt_slice *header; // a name for each column
    size_t column_count, row_count;
    const struct report_rule_cell *cells; // row by row
};

struct report_source_marker {
    size_t message;
    struct nvtxt_slice file;
    uint64_t line;
    struct nvtxt_slice text;
};

struct report_result {
    struct nvtxt_slice identifier, name, description;
    struct nvtxt_slice section; // data NULL: of no section
    enum report_rule_kind kind;
    struct nvtxt_slice file; // data NULL: part of the program
    enum report_rule_status status;
    struct nvtxt_slice reason; // data NULL: none; there for not applicable, failed, not run
    const struct report_message *messages;
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
const char *report_rule_kind_name(enum report_rule_kind kind);
const char *report_focus_severity_name(enum report_focus_severity severity);

// The level of a word; false when there is none of that name.
bool report_level_of(const char *name, enum report_level *level);

// The highest level of the messages of a result; NONE without messages.
enum report_level report_result_worst(const struct report_result *result);
