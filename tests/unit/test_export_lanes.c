// SPDX-License-Identifier: Apache-2.0
//
// Lanes against the definition: no two ranges of a lane may cross, and while all are remembered a
// range takes the first lane where it crosses none.
#include "client/lane/lane_batch.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static unsigned lane_of(struct export_lanes *lanes, int64_t start, int64_t end) {
    unsigned lane = 99;
    cr_assert_eq(export_lanes_place(lanes, 7, start, end, &lane), 0);
    return lane;
}

Test(export_lanes, keeps_what_nests_on_the_thread) {
    struct export_lanes lanes = {0};
    cr_expect_eq(lane_of(&lanes, 10, 20), 0);
    cr_expect_eq(lane_of(&lanes, 20, 30), 0, "they touch");
    cr_expect_eq(lane_of(&lanes, 5, 40), 0, "around both");
    cr_expect_eq(lane_of(&lanes, 5, 40), 0, "the same again");
    cr_expect_eq(lane_of(&lanes, 12, 15), 0, "inside");
    cr_expect_eq(lane_of(&lanes, 5, 10), 0, "at the edge");
    cr_expect_eq(lane_of(&lanes, 0, 5), 0);
    cr_expect_eq(lane_of(&lanes, 0, 100), 0);
    export_lanes_deinit(&lanes);
}

Test(export_lanes, moves_what_crosses) {
    struct export_lanes lanes = {0};
    cr_expect_eq(lane_of(&lanes, 10, 20), 0);
    cr_expect_eq(lane_of(&lanes, 15, 25), 1);
    cr_expect_eq(lane_of(&lanes, 18, 30), 2);
    cr_expect_eq(lane_of(&lanes, 5, 15), 1);
    cr_expect_eq(lane_of(&lanes, 20, 40), 0);
    unsigned lane = 99;
    cr_assert_eq(export_lanes_place(&lanes, 8, 15, 25, &lane), 0);
    cr_expect_eq(lane, 0, "another thread");
    export_lanes_deinit(&lanes);
}

Test(export_lanes, lets_points_and_backward_ranges_be) {
    struct export_lanes lanes = {0};
    cr_expect_eq(lane_of(&lanes, 10, 20), 0);
    cr_expect_eq(lane_of(&lanes, 15, 15), 0);
    cr_expect_eq(lane_of(&lanes, 15, 5), 0);
    cr_expect_eq(lane_of(&lanes, INT64_MIN, INT64_MAX), 0);
    export_lanes_deinit(&lanes);
}

struct range {
    int64_t start, end;
    unsigned lane;
};

static bool cross(const struct range *a, const struct range *b) {
    return (a->start < b->start && b->start < a->end && a->end < b->end) ||
           (b->start < a->start && a->start < b->end && b->end < a->end);
}

static bool fits(const struct range *ranges, size_t count, const struct range *range,
                 unsigned lane) {
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].lane == lane && cross(&ranges[i], range)) {
            return false;
        }
    }
    return true;
}

Test(export_lanes, agrees_with_the_definition_on_random_ranges) {
    struct export_lanes lanes = {0};
    enum { COUNT = 1500 };
    struct range *ranges = calloc(COUNT, sizeof(*ranges));
    cr_assert_not_null(ranges);
    srand(42);
    for (size_t i = 0; i < COUNT; i++) {
        struct range *range = &ranges[i];
        range->start = rand() % 3000;
        range->end = range->start + 1 + rand() % (rand() % 4 ? 8 : 500);
        range->lane = lane_of(&lanes, range->start, range->end);
        cr_assert(fits(ranges, i, range, range->lane), "range %zu crosses", i);
        for (unsigned lane = 0; lane < range->lane; lane++) {
            cr_assert_not(fits(ranges, i, range, lane), "range %zu needs no lane %u", i,
                          range->lane);
        }
    }
    export_lanes_deinit(&lanes);
    free(ranges);
}

static int by_start(const void *a, const void *b) {
    const struct range *one = a;
    const struct range *other = b;
    return (one->start > other->start) - (one->start < other->start);
}

static void place_in_order(struct range *ranges, size_t count) {
    struct export_lanes lanes = {0};
    qsort(ranges, count, sizeof(*ranges), by_start);
    for (size_t i = 0; i < count; i++) {
        struct range *range = &ranges[i];
        range->lane = lane_of(&lanes, range->start, range->end);
        cr_assert(fits(ranges, i, range, range->lane), "range %zu crosses", i);
        for (unsigned lane = 0; lane < range->lane; lane++) {
            cr_assert_not(fits(ranges, i, range, lane), "range %zu needs no lane %u", i,
                          range->lane);
        }
    }
    export_lanes_deinit(&lanes);
}

Test(export_lanes, agrees_with_the_definition_when_starts_are_in_order) {
    enum { COUNT = 1500 };
    struct range *ranges = calloc(COUNT, sizeof(*ranges));
    cr_assert_not_null(ranges);
    srand(43);
    for (int longest = 2; longest <= 2000; longest *= 10) { // a few lanes, and many
        for (size_t i = 0; i < COUNT; i++) {
            ranges[i].start = rand() % (rand() % 2 ? 3000 : 300); // many at one time
            ranges[i].end = ranges[i].start + 1 + rand() % longest;
        }
        place_in_order(ranges, COUNT);
    }
    free(ranges);
}

// Counts the steps of the search: any order needs n log n, and ranges in the order of their starts
// need no more.
Test(export_lanes, looks_into_few_lanes_in_any_order) {
    enum { COUNT = 60000 };
    for (int in_order = 0; in_order < 2; in_order++) {
        struct export_lanes lanes = {0};
        srand(46);
        for (int64_t i = 0; i < COUNT; i++) {
            int64_t start = in_order ? i : rand() % 1000000;
            (void)lane_of(&lanes, start, 2000000 + rand() % 1000000);
        }
        uint64_t most = in_order ? 2 : EXPORT_LANES_LOOKS + 20;
        cr_expect_leq(lanes.looks, most * COUNT, "%llu looks", (unsigned long long)lanes.looks);
        export_lanes_deinit(&lanes);
    }
}

// The orders in which a million ranges come: each is drawn where it should be, and memory is
// bounded.
Test(export_lanes, forgets_what_is_long_past) {
    struct export_lanes lanes = {0};
    for (int64_t i = 0; i < 1000000; i++) { // children, then their parent
        cr_assert_eq(lane_of(&lanes, 10 * i, 10 * i + 9), 0);
        if (i % 10 == 9) {
            cr_assert_eq(lane_of(&lanes, 10 * (i - 9), 10 * i + 9), 0);
        }
    }
    cr_expect_leq(lanes.spans, 20000);
    cr_expect_eq(lane_of(&lanes, -5, 10000005), 0, "around all");
    cr_expect_eq(lane_of(&lanes, 1234, 9000001), 1, "may cross what is forgotten");
    export_lanes_deinit(&lanes);
}

Test(export_lanes, forgets_inside_of_a_range_that_came_first) {
    struct export_lanes lanes = {0};
    cr_expect_eq(lane_of(&lanes, 0, 100000000), 0);
    for (int64_t i = 0; i < 100000; i++) {
        cr_assert_eq(lane_of(&lanes, 10 * i, 10 * i + 9), 0);
    }
    cr_expect_leq(lanes.spans, 20000);
    export_lanes_deinit(&lanes);
}

// What is open moves when what is before it is forgotten: a late range finds what came inside.
Test(export_lanes, forgets_before_a_range_that_is_open) {
    struct export_lanes lanes = {0};
    for (int64_t i = 0; i < 600; i++) {
        cr_assert_eq(lane_of(&lanes, 1000 * i, 1000 * i + 1000), 0);
        for (int64_t j = 0; j < 99; j++) {
            cr_assert_eq(lane_of(&lanes, 1000 * i + 10 * j, 1000 * i + 10 * j + 8), 0);
        }
        cr_assert_eq(lane_of(&lanes, 1000 * i + 975, 1000 * i + 986), 1,
                     "crosses the last but one");
    }
    cr_expect_leq(lanes.spans, 40000);
    export_lanes_deinit(&lanes);
}

Test(export_lanes, forgets_a_deep_nest) {
    struct export_lanes lanes = {0};
    for (int64_t i = 0; i < 40000; i++) {
        cr_assert_eq(lane_of(&lanes, -i - 1, i + 1), 0);
    }
    cr_expect_leq(lanes.spans, 20000);
    export_lanes_deinit(&lanes);
}

// Ranges that lie in each other, and that begin together, cost a few steps however deep they lie.
Test(export_lanes, looks_into_few_spans_of_a_deep_nest) {
    enum { COUNT = 16000 };
    for (int together = 0; together < 2; together++) {
        struct export_lanes lanes = {0};
        for (int64_t i = 0; i < COUNT; i++) {
            cr_assert_eq(lane_of(&lanes, together ? 0 : i, 100000 - i), 0);
        }
        cr_expect_leq(lanes.steps, 5 * (uint64_t)COUNT, "%llu", (unsigned long long)lanes.steps);
        export_lanes_deinit(&lanes);
    }
}

Test(export_lanes, ends_somewhere) {
    struct export_lanes lanes = {0};
    for (int64_t i = 0; i < EXPORT_LANES_MAX; i++) {
        cr_assert_eq(lane_of(&lanes, i, 100000 + i), (unsigned)i);
    }
    cr_expect_eq(lanes.forced, 0);
    cr_expect_eq(lane_of(&lanes, 50000, 200000), EXPORT_LANES_MAX - 1);
    cr_expect_eq(lanes.forced, 1);
    export_lanes_deinit(&lanes);
}

// ---- Batches ------------------------------------------------------------------------------------

Test(export_lanes, keeps_begins_of_batches_apart_that_would_stand_wrong) {
    struct export_lanes lanes = {.batch = 1};
    cr_expect_eq(lane_of(&lanes, 10, 20), 0);
    cr_expect_eq(lane_of(&lanes, 10, 30), 0, "the same batch");
    lanes.batch++;
    cr_expect_eq(lane_of(&lanes, 10, 40), 1, "would begin first");
    cr_expect_eq(lane_of(&lanes, 10, 15), 0, "begins second");
    cr_expect_eq(lane_of(&lanes, 5, 10), 1, "would end after that begins");
    cr_expect_eq(lane_of(&lanes, 20, 30), 0, "ends with it");
    cr_expect_eq(lane_of(&lanes, 30, 35), 0);
    lanes.batch++;
    cr_expect_eq(lane_of(&lanes, 25, 30), 1, "what is around it ends where another one begins");
    export_lanes_deinit(&lanes);
}

struct written {
    int64_t at;
    int range; // -1: an end
    unsigned lane;
};

// As a viewer: the edges of a lane in the order of time, those of the same time in that of the
// file.
static void replay(const struct written *edges, size_t count, unsigned lane,
                   const struct range *ranges, int64_t latest) {
    int open[512], depth = 0;
    for (int64_t now = 0; now <= latest; now++) {
        for (size_t i = 0; i < count; i++) {
            if (edges[i].lane != lane || edges[i].at != now) {
                continue;
            }
            if (edges[i].range >= 0) {
                cr_assert_lt(depth, 512);
                open[depth++] = edges[i].range;
            } else {
                cr_assert_gt(depth, 0);
                depth--;
                cr_assert_eq(ranges[open[depth]].end, now, "range %d", open[depth]);
            }
        }
    }
    cr_assert_eq(depth, 0);
}

static void write_batch(struct lane_batch *batch, struct export_lanes *lanes, int first,
                        struct written *edges, size_t *count, unsigned *most) {
    uint32_t found;
    cr_assert_eq(lane_batch_place(batch, lanes), 0);
    const struct lane_edge *sorted = lane_batch_edges(batch, &found);
    cr_assert_not_null(sorted);
    for (uint32_t i = 0; i < found; i++) {
        const struct lane_edge *edge = &sorted[i];
        unsigned lane = batch->items[edge->item].lane;
        *most = lane > *most ? lane : *most;
        if (edge->kind != LANE_END) {
            edges[(*count)++] = (struct written){edge->at, first + (int)edge->item, lane};
        }
        if (edge->kind != LANE_BEGIN) {
            edges[(*count)++] = (struct written){edge->at, -1, lane};
        }
    }
    lane_batch_clear(batch);
    lanes->batch++;
}

Test(export_lanes, places_a_batch_in_order_of_start) {
    struct export_lanes lanes = {.batch = 1};
    struct lane_batch batch;
    cr_assert_eq(lane_batch_init(&batch), 0);
    batch.items[0] = (struct lane_item){.global_tid = 7, .start = 15, .end = 25, .is_range = true};
    batch.items[1] = (struct lane_item){.global_tid = 7, .start = 10, .end = 20, .is_range = true};
    batch.count = 2;
    cr_assert_eq(lane_batch_place(&batch, &lanes), 0);
    cr_expect_eq(batch.items[0].lane, 1);
    cr_expect_eq(batch.items[1].lane, 0);
    lane_batch_deinit(&batch);
    export_lanes_deinit(&lanes);
}

// Short times, so that many ranges begin and end together.
Test(export_lanes, nests_what_comes_in_batches) {
    enum { COUNT = 120, LATEST = 45, ROUNDS = 200 };
    struct range ranges[COUNT];
    struct written edges[2 * COUNT];
    srand(44);
    for (int round = 0; round < ROUNDS; round++) {
        struct export_lanes lanes = {.batch = 1};
        struct lane_batch batch;
        size_t count = 0;
        unsigned most = 0;
        int first = 0;
        cr_assert_eq(lane_batch_init(&batch), 0);
        for (int i = 0; i < COUNT; i++) {
            int64_t start = rand() % (LATEST - 14);
            ranges[i] = (struct range){.start = start, .end = start + rand() % 15};
            batch.items[batch.count++] = (struct lane_item){
                .global_tid = 7, .start = ranges[i].start, .end = ranges[i].end, .is_range = true};
            if (rand() % 20 == 0 || i == COUNT - 1) {
                write_batch(&batch, &lanes, first, edges, &count, &most);
                first = i + 1;
            }
        }
        for (unsigned lane = 0; lane <= most; lane++) {
            replay(edges, count, lane, ranges, LATEST);
        }
        lane_batch_deinit(&batch);
        export_lanes_deinit(&lanes);
    }
}
