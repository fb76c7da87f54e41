// SPDX-License-Identifier: Apache-2.0
//
// One scan finds the markers; the events of each begin and end where a search by start says so. The
// median is that of a copy of the durations.
#include "report/model/iterations.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/model/spread.h"
#include "report/select/selection.h"

static bool is_marker(const struct report_capture *capture, const struct report_marker *marker,
                      const struct report_event *event) {
    const struct report_name *name = &capture->names[event->name];
    return report_is_range(event) &&
           nvtxt_slice_equal(capture->messages[name->message], marker->name) &&
           (marker->any_domain ||
            nvtxt_slice_equal(capture->domains[name->domain], marker->domain));
}

uint32_t report_first_at(const struct report_capture *capture, uint32_t from, int64_t time) {
    size_t low = from, high = capture->event_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (capture->events[middle].start < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}

static int add_iteration(struct report_iterations *iterations, const struct report_capture *capture,
                         uint32_t event) {
    struct report_iteration *iteration =
        nvtxt_add(&iterations->list, &iterations->count, sizeof(*iteration));
    if (!iteration) {
        return nvtxt_origin(-ENOMEM);
    }
    const struct report_event *range = &capture->events[event];
    uint32_t first = report_first_at(capture, 0, range->start);
    *iteration = (struct report_iteration){
        .event = event,
        .number = (uint32_t)(iterations->skipped + iterations->count - 1),
        .first = first,
        .end = report_first_at(capture, first, range->end),
        .duration = (uint64_t)range->end - (uint64_t)range->start,
    };
    return 0;
}

static int find_markers(struct report_iterations *iterations, const struct report_capture *capture,
                        const struct report_selection *selection) {
    int r = 0;
    for (size_t i = 0; i < capture->event_count && r == 0; i++) {
        const struct report_event *event = &capture->events[i];
        if (!is_marker(capture, &selection->iterations, event)) {
            continue;
        }
        if (event->flags & REPORT_OPEN) {
            iterations->open++;
        } else if (iterations->skipped < selection->skip_iterations) {
            iterations->skipped++;
        } else {
            r = add_iteration(iterations, capture, (uint32_t)i);
        }
    }
    return r;
}

static int find_intervals(struct report_iterations *iterations,
                          const struct report_capture *capture) {
    uint32_t *before = malloc((capture->process_count + 1) * sizeof(*before));
    if (!before) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < capture->process_count; i++) {
        before[i] = REPORT_NONE;
    }
    for (size_t i = 0; i < iterations->count; i++) {
        struct report_iteration *iteration = &iterations->list[i];
        const struct report_event *marker = &capture->events[iteration->event];
        uint32_t *last = &before[capture->threads[marker->thread].process];
        if (*last != REPORT_NONE) {
            iteration->has_interval = true;
            iteration->interval = (uint64_t)marker->start - (uint64_t)capture->events[*last].start;
        }
        *last = iteration->event;
    }
    free(before);
    return 0;
}

static int find_outliers(struct report_iterations *iterations) {
    uint64_t *durations = malloc((iterations->count + 1) * sizeof(*durations));
    if (!durations) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < iterations->count; i++) {
        durations[i] = iterations->list[i].duration;
    }
    double median = report_spread_of(durations, iterations->count).median;
    for (size_t i = 0; i < iterations->count; i++) {
        iterations->list[i].is_outlier = (double)iterations->list[i].duration > 1.5 * median;
    }
    free(durations);
    return 0;
}

int report_iterations_init(struct report_iterations *iterations,
                           const struct report_capture *capture,
                           const struct report_selection *selection) {
    *iterations = (struct report_iterations){.declared = selection->has_iterations};
    if (!selection->has_iterations) {
        return 0;
    }
    int r = find_markers(iterations, capture, selection);
    r = r ?: find_intervals(iterations, capture);
    return r ?: find_outliers(iterations);
}

void report_iterations_deinit(struct report_iterations *iterations) {
    free(iterations->list);
    *iterations = (struct report_iterations){0};
}
