// SPDX-License-Identifier: Apache-2.0
//
// For people a time is shown in the largest unit in which it is at least 1, and a number that is no
// integer with at most three decimals. Words of counting ("event", "range") are no units to read:
// the label says them.
#include "report/render/render_metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/render/kit/plain.h"

const char *report_type_name(enum report_type type) {
    static const char *const names[] = {
        [REPORT_U32] = "u32",       [REPORT_U64] = "u64",       [REPORT_FLOAT] = "float",
        [REPORT_DOUBLE] = "double", [REPORT_STRING] = "string",
    };
    return names[type];
}

static const char *na_of(const struct report_value *value) {
    bool real = value->type == REPORT_FLOAT || value->type == REPORT_DOUBLE;
    return real ? report_json_na_of(value->real) : NULL;
}

static void value_json(struct report_json *json, const struct report_value *value) {
    switch (value->type) {
    case REPORT_U32:
    case REPORT_U64:
        report_json_uint(json, "value", value->u64);
        break;
    case REPORT_STRING:
        report_json_slice(json, "value", value->string);
        break;
    default:
        report_json_double(json, "value", value->real);
    }
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
    report_json_text(json, "unit", metric->unit ? metric->unit : "");
    report_json_text(json, "type", report_type_name(metric->type));
    if (metric->na) {
        report_json_null(json, "value");
    } else {
        value_json(json, &metric->value);
    }
    report_json_text(json, "na", metric->na ? metric->na : na_of(&metric->value));
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
    report_json_end_object(json);
}

struct nvtxt_slice report_render_id(const struct report_id *id, char digits[REPORT_ID_DIGITS]) {
    if (id->is_text) {
        return id->text;
    }
    int len = snprintf(digits, REPORT_ID_DIGITS, "%llu", (unsigned long long)id->number);
    return (struct nvtxt_slice){digits, (size_t)len};
}

static bool is_counting(const char *unit) {
    static const char *const words[] = {"event", "range",      "mark",      "level", "gap",
                                        "line",  "diagnostic", "iteration", "ratio", "thread"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i], unit) == 0) {
            return true;
        }
    }
    return *unit == '\0';
}

// At most three decimals, without zeros at their end; the part before them with commas.
static void put_real(char text[REPORT_VALUE_TEXT], double value) {
    char digits[REPORT_PLAIN_NUMBER];
    if (!isfinite(value)) {
        snprintf(text, REPORT_VALUE_TEXT, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    double rounded = fabs(value) < 1e15 ? round(value * 1000) / 1000 : value;
    double whole = trunc(rounded);
    char decimals[16];
    snprintf(decimals, sizeof(decimals), "%.3f", fabs(rounded - whole));
    size_t len = strlen(decimals);
    while (decimals[len - 1] == '0') {
        len--;
    }
    len -= decimals[len - 1] == '.';
    decimals[len] = '\0';
    bool integer = fabs(whole) < 9e15;
    if (integer) {
        report_plain_int(digits, (int64_t)whole);
    } else {
        snprintf(digits, sizeof(digits), "%.17g", value);
    }
    snprintf(text, REPORT_VALUE_TEXT, "%s%s%s", integer && whole == 0 && rounded < 0 ? "-" : "",
             digits, integer && len > 1 ? decimals + 1 : "");
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
    put_real(text, ns / units[i].size);
    size_t len = strlen(text);
    snprintf(text + len, REPORT_VALUE_TEXT - len, " %s", units[i].unit);
}

const char *report_render_value(char text[REPORT_VALUE_TEXT], const struct report_value *value,
                                const char *unit, bool base) {
    bool integer = value->type == REPORT_U32 || value->type == REPORT_U64;
    if (value->type == REPORT_STRING) {
        struct nvtxt_slice cut = nvtxt_slice_cut(value->string, REPORT_VALUE_TEXT - 1);
        snprintf(text, REPORT_VALUE_TEXT, "%.*s", (int)cut.len, cut.data);
        return text;
    }
    unit = unit ? unit : "";
    if (!base && strcmp(unit, "ns") == 0) {
        put_time(text, integer ? (double)value->u64 : value->real);
        return text;
    }
    if (integer) {
        char digits[REPORT_PLAIN_NUMBER];
        report_plain_uint(digits, value->u64);
        snprintf(text, REPORT_VALUE_TEXT, "%s", digits);
    } else {
        put_real(text, value->real);
    }
    if (!is_counting(unit)) {
        size_t len = strlen(text);
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
            nvtxt_buf_add(to, id.data, view->cuts ? report_plain_name_cut(id, note) : id.len);
            nvtxt_buf_add_string(to, note);
            nvtxt_buf_add_string(to, ": ");
        }
        nvtxt_buf_add_string(
            to, report_render_value(value, &instance->value, metric->unit, view->base_units));
    }
    nvtxt_buf_add_string(to, metric->instance_count > 0 ? ")" : "");
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
    nvtxt_buf_add_string(
        to, report_render_value(value, &metric->value, metric->unit, view->base_units));
    if (view->instances) {
        add_instances(to, metric, view);
    }
}
