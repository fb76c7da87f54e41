// SPDX-License-Identifier: Apache-2.0
//
// Two threads publish figures of a store: neither overwrites what the other has published.
#include "daemon/writer/bqueue.h"

#include <criterion/criterion.h>

Test(bqueue, keeps_the_figures_of_old_segments_over_commits) {
    struct bqueue queue;
    struct writer_figures figures;
    struct removed removed = {.last_ns = 7};
    cr_assert_eq(bqueue_init(&queue, NULL, NULL), 0);
    bqueue_set_old(&queue, 3, 4096, &removed);
    bqueue_set_figures(&queue, &(struct writer_figures){.commits = 5});
    bqueue_get_figures(&queue, &figures);
    cr_assert(figures.old_segments == 3 && figures.old_bytes == 4096);
    cr_assert_eq(figures.removed.last_ns, 7);
    cr_assert_eq(figures.commits, 5);
    bqueue_set_old(&queue, 2, 1024, &removed);
    bqueue_get_figures(&queue, &figures);
    cr_assert(figures.commits == 5 && figures.old_segments == 2);
    bqueue_deinit(&queue);
}
