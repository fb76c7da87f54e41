// SPDX-License-Identifier: Apache-2.0
//
// What a rule says goes straight into its result. A rule that says more than REPORT_USE_BYTES is
// refused the rest, so that one rule cannot take the memory of all.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
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
    int r = check_room(use, request);
    if (r != 0) {
        return r;
    }
    return report_request_index(request, "message", use->call->builder->result->message_count, id);
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
    int r = report_use_text(request, name, &text);
    for (int i = 0; r == 0 && words[i]; i++) {
        if (nvtxt_slice_equal(text, nvtxt_slice_of(words[i]))) {
            *choice = i;
            return 0;
        }
    }
    return r ?: report_request_refuse(request, REPORT_BAD_PARAMS, "'%s' has no such word", name);
}

static const char *const levels[] = {"none", "ok", "optimization", "warning", "error", NULL};

// ---- Messages and what belongs to them ----------------------------------------------------------

static int run_message(struct report_use *use, struct report_request *request,
                       struct nvtxt_out *out) {
    struct nvtxt_slice text, title;
    int type;
    int r = check_room(use, request);
    r = r ?: take_word(request, "type", levels, &type);
    r = r ?: report_use_text(request, "text", &text);
    r = r ?: report_use_text(request, "title", &title);
    if (r) {
        return r;
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
    int r = take_message(use, request, &message);
    r = r ?: take_number(request, "percent", &percent);
    if (r) {
        return r;
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
    int r = take_message(use, request, &message);
    r = r ?: report_use_text(request, "name", &focus.name);
    r = r ?: take_word(request, "severity", severities, &severity);
    r = r ?: report_use_text(request, "info", &focus.info);
    if (r) {
        return r;
    }
    focus.has_value = json_is_number(value);
    focus.value = value_of(value);
    focus.severity = (enum report_focus_severity)severity;
    report_build_focus(use->call->builder, message, &focus);
    return report_use_done(request, out);
}

// A number of 64 bits comes as digits.
static int take_address(struct report_request *request, uint64_t *address) {
    struct nvtxt_slice digits;
    int r = report_use_text(request, "address", &digits);
    *address = 0;
    if (r || !digits.data) {
        return r;
    }
    char *end;
    errno = 0;
    *address = strtoull(digits.data, &end, 10);
    return errno == 0 && end > digits.data && *end == '\0'
               ? 0
               : report_request_refuse(request, REPORT_BAD_PARAMS, "'address' is not a number");
}

// One that no message has.
static int take_lone_marker(const struct report_use *use, struct report_request *request,
                            struct report_source_marker *marker) {
    static const char *const kinds[] = {"source", "sass", NULL};
    int kind = REPORT_MARKER_SOURCE, level = REPORT_LEVEL_NONE;
    int r = check_room(use, request);
    r = r ?: take_word(request, "kind", kinds, &kind);
    r = r ?: take_word(request, "type", levels, &level);
    r = r ?: take_address(request, &marker->line);
    marker->message = REPORT_NO_MESSAGE;
    marker->kind = (enum report_marker_kind)kind;
    marker->level = (enum report_level)level;
    return r;
}

static int take_marker(const struct report_use *use, struct report_request *request,
                       struct report_source_marker *marker) {
    size_t line;
    int r = take_message(use, request, &marker->message);
    r = r ?: report_request_number(request, "line", 0, &line);
    marker->line = r == 0 ? line : 0;
    return r;
}

static int run_marker(struct report_use *use, struct report_request *request,
                      struct nvtxt_out *out) {
    struct report_source_marker marker = {.kind = REPORT_MARKER_SOURCE};
    int r = report_request_param(request, "message") ? take_marker(use, request, &marker)
                                                     : take_lone_marker(use, request, &marker);
    r = r ?: report_use_text(request, "file", &marker.file);
    r = r ?: report_use_text(request, "text", &marker.text);
    if (r) {
        return r;
    }
    report_build_marker(use->call->builder, &marker);
    return report_use_done(request, out);
}

// ---- Tables -------------------------------------------------------------------------------------

static struct report_cell cell_of(const json_t *value) {
    if (json_is_integer(value)) {
        return report_cell_int(json_integer_value(value));
    }
    if (json_is_real(value)) {
        return report_cell_real(json_real_value(value));
    }
    if (json_is_string(value)) {
        return report_cell_text(
            (struct nvtxt_slice){json_string_value(value), json_string_length(value)});
    }
    return (struct report_cell){0};
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

static bool has_word(const json_t *style, const char *name, const char *word) {
    const json_t *words = json_object_get(style, name), *one;
    size_t i;
    json_array_foreach(words, i, one) {
        if (json_is_string(one) && strcmp(json_string_value(one), word) == 0) {
            return true;
        }
    }
    return false;
}

static struct report_rule_style style_of(struct report_builder *builder, const json_t *style) {
    const json_t *tooltip = json_object_get(style, "tooltip");
    double percent = json_number_value(json_object_get(style, "percent"));
    struct nvtxt_slice text = {json_string_value(tooltip), json_string_length(tooltip)};
    return (struct report_rule_style){
        .tooltip = report_build_copy(builder, text.data ? text : NVTXT_SLICE("")),
        .percent = percent > 0 && percent <= 100 ? percent : 0,
        .header_bold = has_word(style, "header", "bold"),
        .header_italic = has_word(style, "header", "italic"),
        .bold = has_word(style, "data", "bold"),
        .italic = has_word(style, "data", "italic"),
    };
}

// The parameter "columns", if it has one object a column.
static int take_styles(struct report_use *use, const struct report_request *request,
                       size_t columns) {
    struct report_builder *builder = use->call->builder;
    struct report_result *result = builder->result;
    const json_t *list = report_request_param(request, "columns"), *style;
    size_t i;
    if (!json_is_array(list) || json_array_size(list) != columns) {
        return 0;
    }
    struct report_rule_style *styles =
        store_arena_take(builder->arena, (columns + 1) * sizeof(*styles), 8);
    if (!styles) {
        return nvtxt_origin(-ENOMEM);
    }
    json_array_foreach(list, i, style) {
        styles[i] = style_of(builder, style);
    }
    ((struct report_rule_table *)(uintptr_t)&result->tables[result->table_count - 1])->styles =
        styles;
    return 0;
}

static int build_table(struct report_use *use, size_t message, struct nvtxt_slice title,
                       struct nvtxt_slice description, const json_t *header, const json_t *rows) {
    struct report_builder *builder = use->call->builder;
    size_t columns = json_array_size(header), i, j;
    struct nvtxt_slice *names =
        store_arena_make(builder->arena, (columns + 1) * sizeof(struct nvtxt_slice));
    struct report_cell *cells =
        store_arena_make(builder->arena, (columns + 1) * sizeof(struct report_cell));
    const json_t *name, *row, *cell;
    if (!names || !cells) {
        return nvtxt_origin(-ENOMEM);
    }
    json_array_foreach(header, i, name) {
        names[i] = (struct nvtxt_slice){json_string_value(name), json_string_length(name)};
    }
    struct report_rule_table *table = report_build_table(builder, message, title, names, columns);
    if (!table) {
        return nvtxt_origin(-ENOMEM);
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
    int r = take_message(use, request, &message);
    r = r ?: report_use_text(request, "title", &title);
    r = r ?: report_use_text(request, "description", &description);
    r = r ?: report_request_texts(request, "header", &header);
    r = r ?: check_rows(request, rows, json_array_size(header));
    r = r ?: build_table(use, message, title, description, header, rows);
    r = r ?: take_styles(use, request, json_array_size(header));
    return r ?: report_use_done(request, out);
}

static int run_chart(struct report_use *use, struct report_request *request,
                     struct nvtxt_out *out) {
    struct nvtxt_slice name;
    int r = check_room(use, request);
    r = r ?: report_use_text(request, "name", &name);
    r = r ?: report_use_chart(use, name, request);
    return r ?: report_use_done(request, out);
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
