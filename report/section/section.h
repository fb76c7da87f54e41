// SPDX-License-Identifier: Apache-2.0
//
// report/section: what section files say, and what of it is shown. It reads and checks the files
// that report/text finds, chooses sections, and lays their metrics out: in a header, tables,
// charts, groups. It owns what it read and what it laid out. One thread. It computes no metric and
// prints nothing.
//
// This header is a section file as it stands: nvtxt-section(5), "MESSAGES". Its tables of fields
// are in section_fields.c. A struct is the message of that name; see report/text/fields.h.
#pragma once

#include "report/text/fields.h"

struct report_filter_range { // of Filter.Items
    struct report_place at;
    struct report_scalar min_arch, max_arch;
};

enum report_collection_scope {
    REPORT_COLLECT_LAUNCH, // of kernels: the results of report files
    REPORT_COLLECT_RANGE,  // every scope of events
    REPORT_COLLECT_CAPTURE,
    REPORT_COLLECT_PROCESS,
    REPORT_COLLECT_THREAD,
    REPORT_COLLECT_NAME,
    REPORT_COLLECT_ITERATION,
    REPORT_COLLECT_DIFF,
};

enum report_importance { REPORT_REQUIRED, REPORT_OPTIONAL };

struct report_collection_filter {
    struct report_place at;
    struct report_list scopes; // enum report_collection_scope
    struct report_scalar importance;
};

struct report_section_filter {
    struct report_place at;
    struct report_scalar min_arch, max_arch, has_table;
    struct report_collection_filter *collection;
    struct report_list items; // struct report_filter_range
};

struct report_metric_option {
    struct report_place at;
    struct report_scalar name, label;
    struct report_section_filter *filter;
};

struct report_section_metric {
    struct report_place at;
    struct report_scalar name, label, hw_unit, show_instances, unit, description, multiplier;
    struct report_scalar ctr_domains, display_properties;
    struct report_section_filter *filter;
    struct report_list options; // struct report_metric_option
    struct report_list groups;  // strings
};

struct report_section_header {
    struct report_place at;
    struct report_scalar rows;
    struct report_list metrics;
};

enum report_table_order { REPORT_ROW_MAJOR, REPORT_COLUMN_MAJOR };

struct report_section_table {
    struct report_place at;
    struct report_scalar label, rows, columns, order;
    struct report_list metrics;
};

struct report_axis_range {
    struct report_place at;
    struct report_scalar min, max;
};

struct report_axis { // ValueAxis, CategoryAxis, HistogramAxis
    struct report_place at;
    struct report_scalar label, tick_count, size, precision, bin_count;
    struct report_axis_range *range;
};

struct report_bar_chart {
    struct report_place at;
    struct report_scalar label, direction;
    struct report_axis *category_axis, *value_axis;
    struct report_list metrics;
};

struct report_histogram_chart {
    struct report_place at;
    struct report_scalar label;
    struct report_axis *histogram_axis, *value_axis;
    struct report_section_metric *metric;
};

struct report_highlight {
    struct report_place at;
    struct report_list metrics;
};

struct report_line_chart {
    struct report_place at;
    struct report_scalar label;
    struct report_axis *axis_x, *axis_y;
    struct report_list metrics;
    struct report_highlight *highlight_x;
};

struct report_top_table {
    struct report_place at;
    struct report_scalar label, rows;
    struct report_list metrics;
};

struct report_flame_graph {
    struct report_place at;
    struct report_scalar label;
};

struct report_metric_row { // of Timeline.MetricGroups
    struct report_place at;
    struct report_list metrics;
};

struct report_timeline_group {
    struct report_place at;
    struct report_scalar label, expanded;
    struct report_list rows; // struct report_metric_row
};

struct report_timeline {
    struct report_place at;
    struct report_scalar label;
    struct report_list groups; // struct report_timeline_group
};

#define REPORT_FOREIGN_WIDGETS 7 // of Nsight Compute: they are shown as "not applicable"

struct report_section_item {
    struct report_place at;
    struct report_section_table *table;
    struct report_bar_chart *bar_chart;
    struct report_histogram_chart *histogram_chart;
    struct report_line_chart *line_chart;
    struct report_top_table *top_table;
    struct report_flame_graph *flame_graph;
    struct report_timeline *timeline;
    struct report_section_filter *filter;
    struct report_scalar foreign[REPORT_FOREIGN_WIDGETS];
};

extern const char *const report_foreign_names[REPORT_FOREIGN_WIDGETS];

struct report_section_body {
    struct report_place at;
    struct report_list items; // struct report_section_item
    struct report_scalar display_name;
};

struct report_metric_group {
    struct report_place at;
    struct report_list metrics;
    struct report_scalar order;
};

struct report_section_set {
    struct report_place at;
    struct report_scalar identifier;
};

struct report_section_definition {
    struct report_place at;
    struct report_scalar name, expression, aggregate, unit, description;
    struct report_section_filter *filter;
};

struct report_section_definitions {
    struct report_place at;
    struct report_list definitions; // struct report_section_definition
};

struct report_section_group {
    struct report_place at;
    struct report_scalar identifier, label, display_properties;
};

struct report_section {
    struct report_place at;
    struct report_scalar identifier, display_name, order, description, extends;
    struct report_section_header *header;
    struct report_list bodies;         // struct report_section_body
    struct report_list metrics;        // struct report_metric_group
    struct report_list source_metrics; // the same
    struct report_list sets;           // struct report_section_set
    struct report_list definitions;    // struct report_section_definitions
    struct report_list groups;         // struct report_section_group
    struct report_section_filter *filter;
};

extern const struct report_message_type report_section_type;

// An Item alone, as in the file of a chart.
extern const struct report_message_type report_item_type;

// All messages of a section file, for the manual page; NULL after the last.
extern const struct report_message_type *const report_section_types[];
