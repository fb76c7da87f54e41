// SPDX-License-Identifier: Apache-2.0
//
// Lanes are found by a hash of thread and domain, unless the first lane of the thread is the one.
#include "report/model/lanes.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/hash_value.h"

int report_lanes_init(struct report_lanes *lanes, const struct report_capture *capture) {
    *lanes = (struct report_lanes){.capture = capture};
    lanes->of_thread = calloc(capture->thread_count + 1, sizeof(struct report_lane *));
    return lanes->of_thread ? 0 : nvtxt_origin(-ENOMEM);
}

void report_lanes_deinit(struct report_lanes *lanes) {
    for (size_t i = 0; lanes->of_thread && i < lanes->capture->thread_count; i++) {
        for (struct report_lane *lane = lanes->of_thread[i], *next; lane; lane = next) {
            next = lane->next;
            nvtxt_walk_deinit(&lane->walk);
            free(lane);
        }
    }
    free(lanes->of_thread);
    nvtxt_hash_deinit(&lanes->table);
    *lanes = (struct report_lanes){0};
}

static struct report_lane *make_lane(struct report_lanes *lanes, uint32_t thread, uint32_t domain,
                                     uint64_t hash) {
    struct report_lane *lane = calloc(1, sizeof(*lane));
    if (!lane || nvtxt_hash_add(&lanes->table, &lane->node, hash) != 0) {
        free(lane);
        return NULL;
    }
    lane->thread = thread;
    lane->domain = domain;
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
    return lane ?: make_lane(lanes, thread, domain, hash);
}

int report_lanes_begin(struct report_lanes *lanes, uint32_t event, struct report_lane **lane) {
    const struct report_event *range = &lanes->capture->events[event];
    *lane = report_lanes_find(lanes, range);
    if (!*lane) {
        return nvtxt_origin(-ENOMEM);
    }
    nvtxt_walk_move(&(*lane)->walk, range->start);
    return nvtxt_walk_begin(&(*lane)->walk, range->end, event);
}
