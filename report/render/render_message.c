// SPDX-License-Identifier: Apache-2.0
//
// A message without a place (a file that cannot be read) has null for line and column.
#include "report/render/render.h"

void report_render_messages_json(struct report_json *json, const struct report_messages *messages) {
    report_json_array(json, "messages");
    for (size_t i = 0; i < messages->count; i++) {
        const struct report_file_message *message = &messages->items[i];
        report_json_object(json, NULL);
        report_json_text(json, "file", message->file);
        report_json_optional(json, "line", message->at.line > 0, message->at.line);
        report_json_optional(json, "column", message->at.column > 0, message->at.column);
        report_json_text(json, "severity", report_file_severity_name(message->severity));
        report_json_text(json, "code", message->code);
        report_json_text(json, "message", message->text);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}
