// SPDX-License-Identifier: Apache-2.0
//
// The groups of a key are made when a metric first asks for them, and kept.
#include "report/metric/state.h"

uint64_t report_state_elapsed(const struct report_metrics *metrics) {
    const struct report_event *events = metrics->model->capture->events;
    const struct report_scope *scope = metrics->scope;
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

int report_state_groups(struct report_metrics *metrics, enum report_key key,
                        const struct report_groups **groups) {
    *groups = &metrics->groups[key];
    if (metrics->grouped[key]) {
        return 0;
    }
    int result = report_group(&metrics->groups[key], metrics->model, metrics->scope->events,
                              metrics->scope->event_count, key, &metrics->kept);
    metrics->grouped[key] = result == 0;
    return result;
}
