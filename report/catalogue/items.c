// SPDX-License-Identifier: Apache-2.0
//
// Each figure goes over the events of a scope once, or over their groups by name or thread, or over
// what the capture has beside events.
#include "report/catalogue/items.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/load/idmap.h"
#include "report/model/spans.h"
#include "report/model/spread.h"

static int add(struct report_items *items, uint32_t raw, uint64_t value) {
    if (items->count == items->room) {
        size_t room = items->room ? 2 * items->room : 64;
        uint32_t *raws = realloc(items->raws, room * sizeof(*raws));
        items->raws = raws ? raws : items->raws;
        uint64_t *values = raws ? realloc(items->values, room * sizeof(*values)) : NULL;
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

// The time from a mark to the last one of its name in its process.
static int mark_intervals(const struct collecting *of) {
    const struct report_thread *threads = of->figures->model->capture->threads;
    const struct report_scope *scope = of->figures->scope;
    const uint8_t *traits = report_figures_traits(of->figures);
    struct report_idmap last = {NULL, 0, 0}; // mark of a process and name
    int result = traits ? 0 : -ENOMEM;
    of->samples->empty = "fewer than 2 instances";
    for (size_t i = 0; !result && i < scope->event_count; i++) {
        if (!(traits[i] & REPORT_IS_MARK)) {
            continue;
        }
        const struct report_event *event = &of->events[scope->events[i]];
        uint64_t key = (uint64_t)threads[event->thread].process << 32 | event->name;
        uint32_t before;
        if (report_idmap_get(&last, key, &before)) {
            result = add(of->items, event->name,
                         (uint64_t)event->start - (uint64_t)of->events[before].start);
        }
        result = result ? result : report_idmap_set(&last, key, scope->events[i]);
    }
    report_idmap_deinit(&last);
    return result;
}

// Calls `figure` with the durations of each name that has at least `least` of them.
static int of_each_name(const struct collecting *of, size_t least,
                        int (*figure)(uint64_t *durations, size_t count, uint64_t *value)) {
    const struct report_groups *groups;
    int result = report_figures_groups(of->figures, REPORT_KEY_NAME, &groups);
    uint64_t *durations = malloc((of->figures->scope->event_count + 1) * sizeof(*durations));
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
            uint64_t value;
            result = figure(durations, count, &value);
            result = result
                         ? result
                         : add(of->items, of->events[groups->items[groups->starts[g]]].name, value);
        }
    }
    free(durations);
    of->samples->na = result || of->items->count ? NULL
                      : !any                     ? "no ranges"
                      : least == 2               ? "fewer than 2 instances"
                                                 : "fewer than 10 instances";
    return result;
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
        return -ENOMEM;
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
    return add(of->items, 0, of->figures->elapsed_ns);
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
    for (size_t i = 0; i < count; i++) {
        if (is_timed(&of->events[events[i]], kinds)) {
            return true;
        }
    }
    return false;
}

// Calls `part` with the events of each thread or process that has timed ranges of these kinds.
static int each_part(const struct collecting *of, enum report_key key, unsigned kinds,
                     part_fn *part) {
    const struct report_parts *parts = report_figures_parts(of->figures, key);
    int result = parts ? 0 : -ENOMEM;
    for (uint32_t p = 0; !result && p < parts->count; p++) {
        const uint32_t *events = parts->events + parts->starts[p];
        size_t count = parts->starts[p + 1] - parts->starts[p];
        if (any_timed(of, events, count, kinds)) {
            result = part(of, p, events, count);
        }
    }
    return result;
}

// Calls `part` with the events of each name that has timed ranges; without a key, of all events.
static int each_name(const struct collecting *of, enum report_key key, part_fn *part) {
    const struct report_scope *scope = of->figures->scope;
    const struct report_groups *groups;
    if (key == REPORT_KEY_NONE) {
        return any_timed(of, scope->events, scope->event_count, REPORT_BOTH_KINDS)
                   ? part(of, 0, scope->events, scope->event_count)
                   : 0;
    }
    int result = report_figures_groups(of->figures, REPORT_KEY_NAME, &groups);
    for (size_t g = 0; !result && g < groups->count; g++) {
        const uint32_t *events = groups->items + groups->starts[g];
        size_t count = groups->starts[g + 1] - groups->starts[g];
        if (any_timed(of, events, count, REPORT_BOTH_KINDS)) {
            result = part(of, of->events[events[0]].name, events, count);
        }
    }
    return result;
}

static int busy_thread(const struct collecting *of, uint32_t raw, const uint32_t *events,
                       size_t count) {
    return add(
        of->items, raw,
        report_busy(of->figures->model->capture, events, count, REPORT_KIND(REPORT_PUSH_POP)));
}

static int busy(const struct collecting *of, uint32_t raw, const uint32_t *events, size_t count) {
    return add(of->items, raw,
               report_busy(of->figures->model->capture, events, count, REPORT_BOTH_KINDS));
}

// Each gap, or their number.
static int gaps(const struct collecting *of, uint32_t raw, const uint32_t *events, size_t count) {
    struct report_gap_walk walk = {of->figures->model->capture, events, count, 0, REPORT_NONE};
    bool lengths = of->samples->id != REPORT_M_GAP_COUNT;
    struct report_gap gap;
    uint64_t found = 0;
    int result = 0;
    for (; !result && report_gap_next(&walk, &gap); found++) {
        result = lengths ? add(of->items, raw, gap.length) : 0;
    }
    return lengths || result ? result : add(of->items, raw, found);
}

static int all_gaps(const struct collecting *of) {
    int result = each_part(of, REPORT_KEY_THREAD, REPORT_KIND(REPORT_PUSH_POP), gaps);
    bool ranges = any_timed(of, of->figures->scope->events, of->figures->scope->event_count,
                            REPORT_KIND(REPORT_PUSH_POP));
    of->samples->empty = ranges ? "fewer than 1 instances" : of->samples->empty;
    return result;
}

static int add_average(const struct collecting *of, uint32_t raw,
                       const struct report_concurrency *found) {
    double *averages =
        realloc(of->items->averages, (of->items->count + 1) * sizeof(*of->items->averages));
    if (!averages) {
        return -ENOMEM;
    }
    of->items->averages = averages;
    averages[of->items->count] = (double)found->area / (double)of->figures->elapsed_ns;
    return add(of->items, raw, found->max);
}

static int concurrency(const struct collecting *of, uint32_t raw, const uint32_t *events,
                       size_t count) {
    struct report_concurrency found;
    int result = report_concurrency_of(of->figures->model->capture, events, count,
                                       REPORT_BOTH_KINDS, &found);
    return result                                     ? result
           : of->samples->id == REPORT_M_OVERLAP_TIME ? add(of->items, raw, found.overlap)
                                                      : add_average(of, raw, &found);
}

static int thread_concurrency(const struct collecting *of) {
    const struct report_scope *scope = of->figures->scope;
    struct report_concurrency found;
    if (!any_timed(of, scope->events, scope->event_count, REPORT_KIND(REPORT_PUSH_POP))) {
        return 0;
    }
    int result = report_thread_concurrency(of->figures->model->capture, scope->events,
                                           scope->event_count, &found);
    return result ? result : add_average(of, 0, &found);
}

static int chain(const struct collecting *of) {
    const struct report_scope *scope = of->figures->scope;
    uint32_t *links;
    size_t count;
    int result = report_chain(of->figures->model->capture, scope->events, scope->event_count,
                              REPORT_BOTH_KINDS, &links, &count);
    for (size_t i = 0; !result && i < count; i++) {
        const struct report_event *event = &of->events[links[i]];
        result = add(of->items, event->name, report_duration(event));
    }
    free(links);
    return result;
}

// ---- Iterations ---------------------------------------------------------------------------------

static int compare_indexes(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
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
    int result = 0;
    for (size_t i = 0; !result && i < all->count; i++) {
        const struct report_iteration *one = &all->list[i];
        uint64_t value = of->samples->id == REPORT_M_ITERATION_COUNT           ? 1
                         : of->samples->id == REPORT_M_ITERATION_OUTLIER_COUNT ? one->is_outlier
                         : intervals                                           ? one->interval
                                                                               : one->duration;
        if (has_iteration(of->figures->scope, one) && (!intervals || one->has_interval)) {
            result = add(of->items, (uint32_t)i, value);
        }
    }
    return result;
}

// ---- Beside the events --------------------------------------------------------------------------

static int losses(const struct collecting *of) {
    const struct report_capture *capture = of->figures->model->capture;
    of->samples->na = report_has_store(capture) ? NULL : "not in an export";
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

// An item for a diagnostic, with the id FILE:LINE.
static int add_line(const struct collecting *of, const struct report_source *source, int64_t line) {
    struct report_items *items = of->items;
    struct report_id *ids = realloc(items->ids, (items->id_count + 1) * sizeof(*ids));
    items->ids = ids ? ids : items->ids;
    if (!ids) {
        return -ENOMEM;
    }
    ids[items->id_count] = report_line_id(source, (uint64_t)line, &of->samples->arena);
    if (!ids[items->id_count++].text.data) {
        return -ENOMEM;
    }
    return add(items, (uint32_t)items->id_count - 1, 1);
}

static int diagnostic_lines(const struct collecting *of, const bool *taken) {
    const struct report_capture *capture = of->figures->model->capture;
    int result = 0;
    for (size_t i = 0; i < capture->source_count; i++) {
        const struct report_source *source = &capture->sources[i];
        for (size_t j = 0; !result && taken[i] && j < source->diagnostic_count; j++) {
            int64_t line = source->diagnostics[j].line;
            result = line > 0 ? add_line(of, source, line) : 0;
        }
    }
    return result;
}

static int source_items(const struct collecting *of, const bool *taken) {
    const struct report_capture *capture = of->figures->model->capture;
    int result = 0;
    for (size_t i = 0; !result && i < capture->source_count; i++) {
        if (taken[i]) {
            result =
                add(of->items, (uint32_t)i, source_figure(&capture->sources[i], of->samples->id));
        }
    }
    return result;
}

// Of the whole capture all sources, of a part of it those that its events come from.
static int sources(const struct collecting *of) {
    const struct report_capture *capture = of->figures->model->capture;
    const struct report_scope *scope = of->figures->scope;
    of->samples->na = report_has_store(capture) ? NULL : "not in an export";
    bool *taken = calloc(capture->source_count + 1, sizeof(*taken));
    if (!taken) {
        return -ENOMEM;
    }
    bool all = scope->kind == REPORT_SCOPE_CAPTURE;
    memset(taken, all, capture->source_count);
    for (size_t i = 0; !all && i < scope->event_count; i++) {
        uint32_t source = of->events[scope->events[i]].source;
        taken[source == REPORT_NONE ? capture->source_count : source] = true;
    }
    int result =
        of->samples->key == REPORT_KEY_LINE ? diagnostic_lines(of, taken) : source_items(of, taken);
    free(taken);
    return result;
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
