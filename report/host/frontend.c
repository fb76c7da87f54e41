// SPDX-License-Identifier: Apache-2.0
//
// What a rule says goes straight into its result. A rule that says more than REPORT_USE_BYTES is
// refused the rest, so that one rule cannot take the memory of all.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/host/use.h"
#include "store/value/arena.h"

// ---- Parameters ---------------------------------------------------------------------------------

static int check_room(const struct report_use *use, struct report_request *request) {
    size_t used = store_arena_used(use->call->builder->arena) - use->arena_before;
    return used <= REPORT_USE_BYTES
               ? 0
               : report_request_refuse(request, REPORT_BAD_PARAMS,
                                       "the rule says more than %zu bytes", REPORT_USE_BYTES);
}

// The id of a message that is there.
static int take_message(const struct report_use *use, struct report_request *request, size_t *id) {
    int result = check_room(use, request);
    return result ? result
                  : report_request_index(request, "message",
                                         use->call->builder->result->message_count, id);
}

static int take_number(struct report_request *request, const char *name, double *number) {
    const json_t *value = report_request_param(request, name);
    *number = json_number_value(value);
    return json_is_number(value) && isfinite(*number)
               ? 0
               : report_request_refuse(request, REPORT_BAD_PARAMS, "'%s' is not a number", name);
}

// One of `words`, which NULL ends.
static int take_word(struct report_request *request, const char *name, const char *const *words,
                     int *choice) {
    struct nvtxt_slice text;
    int result = report_use_text(request, name, &text);
    for (int i = 0; result == 0 && words[i]; i++) {
        if (nvtxt_slice_equal(text, nvtxt_slice_of(words[i]))) {
            *choice = i;
            return 0;
        }
    }
    return result
               ? result
               : report_request_refuse(request, REPORT_BAD_PARAMS, "'%s' has no such word", name);
}

// ---- Messages and what belongs to them ----------------------------------------------------------

static int run_message(struct report_use *use, struct report_request *request,
                       struct nvtxt_out *out) {
    static const char *const types[] = {"none", "ok", "optimization", "warning", "error", NULL};
    struct nvtxt_slice text, title;
    int type;
    int result = check_room(use, request);
    result = result ? result : take_word(request, "type", types, &type);
    result = result ? result : report_use_text(request, "text", &text);
    result = result ? result : report_use_text(request, "title", &title);
    if (result) {
        return result;
    }
    size_t id = report_build_message(use->call->builder, (enum report_level)type, title, text);
    report_request_begin(request, out);
    report_json_uint(&request->out, "id", id);
    report_request_end(request);
    return 0;
}

static int run_speedup(struct report_use *use, struct report_request *request,
                       struct nvtxt_out *out) {
    size_t message;
    double percent;
    int result = take_message(use, request, &message);
    result = result ? result : take_number(request, "percent", &percent);
    if (result) {
        return result;
    }
    bool global = json_is_true(report_request_param(request, "global"));
    report_build_speedup(use->call->builder, message, global, percent);
    return report_use_done(request, out);
}

static struct report_value value_of(const json_t *value) {
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        return (struct report_value){.type = REPORT_U64,
                                     .u64 = (uint64_t)json_integer_value(value)};
    }
    return (struct report_value){.type = REPORT_DOUBLE, .real = json_number_value(value)};
}

static int run_focus(struct report_use *use, struct report_request *request,
                     struct nvtxt_out *out) {
    static const char *const severities[] = {"default", "low", "high", NULL};
    struct report_focus_metric focus = {.has_value = true};
    const json_t *value = report_request_param(request, "value");
    size_t message;
    int severity;
    int result = take_message(use, request, &message);
    result = result ? result : report_use_text(request, "name", &focus.name);
    result = result ? result : take_word(request, "severity", severities, &severity);
    result = result ? result : report_use_text(request, "info", &focus.info);
    if (result) {
        return result;
    }
    focus.has_value = json_is_number(value);
    focus.value = value_of(value);
    focus.severity = (enum report_focus_severity)severity;
    report_build_focus(use->call->builder, message, &focus);
    return report_use_done(request, out);
}

static int run_marker(struct report_use *use, struct report_request *request,
                      struct nvtxt_out *out) {
    struct nvtxt_slice file, text;
    size_t message, line;
    int result = take_message(use, request, &message);
    result = result ? result : report_use_text(request, "file", &file);
    result = result ? result : report_request_number(request, "line", 0, &line);
    result = result ? result : report_use_text(request, "text", &text);
    if (result) {
        return result;
    }
    report_build_marker(use->call->builder, message, file, line, text);
    return report_use_done(request, out);
}

// ---- Tables -------------------------------------------------------------------------------------

static struct report_rule_cell cell_of(const json_t *value) {
    if (json_is_integer(value)) {
        return (struct report_rule_cell){REPORT_RULE_CELL_INT, .number = json_integer_value(value)};
    }
    if (json_is_real(value)) {
        return (struct report_rule_cell){REPORT_RULE_CELL_REAL, .real = json_real_value(value)};
    }
    if (json_is_string(value)) {
        return (struct report_rule_cell){
            REPORT_RULE_CELL_TEXT, .text = {json_string_value(value), json_string_length(value)}};
    }
    return (struct report_rule_cell){.kind = REPORT_RULE_CELL_NULL};
}

static int check_rows(struct report_request *request, const json_t *rows, size_t columns) {
    const json_t *row;
    size_t i;
    if (!json_is_array(rows)) {
        return report_request_refuse(request, REPORT_BAD_PARAMS, "'rows' is not a list");
    }
    json_array_foreach(rows, i, row) {
        if (!json_is_array(row) || json_array_size(row) != columns) {
            return report_request_refuse(request, REPORT_BAD_PARAMS, "row %zu has not %zu cells", i,
                                         columns);
        }
    }
    return 0;
}

static int build_table(struct report_use *use, size_t message, struct nvtxt_slice title,
                       struct nvtxt_slice description, const json_t *header, const json_t *rows) {
    struct report_builder *builder = use->call->builder;
    size_t columns = json_array_size(header), i, j;
    struct nvtxt_slice *names =
        store_arena_make(builder->arena, (columns + 1) * sizeof(struct nvtxt_slice));
    struct report_rule_cell *cells =
        store_arena_make(builder->arena, (columns + 1) * sizeof(struct report_rule_cell));
    const json_t *name, *row, *cell;
    if (!names || !cells) {
        return -ENOMEM;
    }
    json_array_foreach(header, i, name) {
        names[i] = (struct nvtxt_slice){json_string_value(name), json_string_length(name)};
    }
    struct report_rule_table *table = report_build_table(builder, message, title, names, columns);
    if (!table) {
        return -ENOMEM;
    }
    table->description = report_build_copy(builder, description);
    json_array_foreach(rows, i, row) {
        json_array_foreach(row, j, cell) {
            cells[j] = cell_of(cell);
        }
        report_build_row(builder, table, cells);
    }
    return 0;
}

static int run_table(struct report_use *use, struct report_request *request,
                     struct nvtxt_out *out) {
    const json_t *header, *rows = report_request_param(request, "rows");
    struct nvtxt_slice title, description;
    size_t message;
    int result = take_message(use, request, &message);
    result = result ? result : report_use_text(request, "title", &title);
    result = result ? result : report_use_text(request, "description", &description);
    result = result ? result : report_request_texts(request, "header", &header);
    result = result ? result : check_rows(request, rows, json_array_size(header));
    result = result ? result : build_table(use, message, title, description, header, rows);
    return result ? result : report_use_done(request, out);
}

static int run_chart(struct report_use *use, struct report_request *request,
                     struct nvtxt_out *out) {
    struct nvtxt_slice name;
    int result = check_room(use, request);
    result = result ? result : report_use_text(request, "name", &name);
    result = result ? result : report_use_chart(use, name, request);
    return result ? result : report_use_done(request, out);
}

const struct report_use_method report_use_frontend_methods[] = {
    {"message", run_message},
    {"speedup", run_speedup},
    {"focus_metric", run_focus},
    {"source_marker", run_marker},
    {"table", run_table},
    {"chart", run_chart},
    {NULL, NULL},
};
