// SPDX-License-Identifier: Apache-2.0
//
// For people a time is shown in the largest unit in which it is at least 1, and a number that is no
// integer with at most three decimals. Words of counting ("event", "range") are no units to read:
// the label says them.
#include "report/render/render_metric.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "protocol/text/forms.h"
#include "protocol/text/shown.h"
#include "report/table/number.h"
#include "report/table/plain.h"

const char *report_type_name(enum report_type type) {
    static const char *const names[] = {
        [REPORT_U32] = "u32",       [REPORT_U64] = "u64",       [REPORT_FLOAT] = "float",
        [REPORT_DOUBLE] = "double", [REPORT_STRING] = "string",
    };
    return names[type];
}

static const char *na_of(const struct report_value *value) {
    bool real = value->type == REPORT_FLOAT || value->type == REPORT_DOUBLE;
    return real ? report_number_word(value->real) : NULL;
}

struct report_cell report_value_cell(const struct report_value *value) {
    switch (value->type) {
    case REPORT_U32:
    case REPORT_U64:
        return report_cell_uint(value->u64);
    case REPORT_FLOAT:
    case REPORT_DOUBLE:
        return report_cell_real(value->real);
    case REPORT_STRING:
        return report_cell_text(value->string);
    }
    assert(false);
    return (struct report_cell){0};
}

static void value_json(struct report_json *json, const struct report_value *value) {
    const struct report_cell cell = report_value_cell(value);
    report_json_cell(json, "value", &cell);
}

static void id_json(struct report_json *json, const struct report_id *id) {
    if (id->is_text) {
        report_json_slice(json, "id", id->text);
    } else {
        report_json_uint(json, "id", id->number);
    }
}

static void instances_json(struct report_json *json, const struct report_metric *metric) {
    if (!metric->instanced || (metric->na && metric->instance_count == 0)) {
        report_json_null(json, "instances");
        return;
    }
    report_json_array(json, "instances");
    for (size_t i = 0; i < metric->instance_count; i++) {
        const struct report_instance *instance = &metric->instances[i];
        report_json_object(json, NULL);
        id_json(json, &instance->id);
        value_json(json, &instance->value);
        if (instance->value.type != metric->type) {
            report_json_text(json, "type", report_type_name(instance->value.type));
        }
        if (na_of(&instance->value)) {
            report_json_text(json, "na", na_of(&instance->value));
        }
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

void report_render_metric_members(struct report_json *json, const struct report_metric *metric,
                                  const char *label) {
    report_json_text(json, "name", metric->name);
    report_json_text(json, "label", label);
    report_json_text(json, "unit", metric->unit ?: "");
    report_json_text(json, "type", report_type_name(metric->type));
    if (metric->na) {
        report_json_null(json, "value");
    } else {
        value_json(json, &metric->value);
    }
    report_json_text(json, "na", metric->na ?: na_of(&metric->value));
    instances_json(json, metric);
    report_json_array(json, "notes");
    for (size_t i = 0; i < metric->note_count; i++) {
        report_json_text(json, NULL, metric->notes[i]);
    }
    report_json_end_array(json);
}

void report_render_metric_json(struct report_json *json, const struct report_metric *metric,
                               const char *label) {
    report_json_object(json, NULL);
    report_render_metric_members(json, metric, label);
    report_json_end_object(json);
}

void report_render_scope_json(struct report_json *json, const char *name,
                              const struct report_scope *scope) {
    report_json_object(json, name);
    report_json_text(json, "kind", scope->kind_word);
    if (scope->has_id) {
        id_json(json, &scope->id);
    } else {
        report_json_null(json, "id");
    }
    if (scope->given) {
        report_json_slice(json, "name", scope->given->name);
        report_json_slice(json, "path", scope->given->path);
    }
    report_json_end_object(json);
}

void report_render_scope_text(struct nvtxt_buf *to, const struct report_scope *scope) {
    char digits[REPORT_ID_DIGITS];
    nvtxt_buf_add_string(to, scope->kind_word);
    if (scope->has_id) {
        struct nvtxt_slice id = report_render_id(&scope->id, digits);
        nvtxt_buf_add_string(to, " ");
        nvtxt_buf_add(to, id.data, id.len);
    }
    if (scope->given && scope->given->of_many) {
        nvtxt_buf_add_string(to, " of ");
        nvtxt_buf_add(to, scope->given->path.data, scope->given->path.len);
    }
    if (scope->given) {
        nvtxt_buf_add_string(to, ": ");
        nvtxt_buf_add(to, scope->given->name.data, scope->given->name.len);
    }
}

struct nvtxt_slice report_render_id(const struct report_id *id, char digits[REPORT_ID_DIGITS]) {
    if (id->is_text) {
        return id->text;
    }
    int len = snprintf(digits, REPORT_ID_DIGITS, "%llu", (unsigned long long)id->number);
    return (struct nvtxt_slice){digits, (size_t)len};
}

bool report_unit_counts(const char *unit) {
    static const char *const words[] = {"event", "range",      "mark",      "level", "gap",
                                        "line",  "diagnostic", "iteration", "ratio", "thread"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i], unit) == 0) {
            return true;
        }
    }
    return *unit == '\0';
}

static void put_time(char text[REPORT_VALUE_TEXT], double ns) {
    static const struct {
        double size;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && fabs(ns) < units[i].size) {
        i++;
    }
    size_t len = report_number_rounded(text, ns / units[i].size);
    snprintf(text + len, REPORT_VALUE_TEXT - len, " %s", units[i].unit);
}

// Three digits; of an integer all.
static size_t put_short(char text[REPORT_VALUE_TEXT], const struct report_value *value) {
    char digits[NVTXT_SHOWN_TIME];
    if (report_type_is_integer(value->type)) {
        return report_number_uint(text, value->u64);
    }
    if (report_number_word(value->real) || fabs(value->real) >= 999.5) {
        return report_number_rounded(text, round(value->real));
    }
    nvtxt_shown_digits(digits, value->real);
    return (size_t)snprintf(text, REPORT_VALUE_TEXT, "%s", digits);
}

// "1.23 ms".
static void put_short_time(char text[REPORT_VALUE_TEXT], double ns) {
    struct nvtxt_shown_unit unit = nvtxt_shown_unit(fabs(ns));
    char digits[NVTXT_SHOWN_TIME];
    if (unit.ns == 1 && ns == round(ns)) {
        snprintf(digits, sizeof(digits), "%.0f", ns);
    } else {
        nvtxt_shown_digits(digits, ns / unit.ns);
    }
    snprintf(text, REPORT_VALUE_TEXT, "%s %s", digits, unit.name);
}

const char *report_render_value(char text[REPORT_VALUE_TEXT], const struct report_value *value,
                                const char *unit, enum report_units units) {
    bool integer = report_type_is_integer(value->type);
    if (value->type == REPORT_STRING) {
        struct nvtxt_slice cut = nvtxt_slice_cut(value->string, REPORT_VALUE_TEXT - 1);
        snprintf(text, REPORT_VALUE_TEXT, "%.*s", (int)cut.len, cut.data);
        return text;
    }
    unit = unit ?: "";
    double number = integer ? (double)value->u64 : value->real;
    if (units != REPORT_UNITS_BASE && strcmp(unit, "ns") == 0) {
        bool is_short = units == REPORT_UNITS_SHORT && !report_number_word(number);
        is_short ? put_short_time(text, number) : put_time(text, number);
        return text;
    }
    size_t len = units == REPORT_UNITS_SHORT ? put_short(text, value)
                 : integer                   ? report_number_uint(text, value->u64)
                                             : report_number_rounded(text, value->real);
    if (!report_unit_counts(unit)) {
        snprintf(text + len, REPORT_VALUE_TEXT - len, " %s", unit);
    }
    return text;
}

static void add_instances(struct nvtxt_buf *to, const struct report_metric *metric,
                          const struct report_metric_view *view) {
    char value[REPORT_VALUE_TEXT], digits[REPORT_ID_DIGITS];
    for (size_t i = 0; i < metric->instance_count; i++) {
        const struct report_instance *instance = &metric->instances[i];
        nvtxt_buf_add_string(to, i == 0 ? " (" : "; ");
        if (view->instance_ids) {
            struct nvtxt_slice id = report_render_id(&instance->id, digits);
            char note[REPORT_PLAIN_NOTE] = "";
            nvtxt_buf_add(to, id.data, report_plain_name_cut(id, view->full_names, note));
            nvtxt_buf_add_string(to, note);
            nvtxt_buf_add_string(to, ": ");
        }
        nvtxt_buf_add_string(
            to, report_render_value(value, &instance->value, metric->unit, view->units));
    }
    nvtxt_buf_add_string(to, metric->instance_count > 0 ? ")" : "");
}

// A moment, which is a text in UTC, as the screen has others. Returns false if it is none.
static bool add_moment(struct nvtxt_buf *to, const struct report_metric *metric,
                       const struct report_screen *screen) {
    char text[NVTXT_SHOWN_TIME];
    int64_t ns;
    if (!screen || strcmp(metric->name, "capture__attribute_start_time") != 0 ||
        metric->value.type != REPORT_STRING || metric->value.string.len >= sizeof(text)) {
        return false;
    }
    memcpy(text, metric->value.string.data, metric->value.string.len);
    text[metric->value.string.len] = '\0';
    if (!nvtxt_time_parse(text, &ns) || ns < REPORT_SCREEN_YEAR_1980_NS) {
        return false;
    }
    nvtxt_buf_add_string(to, nvtxt_shown_day(text, ns, screen->utc));
    nvtxt_buf_add_string(to, " ");
    nvtxt_buf_add_string(to, nvtxt_shown_clock(text, ns, screen->utc, 3));
    return true;
}

void report_render_metric_text(struct nvtxt_buf *to, const struct report_metric *metric,
                               const struct report_metric_view *view) {
    char value[REPORT_VALUE_TEXT];
    if (metric->na) {
        nvtxt_buf_add_string(to, "N/A (");
        nvtxt_buf_add_string(to, metric->na);
        nvtxt_buf_add_string(to, ")");
        return;
    }
    if (!add_moment(to, metric, view->units == REPORT_UNITS_BASE ? NULL : view->screen)) {
        nvtxt_buf_add_string(to,
                             report_render_value(value, &metric->value, metric->unit, view->units));
    }
    if (view->instances) {
        add_instances(to, metric, view);
    }
}
