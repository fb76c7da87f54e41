// SPDX-License-Identifier: Apache-2.0
//
// Each lane is a tree of spans. The children of a span follow each other in time and in an array.
// Events come nearly in order, so almost every insertion is at an array's end.
//
// For ranges in the order of their starts, a tree over the lanes (lane_tree.h) finds the lane: a
// range fits where the innermost span that is open at its start does not end before it. The tree
// only says which lane to try first; the spans decide. A range that starts before one that was
// placed already is tried on one lane after the other, until too many have been tried.
#include "client/format/export_lanes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/format/lane_tree.h"
#include "protocol/base/hash.h"

// 32 bytes each: half a MiB for a lane, 32 MiB for all.
#define SPANS_A_LANE 16384
#define SPANS_MAX (UINT64_C(1) << 20)
#define LOOKS_AHEAD 100000 // lanes that a thread may try before it has many ranges
#define LOOKS_LATE 16      // lanes that one range may try after too many tries
#define SPANS_KEPT 64      // a lane with fewer is not worth merging

struct span {
    int64_t start, end;
    struct span *kids; // owned; in order, they may touch
    uint32_t count, room;
    bool solid; // many spans merged into one
};

struct lane {
    struct span root; // its times mean nothing
    uint64_t spans;
};

struct lane_thread {
    struct nvtxt_hash_node node;
    struct lane_thread *next;
    uint64_t global_tid;
    struct lane *lanes; // owned
    unsigned count;
    uint64_t ranges;       // that have a lane
    uint64_t late_looks;   // of ranges that started before `now`
    unsigned late_lane;    // the lane of the last of these
    int64_t now;           // the latest start of a range that was placed
    struct lane_tree tree; // what the lanes take from `now` on
};

static uint64_t free_kids(struct span *span) { // returns their number
    uint64_t freed = span->count;
    for (uint32_t i = 0; i < span->count; i++) {
        freed += free_kids(&span->kids[i]);
    }
    free(span->kids);
    span->kids = NULL;
    span->count = span->room = 0;
    return freed;
}

// ---- Inserting ----------------------------------------------------------------------------------

// The first child that ends after `time`.
static uint32_t first_after(const struct span *span, int64_t time) {
    uint32_t low = 0;
    uint32_t high = span->count;
    if (high == 0 || span->kids[high - 1].end <= time) {
        return high;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (span->kids[middle].end <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The first child from `low` on that starts at `time` or later.
static uint32_t first_from(const struct span *span, uint32_t low, int64_t time) {
    uint32_t high = span->count;
    if (high == low || span->kids[high - 1].start < time) {
        return high;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (span->kids[middle].start < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int make_room(struct span *span) {
    if (span->count < span->room) {
        return 0;
    }
    uint32_t room = span->room ? span->room * 2 : 4;
    struct span *kids = realloc(span->kids, room * sizeof(*kids));
    if (!kids) {
        return -ENOMEM;
    }
    span->kids = kids;
    span->room = room;
    return 0;
}

// Puts a span in the place of the children from `low` up to `high`, which become its own.
static int put_around(struct span *parent, uint32_t low, uint32_t high, int64_t start,
                      int64_t end) {
    struct span span = {.start = start, .end = end, .count = high - low, .room = high - low};
    if (make_room(parent) < 0) {
        return -ENOMEM;
    }
    if (span.count > 0) {
        span.kids = malloc(span.count * sizeof(*span.kids));
        if (!span.kids) {
            return -ENOMEM;
        }
        memcpy(span.kids, parent->kids + low, span.count * sizeof(*span.kids));
    }
    memmove(parent->kids + low + 1, parent->kids + high,
            (parent->count - high) * sizeof(*parent->kids));
    parent->kids[low] = span;
    parent->count = parent->count - span.count + 1;
    return 0;
}

// Returns 0, 1 when the range crosses a span, or -ENOMEM.
static int insert(struct span *parent, int64_t start, int64_t end) {
    for (;;) {
        uint32_t low = first_after(parent, start);
        uint32_t high = first_from(parent, low, end);
        if (low == high) {
            return put_around(parent, low, high, start, end);
        }
        struct span *first = &parent->kids[low];
        if (first->start >= start && parent->kids[high - 1].end <= end) {
            return put_around(parent, low, high, start, end);
        }
        if (first->start > start || first->end < end || first->solid) {
            return 1;
        }
        parent = first;
    }
}

// ---- Forgetting ---------------------------------------------------------------------------------

// Merges the first half of the children into one solid span; where there are few children, it does
// so for the children of each. Returns by how many spans the lane is smaller.
static uint64_t merge_kids(struct span *span) {
    uint64_t gone = 0;
    if (span->count < 8) {
        for (uint32_t i = 0; i < span->count; i++) {
            gone += merge_kids(&span->kids[i]);
        }
        return gone;
    }
    uint32_t half = span->count / 2;
    int64_t end = span->kids[half - 1].end;
    for (uint32_t i = 0; i < half; i++) {
        gone += free_kids(&span->kids[i]);
    }
    span->kids[0].end = end;
    span->kids[0].solid = true;
    memmove(span->kids + 1, span->kids + half, (span->count - half) * sizeof(*span->kids));
    span->count -= half - 1;
    return gone + half - 1;
}

static void forget_some(struct export_lanes *lanes, struct lane *lane) {
    uint64_t wanted = lane->spans / 2;
    uint64_t gone = 1;
    while (lane->spans > wanted && gone > 0) {
        gone = merge_kids(&lane->root);
        lane->spans -= gone;
        lanes->spans -= gone;
    }
    if (lane->spans > wanted && lane->root.count > 0) { // nearly all of them are inside of a few
        struct span all = {.start = lane->root.kids[0].start,
                           .end = lane->root.kids[lane->root.count - 1].end,
                           .solid = true};
        lanes->spans -= free_kids(&lane->root);
        lane->spans = put_around(&lane->root, 0, 0, all.start, all.end) == 0;
        lanes->spans += lane->spans;
        if (lane->spans > 0) {
            lane->root.kids[0].solid = true;
        }
    }
}

// ---- Threads ------------------------------------------------------------------------------------

static struct lane_thread *thread_of(struct export_lanes *lanes, uint64_t global_tid) {
    if (lanes->last && lanes->last->global_tid == global_tid) {
        return lanes->last;
    }
    uint64_t hash = nvtxt_hash_number(global_tid);
    struct lane_thread *thread;
    NVTXT_HASH_FIND(thread, node, &lanes->threads, hash, thread->global_tid == global_tid);
    if (thread) {
        return lanes->last = thread;
    }
    thread = calloc(1, sizeof(*thread));
    if (!thread || nvtxt_hash_add(&lanes->threads, &thread->node, hash) < 0) {
        free(thread);
        return NULL;
    }
    thread->global_tid = global_tid;
    thread->next = lanes->all;
    lanes->all = thread;
    return lanes->last = thread;
}

void export_lanes_deinit(struct export_lanes *lanes) {
    for (struct lane_thread *thread = lanes->all; thread;) {
        struct lane_thread *next = thread->next;
        for (unsigned i = 0; i < thread->count; i++) {
            free_kids(&thread->lanes[i].root);
        }
        free(thread->lanes);
        lane_tree_deinit(&thread->tree);
        free(thread);
        thread = next;
    }
    nvtxt_hash_deinit(&lanes->threads);
    *lanes = (struct export_lanes){0};
}

// ---- Choosing -----------------------------------------------------------------------------------

static int add_lane(struct lane_thread *thread) {
    struct lane *more = realloc(thread->lanes, (thread->count + 1) * sizeof(*more));
    if (!more) {
        return -ENOMEM;
    }
    thread->lanes = more;
    thread->lanes[thread->count] = (struct lane){0};
    return lane_tree_set(&thread->tree, thread->count++, INT64_MAX, INT64_MAX);
}

// What a lane takes of ranges that start at `time`. Spans that start at the same time do not
// matter.
static int look_into(struct lane_thread *thread, uint32_t number, int64_t time) {
    const struct span *span = &thread->lanes[number].root;
    int64_t until = INT64_MAX;
    int64_t limit = INT64_MAX;
    for (;;) {
        uint32_t at = first_after(span, time);
        if (at == span->count || span->kids[at].start >= time) {
            return lane_tree_set(&thread->tree, number, until, limit);
        }
        span = &span->kids[at];
        until = span->end;
        limit = span->solid ? INT64_MIN : span->end;
    }
}

static int advance(struct export_lanes *lanes, struct lane_thread *thread, int64_t time) {
    int result = 0;
    uint32_t number;
    while (result == 0 && time > thread->now &&
           (number = lane_tree_outdated(&thread->tree, time)) != LANE_TREE_NONE) {
        lanes->looks++;
        result = look_into(thread, number, time);
    }
    thread->now = time;
    return result;
}

// The lane to try after `number`, -1 at the beginning; the number of lanes when there is none.
static unsigned next_lane(const struct lane_thread *thread, int64_t end, int number) {
    uint32_t next = lane_tree_first(&thread->tree, (uint32_t)(number + 1), end);
    return next < thread->count ? next : thread->count;
}

static int on_new_lane(struct lane_thread *thread, int64_t start, int64_t end) {
    if (thread->count == EXPORT_LANES_MAX) {
        return 1;
    }
    int result = add_lane(thread);
    return result ? result : insert(&thread->lanes[thread->count - 1].root, start, end);
}

// As choose(), for a range that starts at thread->now.
static int choose_now(struct export_lanes *lanes, struct lane_thread *thread, int64_t start,
                      int64_t end, unsigned *number) {
    *number = next_lane(thread, end, -1);
    for (; *number < thread->count; *number = next_lane(thread, end, (int)*number)) {
        lanes->looks++;
        int result = insert(&thread->lanes[*number].root, start, end);
        if (result != 1) {
            return result;
        }
    }
    return on_new_lane(thread, start, end);
}

// As choose(), for a range that starts before another one.
static int choose_late(struct export_lanes *lanes, struct lane_thread *thread, int64_t start,
                       int64_t end, unsigned *number) {
    bool brief = thread->late_looks > LOOKS_AHEAD + EXPORT_LANES_LOOKS * thread->ranges;
    unsigned from = brief ? thread->late_lane : 0;
    unsigned to = brief && from + LOOKS_LATE < thread->count ? from + LOOKS_LATE : thread->count;
    for (*number = from; *number < to; ++*number) {
        lanes->looks++;
        thread->late_looks++;
        int result = insert(&thread->lanes[*number].root, start, end);
        if (result != 1) {
            thread->late_lane = *number;
            return result;
        }
    }
    thread->late_lane = brief && to < thread->count ? to : 0; // the next range tries others
    *number = thread->count;
    return on_new_lane(thread, start, end);
}

// Returns 0, 1 when there is no lane for it, or -ENOMEM.
static int choose(struct export_lanes *lanes, struct lane_thread *thread, int64_t start,
                  int64_t end, unsigned *number) {
    if (thread->count > 0 && start < thread->now) {
        return choose_late(lanes, thread, start, end, number);
    }
    int result = advance(lanes, thread, start);
    return result ? result : choose_now(lanes, thread, start, end, number);
}

int export_lanes_place(struct export_lanes *lanes, uint64_t global_tid, int64_t start, int64_t end,
                       unsigned *number) {
    *number = 0;
    if (end <= start) {
        return 0;
    }
    struct lane_thread *thread = thread_of(lanes, global_tid);
    int result = thread ? choose(lanes, thread, start, end, number) : -ENOMEM;
    if (result == 1) {
        lanes->forced++;
        *number = EXPORT_LANES_MAX - 1;
        return 0;
    }
    if (result == 0) {
        struct lane *lane = &thread->lanes[*number];
        thread->ranges++;
        lane->spans++;
        lanes->spans++;
        if (lane->spans > SPANS_A_LANE || (lanes->spans > SPANS_MAX && lane->spans > SPANS_KEPT)) {
            forget_some(lanes, lane);
        }
        lane_tree_outdate(&thread->tree, *number);
    }
    return result;
}
