// SPDX-License-Identifier: Apache-2.0
//
// Starts come in order; what is open waits in a heap for its end. So each figure is one scan. Of a
// thread only one range waits: when its end comes and another one of the thread reaches further,
// that one waits in its place.
#include "report/model/spans.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "report/model/ends.h"

static inline bool counts(const struct report_event *event, unsigned kinds) {
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
        if (counts(range, kinds) && range->end > reached) {
            busy += between(range->start > reached ? range->start : reached, range->end);
            reached = range->end;
        }
    }
    return busy;
}

// --- gaps

static int add_gap(struct report_gap **gaps, size_t *count, const struct report_gap *gap) {
    if ((*count & (*count - 1)) == 0) { // a power of two, or none: full
        size_t room = *count > 0 ? 2 * *count : 1;
        struct report_gap *more = realloc(*gaps, room * sizeof(*more));
        if (!more) {
            return -ENOMEM;
        }
        *gaps = more;
    }
    (*gaps)[(*count)++] = *gap;
    return 0;
}

bool report_gap_next(struct report_gap_walk *walk, struct report_gap *gap) {
    const struct report_event *all = walk->capture->events;
    while (walk->at < walk->count) {
        uint32_t event = walk->events[walk->at++];
        const struct report_event *range = &all[event];
        if (!counts(range, REPORT_KIND(REPORT_PUSH_POP))) {
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
    int result = 0;
    *gaps = NULL;
    *gap_count = 0;
    while (result == 0 && report_gap_next(&walk, &gap)) {
        result = add_gap(gaps, gap_count, &gap);
    }
    if (result != 0) {
        free(*gaps);
        *gaps = NULL;
        *gap_count = 0;
    }
    return result;
}

// --- concurrency

struct level {
    struct report_concurrency *result;
    int64_t now;
    uint64_t open;
};

static void pass(struct level *level, int64_t to) {
    uint64_t time = level->open > 0 ? between(level->now, to) : 0;
    level->result->area += (unsigned __int128)level->open * time;
    level->result->overlap += level->open > 1 ? time : 0;
    level->now = to;
}

static void rise(struct level *level, int64_t at) {
    pass(level, at);
    level->open++;
    if (level->open > level->result->max) {
        level->result->max = level->open;
    }
}

static void fall(struct level *level, int64_t at) {
    pass(level, at);
    level->open--;
}

int report_concurrency_of(const struct report_capture *capture, const uint32_t *events,
                          size_t count, unsigned kinds, struct report_concurrency *result) {
    const struct report_event *all = capture->events;
    struct report_ends ends = {0};
    struct level level = {.result = result};
    int rc = 0;
    *result = (struct report_concurrency){0};
    for (size_t i = 0; i < count && rc == 0; i++) {
        const struct report_event *range = &all[events[i]];
        if (counts(range, kinds)) {
            while (report_ends_by(&ends, all, range->start)) {
                fall(&level, all[report_ends_take(&ends, all)].end);
            }
            rise(&level, range->start);
            rc = report_ends_add(&ends, all, events[i]);
        }
    }
    while (ends.count > 0) {
        fall(&level, all[report_ends_take(&ends, all)].end);
    }
    report_ends_deinit(&ends);
    return rc;
}

struct threads {
    const struct report_event *events;
    uint32_t *reach; // of each thread: the open range that ends last, or REPORT_NONE
    struct report_ends ends;
    struct level level;
};

// Ends what is over at that time.
static int end_until(struct threads *threads, int64_t time) {
    int rc = 0;
    while (rc == 0 && report_ends_by(&threads->ends, threads->events, time)) {
        const struct report_event *range =
            &threads->events[report_ends_take(&threads->ends, threads->events)];
        uint32_t *reach = &threads->reach[range->thread];
        if (threads->events[*reach].end > range->end) {
            rc = report_ends_add(&threads->ends, threads->events, *reach);
        } else {
            fall(&threads->level, range->end);
            *reach = REPORT_NONE;
        }
    }
    return rc;
}

static int begin(struct threads *threads, uint32_t event) {
    const struct report_event *range = &threads->events[event];
    uint32_t *reach = &threads->reach[range->thread];
    int rc = end_until(threads, range->start);
    if (rc == 0 && *reach == REPORT_NONE) {
        rise(&threads->level, range->start);
        *reach = event;
        return report_ends_add(&threads->ends, threads->events, event);
    }
    if (rc == 0 && range->end > threads->events[*reach].end) {
        *reach = event;
    }
    return rc;
}

int report_thread_concurrency(const struct report_capture *capture, const uint32_t *events,
                              size_t count, struct report_concurrency *result) {
    struct threads threads = {.events = capture->events, .level = {.result = result}};
    int rc = 0;
    *result = (struct report_concurrency){0};
    threads.reach = malloc((capture->thread_count + 1) * sizeof(*threads.reach));
    if (!threads.reach) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < capture->thread_count; i++) {
        threads.reach[i] = REPORT_NONE;
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (counts(&capture->events[events[i]], REPORT_KIND(REPORT_PUSH_POP))) {
            rc = begin(&threads, events[i]);
        }
    }
    rc = rc == 0 ? end_until(&threads, INT64_MAX) : rc;
    report_ends_deinit(&threads.ends);
    free(threads.reach);
    return rc;
}

// --- the blocking chain

struct chain {
    const struct report_event *all;
    struct report_ends open;
    uint32_t *previous; // of each range: the one that takes over at its start, or REPORT_NONE
    uint32_t last; // of those that are over: the one that ends last, the first in order of them
};

static void end_chain_until(struct chain *chain, int64_t time) {
    while (report_ends_by(&chain->open, chain->all, time)) {
        uint32_t range = report_ends_take(&chain->open, chain->all);
        int64_t reached = chain->last == REPORT_NONE ? INT64_MIN : chain->all[chain->last].end;
        if (chain->last == REPORT_NONE || chain->all[range].end > reached || range < chain->last) {
            chain->last = range; // ends come in order, so it is never earlier than `reached`
        }
    }
}

static int copy_chain(const struct chain *chain, uint32_t **copy, size_t *count) {
    for (uint32_t at = chain->last; at != REPORT_NONE; at = chain->previous[at]) {
        (*count)++;
    }
    *copy = malloc((*count + 1) * sizeof(**copy));
    if (!*copy) {
        *count = 0;
        return -ENOMEM;
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
    int rc = 0;
    *links = NULL;
    *link_count = 0;
    chain.previous = malloc((capture->event_count + 1) * sizeof(*chain.previous));
    if (!chain.previous) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        const struct report_event *range = &capture->events[events[i]];
        if (counts(range, kinds)) {
            end_chain_until(&chain, range->start);
            chain.previous[events[i]] = chain.last;
            rc = report_ends_add(&chain.open, capture->events, events[i]);
        }
    }
    end_chain_until(&chain, INT64_MAX);
    rc = rc == 0 ? copy_chain(&chain, links, link_count) : rc;
    report_ends_deinit(&chain.open);
    free(chain.previous);
    return rc;
}
