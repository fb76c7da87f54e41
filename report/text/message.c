// SPDX-License-Identifier: Apache-2.0
//
// The messages are an array that grows by doubling; their texts are pieces of an arena. The sort is
// one by insertion: it keeps the order of equals, and a file has few messages, nearly sorted.
#include "report/text/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/utf8.h"
#include "protocol/table/arrays.h"

void report_messages_deinit(struct report_messages *messages) {
    free(messages->items);
    store_arena_deinit(&messages->texts);
    *messages = (struct report_messages){0};
}

static const char *make_text(struct store_arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = len < 0 ? NULL : store_arena_take(arena, (size_t)len + 1, 1);
    if (text) {
        vsnprintf(text, (size_t)len + 1, format, again);
    }
    va_end(again);
    return text;
}

void report_messages_add(struct report_messages *messages, const char *file, struct report_place at,
                         enum report_file_severity severity, const char *code, const char *format,
                         ...) {
    va_list args;
    va_start(args, format);
    const char *text = make_text(&messages->texts, format, args);
    va_end(args);
    messages->errors += severity == REPORT_FILE_ERROR;
    if (!text || nvtxt_grow(&messages->items, &messages->room, messages->count + 1,
                            sizeof(*messages->items)) < 0) {
        messages->failed = true;
        return;
    }
    messages->items[messages->count++] = (struct report_file_message){
        .file = file, .at = at, .severity = severity, .code = code, .text = text};
}

bool report_messages_has(const struct report_messages *messages, const char *file,
                         struct report_place at, const char *code) {
    for (size_t i = 0; i < messages->count; i++) {
        const struct report_file_message *each = &messages->items[i];
        if (each->at.line == at.line && each->at.column == at.column &&
            strcmp(each->code, code) == 0 && strcmp(each->file, file) == 0) {
            return true;
        }
    }
    return false;
}

static bool stands_before(struct report_place a, struct report_place b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

void report_messages_sort(struct report_messages *messages, size_t first) {
    for (size_t i = first + 1; i < messages->count; i++) {
        struct report_file_message moved = messages->items[i];
        size_t to = i;
        for (; to > first && stands_before(moved.at, messages->items[to - 1].at); to--) {
            messages->items[to] = messages->items[to - 1];
        }
        messages->items[to] = moved;
    }
}

const char *report_file_severity_name(enum report_file_severity severity) {
    return severity == REPORT_FILE_ERROR ? "error" : "warning";
}

static void write_printable(struct nvtxt_buf *out, const char *string) {
    struct nvtxt_slice text = nvtxt_slice_of(string), shown;
    for (size_t taken; text.len > 0; text.data += taken, text.len -= taken) {
        taken = nvtxt_utf8_shown(text, &shown);
        bool is_itself = shown.data == text.data;
        nvtxt_buf_add(out, is_itself ? shown.data : "?", is_itself ? shown.len : 1);
    }
}

void report_message_write(struct nvtxt_buf *out, const struct report_file_message *message) {
    write_printable(out, message->file);
    if (message->at.line > 0) {
        nvtxt_buf_add_string(out, ":");
        nvtxt_buf_add_uint(out, message->at.line);
        nvtxt_buf_add_string(out, ":");
        nvtxt_buf_add_uint(out, message->at.column);
    }
    nvtxt_buf_add_string(out, ": ");
    nvtxt_buf_add_string(out, report_file_severity_name(message->severity));
    nvtxt_buf_add_string(out, ": ");
    write_printable(out, message->text);
    nvtxt_buf_add_string(out, " [");
    nvtxt_buf_add_string(out, message->code);
    nvtxt_buf_add_string(out, "]");
}
