// SPDX-License-Identifier: Apache-2.0
//
// The walk against a list in which every range is looked at: what leaves, when, and what is left,
// from the bottom up. Ranges nest, cross, share ends, and have no length.
#include "protocol/table/walk.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void begin(struct nvtxt_walk *walk, int64_t end, uint32_t id) {
    cr_assert_eq(nvtxt_walk_begin(walk, end, id), 0);
}

Test(walk, is_empty_at_first_and_after_deinit) {
    struct nvtxt_walk walk = {0};
    cr_assert_null(nvtxt_walk_due(&walk, INT64_MAX));
    nvtxt_walk_deinit(&walk);
    begin(&walk, INT64_MIN, 1);
    nvtxt_walk_deinit(&walk);
    cr_assert_null(nvtxt_walk_due(&walk, INT64_MAX));
}

Test(walk, keeps_what_has_no_length_until_somebody_asks) {
    struct nvtxt_walk walk = {0};
    begin(&walk, 20, 1);
    begin(&walk, 10, 2);
    cr_assert_eq(nvtxt_walk_top(&walk)->id, 2);
    cr_assert_null(nvtxt_walk_due(&walk, 9));
    cr_assert_eq(nvtxt_walk_due(&walk, 10)->id, 2);
    nvtxt_walk_move(&walk, 10);
    cr_assert_eq(nvtxt_walk_top(&walk)->id, 1);
    nvtxt_walk_deinit(&walk);
}

Test(walk, lets_the_upper_one_leave_first_of_equal_ends) {
    struct nvtxt_walk walk = {0};
    uint32_t leave[] = {4, 1, 3, 2};
    begin(&walk, 20, 1);
    begin(&walk, 30, 2); // they cross
    begin(&walk, 30, 3);
    begin(&walk, 20, 4);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(nvtxt_walk_due(&walk, 30)->id, leave[i]);
        nvtxt_walk_leave(&walk);
    }
    cr_assert_eq(walk.count, 0);
    cr_assert_not(walk.crossed, "nothing is left that could cross");
    nvtxt_walk_deinit(&walk);
}

enum { MOST = 400 };

struct slow {
    struct nvtxt_open open[MOST];
    size_t count;
};

static void leave(struct slow *slow, struct nvtxt_walk *walk, const struct nvtxt_open *due) {
    size_t first = 0;
    for (size_t i = 0; i < slow->count; i++) {
        first = slow->open[i].end <= slow->open[first].end ? i : first;
    }
    cr_assert_eq(due->id, slow->open[first].id);
    slow->count--;
    for (size_t i = first; i < slow->count; i++) {
        slow->open[i] = slow->open[i + 1];
    }
    nvtxt_walk_leave(walk);
}

static void compare(const struct slow *slow, const struct nvtxt_walk *walk) {
    size_t found = 0;
    for (size_t i = 0; i < walk->stacked; i++) {
        if (walk->stack[i].id != NVTXT_WALK_GAP) {
            cr_assert_lt(found, slow->count);
            cr_assert_eq(walk->stack[i].id, slow->open[found].id);
            cr_assert_eq(walk->stack[i].end, slow->open[found].end);
            found++;
        }
    }
    cr_assert_eq(found, slow->count);
    cr_assert_eq(walk->count, slow->count);
    cr_assert_leq(walk->stacked, 2 * walk->count + 16, "gaps are closed in time");
}

static void play(unsigned round) {
    uint64_t random = round;
    struct nvtxt_walk walk = {0};
    struct slow slow = {.count = 0};
    int64_t now = 0;
    for (uint32_t id = 0; id < MOST; id++) {
        now += (int64_t)(next_random(&random) % 3);
        const struct nvtxt_open *due;
        while ((due = nvtxt_walk_due(&walk, now))) {
            leave(&slow, &walk, due);
        }
        compare(&slow, &walk);
        size_t last = slow.count > 0 ? slow.count - 1 : 0;
        bool nests = slow.count > 0 && round % 4 == 0;
        int64_t length = (int64_t)(next_random(&random) % (round % 3 == 0 ? 300 : 9));
        int64_t end =
            nests && now + length > slow.open[last].end ? slow.open[last].end : now + length;
        begin(&walk, end, id);
        slow.open[slow.count++] = (struct nvtxt_open){end, id};
        compare(&slow, &walk);
    }
    nvtxt_walk_move(&walk, INT64_MAX);
    cr_assert_eq(walk.count, 0);
    nvtxt_walk_deinit(&walk);
}

Test(walk, agrees_with_a_list) {
    for (unsigned round = 0; round < 200; round++) {
        play(round);
    }
}

// Half of all ranges are open at a time, and the bottom one leaves at every step. Closing each gap
// at once would move 10,000 entries each time.
Test(walk, moves_few_entries_when_all_ranges_cross) {
    enum { DEEP = 10000 };
    struct nvtxt_walk walk = {0};
    for (int64_t i = 0; i < 10 * DEEP; i++) {
        nvtxt_walk_move(&walk, i);
        begin(&walk, i + DEEP, (uint32_t)i);
    }
    cr_expect_eq(walk.count, DEEP);
    cr_expect_leq(walk.moves, 10 * 3 * (uint64_t)DEEP, "%llu", (unsigned long long)walk.moves);
    nvtxt_walk_deinit(&walk);
}
