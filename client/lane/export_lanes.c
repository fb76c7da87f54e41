// SPDX-License-Identifier: Apache-2.0
//
// Each lane is a tree of spans. The children of a span follow each other in time and in an array.
// Events come nearly in order, so almost every insertion is at an array's end.
//
// For ranges in the order of their starts, a tree over the lanes (lane_tree.h) finds the lane: a
// range fits where the innermost span that is open at its start does not end before it. The tree
// only says which lane to try first; the spans decide. A range that starts before one that was
// placed already is tried on one lane after the other, until too many have been tried.
#include "client/lane/export_lanes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/lane/lane_tree.h"
#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

// 40 bytes each, with room for more beside them: 640 KiB for a lane at least, 40 MiB for all.
#define SPANS_A_LANE 16384
#define SPANS_MAX (UINT64_C(1) << 20)
#define LOOKS_AHEAD 100000 // lanes that a thread may try before it has many ranges
#define LOOKS_LATE 16      // lanes that one range may try after too many tries
#define SPANS_KEPT 64      // a lane with fewer is not worth merging

struct span {
    int64_t start, end;
    struct span *kids; // owned; in order, they may touch
    uint32_t count, room;
    uint32_t batch; // that it came with; of merged ones the first
    bool solid;     // many spans merged into one
};

struct lane {
    struct span root; // its times mean nothing
    uint64_t spans;
    // The spans around the place of the last search, the outermost first; a later search goes on
    // from here, so that a deep nest is not walked through for each range.
    struct span **path; // owned
    size_t path_count, path_room;
    int64_t searched; // its start
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

// The first child from `low` on that ends after `time`, or, by its start, that starts at `time` or
// later.
static uint32_t first_kid(const struct span *span, uint32_t low, int64_t time, bool by_start) {
    uint32_t high = span->count, middle = high - 1; // mostly it is after the last one
    while (low < high) {
        const struct span *kid = &span->kids[middle];
        if (by_start ? kid->start < time : kid->end <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
        middle = low + (high - low) / 2;
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
        return nvtxt_origin(-ENOMEM);
    }
    span->kids = kids;
    span->room = room;
    return 0;
}

// Puts a span in the place of the children from `low` up to `high`, which become its own.
static int put_around(struct span *parent, uint32_t low, uint32_t high, struct span span) {
    span.count = span.room = high - low;
    if (make_room(parent) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    if (span.count > 0) {
        span.kids = malloc(span.count * sizeof(*span.kids));
        if (!span.kids) {
            return nvtxt_origin(-ENOMEM);
        }
        memcpy(span.kids, parent->kids + low, span.count * sizeof(*span.kids));
    }
    memmove(parent->kids + low + 1, parent->kids + high,
            (parent->count - high) * sizeof(*parent->kids));
    parent->kids[low] = span;
    parent->count = parent->count - span.count + 1;
    return 0;
}

// Whether a range that begins with the span, or before it, goes around it.
static bool is_around(int64_t start, int64_t end, const struct span *span) {
    return start <= span->start && end >= span->end;
}

// Finds the innermost span that holds the start of the range and does not end with it: none
// outside of that crosses the range. Returns 0 or -ENOMEM.
static int find_parent(struct export_lanes *lanes, struct lane *lane, int64_t start, int64_t end,
                       struct span **found) {
    if (start < lane->searched) {
        lane->path_count = 0;
    }
    lane->searched = start;
    while (lane->path_count > 0 && (lane->path[lane->path_count - 1]->end <= start ||
                                    is_around(start, end, lane->path[lane->path_count - 1]))) {
        lane->path_count--;
    }
    *found = lane->path_count > 0 ? lane->path[lane->path_count - 1] : &lane->root;
    for (;;) {
        uint32_t at = first_kid(*found, 0, start, false);
        lanes->steps++;
        if (at == (*found)->count) {
            return 0;
        }
        struct span *kid = &(*found)->kids[at];
        if (kid->start > start || kid->end < end || is_around(start, end, kid)) {
            return 0;
        }
        if (nvtxt_grow(&lane->path, &lane->path_room, lane->path_count + 1, sizeof(*lane->path)) <
            0) {
            return nvtxt_origin(-ENOMEM);
        }
        lane->path[lane->path_count++] = *found = kid;
    }
}

// Whether a span of an earlier batch begins at `time`. `low` is where such a child of the innermost
// span on the path would be; a span that ends at this time may have one after it.
static bool begins_earlier(const struct export_lanes *lanes, const struct lane *lane, uint32_t low,
                           int64_t time) {
    for (size_t i = lane->path_count;; i--, low = 0) {
        const struct span *parent = i > 0 ? lane->path[i - 1] : &lane->root;
        uint32_t at = first_kid(parent, low, time, true);
        if (at < parent->count && parent->kids[at].start == time &&
            parent->kids[at].batch != lanes->batch) {
            return true;
        }
        if (i == 0 || parent->end > time) {
            return false;
        }
    }
}

// Returns 0, 1 when the range crosses a span, or -ENOMEM.
static int insert_range(struct export_lanes *lanes, struct lane *lane, int64_t start, int64_t end) {
    struct span *parent;
    if (find_parent(lanes, lane, start, end, &parent) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    if (parent != &lane->root && (parent->solid || parent->end < end)) {
        return 1;
    }
    uint32_t low = first_kid(parent, 0, start, false);
    uint32_t high = first_kid(parent, low, end, true);
    bool holds =
        low == high || (parent->kids[low].start >= start && parent->kids[high - 1].end <= end);
    if (!holds || (lanes->batch > 0 && (begins_earlier(lanes, lane, high, end) ||
                                        (low < high && parent->kids[low].start == start &&
                                         parent->kids[low].batch != lanes->batch)))) {
        return 1;
    }
    return put_around(parent, low, high,
                      (struct span){.start = start, .end = end, .batch = lanes->batch});
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
    lane->path_count = 0;
    while (lane->spans > wanted && gone > 0) {
        gone = merge_kids(&lane->root);
        lane->spans -= gone;
        lanes->spans -= gone;
    }
    if (lane->spans > wanted && lane->root.count > 0) { // nearly all of them are inside of a few
        struct span all = {.start = lane->root.kids[0].start,
                           .end = lane->root.kids[lane->root.count - 1].end,
                           .batch = lane->root.kids[0].batch,
                           .solid = true};
        lanes->spans -= free_kids(&lane->root);
        lane->spans = put_around(&lane->root, 0, 0, all) == 0;
        lanes->spans += lane->spans;
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
            free(thread->lanes[i].path);
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
        return nvtxt_origin(-ENOMEM);
    }
    thread->lanes = more;
    thread->lanes[thread->count] = (struct lane){0};
    return lane_tree_set(&thread->tree, thread->count++, INT64_MAX, INT64_MAX);
}

// What a lane takes of ranges that start at `time`, after all of its spans.
static int look_into(struct export_lanes *lanes, struct lane_thread *thread, uint32_t number,
                     int64_t time) {
    struct lane *lane = &thread->lanes[number];
    struct span *span;
    if (find_parent(lanes, lane, time, time, &span) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    int64_t until = span == &lane->root ? INT64_MAX : span->end;
    return lane_tree_set(&thread->tree, number, until, span->solid ? INT64_MIN : until);
}

static int advance(struct export_lanes *lanes, struct lane_thread *thread, int64_t time) {
    int r = 0;
    uint32_t number;
    while (r == 0 && time > thread->now &&
           (number = lane_tree_outdated(&thread->tree, time)) != LANE_TREE_NONE) {
        lanes->looks++;
        r = look_into(lanes, thread, number, time);
    }
    thread->now = time;
    return r;
}

// The lane to try after `number`, -1 at the beginning; the number of lanes when there is none.
static unsigned next_lane(const struct lane_thread *thread, int64_t end, int number) {
    uint32_t next = lane_tree_first(&thread->tree, (uint32_t)(number + 1), end);
    return next < thread->count ? next : thread->count;
}

static int on_new_lane(struct export_lanes *lanes, struct lane_thread *thread, int64_t start,
                       int64_t end) {
    if (thread->count == EXPORT_LANES_MAX) {
        return 1;
    }
    int r = add_lane(thread);
    return r ?: insert_range(lanes, &thread->lanes[thread->count - 1], start, end);
}

// As choose_lane(), for a range that starts at thread->now.
static int choose_now(struct export_lanes *lanes, struct lane_thread *thread, int64_t start,
                      int64_t end, unsigned *number) {
    *number = next_lane(thread, end, -1);
    for (; *number < thread->count; *number = next_lane(thread, end, (int)*number)) {
        lanes->looks++;
        int r = insert_range(lanes, &thread->lanes[*number], start, end);
        if (r != 1) {
            return r;
        }
    }
    return on_new_lane(lanes, thread, start, end);
}

// As choose_lane(), for a range that starts before another one.
static int choose_late(struct export_lanes *lanes, struct lane_thread *thread, int64_t start,
                       int64_t end, unsigned *number) {
    bool brief = thread->late_looks > LOOKS_AHEAD + EXPORT_LANES_LOOKS * thread->ranges;
    unsigned from = brief ? thread->late_lane : 0;
    unsigned to = brief && from + LOOKS_LATE < thread->count ? from + LOOKS_LATE : thread->count;
    for (*number = from; *number < to; ++*number) {
        lanes->looks++;
        thread->late_looks++;
        int r = insert_range(lanes, &thread->lanes[*number], start, end);
        if (r != 1) {
            thread->late_lane = *number;
            return r;
        }
    }
    thread->late_lane = brief && to < thread->count ? to : 0; // the next range tries others
    *number = thread->count;
    return on_new_lane(lanes, thread, start, end);
}

// Returns 0, 1 when there is no lane for it, or -ENOMEM.
static int choose_lane(struct export_lanes *lanes, struct lane_thread *thread, int64_t start,
                       int64_t end, unsigned *number) {
    if (thread->count > 0 && start < thread->now) {
        return choose_late(lanes, thread, start, end, number);
    }
    int r = advance(lanes, thread, start);
    return r ?: choose_now(lanes, thread, start, end, number);
}

int export_lanes_place(struct export_lanes *lanes, uint64_t global_tid, int64_t start, int64_t end,
                       unsigned *number) {
    *number = 0;
    if (end <= start) {
        return 0;
    }
    struct lane_thread *thread = thread_of(lanes, global_tid);
    int r = thread ? choose_lane(lanes, thread, start, end, number) : nvtxt_origin(-ENOMEM);
    if (r == 1) {
        lanes->forced++;
        *number = EXPORT_LANES_MAX - 1;
        return 0;
    }
    if (r == 0) {
        struct lane *lane = &thread->lanes[*number];
        thread->ranges++;
        lane->spans++;
        lanes->spans++;
        if (lane->spans > SPANS_A_LANE || (lanes->spans > SPANS_MAX && lane->spans > SPANS_KEPT)) {
            forget_some(lanes, lane);
        }
        lane_tree_outdate(&thread->tree, *number);
    }
    return r;
}
