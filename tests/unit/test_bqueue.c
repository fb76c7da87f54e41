// SPDX-License-Identifier: Apache-2.0
//
// Two threads publish the state of a store: neither overwrites what the other has published.
#include "daemon/writer/bqueue.h"

#include <criterion/criterion.h>

Test(bqueue, keeps_the_counts_of_old_segments_over_commits) {
    struct bqueue queue;
    struct writer_state state;
    struct removed removed = {.last_ns = 7};
    cr_assert_eq(bqueue_init(&queue, NULL, NULL), 0);
    bqueue_set_old(&queue, 3, 4096, &removed);
    bqueue_set_state(&queue, &(struct writer_state){.commits = 5});
    bqueue_get_state(&queue, &state);
    cr_assert(state.old_segments == 3 && state.old_bytes == 4096);
    cr_assert_eq(state.removed.last_ns, 7);
    cr_assert_eq(state.commits, 5);
    bqueue_set_old(&queue, 2, 1024, &removed);
    bqueue_get_state(&queue, &state);
    cr_assert(state.commits == 5 && state.old_segments == 2);
    bqueue_deinit(&queue);
}

Test(bqueue, stays_given_up) {
    struct bqueue queue;
    cr_assert_eq(bqueue_init(&queue, NULL, NULL), 0);
    cr_assert(!bqueue_is_given_up(&queue));
    bqueue_give_up(&queue);
    cr_assert(bqueue_is_given_up(&queue));
    bqueue_deinit(&queue);
}
