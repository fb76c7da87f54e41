// SPDX-License-Identifier: Apache-2.0
//
// What a section looks like for a scope: metrics with their labels in a header, in items, in
// groups. show.h fills it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/metric/metric.h"
#include "report/section/sections.h"

// A metric as it is shown: `metric` is a copy with Multiplier and Unit applied.
struct report_shown_metric {
    struct report_metric metric;
    const char *label;
    bool show_instances;
};

struct report_shown_metrics {
    struct report_shown_metric *items;
    size_t count, room;
};

struct report_shown_bin {
    double from, to;
    uint64_t count;
};

enum report_item_kind {
    REPORT_ITEM_TABLE,
    REPORT_ITEM_BAR_CHART,
    REPORT_ITEM_HISTOGRAM,
    REPORT_ITEM_LINE_CHART,
    REPORT_ITEM_TOP_TABLE,
    REPORT_ITEM_FLAME_GRAPH, // its metrics are the self times of names
    REPORT_ITEM_TIMELINE,
    REPORT_ITEM_FOREIGN, // not applicable
};

struct report_shown_item {
    enum report_item_kind kind;
    const char *type;  // "Table"
    const char *label; // NULL: none
    struct report_shown_metrics metrics;
    // Of a table: `cells` has rows x columns indexes of metrics, row by row; -1: an empty cell.
    // `rows` is also that of a TopTable.
    uint32_t columns, rows;
    bool column_major;
    int64_t *cells;
    // Of a histogram.
    struct report_shown_bin *bins;
    size_t bin_count;
    // Of a TopTable and a FlameGraph: indexes of the largest instances of its first metric.
    uint32_t *top;
    size_t top_count;
};

struct report_shown_body {
    const char *display_name; // NULL: none
    struct report_shown_item *items;
    size_t item_count;
};

struct report_shown_group {
    uint32_t order;
    struct report_shown_metrics metrics; // without those whose label is empty
};

struct report_shown_section {
    const struct report_section_entry *entry;
    uint32_t header_rows; // 0: one metric a line
    struct report_shown_metrics header;
    struct report_shown_body *bodies;
    size_t body_count;
    struct report_shown_group *groups; // Metrics, then SourceMetrics
    size_t group_count;
};

struct report_show {
    struct report_metrics *metrics;               // of the scope
    const struct report_definitions *definitions; // for regex:
    const struct report_sections *sections;       // for group:
    const struct report_filter_view *view;
    struct store_arena *arena;
    struct report_messages *messages;
};

// The number of a value; 0 of a string.
static inline double report_value_number(const struct report_value *value) {
    bool integer = value->type == REPORT_U32 || value->type == REPORT_U64;
    return integer ? (double)value->u64 : value->type == REPORT_STRING ? 0 : value->real;
}
