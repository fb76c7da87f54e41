// SPDX-License-Identifier: Apache-2.0
//
// The JSON half of the results of rules in render.h.
#include "report/render/render.h"

#include "report/render/render_metric.h"
#include "report/section/show.h"
#include "report/table/number.h"

static void json_messages(struct report_json *json, const struct report_result *result) {
    report_json_array(json, "messages");
    for (size_t i = 0; i < result->message_count; i++) {
        const struct report_rule_message *message = &result->messages[i];
        report_json_object(json, NULL);
        report_json_uint(json, "id", i);
        report_json_text(json, "type", report_level_name(message->level));
        report_json_linked(json, "title", message->title);
        report_json_linked(json, "text", message->text);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

static void json_speedups(struct report_json *json, const struct report_result *result) {
    report_json_array(json, "speedups");
    for (size_t i = 0; i < result->speedup_count; i++) {
        const struct report_speedup *speedup = &result->speedups[i];
        report_json_object(json, NULL);
        report_json_uint(json, "message", speedup->message);
        report_json_text(json, "type", speedup->global ? "global" : "local");
        report_json_double_na(json, "percent", speedup->percent);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

static void json_focus_value(struct report_json *json, const struct report_focus_metric *focus) {
    const struct report_cell cell =
        focus->has_value ? report_value_cell(&focus->value) : (struct report_cell){0};
    report_json_cell(json, "value", &cell);
    if (cell.kind == REPORT_CELL_REAL && report_number_word(cell.real)) {
        report_json_text(json, "na", report_number_word(cell.real));
    }
}

static void json_focus(struct report_json *json, const struct report_result *result) {
    report_json_array(json, "focusMetrics");
    for (size_t i = 0; i < result->focus_count; i++) {
        const struct report_focus_metric *focus = &result->focus[i];
        report_json_object(json, NULL);
        report_json_uint(json, "message", focus->message);
        report_json_slice(json, "name", focus->name);
        json_focus_value(json, focus);
        report_json_text(json, "severity", report_focus_severity_name(focus->severity));
        report_json_linked(json, "info", focus->info);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

static void json_words(struct report_json *json, const char *name, bool bold, bool italic) {
    report_json_array(json, name);
    if (bold) {
        report_json_text(json, NULL, "bold");
    }
    if (italic) {
        report_json_text(json, NULL, "italic");
    }
    report_json_end_array(json);
}

static void json_styles(struct report_json *json, const struct report_rule_table *table) {
    report_json_array(json, "columns");
    for (size_t i = 0; i < table->table.column_count; i++) {
        const struct report_rule_style *style = &table->styles[i];
        report_json_object(json, NULL);
        report_json_slice(json, "tooltip", style->tooltip);
        report_json_double(json, "percent", style->percent);
        json_words(json, "header", style->header_bold, style->header_italic);
        json_words(json, "data", style->bold, style->italic);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

static void json_table(struct report_json *json, const struct report_rule_table *table) {
    static const struct report_table_view view = {.unit_ns = 1};
    report_json_object(json, NULL);
    report_json_uint(json, "message", table->message);
    report_json_slice(json, "title", table->title);
    report_json_slice(json, "description", table->description);
    report_table_json_rows(json, "header", &table->table, &view);
    if (table->chart) {
        report_json_text(json, "chart", table->chart->type);
    }
    if (table->styles) {
        json_styles(json, table);
    }
    report_json_end_object(json);
}

// A text that is always there.
static void json_string(struct report_json *json, const char *name, struct nvtxt_slice text) {
    report_json_slice(json, name, text.data ? text : NVTXT_SLICE(""));
}

static void json_markers(struct report_json *json, const struct report_result *result) {
    report_json_array(json, "sourceMarkers");
    for (size_t i = 0; i < result->marker_count; i++) {
        const struct report_source_marker *marker = &result->markers[i];
        bool alone = marker->message == REPORT_NO_MESSAGE;
        bool sass = marker->kind == REPORT_MARKER_SASS;
        report_json_object(json, NULL);
        if (alone) {
            report_json_null(json, "message");
        } else {
            report_json_uint(json, "message", marker->message);
        }
        json_string(json, "file", marker->file);
        report_json_uint(json, "line", sass ? 0 : marker->line);
        report_json_slice(json, "text", marker->text);
        if (alone) {
            report_json_text(json, "kind", sass ? "sass" : "source");
            report_json_text(json, "type", report_level_name(marker->level));
        }
        if (sass) {
            report_json_uint(json, "address", marker->line);
        }
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

void report_render_rule_json(struct report_json *json, const struct report_result *result,
                             const struct report_scope *scope) {
    report_json_object(json, NULL);
    report_json_slice(json, "identifier", result->identifier);
    json_string(json, "name", result->name);
    json_string(json, "description", result->description);
    report_json_slice(json, "section", result->section);
    report_json_text(json, "kind", report_rule_kind_name(result->kind));
    report_json_slice(json, "file", result->file);
    report_json_text(json, "status", report_rule_status_name(result->status));
    report_json_slice(json, "reason", result->reason);
    json_messages(json, result);
    json_speedups(json, result);
    json_focus(json, result);
    report_json_array(json, "tables");
    for (size_t i = 0; i < result->table_count; i++) {
        json_table(json, &result->tables[i]);
    }
    report_json_end_array(json);
    json_markers(json, result);
    report_json_slices(json, "proposals", result->proposals, result->proposal_count);
    json_string(json, "output", result->output);
    if (scope) {
        report_render_scope_json(json, "scope", scope);
    }
    report_json_end_object(json);
}
