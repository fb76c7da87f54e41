// SPDX-License-Identifier: Apache-2.0
//
// The groups of a key are made when a metric first asks for them, and kept.
#include "report/catalogue/figures.h"

static uint64_t elapsed(const struct report_event *events, const struct report_scope *scope) {
    if (scope->event_count == 0) {
        return 0;
    }
    int64_t first = events[scope->events[0]].start, last = first;
    for (size_t i = 0; i < scope->event_count; i++) {
        const struct report_event *event = &events[scope->events[i]];
        last = event->end > last ? event->end : last;
        last = event->start > last ? event->start : last;
    }
    return (uint64_t)last - (uint64_t)first;
}

void report_figures_init(struct report_figures *figures, struct report_model *model,
                         const struct report_scope *scope) {
    *figures = (struct report_figures){.model = model, .scope = scope};
    figures->elapsed_ns = elapsed(model->capture->events, scope);
}

void report_figures_deinit(struct report_figures *figures) {
    store_arena_deinit(&figures->arena);
    store_arena_deinit(&figures->kept);
    store_arena_deinit(&figures->samples[0].arena);
    store_arena_deinit(&figures->samples[1].arena);
}

int report_figures_groups(struct report_figures *figures, enum report_key key,
                          const struct report_groups **groups) {
    *groups = &figures->groups[key];
    if (figures->grouped[key]) {
        return 0;
    }
    int result = report_group(&figures->groups[key], figures->model, figures->scope->events,
                              figures->scope->event_count, key, &figures->kept);
    figures->grouped[key] = result == 0;
    return result;
}

bool report_has_store(const struct report_capture *capture) {
    for (size_t i = 0; i < capture->store_count; i++) {
        if (capture->stores[i].ours) {
            return true;
        }
    }
    return false;
}
