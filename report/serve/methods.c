// SPDX-License-Identifier: Apache-2.0
//
// Each method takes its parameters first and refuses what is wrong with them; then it begins its
// result, and writes it as it goes, so that a long reply needs no memory of its own.
#include "report/serve/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/buf.h"
#include "protocol/base/origin.h"
#include "report/launch/launches.h"
#include "report/render/render_metric.h"
#include "report/select/filter.h"
#include "report/table/number.h"

#define MOST_VALUES 65536 // of a metric in one reply of `values`

struct call {
    struct report_objects *objects;
    const struct report_objects_calls *calls;
    struct report_request *request;
    struct store_arena *arena;
    struct nvtxt_out *out;
    const char *version;
    size_t range, action;
};

// ---- Parameters ---------------------------------------------------------------------------------

static int take_range(struct call *call) {
    return report_request_index(call->request, "range", call->objects->range_count, &call->range);
}

static int take_action(struct call *call) {
    int r = take_range(call);
    if (r != 0) {
        return r;
    }
    return report_request_index(call->request, "action",
                                call->calls->count(call->objects, call->range), &call->action);
}

// Both null: everything, or the action of the scope, which is taken then.
static bool takes_all(struct call *call, bool *scope) {
    bool all = !report_request_param(call->request, "range") &&
               !report_request_param(call->request, "action");
    *scope = all && call->objects->has_scope;
    call->range = *scope ? REPORT_RANGE_OF_SCOPE : call->range;
    return all;
}

static int take_action_or_all(struct call *call, bool *all) {
    bool scope;
    *all = takes_all(call, &scope) && !scope;
    if (!*all) {
        return scope ? 0 : take_action(call);
    }
    return call->calls->summary
               ? 0
               : report_request_refuse(call->request, REPORT_NOT_FOUND, "there is no summary");
}

// A part of the actions of a range, cut at its end.
static int take_part(struct call *call, size_t most, size_t *first, size_t *count) {
    int r = take_range(call);
    r = r ?: report_request_number(call->request, "first", 0, first);
    r = r ?: report_request_number(call->request, "count", most, count);
    if (r == 0) {
        size_t all = call->calls->count(call->objects, call->range);
        size_t left = *first < all ? all - *first : 0;
        *count = *count < most ? *count : most;
        *count = *count < left ? *count : left;
    }
    return r;
}

// The names of `names`; NULL when the parameter is not there.
static int take_names(struct call *call, const char *const **names) {
    const json_t *texts, *text;
    size_t i;
    int r = report_request_texts(call->request, "names", &texts);
    *names = NULL;
    if (r || !texts) {
        return r;
    }
    const char **copy =
        store_arena_take(call->arena, (json_array_size(texts) + 1) * sizeof(*copy), sizeof(*copy));
    if (!copy) {
        return nvtxt_origin(-ENOMEM);
    }
    json_array_foreach(texts, i, text) {
        copy[i] = json_string_value(text);
    }
    copy[json_array_size(texts)] = NULL;
    *names = copy;
    return 0;
}

// ---- Objects ------------------------------------------------------------------------------------

static int run_hello(struct call *call) {
    struct report_json *json = &call->request->out;
    report_request_begin(call->request, call->out);
    report_json_int(json, "protocol", REPORT_SERVE_PROTOCOL);
    report_json_text(json, "version", call->version);
    report_json_slice(json, "path", call->objects->path);
    report_json_text(json, "kind", call->objects->kind);
    report_json_uint(json, "ranges", call->objects->range_count);
    report_request_end(call->request);
    return 0;
}

static int run_range(struct call *call) {
    struct report_json *json = &call->request->out;
    struct nvtxt_slice name;
    int r = take_range(call);
    r = r ?: call->calls->range_name(call->objects, call->range, call->arena, &name);
    if (r == 0) {
        report_request_begin(call->request, call->out);
        report_json_uint(json, "actions", call->calls->count(call->objects, call->range));
        report_json_slice(json, "name", name);
        report_request_end(call->request);
    }
    return r;
}

static void put_name(struct call *call, const char *member, enum report_base base) {
    report_json_slice(&call->request->out, member,
                      call->calls->action_name(call->objects, call->range, call->action, base));
}

static int name_action(struct call *call, bool all, struct nvtxt_slice *name,
                       const char *const **names) {
    if (all) {
        int r = call->calls->summary_name(call->objects, call->arena, name);
        return r ?: call->calls->summary_names(call->objects, call->arena, names);
    }
    *name =
        call->calls->action_name(call->objects, call->range, call->action, REPORT_BASE_FUNCTION);
    return call->calls->metric_names(call->objects, call->range, call->action, call->arena, names);
}

static int run_action(struct call *call) {
    struct report_json *json = &call->request->out;
    struct nvtxt_slice name;
    const char *const *names;
    bool all;
    int r = take_action_or_all(call, &all);
    r = r ?: name_action(call, all, &name, &names);
    if (r) {
        return r;
    }
    report_request_begin(call->request, call->out);
    report_json_slice(json, "name", name);
    report_json_array(json, "metricNames");
    for (; *names; names++) {
        report_json_text(json, NULL, *names);
    }
    report_json_end_array(json);
    if (strcmp(call->objects->kind, "ncu-rep") == 0) {
        put_name(call, "demangledName", REPORT_BASE_DEMANGLED);
        put_name(call, "mangledName", REPORT_BASE_MANGLED);
    }
    report_request_end(call->request);
    return 0;
}

// ---- Metrics ------------------------------------------------------------------------------------

static void put_words(struct report_json *json, const struct report_metric *metric) {
    const struct report_metric_words words = report_metric_words(metric->name);
    const char *said = metric->description ?: "";
    report_json_text(json, "description", *said ? said : words.description);
    report_json_text(json, "metricType", words.type);
    report_json_text(json, "subtype", words.subtype);
    report_json_text(json, "rollup", words.rollup);
}

static void put_metric(struct report_json *json, const struct report_metric *metric) {
    report_json_object(json, NULL);
    report_render_metric_members(json, metric, NULL);
    put_words(json, metric);
    report_json_end_object(json);
}

// Of the action, or of everything.
static int get_metric(struct call *call, bool all, const char *name,
                      const struct report_metric **metric) {
    return all ? call->calls->summary(call->objects, name, metric)
               : call->calls->metric(call->objects, call->range, call->action, name, call->arena,
                                     metric);
}

static int put_metrics(struct call *call, bool all, const char *const *names) {
    struct report_json *json = &call->request->out;
    int r = 0;
    report_request_begin(call->request, call->out);
    report_json_array(json, "metrics");
    for (; *names && r == 0; names++) {
        const struct report_metric missing = {
            .name = *names, .unit = "", .type = REPORT_DOUBLE, .na = "no such metric"};
        const struct report_metric *metric = NULL;
        r = get_metric(call, all, *names, &metric);
        if (r == 0) {
            put_metric(json, metric ?: &missing);
        }
    }
    report_json_end_array(json);
    report_request_end(call->request);
    return r;
}

static int run_metrics(struct call *call) {
    const char *const *names;
    bool all;
    int r = take_action_or_all(call, &all);
    r = r ?: take_names(call, &names);
    if (r) {
        return r;
    }
    if (!names) {
        r = all ? call->calls->summary_names(call->objects, call->arena, &names)
                : call->calls->metric_names(call->objects, call->range, call->action, call->arena,
                                            &names);
    }
    r = r ?: put_metrics(call, all, names);
    if (all) {
        call->calls->summary_done(call->objects);
    }
    return r;
}

// ---- Values of many actions ---------------------------------------------------------------------

#define NO_TYPE 0xFF // no value, or more than a plain value: `metrics` tells
#define ABSENT 0xFE  // the action has no such metric

static uint8_t put_value(struct report_json *json, const struct report_metric *metric) {
    if (!metric || metric->na || metric->instanced) {
        report_json_null(json, NULL);
        return metric ? NO_TYPE : ABSENT;
    }
    if (metric->type == REPORT_FLOAT || metric->type == REPORT_DOUBLE) {
        const char *na = report_number_word(metric->value.real);
        if (na) {
            report_json_text(json, NULL, na);
        } else {
            report_json_double(json, NULL, metric->value.real);
        }
    } else if (metric->type == REPORT_STRING) {
        report_json_slice(json, NULL, metric->value.string);
    } else {
        report_json_uint(json, NULL, metric->value.u64);
    }
    return (uint8_t)metric->type;
}

static void put_type(struct report_json *json, const char *member, uint8_t type) {
    report_json_text(json, member,
                     type == NO_TYPE  ? NULL
                     : type == ABSENT ? "none"
                                      : report_type_name((enum report_type)type));
}

static void put_types(struct report_json *json, const uint8_t *types, size_t count) {
    size_t same = 0;
    while (same < count && types[same] == types[0]) {
        same++;
    }
    if (same == count) {
        put_type(json, "types", count > 0 ? types[0] : NO_TYPE);
        return;
    }
    report_json_array(json, "types");
    for (size_t i = 0; i < count; i++) {
        put_type(json, NULL, types[i]);
    }
    report_json_end_array(json);
}

// A metric of actions as a column. What it says of itself is that of the first action that has it.
static int put_column(struct call *call, const char *name, size_t first, size_t count,
                      uint8_t *types) {
    struct report_json *json = &call->request->out;
    const struct report_metric *metric = NULL;
    struct report_metric shown = {.name = name, .unit = "", .description = ""};
    int r = 0;
    report_json_object(json, NULL);
    report_json_text(json, "name", name);
    report_json_array(json, "values");
    for (size_t i = 0; i < count && r == 0; i++) {
        store_arena_reset(call->arena, STORE_CHUNK_BYTES);
        r = call->calls->metric(call->objects, call->range, first + i, name, call->arena, &metric);
        metric = r == 0 ? metric : NULL;
        types[i] = put_value(json, metric);
        if (metric && !*shown.description) {
            shown.unit = metric->unit;
            shown.description = metric->description;
        }
    }
    report_json_end_array(json);
    put_types(json, types, count);
    report_json_text(json, "unit", shown.unit);
    put_words(json, &shown);
    report_json_end_object(json);
    return r;
}

static int put_columns(struct call *call, const json_t *names, size_t first, size_t count) {
    struct report_json *json = &call->request->out;
    const json_t *name;
    size_t i;
    uint8_t *types = malloc(count + 1);
    int r = types ? 0 : nvtxt_origin(-ENOMEM);
    report_request_begin(call->request, call->out);
    report_json_array(json, "names");
    for (size_t at = 0; at < count; at++) {
        report_json_slice(
            json, NULL,
            call->calls->action_name(call->objects, call->range, first + at, REPORT_BASE_FUNCTION));
    }
    report_json_end_array(json);
    report_json_array(json, "metrics");
    json_array_foreach(names, i, name) {
        r = r ?: put_column(call, json_string_value(name), first, count, types);
    }
    report_json_end_array(json);
    report_request_end(call->request);
    free(types);
    return r;
}

static int run_values(struct call *call) {
    const json_t *names;
    size_t first, count;
    int r = take_part(call, MOST_VALUES, &first, &count);
    r = r ?: report_request_texts(call->request, "names", &names);
    return r ?: put_columns(call, names, first, count);
}

// ---- NVTX ---------------------------------------------------------------------------------------

static int take_filters(struct call *call, const char *name, const char *option,
                        struct report_selection *filters, struct report_fault *fault) {
    const json_t *texts, *text;
    size_t i;
    int r = report_request_texts(call->request, name, &texts);
    if (r) {
        return r;
    }
    json_array_foreach(texts, i, text) {
        r = report_selection_take(filters, option, json_string_value(text), fault);
        if (r < 0) {
            return r;
        }
        if (r) {
            return report_request_refuse(call->request, REPORT_BAD_PARAMS, "%s '%s': %s", name,
                                         json_string_value(text), fault->sentence);
        }
    }
    return 0;
}

// The filters of a request as a text, each after its length: equal ones alone have equal texts.
static int make_key(const struct call *call, struct nvtxt_buf *key) {
    static const char *const names[] = {"include", "exclude"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *texts = report_request_param(call->request, names[i]), *text;
        size_t at;
        json_array_foreach(texts, at, text) {
            char length[32];
            snprintf(length, sizeof(length), "%zu:", json_string_length(text));
            nvtxt_buf_add_string(key, length);
            nvtxt_buf_add_string(key, json_string_value(text));
        }
        nvtxt_buf_add_string(key, ";");
    }
    nvtxt_buf_add(key, "", 1);
    return nvtxt_buf_failed(key) ? nvtxt_origin(-ENOMEM) : 0;
}

static void put_actions(struct call *call, const uint32_t *actions, size_t count) {
    struct report_json *json = &call->request->out;
    report_request_begin(call->request, call->out);
    report_json_array(json, "actions");
    for (size_t i = 0; i < count; i++) {
        report_json_uint(json, NULL, actions[i]);
    }
    report_json_end_array(json);
    report_request_end(call->request);
}

static bool one_takes_none(struct report_filter *const *filters, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (report_filter_takes_none(filters[i])) {
            return true;
        }
    }
    return false;
}

// Which actions of the range the filters take. Everything is one action in whose state nothing is
// open.
static int find_actions(struct call *call, bool all, const struct report_selection *filters,
                        const char *key) {
    static const uint32_t first = 0;
    struct report_fault fault = {0};
    const uint32_t *actions = &first;
    size_t count = (filters->includes_count == 0 ||
                    one_takes_none(filters->includes, filters->includes_count)) &&
                   !one_takes_none(filters->excludes, filters->excludes_count);
    int r = all ? 0
                : call->calls->by_nvtx(call->objects, call->range, filters, key, call->arena,
                                       &actions, &count, &fault);
    if (r > 0) {
        report_request_refuse(call->request, REPORT_BAD_PARAMS, "%s", fault.sentence);
    }
    if (r == 0) {
        put_actions(call, actions, count);
    }
    return r;
}

static int run_actions_by_nvtx(struct call *call) {
    struct report_selection filters = {0};
    struct report_fault fault = {0};
    struct nvtxt_buf key = {0};
    bool scope;
    bool all = takes_all(call, &scope) && !scope && call->calls->summary;
    int r = all || scope ? 0 : take_range(call);
    r = r ?: take_filters(call, "include", "nvtx-include", &filters, &fault);
    r = r ?: take_filters(call, "exclude", "nvtx-exclude", &filters, &fault);
    r = r ?: make_key(call, &key);
    r = r ?: find_actions(call, all, &filters, key.data);
    report_selection_deinit(&filters);
    nvtxt_buf_deinit(&key);
    return r;
}

static int run_nvtx_state(struct call *call) {
    bool scope;
    int r = takes_all(call, &scope) && scope ? 0 : take_action(call);
    if (r == 0) {
        report_request_begin(call->request, call->out);
        r = call->calls->state(call->objects, call->range, call->action, call->arena,
                               &call->request->out);
        report_request_end(call->request);
    }
    return r;
}

static int run_events(struct call *call) {
    struct report_json *json = &call->request->out;
    size_t first, count;
    int r = take_part(call, SIZE_MAX, &first, &count);
    if (r) {
        return r;
    }
    if (!call->calls->event) {
        return report_request_refuse(call->request, REPORT_NOT_FOUND, "there are no events");
    }
    report_request_begin(call->request, call->out);
    report_json_array(json, "events");
    for (size_t i = 0; i < count; i++) {
        call->calls->event(call->objects, call->range, first + i, json);
    }
    report_json_end_array(json);
    report_request_end(call->request);
    return 0;
}

// ---- All ----------------------------------------------------------------------------------------

int report_service_run(struct report_service *service, struct report_request *request,
                       struct nvtxt_out *out) {
    static const struct {
        const char *name;
        int (*run)(struct call *call);
    } methods[] = {
        {"hello", run_hello},           {"range", run_range},
        {"action", run_action},         {"metrics", run_metrics},
        {"values", run_values},         {"actions_by_nvtx", run_actions_by_nvtx},
        {"nvtx_state", run_nvtx_state}, {"events", run_events},
    };
    struct call call = {
        .objects = service->objects,
        .calls = service->objects->calls,
        .request = request,
        .arena = &service->arena,
        .out = out,
        .version = service->version,
    };
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(methods[i].name, request->method) == 0) {
            return methods[i].run(&call);
        }
    }
    return report_request_refuse(request, REPORT_UNKNOWN_METHOD, "there is no method '%s'",
                                 request->method);
}
