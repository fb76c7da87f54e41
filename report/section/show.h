// SPDX-License-Identifier: Apache-2.0
//
// A section laid out for a scope: which metric stands where, with which value and label: in a
// header, in items, in groups. What it points to lives as long as the metrics of the scope and the
// arena.
#pragma once

#include "report/metric/metric.h"
#include "report/section/sections.h"

// A metric as it is shown: `metric` is a copy with Multiplier and Unit applied.
struct report_shown_metric {
    struct report_metric metric;
    const char *label;
    bool show_instances;
};

static inline const char *report_shown_label(const struct report_shown_metric *shown) {
    return shown->label && *shown->label ? shown->label : shown->metric.name;
}

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
    uint64_t bin_most; // the largest count
    // Of a TopTable and a FlameGraph: indexes of the largest instances of its first metric.
    uint32_t *top;
    size_t top_count;
};

// Whether a TopTable has instances, and none that belongs into it: no source with errors.
static inline bool report_shown_is_empty_top(const struct report_shown_item *item) {
    return item->top_count == 0 && item->metrics.count > 0 && !item->metrics.items[0].metric.na &&
           item->metrics.items[0].metric.instance_count > 0;
}

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
    const struct report_section_filter_view *view;
    struct store_arena *arena;
    struct report_messages *messages;
};

// The number of a value; 0 of a string.
static inline double report_value_number(const struct report_value *value) {
    return report_type_is_integer(value->type) ? (double)value->u64
           : value->type == REPORT_STRING      ? 0
                                               : value->real;
}

enum { REPORT_NOT_SHOWN = NVTXT_WRONG + 1 };

// Lays a section out. A metric that is missing becomes a warning, a required one an error. Returns
// 0, REPORT_NOT_SHOWN when the section's own filter does not match and nothing in it stands, or
// -ENOMEM.
int report_section_show(const struct report_show *show, const struct report_section_entry *entry,
                        struct report_shown_section *shown);

// Lays out an item that stands alone, in a file of its own. `body` gets its parts: none if a filter
// does not match. Returns 0 or -ENOMEM.
int report_item_show(const struct report_show *show, const char *file,
                     const struct report_section_item *said, struct report_shown_body *body);

// The instance of that id, or NULL.
const struct report_instance *report_instance_find(const struct report_metric *metric,
                                                   const struct report_id *id);

// The largest value of all instances, at least 0.
double report_instance_largest(const struct report_metric *metric);

// The number of a metric; 0 without one.
static inline double report_metric_number(const struct report_metric *metric) {
    return metric->na ? 0 : report_value_number(&metric->value);
}

// The largest of them, at least 0.
double report_metrics_largest(const struct report_shown_metrics *metrics);

// ---- Inside the room: the metrics of a list -----------------------------------------------------

// They are chosen by their filters, their prefixes expanded, and computed. What is the same for all
// lists of a section.
struct report_list_view {
    const struct report_show *show;
    const char *file;
    struct report_section_filters filter; // around the metrics
    bool skip_unlabelled;                 // of groups: an empty Label is computed, not shown
    bool any;                             // set: a metric stands
};

// Adds a metric with all that its name stands for. Returns 0 or -ENOMEM.
int report_list_add(struct report_list_view *view, struct report_shown_metrics *to,
                    const struct report_section_metric *metric);

// Adds all metrics of a list.
int report_list_add_all(struct report_list_view *view, struct report_shown_metrics *to,
                        const struct report_list *metrics);
