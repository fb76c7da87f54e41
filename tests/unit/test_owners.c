// SPDX-License-Identifier: Apache-2.0
//
// Whose a process is, and since when.
#include "daemon/source/owners.h"

#include <criterion/criterion.h>

static struct owners owners;

static void deinit(void) {
    owners_deinit(&owners);
}

TestSuite(owners, .fini = deinit);

Test(owners, are_kept_for_every_number) {
    static const uint32_t pids[] = {0, 1, 4095, 4096, 0xFFFFFF};
    for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
        cr_assert_eq(owners_of(&owners, pids[i]), OWNERS_NOBODY);
        cr_assert_eq(owners_set(&owners, pids[i], 1000 + (int64_t)i, i % 2), 0);
    }
    for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
        cr_assert_eq(owners_of(&owners, pids[i]), 1000 + (int64_t)i);
        cr_assert_eq(owners_is_proven(&owners, pids[i]), i % 2);
    }
    cr_assert_eq(owners_set(&owners, 1, OWNERS_SHARED, false), 0);
    cr_assert_eq(owners_of(&owners, 1), OWNERS_SHARED);
    cr_assert_not(owners_is_proven(&owners, 1));
}

Test(owners, have_so_many_users_and_no_more) {
    for (int64_t uid = 0; uid < 0x7fff; uid++) {
        cr_assert_eq(owners_set(&owners, 7, uid, false), 0);
    }
    cr_assert_lt(owners_set(&owners, 7, 0x7fff, false), 0);
    cr_assert_eq(owners_of(&owners, 7), 0x7ffe);
}

Test(owners, have_changed_since_another_came) {
    cr_assert_not(owners_changed_since(&owners, 7, 0));
    cr_assert_eq(owners_set(&owners, 7, 1000, false), 0);
    uint32_t then = owners.changes;
    cr_assert(owners_changed_since(&owners, 7, then - 1));
    cr_assert_not(owners_changed_since(&owners, 7, then));
    cr_assert_eq(owners_set(&owners, 7, 1000, true), 0);
    cr_assert_not(owners_changed_since(&owners, 7, then), "the same user");
    cr_assert_eq(owners_set(&owners, 8, 1001, true), 0);
    cr_assert_not(owners_changed_since(&owners, 7, then), "another process");
    cr_assert_eq(owners_set(&owners, 7, 1001, true), 0);
    cr_assert(owners_changed_since(&owners, 7, then));
    owners.changes = UINT32_MAX; // the count begins anew
    then = owners.changes;
    cr_assert_eq(owners_set(&owners, 7, 1000, true), 0);
    cr_assert(owners_changed_since(&owners, 7, then));
}
