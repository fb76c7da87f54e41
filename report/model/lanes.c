// SPDX-License-Identifier: Apache-2.0
//
// The stack of a lane is an array in the order of events; a heap beside it says which of its ranges
// ends first. What is over on top of the stack leaves at once, what is over below the top stays as
// a gap until the stack is asked for or the gaps are many. So each range costs a few steps of the
// heap, however badly the ranges cross.
#include "report/model/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/hash_value.h"

int report_lanes_init(struct report_lanes *lanes, const struct report_capture *capture) {
    *lanes = (struct report_lanes){.capture = capture};
    lanes->of_thread = calloc(capture->thread_count + 1, sizeof(struct report_lane *));
    return lanes->of_thread ? 0 : -ENOMEM;
}

void report_lanes_deinit(struct report_lanes *lanes) {
    for (size_t i = 0; lanes->of_thread && i < lanes->capture->thread_count; i++) {
        for (struct report_lane *lane = lanes->of_thread[i], *next; lane; lane = next) {
            next = lane->next;
            free(lane->stack);
            report_ends_deinit(&lane->open);
            free(lane);
        }
    }
    free(lanes->of_thread);
    nvtxt_hash_deinit(&lanes->table);
    *lanes = (struct report_lanes){0};
}

static struct report_lane *make(struct report_lanes *lanes, uint32_t thread, uint32_t domain,
                                uint64_t hash) {
    struct report_lane *lane = calloc(1, sizeof(*lane));
    if (!lane || nvtxt_hash_add(&lanes->table, &lane->node, hash) != 0) {
        free(lane);
        return NULL;
    }
    lane->thread = thread;
    lane->domain = domain;
    lane->number = (uint32_t)lanes->count++;
    lane->now = INT64_MIN;
    lane->next = lanes->of_thread[thread];
    lanes->of_thread[thread] = lane;
    return lane;
}

struct report_lane *report_lanes_find(struct report_lanes *lanes,
                                      const struct report_event *event) {
    uint32_t thread = event->thread, domain = lanes->capture->names[event->name].domain;
    struct report_lane *lane = lanes->of_thread[thread];
    if (lane && lane->domain == domain) {
        return lane; // as most threads have one lane
    }
    uint64_t hash = nvtxt_hash_number((uint64_t)thread << 32 | domain);
    NVTXT_HASH_FIND(lane, node, &lanes->table, hash,
                    lane->thread == thread && lane->domain == domain);
    return lane ? lane : make(lanes, thread, domain, hash);
}

static inline int64_t end_of(const struct report_lanes *lanes, uint32_t event) {
    return lanes->capture->events[event].end;
}

static void pass(struct report_lane *lane, int64_t to, uint64_t *self_ns) {
    uint32_t top = report_lane_top(lane);
    if (self_ns && top != REPORT_NONE) {
        self_ns[top] += (uint64_t)to - (uint64_t)lane->now;
    }
    lane->now = to;
}

void report_lane_move(const struct report_lanes *lanes, struct report_lane *lane, int64_t to,
                      uint64_t *self_ns) {
    const struct report_event *events = lanes->capture->events;
    while (report_ends_by(&lane->open, events, to)) {
        int64_t end = events[report_ends_take(&lane->open, events)].end;
        pass(lane, end, self_ns);
        while (lane->stacked > 0 && end_of(lanes, report_lane_top(lane)) <= end) {
            lane->stacked--;
        }
    }
    pass(lane, to, self_ns);
}

static void close_gaps(const struct report_lanes *lanes, struct report_lane *lane) {
    size_t kept = 0;
    for (size_t i = 0; i < lane->stacked; i++) {
        // The last one is no gap; it may be one without length.
        if (i + 1 == lane->stacked || end_of(lanes, lane->stack[i]) > lane->now) {
            lane->stack[kept++] = lane->stack[i];
        }
    }
    lane->stacked = kept;
}

static int grow(struct report_lane *lane) {
    size_t room = lane->room > 0 ? 2 * lane->room : 16;
    uint32_t *stack = realloc(lane->stack, room * sizeof(*stack));
    if (!stack) {
        return -ENOMEM;
    }
    lane->stack = stack;
    lane->room = room;
    return 0;
}

int report_lane_push(const struct report_lanes *lanes, struct report_lane *lane, uint32_t event) {
    if (lane->stacked == lane->room && lane->open.count < lane->stacked / 2) {
        close_gaps(lanes, lane);
    }
    if (lane->stacked == lane->room && grow(lane) != 0) {
        return -ENOMEM;
    }
    lane->stack[lane->stacked++] = event;
    return report_ends_add(&lane->open, lanes->capture->events, event);
}

const uint32_t *report_lane_stack(const struct report_lanes *lanes, struct report_lane *lane) {
    if (lane->stacked != lane->open.count) {
        close_gaps(lanes, lane);
    }
    return lane->stack;
}
