// SPDX-License-Identifier: Apache-2.0
//
// The JSON half of render_rule.h.
#include "report/render/kit/json.h"
#include "report/render/render_rule.h"

static void json_value(struct report_json *json, const char *name,
                       const struct report_value *value) {
    switch (value->type) {
    case REPORT_U32:
    case REPORT_U64:
        report_json_uint(json, name, value->u64);
        break;
    case REPORT_STRING:
        report_json_slice(json, name, value->string);
        break;
    default:
        report_json_double_na(json, name, value->real);
        break;
    }
}

static void json_messages(struct report_json *json, const struct report_result *result) {
    report_json_array(json, "messages");
    for (size_t i = 0; i < result->message_count; i++) {
        const struct report_message *message = &result->messages[i];
        report_json_object(json, NULL);
        report_json_uint(json, "id", i);
        report_json_text(json, "type", report_level_name(message->level));
        report_json_slice(json, "title", message->title);
        report_json_slice(json, "text", message->text);
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

static void json_focus(struct report_json *json, const struct report_result *result) {
    report_json_array(json, "focusMetrics");
    for (size_t i = 0; i < result->focus_count; i++) {
        const struct report_focus_metric *focus = &result->focus[i];
        report_json_object(json, NULL);
        report_json_uint(json, "message", focus->message);
        report_json_slice(json, "name", focus->name);
        if (focus->has_value) {
            json_value(json, "value", &focus->value);
        } else {
            report_json_null(json, "value");
        }
        report_json_text(json, "severity", report_focus_severity_name(focus->severity));
        report_json_slice(json, "info", focus->info);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

static void json_cell(struct report_json *json, const struct report_rule_cell *cell) {
    switch (cell->kind) {
    case REPORT_RULE_CELL_INT:
        report_json_int(json, NULL, cell->number);
        break;
    case REPORT_RULE_CELL_REAL:
        report_json_double(json, NULL, cell->real);
        break;
    case REPORT_RULE_CELL_TEXT:
        report_json_slice(json, NULL, cell->text);
        break;
    default:
        report_json_null(json, NULL);
        break;
    }
}

static void json_table(struct report_json *json, const struct report_rule_table *table) {
    report_json_object(json, NULL);
    report_json_uint(json, "message", table->message);
    report_json_slice(json, "title", table->title);
    report_json_slice(json, "description", table->description);
    report_json_array(json, "header");
    for (size_t i = 0; i < table->column_count; i++) {
        report_json_slice(json, NULL, table->header[i]);
    }
    report_json_end_array(json);
    report_json_array(json, "rows");
    for (size_t row = 0; row < table->row_count; row++) {
        report_json_array(json, NULL);
        for (size_t i = 0; i < table->column_count; i++) {
            json_cell(json, &table->cells[row * table->column_count + i]);
        }
        report_json_end_array(json);
    }
    report_json_end_array(json);
    report_json_end_object(json);
}

static void json_markers(struct report_json *json, const struct report_result *result) {
    report_json_array(json, "sourceMarkers");
    for (size_t i = 0; i < result->marker_count; i++) {
        const struct report_source_marker *marker = &result->markers[i];
        report_json_object(json, NULL);
        report_json_uint(json, "message", marker->message);
        report_json_slice(json, "file", marker->file);
        report_json_uint(json, "line", marker->line);
        report_json_slice(json, "text", marker->text);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

// A text that is always there.
static void json_string(struct report_json *json, const char *name, struct nvtxt_slice text) {
    report_json_slice(json, name, text.data ? text : NVTXT_SLICE(""));
}

void report_render_rule_json(struct report_json *json, const struct report_result *result) {
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
    report_json_array(json, "proposals");
    for (size_t i = 0; i < result->proposal_count; i++) {
        report_json_slice(json, NULL, result->proposals[i]);
    }
    report_json_end_array(json);
    json_string(json, "output", result->output);
    report_json_end_object(json);
}
