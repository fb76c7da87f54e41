// SPDX-License-Identifier: Apache-2.0
//
// The fields of every message of a section file, with their numbers where Nsight Compute has them.
// Inner messages stand before those that have them.
#include "report/section/section.h"

#include "report/text/parse.h"

static const struct report_enum_value collection_scopes[] = {
    {"CollectionScope_Launch", REPORT_COLLECT_LAUNCH},
    {"CollectionScope_Range", REPORT_COLLECT_RANGE},
    {"CollectionScope_Capture", REPORT_COLLECT_CAPTURE},
    {"CollectionScope_Process", REPORT_COLLECT_PROCESS},
    {"CollectionScope_Thread", REPORT_COLLECT_THREAD},
    {"CollectionScope_Name", REPORT_COLLECT_NAME},
    {"CollectionScope_Iteration", REPORT_COLLECT_ITERATION},
    {"CollectionScope_Diff", REPORT_COLLECT_DIFF},
    {0},
};

static const struct report_enum_value importances[] = {
    {"Required", REPORT_REQUIRED}, {"Optional", REPORT_OPTIONAL}, {0}};

static const struct report_enum_value hw_units[] = {
    {"Invalid", 0}, {"Default", 1}, {"Gpc", 2}, {"Tpc", 3},  {"Sm", 4}, {"Smsp", 5},
    {"Tex", 6},     {"Lts", 7},     {"Ltc", 8}, {"Fbpa", 9}, {0},
};

static const struct report_enum_value orders[] = {
    {"RowMajor", REPORT_ROW_MAJOR}, {"ColumnMajor", REPORT_COLUMN_MAJOR}, {0}};

static const struct report_enum_value directions[] = {{"Horizontal", 0}, {"Vertical", 1}, {0}};

static const struct report_enum_value aggregates[] = {
    {"FromInstances", 0}, {"FromOperands", 1}, {0}};

#define SELF report_filter_range
static const struct report_field range_fields[] = {
    FIELD(0, "MinArch", ARCH, min_arch, ONE),
    FIELD(0, "MaxArch", ARCH, max_arch, ONE),
};
static const struct report_message_type range_type = TYPE(range, "Filter.Items");
#undef SELF

#define SELF report_collection_filter
static const struct report_field collection_fields[] = {
    FIELD(1, "CollectionScopes", ENUM, scopes, MANY, WORDS(collection_scopes)),
    FIELD(2, "Importance", ENUM, importance, ONE, WORDS(importances)),
};
static const struct report_message_type collection_type = TYPE(collection, "CollectionFilter");
#undef SELF

#define SELF report_section_filter
static const struct report_field filter_fields[] = {
    FIELD(1, "MinArch", ARCH, min_arch, ONE),
    FIELD(2, "MaxArch", ARCH, max_arch, ONE),
    FIELD(4, "CollectionFilter", MESSAGE, collection, ONE, OF(collection)),
    FIELD(0, "Items", MESSAGE, items, MANY, OF(range)),
    FIELD(0, "HasTable", STRING, has_table, ONE),
};
static const struct report_message_type filter_type = TYPE(filter, "Filter");
#undef SELF

#define SELF report_metric_option
static const struct report_field option_fields[] = {
    FIELD(1, "Name", STRING, name, MUST),
    FIELD(2, "Label", STRING, label, ONE),
    FIELD(3, "Filter", MESSAGE, filter, ONE, OF(filter)),
};
static const struct report_message_type option_type = TYPE(option, "Options");
#undef SELF

#define SELF report_section_metric
static const struct report_field metric_fields[] = {
    FIELD(1, "Name", STRING, name, MUST),
    FIELD(2, "Label", STRING, label, ONE),
    FIELD(3, "HWUnit", ENUM, hw_unit, ONE, WORDS(hw_units)),
    FIELD(4, "ShowInstances", BOOL, show_instances, ONE),
    FIELD(5, "Unit", STRING, unit, ONE),
    FIELD(6, "Filter", MESSAGE, filter, ONE, OF(filter)),
    FIELD(7, "Options", MESSAGE, options, MANY, OF(option)),
    FIELD(8, "DisplayProperties", SKIPPED, display_properties, ONE),
    FIELD(9, "Groups", STRING, groups, MANY),
    FIELD(0, "Description", STRING, description, ONE),
    FIELD(0, "CtrDomains", STRING, ctr_domains, ONE),
    FIELD(0, "Multiplier", DOUBLE, multiplier, ONE),
};
static const struct report_message_type metric_type = TYPE(metric, "Metric");
#undef SELF

#define SELF report_section_header
static const struct report_field header_fields[] = {
    FIELD(1, "Rows", UINT32, rows, ONE),
    FIELD(2, "Metrics", MESSAGE, metrics, MANY, OF(metric)),
};
static const struct report_message_type header_type = TYPE(header, "Header");
#undef SELF

#define SELF report_section_table
static const struct report_field table_fields[] = {
    FIELD(1, "Label", STRING, label, ONE),
    FIELD(2, "Rows", UINT32, rows, ONE),
    FIELD(3, "Columns", UINT32, columns, MUST),
    FIELD(4, "Order", ENUM, order, ONE, WORDS(orders)),
    FIELD(5, "Metrics", MESSAGE, metrics, MANY, OF(metric)),
};
static const struct report_message_type table_type = TYPE(table, "Table");
#undef SELF

#define SELF report_axis_range
static const struct report_field axis_range_fields[] = {
    FIELD(1, "Min", INT64, min, ONE),
    FIELD(2, "Max", INT64, max, ONE),
};
static const struct report_message_type axis_range_type = TYPE(axis_range, "ValueAxis.Range");
#undef SELF

#define SELF report_axis
static const struct report_field category_axis_fields[] = {
    FIELD(1, "Label", STRING, label, ONE),
};
static const struct report_message_type category_axis_type = TYPE(category_axis, "CategoryAxis");

static const struct report_field value_axis_fields[] = {
    FIELD(1, "Label", STRING, label, ONE),
    FIELD(2, "Range", MESSAGE, range, ONE, OF(axis_range)),
    FIELD(3, "TickCount", INT64, tick_count, ONE),
    FIELD(4, "Size", INT64, size, ONE),
    FIELD(5, "Precision", UINT32, precision, ONE),
};
static const struct report_message_type value_axis_type = TYPE(value_axis, "ValueAxis");

static const struct report_field histogram_axis_fields[] = {
    FIELD(1, "Label", STRING, label, ONE),
    FIELD(2, "BinCount", INT64, bin_count, ONE),
};
static const struct report_message_type histogram_axis_type = TYPE(histogram_axis, "HistogramAxis");
#undef SELF

#define SELF report_bar_chart
static const struct report_field bar_chart_fields[] = {
    FIELD(1, "Label", STRING, label, ONE),
    FIELD(2, "Direction", ENUM, direction, ONE, WORDS(directions)),
    FIELD(3, "CategoryAxis", MESSAGE, category_axis, ONE, OF(category_axis)),
    FIELD(4, "ValueAxis", MESSAGE, value_axis, ONE, OF(value_axis)),
    FIELD(5, "Metrics", MESSAGE, metrics, MANY, OF(metric)),
};
static const struct report_message_type bar_chart_type = TYPE(bar_chart, "BarChart");
#undef SELF

#define SELF report_histogram_chart
static const struct report_field histogram_chart_fields[] = {
    FIELD(1, "Label", STRING, label, ONE),
    FIELD(2, "HistogramAxis", MESSAGE, histogram_axis, ONE, OF(histogram_axis)),
    FIELD(3, "ValueAxis", MESSAGE, value_axis, ONE, OF(value_axis)),
    FIELD(4, "Metric", MESSAGE, metric, MUST, OF(metric)),
};
static const struct report_message_type histogram_chart_type =
    TYPE(histogram_chart, "HistogramChart");
#undef SELF

#define SELF report_highlight
static const struct report_field highlight_fields[] = {
    FIELD(1, "Metrics", MESSAGE, metrics, MANY, OF(metric)),
};
static const struct report_message_type highlight_type = TYPE(highlight, "HighlightX");
#undef SELF

#define SELF report_line_chart
static const struct report_field line_chart_fields[] = {
    FIELD(1, "Label", STRING, label, ONE),
    FIELD(2, "AxisX", MESSAGE, axis_x, ONE, OF(value_axis)),
    FIELD(3, "AxisY", MESSAGE, axis_y, ONE, OF(value_axis)),
    FIELD(4, "Metrics", MESSAGE, metrics, MANY, OF(metric)),
    FIELD(5, "HighlightX", MESSAGE, highlight_x, ONE, OF(highlight)),
};
static const struct report_message_type line_chart_type = TYPE(line_chart, "LineChart");
#undef SELF

#define SELF report_top_table
static const struct report_field top_table_fields[] = {
    FIELD(1, "Label", STRING, label, ONE),
    FIELD(3, "Metrics", MESSAGE, metrics, MANY, OF(metric)),
    FIELD(0, "Rows", UINT32, rows, ONE),
};
static const struct report_message_type top_table_type = TYPE(top_table, "TopTable");
#undef SELF

#define SELF report_flame_graph
static const struct report_field flame_graph_fields[] = {
    FIELD(0, "Label", STRING, label, ONE),
};
static const struct report_message_type flame_graph_type = TYPE(flame_graph, "FlameGraph");
#undef SELF

#define SELF report_metric_row
static const struct report_field metric_row_fields[] = {
    FIELD(0, "Metrics", MESSAGE, metrics, MANY, OF(metric)),
};
static const struct report_message_type metric_row_type = TYPE(metric_row, "MetricRows");
#undef SELF

#define SELF report_timeline_group
static const struct report_field timeline_group_fields[] = {
    FIELD(0, "Label", STRING, label, ONE),
    FIELD(0, "Expanded", BOOL, expanded, ONE),
    FIELD(0, "MetricRows", MESSAGE, rows, MANY, OF(metric_row)),
};
static const struct report_message_type timeline_group_type =
    TYPE(timeline_group, "Timeline.MetricGroups");
#undef SELF

#define SELF report_timeline
static const struct report_field timeline_fields[] = {
    FIELD(0, "Label", STRING, label, ONE),
    FIELD(0, "MetricGroups", MESSAGE, groups, MANY, OF(timeline_group)),
};
static const struct report_message_type timeline_type = TYPE(timeline, "Timeline");
#undef SELF

// number, name, index; report_foreign_names has the names again.
#define FOREIGN(X)                                                                                 \
    X(101, "MemoryChart", 0)                                                                       \
    X(102, "MemoryL1TEXCacheTable", 1)                                                             \
    X(103, "MemoryL2CacheTable", 2)                                                                \
    X(104, "MemoryL2CacheEvictPolicyTable", 3)                                                     \
    X(105, "MemorySharedTable", 4)                                                                 \
    X(150, "GfxMetricsWidget", 5)                                                                  \
    X(0, "RooflineChart", 6)
#define FOREIGN_FIELD(number, name, index) FIELD(number, name, SKIPPED, foreign[index], ONE),
#define FOREIGN_NAME(number, name, index) [index] = name,
const char *const report_foreign_names[REPORT_FOREIGN_WIDGETS] = {FOREIGN(FOREIGN_NAME)};

#define SELF report_section_item
static const struct report_field item_fields[] = {
    FIELD(1, "Table", MESSAGE, table, ONE, OF(table)),
    FIELD(2, "BarChart", MESSAGE, bar_chart, ONE, OF(bar_chart)),
    FIELD(3, "HistogramChart", MESSAGE, histogram_chart, ONE, OF(histogram_chart)),
    FIELD(4, "LineChart", MESSAGE, line_chart, ONE, OF(line_chart)),
    FIELD(7, "TopTable", MESSAGE, top_table, ONE, OF(top_table)),
    FIELD(200, "Filter", MESSAGE, filter, ONE, OF(filter)),
    FIELD(0, "FlameGraph", MESSAGE, flame_graph, ONE, OF(flame_graph)),
    FIELD(0, "Timeline", MESSAGE, timeline, ONE, OF(timeline)),
    FOREIGN(FOREIGN_FIELD)};
const struct report_message_type report_item_type = TYPE(item, "Item");
#undef SELF

#define SELF report_section_body
static const struct report_field body_fields[] = {
    FIELD(1, "Items", MESSAGE, items, MANY, OF(report_item)),
    FIELD(2, "DisplayName", STRING, display_name, ONE),
};
static const struct report_message_type body_type = TYPE(body, "Body");
#undef SELF

#define SELF report_metric_group
static const struct report_field metric_group_fields[] = {
    FIELD(1, "Metrics", MESSAGE, metrics, MANY, OF(metric)),
    FIELD(2, "Order", UINT32, order, ONE),
};
static const struct report_message_type metric_group_type = TYPE(metric_group, "MetricGroup");
#undef SELF

#define SELF report_section_set
static const struct report_field set_fields[] = {
    FIELD(1, "Identifier", STRING, identifier, MUST),
};
static const struct report_message_type set_type = TYPE(set, "Sets");
#undef SELF

#define SELF report_section_definition
static const struct report_field definition_fields[] = {
    FIELD(1, "Name", STRING, name, MUST),
    FIELD(2, "Expression", STRING, expression, MUST),
    FIELD(0, "Aggregate", ENUM, aggregate, ONE, WORDS(aggregates)),
    FIELD(0, "Unit", STRING, unit, ONE),
    FIELD(0, "Description", STRING, description, ONE),
    FIELD(0, "Filter", MESSAGE, filter, ONE, OF(filter)),
};
static const struct report_message_type definition_type = TYPE(definition, "MetricDefinition");
#undef SELF

#define SELF report_section_definitions
static const struct report_field definitions_fields[] = {
    FIELD(1, "MetricDefinitions", MESSAGE, definitions, MANY, OF(definition)),
};
static const struct report_message_type definitions_type = TYPE(definitions, "MetricDefinitions");
#undef SELF

#define SELF report_section_group
static const struct report_field group_fields[] = {
    FIELD(1, "Identifier", STRING, identifier, ONE),
    FIELD(2, "Label", STRING, label, ONE),
    FIELD(3, "DisplayProperties", SKIPPED, display_properties, ONE),
};
static const struct report_message_type group_type = TYPE(group, "Groups");
#undef SELF

#define SELF report_section
static const struct report_field section_fields[] = {
    FIELD(1, "Identifier", STRING, identifier, MUST),
    FIELD(2, "DisplayName", STRING, display_name, MUST),
    FIELD(3, "Order", UINT32, order, ONE),
    FIELD(4, "Header", MESSAGE, header, ONE, OF(header)),
    FIELD(5, "Body", MESSAGE, bodies, MANY, OF(body)),
    FIELD(6, "Metrics", MESSAGE, metrics, MANY, OF(metric_group)),
    FIELD(7, "Description", STRING, description, ONE),
    FIELD(8, "Sets", MESSAGE, sets, MANY, OF(set)),
    FIELD(9, "Extends", STRING, extends, ONE),
    FIELD(10, "MetricDefinitions", MESSAGE, definitions, MANY, OF(definitions)),
    FIELD(11, "Filter", MESSAGE, filter, ONE, OF(filter)),
    FIELD(12, "Groups", MESSAGE, groups, MANY, OF(group)),
    FIELD(0, "SourceMetrics", MESSAGE, source_metrics, MANY, OF(metric_group)),
};
const struct report_message_type report_section_type = TYPE(section, "Section");
#undef SELF

const struct report_message_type *const report_section_types[] = {
    &report_section_type,
    &header_type,
    &body_type,
    &report_item_type,
    &metric_type,
    &option_type,
    &filter_type,
    &collection_type,
    &range_type,
    &table_type,
    &bar_chart_type,
    &category_axis_type,
    &value_axis_type,
    &axis_range_type,
    &histogram_chart_type,
    &histogram_axis_type,
    &line_chart_type,
    &highlight_type,
    &top_table_type,
    &flame_graph_type,
    &timeline_type,
    &timeline_group_type,
    &metric_row_type,
    &metric_group_type,
    &set_type,
    &definitions_type,
    &definition_type,
    &group_type,
    NULL,
};
