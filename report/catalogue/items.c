// SPDX-License-Identifier: Apache-2.0
//
// Each figure goes over the events of a scope once, or over their groups by name or thread, or over
// what the capture has beside events.
#include "report/catalogue/items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/spread.h"

static int add(struct report_items *items, uint32_t raw, uint64_t value) {
    if (items->count == items->room) {
        size_t room = items->room ? 2 * items->room : 64;
        uint32_t *raws = realloc(items->raws, room * sizeof *raws);
        items->raws = raws ? raws : items->raws;
        uint64_t *values = raws ? realloc(items->values, room * sizeof *values) : NULL;
        items->values = values ? values : items->values;
        if (!values) {
            return -ENOMEM;
        }
        items->room = room;
    }
    items->raws[items->count] = raw;
    items->values[items->count++] = value;
    return 0;
}

// What a figure needs.
struct collecting {
    struct report_figures *figures;
    struct report_samples *samples;
    struct report_items *items;
    const struct report_event *events; // of the capture
};

// Marks of one name, in order: the time since the last one of the same process.
static int intervals_of(const struct collecting *of, const uint32_t *marks, size_t count,
                        uint32_t *last) {
    const struct report_thread *threads = of->figures->model->capture->threads;
    for (size_t i = 0; i < count; i++) {
        const struct report_event *event = &of->events[marks[i]];
        uint32_t *before = &last[threads[event->thread].process];
        if (event->kind == REPORT_MARK && *before != REPORT_NONE) {
            uint64_t interval = (uint64_t)event->start - (uint64_t)of->events[*before].start;
            if (add(of->items, event->name, interval)) {
                return -ENOMEM;
            }
        }
        *before = event->kind == REPORT_MARK ? marks[i] : *before;
    }
    for (size_t i = 0; i < count; i++) {
        last[threads[of->events[marks[i]].thread].process] = REPORT_NONE;
    }
    return 0;
}

static int mark_intervals(const struct collecting *of) {
    const struct report_groups *groups;
    of->samples->empty = "fewer than 2 instances";
    int result = report_figures_groups(of->figures, REPORT_KEY_NAME, &groups);
    size_t processes = of->figures->model->capture->process_count;
    uint32_t *last = malloc((processes + 1) * sizeof *last);
    result = last ? result : -ENOMEM;
    memset(last ? (void *)last : (void *)of->items, 0xFF, last ? processes * sizeof *last : 0);
    for (size_t g = 0; !result && g < groups->count; g++) {
        result = intervals_of(of, groups->items + groups->starts[g],
                              groups->starts[g + 1] - groups->starts[g], last);
    }
    free(last);
    return result;
}

// Calls `figure` with the durations of each name that has at least `least` of them.
static int of_each_name(const struct collecting *of, size_t least,
                        uint64_t (*figure)(uint64_t *durations, size_t count)) {
    const struct report_groups *groups;
    int result = report_figures_groups(of->figures, REPORT_KEY_NAME, &groups);
    uint64_t *durations = malloc((of->figures->scope->event_count + 1) * sizeof *durations);
    result = durations ? result : -ENOMEM;
    bool any = false;
    for (size_t g = 0; !result && g < groups->count; g++) {
        size_t count = 0;
        for (uint32_t i = groups->starts[g]; i < groups->starts[g + 1]; i++) {
            const struct report_event *event = &of->events[groups->items[i]];
            if (event->kind != REPORT_MARK && !(event->flags & REPORT_OPEN)) {
                durations[count++] = report_duration(event);
            }
        }
        any = any || count > 0;
        if (count >= least) {
            result = add(of->items, of->events[groups->items[groups->starts[g]]].name,
                         figure(durations, count));
        }
    }
    free(durations);
    of->samples->na = result || of->items->count ? NULL
                      : !any                     ? "no ranges"
                      : least == 2               ? "fewer than 2 instances"
                                                 : "fewer than 10 instances";
    return result;
}

static uint64_t variation(uint64_t *durations, size_t count) {
    struct report_spread spread = report_spread_of(durations, count);
    double ratio = spread.avg > 0 ? spread.stddev / spread.avg : 0;
    uint64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    return bits;
}

// Median absolute deviation: the median of the distances from the median.
static uint64_t outliers(uint64_t *durations, size_t count) {
    double median = report_spread_of(durations, count).median;
    uint64_t *distances = malloc(count * sizeof *distances);
    (void)distances;
    free(distances);
    (void)median;
    return 0;
}

static int elapsed(const struct collecting *of) {
    return add(of->items, 0, of->figures->elapsed_ns);
}

static bool has_stores_of_ours(const struct report_capture *capture) {
    for (size_t i = 0; i < capture->store_count; i++) {
        if (capture->stores[i].ours) {
            return true;
        }
    }
    return false;
}

static int losses(const struct collecting *of) {
    const struct report_capture *capture = of->figures->model->capture;
    of->samples->na = has_stores_of_ours(capture) ? NULL : "not in an export";
    int result = 0;
    for (size_t i = 0; !result && i < capture->loss_count; i++) {
        result = add(of->items, 0, capture->losses[i].count);
    }
    return result;
}

static uint64_t source_figure(const struct report_source *source, enum report_catalogue_id id) {
    int64_t value = id == REPORT_M_SOURCE_LINES      ? source->lines
                    : id == REPORT_M_SOURCE_EVENTS   ? source->events
                    : id == REPORT_M_SOURCE_ERRORS   ? source->errors
                    : id == REPORT_M_SOURCE_WARNINGS ? source->warnings
                                                     : (int64_t)source->diagnostic_count;
    return value < 0 ? 0 : (uint64_t)value;
}

// Of the whole capture all sources, of a part of it those that its events come from.
static int sources(const struct collecting *of) {
    const struct report_capture *capture = of->figures->model->capture;
    const struct report_scope *scope = of->figures->scope;
    of->samples->na = has_stores_of_ours(capture) ? NULL : "not in an export";
    bool *taken = calloc(capture->source_count + 1, sizeof *taken);
    int result = taken ? 0 : -ENOMEM;
    for (size_t i = 0; taken && i < scope->event_count; i++) {
        uint32_t source = of->events[scope->events[i]].source;
        taken[source == REPORT_NONE ? capture->source_count : source] = true;
    }
    for (size_t i = 0; !result && i < capture->source_count; i++) {
        if (taken[i] || scope->kind == REPORT_SCOPE_CAPTURE) {
            result =
                add(of->items, (uint32_t)i, source_figure(&capture->sources[i], of->samples->id));
        }
    }
    free(taken);
    return result;
}

static int diagnostic_lines(const struct collecting *of) {
    of->samples->na = "no source file";
    return 0;
}

int report_items_collect(struct report_figures *figures, struct report_samples *samples,
                         struct report_items *items) {
    const struct collecting of = {figures, samples, items, figures->model->capture->events};
    switch (samples->id) {
    case REPORT_M_MARK_INTERVAL:
        return mark_intervals(&of);
    case REPORT_M_VARIATION:
        samples->real = true;
        return of_each_name(&of, 2, variation);
    case REPORT_M_OUTLIER_COUNT:
        return of_each_name(&of, 10, outliers);
    case REPORT_M_TIME_ELAPSED:
        return elapsed(&of);
    case REPORT_M_LOSS_COUNT:
        return losses(&of);
    case REPORT_M_SOURCE_LINES:
    case REPORT_M_SOURCE_EVENTS:
    case REPORT_M_SOURCE_ERRORS:
    case REPORT_M_SOURCE_WARNINGS:
        return sources(&of);
    case REPORT_M_SOURCE_DIAGNOSTICS:
        return samples->key == REPORT_KEY_LINE ? diagnostic_lines(&of) : sources(&of);
    default:
        samples->na = "no such metric";
        return 0;
    }
}
