// SPDX-License-Identifier: Apache-2.0
//
// Reading stops when the budget is on its way to the store, and goes on below half of it: else it
// would stop and go on with every batch.
#include "daemon/source/batcher.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <uv.h>

#include "daemon/writer/bqueue.h"

#define BUDGET 1000

static int changes;

static void on_pressure(struct batcher *batcher, bool pressed) {
    cr_assert_eq(batcher->pressed, pressed);
    changes++;
}

static bool pressed_at(struct batcher *batcher, size_t in_flight) {
    batcher->in_flight = in_flight;
    cr_assert_eq(batcher_push(batcher, true), 0);
    return batcher->pressed;
}

Test(batcher, stops_at_the_budget_and_goes_on_below_half_of_it) {
    uv_loop_t loop;
    struct bqueue queue;
    struct stats stats = {0};
    struct batcher batcher;
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(bqueue_init(&queue, NULL, NULL), 0);
    batcher_init(&batcher, &loop, &queue, &stats, BUDGET, 1000);
    batcher.on_pressure = on_pressure;
    cr_assert_not(pressed_at(&batcher, BUDGET - 1));
    cr_assert(pressed_at(&batcher, BUDGET));
    cr_assert(pressed_at(&batcher, BUDGET - 1), "not with each batch that comes back");
    cr_assert(pressed_at(&batcher, BUDGET / 2));
    cr_assert_not(pressed_at(&batcher, BUDGET / 2 - 1));
    cr_assert_eq(changes, 2);
    for (struct job *next, *job = queue.head; job; job = next) {
        next = job->next;
        free(job);
    }
    queue.head = NULL;
    batcher_stop(&batcher);
    uv_run(&loop, UV_RUN_DEFAULT);
    batcher_deinit(&batcher);
    bqueue_deinit(&queue);
    cr_assert_eq(uv_loop_close(&loop), 0);
}
