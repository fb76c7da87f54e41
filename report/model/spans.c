// SPDX-License-Identifier: Apache-2.0
//
// Starts come in order; a walk says what ends before the next one. So each figure is one scan.
#include "report/model/spans.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/walk.h"

static inline bool is_counted(const struct report_event *event, unsigned kinds) {
    return (REPORT_KIND(event->kind) & kinds) != 0 && !(event->flags & REPORT_OPEN) &&
           event->end > event->start;
}

static inline uint64_t between(int64_t from, int64_t to) {
    return (uint64_t)to - (uint64_t)from;
}

uint64_t report_busy(const struct report_capture *capture, const uint32_t *events, size_t count,
                     unsigned kinds) {
    uint64_t busy = 0;
    int64_t reached = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const struct report_event *range = &capture->events[events[i]];
        if (is_counted(range, kinds) && range->end > reached) {
            busy += between(range->start > reached ? range->start : reached, range->end);
            reached = range->end;
        }
    }
    return busy;
}

// --- gaps

static int add_gap(struct report_gap **gaps, size_t *count, const struct report_gap *gap) {
    struct report_gap *added = nvtxt_add(gaps, count, sizeof(*added));
    if (!added) {
        return nvtxt_origin(-ENOMEM);
    }
    *added = *gap;
    return 0;
}

bool report_gap_next(struct report_gap_walk *walk, struct report_gap *gap) {
    const struct report_event *all = walk->capture->events;
    while (walk->at < walk->count) {
        uint32_t event = walk->events[walk->at++];
        const struct report_event *range = &all[event];
        if (!is_counted(range, REPORT_KIND(REPORT_PUSH_POP))) {
            continue;
        }
        uint32_t last = walk->last;
        int64_t reached = last == REPORT_NONE ? range->start : all[last].end;
        if (last == REPORT_NONE || range->end > reached) {
            walk->last = event;
        }
        if (range->start > reached) {
            *gap = (struct report_gap){reached, between(reached, range->start), last, event};
            return true;
        }
    }
    return false;
}

int report_gaps(const struct report_capture *capture, const uint32_t *events, size_t count,
                struct report_gap **gaps, size_t *gap_count) {
    struct report_gap_walk walk = {capture, events, count, 0, REPORT_NONE};
    struct report_gap gap;
    int r = 0;
    *gaps = NULL;
    *gap_count = 0;
    while (r == 0 && report_gap_next(&walk, &gap)) {
        r = add_gap(gaps, gap_count, &gap);
    }
    if (r != 0) {
        free(*gaps);
        *gaps = NULL;
        *gap_count = 0;
    }
    return r;
}

// --- concurrency

struct level {
    struct report_concurrency *result;
    int64_t now;
    uint64_t open;
};

static void pass_time(struct level *level, int64_t to) {
    uint64_t time = level->open > 0 ? between(level->now, to) : 0;
    level->result->area += (unsigned __int128)level->open * time;
    level->result->overlap += level->open > 1 ? time : 0;
    level->now = to;
}

static void rise(struct level *level, int64_t at) {
    pass_time(level, at);
    level->open++;
    if (level->open > level->result->max) {
        level->result->max = level->open;
    }
}

static void fall(struct level *level, int64_t at) {
    pass_time(level, at);
    level->open--;
}

struct open_ranges {
    const struct report_event *events;
    uint32_t *of_thread; // how many each thread has: then a thread counts once; NULL: each counts
    struct nvtxt_walk walk;
    struct level level;
};

// Ends what is over at that time.
static void end_ranges(struct open_ranges *open, int64_t time) {
    for (const struct nvtxt_open *due; (due = nvtxt_walk_due(&open->walk, time));) {
        if (!open->of_thread || --open->of_thread[open->events[due->id].thread] == 0) {
            fall(&open->level, due->end);
        }
        nvtxt_walk_leave(&open->walk);
    }
}

static int count_ranges(struct open_ranges *open, const uint32_t *events, size_t count,
                        unsigned kinds) {
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        const struct report_event *range = &open->events[events[i]];
        if (is_counted(range, kinds)) {
            end_ranges(open, range->start);
            if (!open->of_thread || open->of_thread[range->thread]++ == 0) {
                rise(&open->level, range->start);
            }
            r = nvtxt_walk_begin(&open->walk, range->end, events[i]);
        }
    }
    end_ranges(open, INT64_MAX);
    nvtxt_walk_deinit(&open->walk);
    return r;
}

int report_concurrency_of(const struct report_capture *capture, const uint32_t *events,
                          size_t count, unsigned kinds, struct report_concurrency *result) {
    struct open_ranges open = {.events = capture->events, .level = {.result = result}};
    *result = (struct report_concurrency){0};
    return count_ranges(&open, events, count, kinds);
}

int report_thread_concurrency(const struct report_capture *capture, const uint32_t *events,
                              size_t count, struct report_concurrency *result) {
    struct open_ranges open = {.events = capture->events, .level = {.result = result}};
    *result = (struct report_concurrency){0};
    open.of_thread = calloc(capture->thread_count + 1, sizeof(*open.of_thread));
    int r = open.of_thread ? count_ranges(&open, events, count, REPORT_KIND(REPORT_PUSH_POP))
                           : nvtxt_origin(-ENOMEM);
    free(open.of_thread);
    return r;
}

// --- the blocking chain

struct chain {
    const struct report_event *all;
    struct nvtxt_walk open;
    uint32_t *previous; // of each range: the one that takes over at its start, or REPORT_NONE
    uint32_t last; // of those that are over: the one that ends last, the first in order of them
};

static void end_chain_until(struct chain *chain, int64_t time) {
    for (const struct nvtxt_open *due; (due = nvtxt_walk_due(&chain->open, time));) {
        uint32_t last = chain->last;
        if (last == REPORT_NONE || due->end > chain->all[last].end || due->id < last) {
            chain->last = due->id; // ends come in order, so it is never earlier than that of `last`
        }
        nvtxt_walk_leave(&chain->open);
    }
}

static int copy_chain(const struct chain *chain, uint32_t **copy, size_t *count) {
    for (uint32_t at = chain->last; at != REPORT_NONE; at = chain->previous[at]) {
        (*count)++;
    }
    *copy = malloc((*count + 1) * sizeof(**copy));
    if (!*copy) {
        *count = 0;
        return nvtxt_origin(-ENOMEM);
    }
    size_t place = *count;
    for (uint32_t at = chain->last; at != REPORT_NONE; at = chain->previous[at]) {
        (*copy)[--place] = at;
    }
    return 0;
}

int report_chain(const struct report_capture *capture, const uint32_t *events, size_t count,
                 unsigned kinds, uint32_t **links, size_t *link_count) {
    struct chain chain = {.all = capture->events, .last = REPORT_NONE};
    int r = 0;
    *links = NULL;
    *link_count = 0;
    chain.previous = malloc((capture->event_count + 1) * sizeof(*chain.previous));
    if (!chain.previous) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < count && r == 0; i++) {
        const struct report_event *range = &capture->events[events[i]];
        if (is_counted(range, kinds)) {
            end_chain_until(&chain, range->start);
            chain.previous[events[i]] = chain.last;
            r = nvtxt_walk_begin(&chain.open, range->end, events[i]);
        }
    }
    end_chain_until(&chain, INT64_MAX);
    r = r ?: copy_chain(&chain, links, link_count);
    nvtxt_walk_deinit(&chain.open);
    free(chain.previous);
    return r;
}
