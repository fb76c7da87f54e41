// SPDX-License-Identifier: Apache-2.0
//
// The selected events of each thread stand side by side, in order. What a filter takes is kept
// until another filter comes: a script asks for the same one range after range.
#include "report/serve/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/metric/definitions.h"
#include "report/metric/metric.h"
#include "report/render/render.h"
#include "report/render/render_metric.h"
#include "report/select/filter_set.h"
#include "report/serve/open_ranges.h"

struct captured {
    struct report_objects objects;
    struct report_model *model;
    uint32_t *threads; // of each range; owned
    size_t *first;     // of its events, and where those of the last one end; owned
    uint32_t *events;  // indexes in the model; owned
    struct report_events written;
    struct report_open_ranges *open; // NULL until somebody asks
    struct report_scopes *scopes;    // the same
    struct report_metrics *metrics;
    struct report_metrics *summary;               // instead of `metrics`; borrowed; NULL: those
    const struct report_definitions *definitions; // borrowed; NULL: none
    char *hits_key;                               // the filters of `hits`; owned; NULL: none yet
    uint64_t *hits;                               // a bit for each event of the model; owned
};

static const struct captured *captured_of(const struct report_objects *objects) {
    return (const struct captured *)objects;
}

static uint32_t event_of(const struct report_objects *objects, size_t range, size_t action) {
    const struct captured *captured = captured_of(objects);
    return captured->events[captured->first[range] + action];
}

// ---- Ranges and actions -------------------------------------------------------------------------

static size_t count_actions(const struct report_objects *objects, size_t range) {
    const struct captured *captured = captured_of(objects);
    return captured->first[range + 1] - captured->first[range];
}

// The name of the thread, or PID:TID.
static int name_range(const struct report_objects *objects, size_t range, struct store_arena *arena,
                      struct nvtxt_slice *name) {
    const struct captured *captured = captured_of(objects);
    const struct report_capture *capture = captured->model->capture;
    const struct report_thread *thread = &capture->threads[captured->threads[range]];
    char made[32];
    *name = thread->name;
    if (!name->data) {
        int len = snprintf(made, sizeof(made), "%u:%u", capture->processes[thread->process].pid,
                           report_tid(thread));
        name->data = store_arena_copy(arena, made, (size_t)len);
        name->len = (size_t)len;
    }
    return name->data ? 0 : nvtxt_origin(-ENOMEM);
}

static struct nvtxt_slice name_action(const struct report_objects *objects, size_t range,
                                      size_t action, enum report_base base) {
    (void)base;
    const struct report_capture *capture = captured_of(objects)->model->capture;
    return report_event_text(capture, &capture->events[event_of(objects, range, action)]);
}

static int list_metrics(const struct report_objects *objects, size_t range, size_t action,
                        struct store_arena *arena, const char *const **names) {
    return report_event_metric_names(captured_of(objects)->model, event_of(objects, range, action),
                                     arena, names);
}

static int get_metric(const struct report_objects *objects, size_t range, size_t action,
                      const char *name, struct store_arena *arena,
                      const struct report_metric **metric) {
    return report_event_metric(captured_of(objects)->model, event_of(objects, range, action), name,
                               arena, metric);
}

static void write_event(struct report_objects *objects, size_t range, size_t action,
                        struct report_json *json) {
    struct captured *captured = (struct captured *)objects;
    report_json_before(json, NULL);
    report_event_json(&captured->written, json->out, event_of(objects, range, action));
}

// ---- The summary --------------------------------------------------------------------------------

// As the heading of a report; "capture" for all of it.
static int name_summary(const struct report_objects *objects, struct store_arena *arena,
                        struct nvtxt_slice *name) {
    const struct captured *captured = captured_of(objects);
    struct nvtxt_buf text = {.len = 0};
    *name = NVTXT_SLICE("capture");
    if (!captured->summary) {
        return 0;
    }
    report_render_scope_text(&text, report_metrics_scope(captured->summary));
    name->data = nvtxt_buf_failed(&text) ? NULL : store_arena_copy(arena, text.data, text.len);
    name->len = text.len;
    nvtxt_buf_deinit(&text);
    return name->data ? 0 : nvtxt_origin(-ENOMEM);
}

int report_objects_list(const struct report_definitions *definitions, struct store_arena *arena,
                        const char *const **names) {
    struct report_name_cursor cursor = {0};
    size_t count = 0;
    while (report_name_next(&cursor, definitions)) {
        count++;
    }
    const char **list = store_arena_take(arena, (count + 1) * sizeof(*list), sizeof(*list));
    cursor = (struct report_name_cursor){0};
    for (size_t i = 0; list && i < count; i++) {
        const char *name = report_name_next(&cursor, definitions);
        list[i] = name ? store_arena_copy(arena, name, strlen(name)) : NULL;
        if (!list[i]) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    if (!list) {
        return nvtxt_origin(-ENOMEM);
    }
    list[count] = NULL;
    *names = list;
    return 0;
}

static int list_summary(struct report_objects *objects, struct store_arena *arena,
                        const char *const **names) {
    return report_objects_list(captured_of(objects)->definitions, arena, names);
}

static int get_summary(struct report_objects *objects, const char *name,
                       const struct report_metric **metric) {
    struct captured *captured = (struct captured *)objects;
    int r = 0;
    if (captured->summary) {
        return report_metrics_get(captured->summary, name, metric);
    }
    if (!captured->scopes) {
        r = report_scopes_new(&captured->scopes, captured->model, REPORT_SCOPE_CAPTURE);
    }
    if (r == 0 && !captured->metrics) {
        r = report_metrics_new(&captured->metrics, captured->model,
                               report_scopes_at(captured->scopes, 0), NULL);
    }
    return r ?: report_metrics_get(captured->metrics, name, metric);
}

static void forget_summary(struct report_objects *objects) {
    struct captured *captured = (struct captured *)objects;
    if (captured->metrics) {
        report_metrics_forget(captured->metrics);
    }
}

// ---- Filters and states -------------------------------------------------------------------------

static int sweep_events(struct captured *captured, const struct report_selection *filters,
                        struct report_fault *fault) {
    struct report_filter_set set;
    const struct report_capture *capture = captured->model->capture;
    int r = report_filter_set_init(&set, capture, filters, fault);
    uint64_t *seen = r == 0 ? calloc(set.words + 1, sizeof(*seen)) : NULL;
    r = r ?: seen ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0 && set.count == 0) {
        memset(captured->hits, 0xFF, (captured->model->count / 64 + 1) * sizeof(uint64_t));
    } else if (r == 0) {
        memset(captured->hits, 0, (captured->model->count / 64 + 1) * sizeof(uint64_t));
        r = report_sweep(&set, captured->hits, seen);
    }
    free(seen);
    report_filter_set_deinit(&set);
    return r;
}

static int take_filters(struct captured *captured, const struct report_selection *filters,
                        const char *key, struct report_fault *fault) {
    if (captured->hits_key && strcmp(captured->hits_key, key) == 0) {
        return 0;
    }
    free(captured->hits_key);
    captured->hits_key = NULL;
    if (!captured->hits) {
        captured->hits = malloc((captured->model->count / 64 + 1) * sizeof(uint64_t));
    }
    int r = captured->hits ? sweep_events(captured, filters, fault) : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        captured->hits_key = strdup(key);
        r = captured->hits_key ? 0 : nvtxt_origin(-ENOMEM);
    }
    return r;
}

static int list_by_nvtx(struct report_objects *objects, size_t range,
                        const struct report_selection *filters, const char *key,
                        struct store_arena *arena, const uint32_t **actions, size_t *count,
                        struct report_fault *fault) {
    struct captured *captured = (struct captured *)objects;
    int r = take_filters(captured, filters, key, fault);
    if (r) {
        return r;
    }
    size_t all = count_actions(objects, range);
    uint32_t *list = store_arena_take(arena, (all + 1) * sizeof(*list), sizeof(*list));
    *count = 0;
    for (size_t i = 0; list && i < all; i++) {
        if (report_bit(captured->hits, event_of(objects, range, i))) {
            list[(*count)++] = (uint32_t)i;
        }
    }
    *actions = list;
    return list ? 0 : nvtxt_origin(-ENOMEM);
}

static int write_state(struct report_objects *objects, size_t range, size_t action,
                       struct store_arena *arena, struct report_json *json) {
    struct captured *captured = (struct captured *)objects;
    int r = captured->open ? 0 : report_open_ranges_new(&captured->open, captured->model);
    if (r != 0) {
        return r;
    }
    return report_open_ranges_write(captured->open, event_of(objects, range, action), arena, json);
}

// ---- All ----------------------------------------------------------------------------------------

static void free_captured(struct report_objects *objects) {
    struct captured *captured = (struct captured *)objects;
    report_open_ranges_free(captured->open);
    report_metrics_free(captured->metrics);
    report_scopes_free(captured->scopes);
    report_events_deinit(&captured->written);
    free(captured->threads);
    free(captured->first);
    free(captured->events);
    free(captured->hits_key);
    free(captured->hits);
    free(captured);
}

static void set_scope(struct report_objects *objects, struct report_metrics *metrics,
                      const struct report_definitions *definitions) {
    struct captured *captured = (struct captured *)objects;
    captured->summary = metrics;
    captured->definitions = definitions;
}

static const struct report_objects_calls calls = {
    .count = count_actions,
    .range_name = name_range,
    .action_name = name_action,
    .metric_names = list_metrics,
    .metric = get_metric,
    .summary_name = name_summary,
    .summary_names = list_summary,
    .summary = get_summary,
    .summary_done = forget_summary,
    .by_nvtx = list_by_nvtx,
    .state = write_state,
    .event = write_event,
    .set_scope = set_scope,
    .free = free_captured,
};

// Puts the selected events of each thread side by side. `next` has a place for each thread.
static void place_events(struct captured *captured, size_t *next) {
    const struct report_capture *capture = captured->model->capture;
    for (size_t i = 0; i < captured->model->count; i++) {
        next[capture->events[i].thread] += (capture->events[i].flags & REPORT_SELECTED) != 0;
    }
    size_t at = 0, range = 0;
    for (uint32_t thread = 0; thread < capture->thread_count; thread++) {
        size_t count = next[thread];
        next[thread] = at;
        if (count > 0) {
            captured->threads[range] = thread;
            captured->first[range++] = at;
            at += count;
        }
    }
    captured->first[range] = at;
    captured->objects.range_count = range;
    for (size_t i = 0; i < captured->model->count; i++) {
        if (capture->events[i].flags & REPORT_SELECTED) {
            captured->events[next[capture->events[i].thread]++] = (uint32_t)i;
        }
    }
}

static int fill_objects(struct captured *captured) {
    const struct report_capture *capture = captured->model->capture;
    const struct report_store *store = &capture->stores[0];
    size_t threads = capture->thread_count + 1;
    captured->objects.calls = &calls;
    captured->objects.kind = store->ours ? "nvtxt" : "nsys";
    captured->objects.path = store->path;
    captured->threads = calloc(threads, sizeof(*captured->threads));
    captured->first = calloc(threads, sizeof(*captured->first));
    captured->events = calloc(captured->model->selected + 1, sizeof(*captured->events));
    size_t *next = calloc(threads, sizeof(*next));
    int r = captured->threads && captured->first && captured->events && next
                ? 0
                : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        place_events(captured, next);
        r = report_events_init(&captured->written, captured->model);
    }
    free(next);
    return r;
}

int report_captured_new(struct report_objects **objects, struct report_model *model) {
    struct captured *captured = calloc(1, sizeof(*captured));
    *objects = NULL;
    if (!captured) {
        return nvtxt_origin(-ENOMEM);
    }
    captured->model = model;
    int r = fill_objects(captured);
    if (r) {
        free_captured(&captured->objects);
        return r;
    }
    *objects = &captured->objects;
    return 0;
}
