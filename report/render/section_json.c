// SPDX-License-Identifier: Apache-2.0
//
// The JSON half of render_section.h.
#include "report/render/render.h"
#include "report/render/render_metric.h"
#include "report/render/render_section.h"

static void metrics_json(struct report_json *json, const char *name,
                         const struct report_shown_metrics *metrics) {
    report_json_array(json, name);
    for (size_t i = 0; i < metrics->count; i++) {
        report_render_metric_json(json, &metrics->items[i].metric, metrics->items[i].label);
    }
    report_json_end_array(json);
}

static void cells_json(struct report_json *json, const struct report_shown_item *item) {
    report_json_uint(json, "columns", item->columns);
    report_json_uint(json, "rows", item->rows);
    report_json_text(json, "order", item->column_major ? "ColumnMajor" : "RowMajor");
    metrics_json(json, "metrics", &item->metrics);
    report_json_array(json, "cells");
    for (uint32_t row = 0; row < item->rows; row++) {
        report_json_array(json, NULL);
        for (uint32_t column = 0; column < item->columns; column++) {
            int64_t cell = item->cells[(size_t)row * item->columns + column];
            report_json_optional(json, NULL, cell >= 0, cell);
        }
        report_json_end_array(json);
    }
    report_json_end_array(json);
}

static void bins_json(struct report_json *json, const struct report_shown_item *item) {
    report_json_array(json, "bins");
    for (size_t i = 0; i < item->bin_count; i++) {
        report_json_object(json, NULL);
        report_json_double(json, "from", item->bins[i].from);
        report_json_double(json, "to", item->bins[i].to);
        report_json_uint(json, "count", item->bins[i].count);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

static void item_json(struct report_json *json, const struct report_shown_item *item) {
    report_json_object(json, NULL);
    report_json_text(json, "type", item->type);
    if (item->kind != REPORT_ITEM_FOREIGN) {
        report_json_text(json, "label", item->label);
    }
    switch (item->kind) {
    case REPORT_ITEM_TABLE:
        cells_json(json, item);
        break;
    case REPORT_ITEM_HISTOGRAM:
        metrics_json(json, "metrics", &item->metrics);
        bins_json(json, item);
        break;
    case REPORT_ITEM_TOP_TABLE:
        report_json_uint(json, "rows", item->rows);
        metrics_json(json, "metrics", &item->metrics);
        break;
    case REPORT_ITEM_FLAME_GRAPH:
        break;
    case REPORT_ITEM_FOREIGN:
        report_json_text(json, "na", "not applicable");
        break;
    case REPORT_ITEM_BAR_CHART:
    case REPORT_ITEM_LINE_CHART:
    case REPORT_ITEM_TIMELINE:
        metrics_json(json, "metrics", &item->metrics);
        break;
    }
    report_json_end_object(json);
}

static void bodies_json(struct report_json *json, const struct report_shown_section *shown) {
    report_json_array(json, "bodies");
    for (size_t i = 0; i < shown->body_count; i++) {
        const struct report_shown_body *body = &shown->bodies[i];
        report_json_object(json, NULL);
        report_json_text(json, "displayName", body->display_name);
        report_json_array(json, "items");
        for (size_t j = 0; j < body->item_count; j++) {
            item_json(json, &body->items[j]);
        }
        report_json_end_array(json);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

static void groups_json(struct report_json *json, const struct report_shown_section *shown) {
    report_json_array(json, "groups");
    for (size_t i = 0; i < shown->group_count; i++) {
        report_json_object(json, NULL);
        report_json_uint(json, "order", shown->groups[i].order);
        metrics_json(json, "metrics", &shown->groups[i].metrics);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

void report_render_rules_json(struct report_json *json, const struct report_results *results,
                              struct nvtxt_slice section) {
    report_json_array(json, "rules");
    for (size_t i = 0; results && i < results->count; i++) {
        const struct report_result *result = &results->results[i];
        bool none = !result->section.data;
        if (section.data ? !none && nvtxt_slice_equal(result->section, section) : none) {
            report_render_rule_json(json, result, NULL);
        }
    }
    report_json_end_array(json);
}

void report_render_section_json(struct report_json *json, const struct report_shown_section *shown,
                                const struct report_results *results) {
    const struct report_section *section = shown->entry->section;
    report_json_object(json, NULL);
    report_json_slice(json, "identifier", section->identifier.text);
    report_json_slice(json, "displayName", section->display_name.text);
    report_json_int(json, "order", section->order.integer);
    report_json_slice(json, "description", section->description.text);
    report_json_slice(json, "extends", section->extends.text);
    report_json_array(json, "sets");
    for (size_t i = 0; i < section->sets.count; i++) {
        const struct report_section_set *set = section->sets.items[i];
        report_json_slice(json, NULL, set->identifier.text);
    }
    report_json_end_array(json);
    report_json_text(json, "file", shown->entry->file->path);
    metrics_json(json, "header", &shown->header);
    bodies_json(json, shown);
    groups_json(json, shown);
    report_render_rules_json(json, results, section->identifier.text);
    report_json_end_object(json);
}
