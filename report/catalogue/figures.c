// SPDX-License-Identifier: Apache-2.0
//
// The groups of a key are made when a metric first asks for them, and kept; so are the parts and
// what each event is.
#include "report/catalogue/figures.h"

#include <string.h>

#include "report/model/spans.h"

static void look_at_times(struct report_figures *figures) {
    const struct report_event *events = figures->model->capture->events;
    const struct report_scope *scope = figures->scope;
    int64_t first = scope->event_count > 0 ? events[scope->events[0]].start : 0, last = first;
    unsigned timed = 0;
    for (size_t i = 0; i < scope->event_count; i++) {
        const struct report_event *event = &events[scope->events[i]];
        last = event->end > last ? event->end : last;
        last = event->start > last ? event->start : last;
        timed |= event->flags & REPORT_OPEN ? 0 : REPORT_KIND(event->kind);
    }
    figures->timed = timed;
    figures->elapsed_ns = (uint64_t)last - (uint64_t)first;
}

void report_figures_init(struct report_figures *figures, struct report_model *model,
                         const struct report_scope *scope) {
    *figures = (struct report_figures){.model = model, .scope = scope};
    if (model) {
        look_at_times(figures);
    }
}

void report_figures_deinit(struct report_figures *figures) {
    store_arena_deinit(&figures->arena);
    store_arena_deinit(&figures->kept);
    for (size_t i = 0; i < sizeof(figures->samples) / sizeof(figures->samples[0]); i++) {
        store_arena_deinit(&figures->samples[i].arena);
    }
}

int report_figures_groups(struct report_figures *figures, enum report_key key,
                          const struct report_key_groups **groups) {
    *groups = &figures->groups[key];
    if (figures->grouped[key]) {
        return 0;
    }
    int r = report_group(&figures->groups[key], figures->model, figures->scope->events,
                         figures->scope->event_count, key, &figures->kept);
    figures->grouped[key] = r == 0;
    return r;
}

uint8_t report_traits_of(const struct report_event *event) {
    static const uint8_t kinds[] = {[REPORT_MARK] = REPORT_IS_MARK,
                                    [REPORT_PUSH_POP] = REPORT_IS_PUSH_POP,
                                    [REPORT_START_END] = REPORT_IS_START_END};
    bool has_number = event->payload_kind != NVTXT_PAYLOAD_NONE;
    return (uint8_t)(REPORT_IS_EVENT | kinds[event->kind] |
                     (event->flags & REPORT_OPEN ? REPORT_IS_OPEN : 0) |
                     (event->flags & REPORT_UNCLOSED ? REPORT_IS_UNCLOSED : 0) |
                     (event->flags & REPORT_BACKWARD ? REPORT_IS_BACKWARD : 0) |
                     (has_number ? REPORT_HAS_NUMBER : 0));
}

const uint8_t *report_figures_traits(struct report_figures *figures) {
    const struct report_scope *scope = figures->scope;
    if (!figures->traits) {
        uint8_t *traits = store_arena_take(&figures->kept, scope->event_count + 1, 1);
        for (size_t i = 0; traits && i < scope->event_count; i++) {
            traits[i] = report_traits_of(&figures->model->capture->events[scope->events[i]]);
        }
        figures->traits = traits;
    }
    return figures->traits;
}

// First starts[p + 2] counts the events of p; then starts[p + 1] is where its next event goes, and
// at the end where it ends.
static void fill_parts(struct report_parts *parts, const struct report_capture *capture,
                       const struct report_scope *scope, bool by_process) {
    memset(parts->starts, 0, (parts->count + 2) * sizeof(*parts->starts));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < scope->event_count; i++) {
            uint32_t part = capture->events[scope->events[i]].thread;
            part = by_process ? capture->threads[part].process : part;
            if (pass == 0) {
                parts->starts[part + 2]++;
            } else {
                parts->events[parts->starts[part + 1]++] = scope->events[i];
            }
        }
        for (size_t p = 2; pass == 0 && p <= parts->count; p++) {
            parts->starts[p] += parts->starts[p - 1];
        }
    }
}

const struct report_parts *report_figures_parts(struct report_figures *figures,
                                                enum report_key key) {
    const struct report_capture *capture = figures->model->capture;
    bool by_process = key == REPORT_KEY_PROCESS;
    struct report_parts *parts = by_process ? &figures->processes : &figures->threads;
    if (!parts->starts) {
        struct report_parts made = {.count = by_process ? capture->process_count
                                                        : capture->thread_count};
        size_t count = figures->scope->event_count;
        made.starts = store_arena_take(&figures->kept, (made.count + 2) * sizeof(uint32_t), 4);
        made.events = store_arena_take(&figures->kept, (count + 1) * sizeof(uint32_t), 4);
        if (!made.starts || !made.events) {
            return NULL;
        }
        fill_parts(&made, capture, figures->scope, by_process);
        *parts = made;
    }
    return parts;
}

bool report_has_store(const struct report_capture *capture) {
    for (size_t i = 0; i < capture->store_count; i++) {
        if (capture->stores[i].ours) {
            return true;
        }
    }
    return false;
}
