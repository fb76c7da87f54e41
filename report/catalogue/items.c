// SPDX-License-Identifier: Apache-2.0
//
// Each figure goes over the events of a scope once, or over their groups by name or thread, or over
// what the capture has beside events.
#include "report/catalogue/figures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"
#include "report/model/spans.h"
#include "report/model/spread.h"

static int add_item(struct report_items *items, uint32_t raw, uint64_t value) {
    size_t room = items->room, count = items->count + 1;
    int r = nvtxt_grow(&items->raws, &room, count, sizeof(*items->raws));
    r = r ?: nvtxt_grow(&items->values, &items->room, count, sizeof(*items->values));
    if (r == 0) {
        items->raws[items->count] = raw;
        items->values[items->count++] = value;
    }
    return r;
}

// What a figure needs.
struct collecting {
    struct report_figures *figures;
    struct report_samples *samples;
    struct report_items *items;
    const struct report_event *events; // of the capture
};

// The time from a mark to the last one of its name in its process.
static int mark_intervals(const struct collecting *of) {
    const struct report_thread *threads = of->figures->model->capture->threads;
    const struct report_scope *scope = of->figures->scope;
    const uint8_t *traits = report_figures_traits(of->figures);
    struct nvtxt_map last = {NULL, 0, 0}; // mark of a process and name
    int r = traits ? 0 : nvtxt_origin(-ENOMEM);
    of->samples->empty = "fewer than 2 instances";
    for (size_t i = 0; !r && i < scope->event_count; i++) {
        if (!(traits[i] & REPORT_IS_MARK)) {
            continue;
        }
        const struct report_event *event = &of->events[scope->events[i]];
        uint64_t key = (uint64_t)threads[event->thread].process << 32 | event->name;
        uint32_t before;
        if (nvtxt_map_get(&last, key, &before)) {
            r = add_item(of->items, event->name,
                         (uint64_t)event->start - (uint64_t)of->events[before].start);
        }
        r = r ?: nvtxt_map_set(&last, key, scope->events[i]);
    }
    nvtxt_map_deinit(&last);
    return r;
}

// Calls `figure` with the durations of each name that has at least `least` of them.
static int of_each_name(const struct collecting *of, size_t least,
                        int (*figure)(uint64_t *durations, size_t count, uint64_t *value)) {
    const struct report_key_groups *groups;
    int r = report_figures_groups(of->figures, REPORT_KEY_NAME, &groups);
    uint64_t *durations = malloc((of->figures->scope->event_count + 1) * sizeof(*durations));
    r = durations ? r : nvtxt_origin(-ENOMEM);
    bool any = false;
    for (size_t g = 0; !r && g < groups->count; g++) {
        size_t count = 0;
        for (uint32_t i = groups->starts[g]; i < groups->starts[g + 1]; i++) {
            const struct report_event *event = &of->events[groups->items[i]];
            if (event->kind != REPORT_MARK && !(event->flags & REPORT_OPEN)) {
                durations[count++] = report_duration(event);
            }
        }
        any = any || count > 0;
        if (count >= least) {
            uint64_t value;
            r = figure(durations, count, &value);
            r = r ?: add_item(of->items, of->events[groups->items[groups->starts[g]]].name, value);
        }
    }
    free(durations);
    of->samples->na = r || of->items->count ? NULL
                      : !any                ? "no ranges"
                      : least == 2          ? "fewer than 2 instances"
                                            : "fewer than 10 instances";
    return r;
}

static int variation(uint64_t *durations, size_t count, uint64_t *bits) {
    struct report_spread spread = report_spread_of(durations, count);
    double ratio = spread.avg > 0 ? spread.stddev / spread.avg : 0;
    memcpy(bits, &ratio, sizeof(ratio));
    return 0;
}

// The median of doubles that are not negative, given as their bits: these have the same order.
static double median_of(uint64_t *bits, size_t count) {
    uint64_t below = report_nth(bits, count, (count - 1) / 2);
    uint64_t above = report_nth(bits, count, count / 2);
    double low, high;
    memcpy(&low, &below, sizeof(low));
    memcpy(&high, &above, sizeof(high));
    return (low + high) / 2;
}

static int outliers(uint64_t *durations, size_t count, uint64_t *found) {
    double median = report_spread_of(durations, count).median;
    uint64_t *distances = malloc(count * sizeof(*distances));
    if (!distances) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < count; i++) {
        double distance = fabs((double)durations[i] - median);
        memcpy(&distances[i], &distance, sizeof(distance));
    }
    double limit = median + 5 * 1.4826 * median_of(distances, count);
    *found = 0;
    for (size_t i = 0; i < count; i++) {
        *found += (double)durations[i] > limit;
    }
    free(distances);
    return 0;
}

static int elapsed(const struct collecting *of) {
    return add_item(of->items, 0, of->figures->elapsed_ns);
}

// ---- Time ---------------------------------------------------------------------------------------

// Some events of one thread, process or name; `raw` is its index.
typedef int part_fn(const struct collecting *of, uint32_t raw, const uint32_t *events,
                    size_t count);

// Whether a range has an end, so that figures of time count it.
static bool is_timed(const struct report_event *event, unsigned kinds) {
    return (REPORT_KIND(event->kind) & kinds) && !(event->flags & REPORT_OPEN);
}

static bool any_timed(const struct collecting *of, const uint32_t *events, size_t count,
                      unsigned kinds) {
    bool any = false;
    for (size_t i = 0; of->figures->timed & kinds && i < count && !any; i++) {
        any = is_timed(&of->events[events[i]], kinds);
    }
    return any;
}

// Calls `part` with the events of each thread or process that has timed ranges of these kinds.
static int each_part(const struct collecting *of, enum report_key key, unsigned kinds,
                     part_fn *part) {
    if (!(of->figures->timed & kinds)) {
        return 0;
    }
    const struct report_parts *parts = report_figures_parts(of->figures, key);
    int r = parts ? 0 : nvtxt_origin(-ENOMEM);
    for (uint32_t p = 0; !r && p < parts->count; p++) {
        const uint32_t *events = parts->events + parts->starts[p];
        size_t count = parts->starts[p + 1] - parts->starts[p];
        if (any_timed(of, events, count, kinds)) {
            r = part(of, p, events, count);
        }
    }
    return r;
}

// Calls `part` with the events of each name that has timed ranges; without a key, of all events.
static int each_name(const struct collecting *of, enum report_key key, part_fn *part) {
    const struct report_scope *scope = of->figures->scope;
    const struct report_key_groups *groups;
    if (key == REPORT_KEY_NONE) {
        return any_timed(of, scope->events, scope->event_count, REPORT_BOTH_KINDS)
                   ? part(of, 0, scope->events, scope->event_count)
                   : 0;
    }
    int r = report_figures_groups(of->figures, REPORT_KEY_NAME, &groups);
    for (size_t g = 0; !r && g < groups->count; g++) {
        const uint32_t *events = groups->items + groups->starts[g];
        size_t count = groups->starts[g + 1] - groups->starts[g];
        if (any_timed(of, events, count, REPORT_BOTH_KINDS)) {
            r = part(of, of->events[events[0]].name, events, count);
        }
    }
    return r;
}

static int busy_thread(const struct collecting *of, uint32_t raw, const uint32_t *events,
                       size_t count) {
    return add_item(
        of->items, raw,
        report_busy(of->figures->model->capture, events, count, REPORT_KIND(REPORT_PUSH_POP)));
}

static int busy(const struct collecting *of, uint32_t raw, const uint32_t *events, size_t count) {
    return add_item(of->items, raw,
                    report_busy(of->figures->model->capture, events, count, REPORT_BOTH_KINDS));
}

// Each gap, or their number.
static int gaps(const struct collecting *of, uint32_t raw, const uint32_t *events, size_t count) {
    struct report_gap_walk walk = {of->figures->model->capture, events, count, 0, REPORT_NONE};
    bool lengths = of->samples->id != REPORT_M_GAP_COUNT;
    struct report_gap gap;
    uint64_t found = 0;
    int r = 0;
    for (; !r && report_gap_next(&walk, &gap); found++) {
        r = lengths ? add_item(of->items, raw, gap.length) : 0;
    }
    return lengths || r ? r : add_item(of->items, raw, found);
}

static int all_gaps(const struct collecting *of) {
    int r = each_part(of, REPORT_KEY_THREAD, REPORT_KIND(REPORT_PUSH_POP), gaps);
    bool ranges = any_timed(of, of->figures->scope->events, of->figures->scope->event_count,
                            REPORT_KIND(REPORT_PUSH_POP));
    of->samples->empty = ranges ? "fewer than 1 instances" : of->samples->empty;
    return r;
}

static int add_average(const struct collecting *of, uint32_t raw,
                       const struct report_concurrency *found) {
    size_t count = of->items->count;
    double *average = nvtxt_add(&of->items->averages, &count, sizeof(*average));
    if (!average) {
        return nvtxt_origin(-ENOMEM);
    }
    *average = (double)found->area / (double)of->figures->elapsed_ns;
    return add_item(of->items, raw, found->max);
}

static int concurrency(const struct collecting *of, uint32_t raw, const uint32_t *events,
                       size_t count) {
    struct report_concurrency found;
    int r = report_concurrency_of(of->figures->model->capture, events, count, REPORT_BOTH_KINDS,
                                  &found);
    return r                                          ? r
           : of->samples->id == REPORT_M_OVERLAP_TIME ? add_item(of->items, raw, found.overlap)
                                                      : add_average(of, raw, &found);
}

static int thread_concurrency(const struct collecting *of) {
    const struct report_scope *scope = of->figures->scope;
    struct report_concurrency found;
    if (!any_timed(of, scope->events, scope->event_count, REPORT_KIND(REPORT_PUSH_POP))) {
        return 0;
    }
    int r = report_thread_concurrency(of->figures->model->capture, scope->events,
                                      scope->event_count, &found);
    return r ?: add_average(of, 0, &found);
}

static int chain(const struct collecting *of) {
    const struct report_scope *scope = of->figures->scope;
    uint32_t *links;
    size_t count;
    int r = report_chain(of->figures->model->capture, scope->events, scope->event_count,
                         REPORT_BOTH_KINDS, &links, &count);
    for (size_t i = 0; !r && i < count; i++) {
        const struct report_event *event = &of->events[links[i]];
        r = add_item(of->items, event->name, report_duration(event));
    }
    free(links);
    return r;
}

// ---- Iterations ---------------------------------------------------------------------------------

static int compare_indexes(const void *a, const void *b) {
    return NVTXT_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

// The capture has all, selected or not; a part has those whose marker it has; an iteration itself.
static bool has_iteration(const struct report_scope *scope, const struct report_iteration *one) {
    if (scope->kind == REPORT_SCOPE_CAPTURE) {
        return true;
    }
    if (scope->kind == REPORT_SCOPE_ITERATION) {
        return scope->id.number == one->number;
    }
    return bsearch(&one->event, scope->events, scope->event_count, sizeof(*scope->events),
                   compare_indexes) != NULL;
}

static int iterations(const struct collecting *of) {
    const struct report_iterations *all = &of->figures->model->iterations;
    of->samples->na = all->declared ? NULL : "no iterations declared";
    bool intervals = of->samples->id == REPORT_M_ITERATION_INTERVAL;
    of->samples->empty = intervals ? "fewer than 2 instances" : "fewer than 1 instances";
    int r = 0;
    for (size_t i = 0; !r && i < all->count; i++) {
        const struct report_iteration *one = &all->list[i];
        uint64_t value = of->samples->id == REPORT_M_ITERATION_COUNT           ? 1
                         : of->samples->id == REPORT_M_ITERATION_OUTLIER_COUNT ? one->is_outlier
                         : intervals                                           ? one->interval
                                                                               : one->duration;
        if (has_iteration(of->figures->scope, one) && (!intervals || one->has_interval)) {
            r = add_item(of->items, (uint32_t)i, value);
        }
    }
    return r;
}

// ---- Beside the events --------------------------------------------------------------------------

static int losses(const struct collecting *of) {
    const struct report_capture *capture = of->figures->model->capture;
    of->samples->na = report_has_store(capture) ? NULL : "not in an export";
    int r = 0;
    for (size_t i = 0; !r && i < capture->loss_count; i++) {
        r = add_item(of->items, 0, capture->losses[i].count);
    }
    return r;
}

static int64_t source_figure(const struct report_source *source, enum report_catalogue_id id) {
    switch (id) {
    case REPORT_M_SOURCE_LINES:
        return source->lines;
    case REPORT_M_SOURCE_EVENTS:
        return source->events;
    case REPORT_M_SOURCE_ERRORS:
        return source->errors;
    case REPORT_M_SOURCE_WARNINGS:
        return source->warnings;
    case REPORT_M_SOURCE_DIAGNOSTICS:
        return (int64_t)source->diagnostic_count;
    default: // of the many others none is asked for here
        assert(false);
        return 0;
    }
}

// An item for a diagnostic, with the id FILE:LINE.
static int add_line(const struct collecting *of, const struct report_source *source, int64_t line) {
    struct report_items *items = of->items;
    struct report_id *id = nvtxt_add(&items->ids, &items->id_count, sizeof(*id));
    if (!id) {
        return nvtxt_origin(-ENOMEM);
    }
    *id = report_line_id(source, (uint64_t)line, &of->samples->arena);
    if (!id->text.data) {
        return nvtxt_origin(-ENOMEM);
    }
    return add_item(items, (uint32_t)items->id_count - 1, 1);
}

static int diagnostic_lines(const struct collecting *of, const bool *taken) {
    const struct report_capture *capture = of->figures->model->capture;
    int r = 0;
    for (size_t i = 0; i < capture->source_count; i++) {
        const struct report_source *source = &capture->sources[i];
        for (size_t j = 0; !r && taken[i] && j < source->diagnostic_count; j++) {
            int64_t line = source->diagnostics[j].line;
            r = line > 0 ? add_line(of, source, line) : 0;
        }
    }
    return r;
}

static int source_items(const struct collecting *of, const bool *taken) {
    const struct report_capture *capture = of->figures->model->capture;
    int r = 0;
    for (size_t i = 0; !r && i < capture->source_count; i++) {
        if (taken[i] && !capture->sources[i].left_out) {
            int64_t figure = source_figure(&capture->sources[i], of->samples->id);
            r = add_item(of->items, (uint32_t)i, figure < 0 ? 0 : (uint64_t)figure);
        }
    }
    return r;
}

// Of the whole capture all sources, of a part of it those that its events come from.
static int sources(const struct collecting *of) {
    const struct report_capture *capture = of->figures->model->capture;
    const struct report_scope *scope = of->figures->scope;
    of->samples->na = report_has_store(capture) ? NULL : "not in an export";
    bool *taken = calloc(capture->source_count + 1, sizeof(*taken));
    if (!taken) {
        return nvtxt_origin(-ENOMEM);
    }
    bool all = scope->kind == REPORT_SCOPE_CAPTURE;
    memset(taken, all, capture->source_count);
    for (size_t i = 0; !all && i < scope->event_count; i++) {
        uint32_t source = of->events[scope->events[i]].source;
        taken[source == REPORT_NONE ? capture->source_count : source] = true;
    }
    int r =
        of->samples->key == REPORT_KEY_LINE ? diagnostic_lines(of, taken) : source_items(of, taken);
    free(taken);
    return r;
}

void report_items_deinit(struct report_items *items) {
    free(items->raws);
    free(items->values);
    free(items->averages);
    free(items->ids);
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
    case REPORT_M_SOURCE_DIAGNOSTICS:
        return sources(&of);
    case REPORT_M_BUSY_TIME:
        return each_name(&of, REPORT_KEY_NONE, busy);
    case REPORT_M_THREAD_BUSY:
        return each_part(&of, REPORT_KEY_THREAD, REPORT_KIND(REPORT_PUSH_POP), busy_thread);
    case REPORT_M_PROCESS_BUSY:
        return each_part(&of, REPORT_KEY_PROCESS, REPORT_BOTH_KINDS, busy);
    case REPORT_M_GAP_DURATION:
    case REPORT_M_GAP_COUNT:
        return all_gaps(&of);
    case REPORT_M_RANGE_CONCURRENCY:
        return each_name(&of, samples->key, concurrency);
    case REPORT_M_OVERLAP_TIME:
        return each_name(&of, REPORT_KEY_NAME, concurrency);
    case REPORT_M_THREAD_CONCURRENCY:
        return thread_concurrency(&of);
    case REPORT_M_CHAIN_DURATION:
        return chain(&of);
    default: // REPORT_M_ITERATION_...
        return iterations(&of);
    }
}
