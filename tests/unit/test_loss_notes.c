// SPDX-License-Identifier: Apache-2.0
//
// Notes of losses: they add up, their number is bounded, and they become rows of the store.
#include "daemon/base/loss_notes.h"

#include <criterion/criterion.h>

#include "tests/unit/store_kit.h"

static void note(struct losses *losses, int64_t source, const char *reason, uint64_t count) {
    losses_note(losses, &(struct loss){.at_ns = 5,
                                       .source_id = source,
                                       .uid = 1000,
                                       .pid = 7,
                                       .reason = reason,
                                       .count = count});
}

Test(loss_notes, adds_up_what_is_of_one_source_and_reason) {
    struct losses losses = {0};
    note(&losses, 1, LOSS_MEMORY, 2);
    note(&losses, 2, LOSS_MEMORY, 1);
    note(&losses, 1, LOSS_PARTIAL_LINE, 1);
    note(&losses, 1, LOSS_MEMORY, 3);
    cr_assert_eq(losses.count, 3);
    cr_assert_eq(losses.waiting[0].count, 5);
}

Test(loss_notes, counts_on_when_there_is_no_room) {
    struct losses losses = {0};
    uint64_t sum = 0;
    for (int64_t i = 1; i <= LOSSES_WAITING + 10; i++) {
        note(&losses, i, LOSS_MEMORY, 1);
    }
    cr_assert_eq(losses.count, LOSSES_WAITING);
    for (size_t i = 0; i < losses.count; i++) {
        sum += losses.waiting[i].count;
    }
    cr_assert_eq(sum, LOSSES_WAITING + 10);
    cr_assert_eq(losses.waiting[LOSSES_WAITING - 1].source_id, 0);
}

Test(loss_notes, become_rows_that_can_be_read_newest_first) {
    struct kit kit;
    struct losses losses = {0};
    struct store_losses rows;
    kit_open(&kit);
    cr_assert_eq(store_loss_count(kit.store), 0);
    note(&losses, 3, LOSS_MEMORY, 12);
    note(&losses, 0, LOSS_PARTIAL_LINE, 1);
    cr_assert_eq(losses_write(&losses, kit.batch), 0);
    cr_assert_eq(losses.count, 0);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
    cr_assert_eq(store_commit(kit.store), STORE_DONE);
    cr_assert_eq(store_loss_count(kit.store), 2);
    cr_assert_eq(store_losses_load(kit.store, 1, &rows), STORE_DONE);
    cr_assert_eq(rows.count, 1);
    cr_assert_str_eq(rows.rows[0].reason, LOSS_PARTIAL_LINE);
    store_losses_deinit(&rows);
    cr_assert_eq(store_losses_load(kit.store, 10, &rows), STORE_DONE);
    cr_assert_eq(rows.count, 2);
    cr_assert_eq(rows.rows[1].count, 12);
    cr_assert_eq(rows.rows[1].source_id, 3);
    cr_assert_eq(rows.rows[1].uid, 1000);
    store_losses_deinit(&rows);
    kit_close(&kit);
}
