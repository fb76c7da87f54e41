// SPDX-License-Identifier: Apache-2.0
//
// Only the lane of the event itself moves at each step; the others move when they are asked for.
// The open start/end ranges of all processes are in one heap; at each new time those that are over
// close, and then all that start at this time open: the order has them side by side.
#include "report/model/walk.h"

#include <errno.h>

int report_walk_init(struct report_walk *walk, const struct report_capture *capture,
                     report_walk_function *tell, void *context) {
    *walk = (struct report_walk){.tell = tell, .context = context};
    return report_lanes_init(&walk->lanes, capture);
}

void report_walk_deinit(struct report_walk *walk) {
    report_lanes_deinit(&walk->lanes);
    report_ends_deinit(&walk->open);
    *walk = (struct report_walk){0};
}

static int open_range(struct report_walk *walk, uint32_t event) {
    int result = report_ends_add(&walk->open, walk->lanes.capture->events, event);
    if (result == 0) {
        walk->tell(walk->context, event, true);
    }
    return result;
}

// A new time, that of `event`, the first one of it.
static int begin_time(struct report_walk *walk, uint32_t event) {
    const struct report_capture *capture = walk->lanes.capture;
    walk->begun = true;
    walk->now = capture->events[event].start;
    if (!walk->tell) {
        return 0;
    }
    while (report_ends_by(&walk->open, capture->events, walk->now)) {
        walk->tell(walk->context, report_ends_take(&walk->open, capture->events), false);
    }
    for (size_t i = event; i < capture->event_count && capture->events[i].start == walk->now; i++) {
        int result =
            capture->events[i].kind == REPORT_START_END ? open_range(walk, (uint32_t)i) : 0;
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

int report_walk_to(struct report_walk *walk, uint32_t event) {
    const struct report_event *to = &walk->lanes.capture->events[event];
    if (walk->passing) {
        report_lane_move(&walk->lanes, walk->passing, walk->now, NULL);
        walk->passing = NULL;
    }
    int result = !walk->begun || to->start != walk->now ? begin_time(walk, event) : 0;
    if (result != 0 || to->kind != REPORT_PUSH_POP) {
        return result;
    }
    struct report_lane *lane = report_lanes_find(&walk->lanes, to);
    if (!lane) {
        return -ENOMEM;
    }
    report_lane_move(&walk->lanes, lane, to->start, NULL);
    walk->passing = to->end == to->start ? lane : NULL;
    return report_lane_push(&walk->lanes, lane, event);
}

const uint32_t *report_walk_stack(struct report_walk *walk, struct report_lane *lane) {
    if (lane->now < walk->now) {
        report_lane_move(&walk->lanes, lane, walk->now, NULL);
    }
    return report_lane_stack(&walk->lanes, lane);
}
