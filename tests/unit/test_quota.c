// SPDX-License-Identifier: Apache-2.0
//
// What one user may take: connections, bytes, and events a second.
#include "daemon/source/quota.h"

#include <criterion/criterion.h>

#define SECOND INT64_C(1000000000)

Test(quota, counts_connections_of_each_user) {
    struct quota quota = {0};
    struct quota_user *one, *other, *again;
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(quota_take(&quota, 1000, 3, SECOND, &one), 0);
    }
    cr_assert_eq(quota_take(&quota, 1000, 3, SECOND, &again), 1);
    cr_assert_eq(quota_take(&quota, 1001, 3, SECOND, &other), 0);
    quota_give(&quota, one);
    cr_assert_eq(quota_take(&quota, 1000, 3, SECOND, &again), 0);
    cr_assert_eq(one, again);
    quota_give(&quota, other);
    quota_give(&quota, NULL);
    cr_assert_eq(quota.users.count, 1);
    quota_deinit(&quota);
}

Test(quota, keeps_a_user_as_long_as_bytes_of_it_are_under_way) {
    struct quota quota = {0};
    struct quota_user *user;
    cr_assert_eq(quota_take(&quota, 1000, 1, SECOND, &user), 0);
    user->bytes = 100;
    quota_check_bytes(user, 100);
    cr_assert(user->full);
    quota_give(&quota, user);
    cr_assert_eq(quota_give_bytes(&quota, 1000, 40), user);
    quota_check_bytes(user, 100);
    cr_assert(user->full, "not yet half");
    cr_assert_eq(quota_give_bytes(&quota, 1000, 20), user);
    quota_check_bytes(user, 100);
    cr_assert_not(user->full);
    cr_assert_null(quota_give_bytes(&quota, 1000, 40));
    cr_assert_null(quota_give_bytes(&quota, 1000, 40));
    cr_assert_eq(quota.users.count, 0);
    quota_deinit(&quota);
}

Test(quota, lets_a_second_of_events_come_at_once_and_then_waits) {
    struct quota_user user = {0};
    quota_spend(&user, 100, 100, SECOND);
    cr_assert_not(user.fast);
    quota_spend(&user, 50, 100, SECOND);
    cr_assert(user.fast);
    cr_assert_eq(quota_wait_ms(&user, 100), 501);
    quota_spend(&user, 0, 100, SECOND + SECOND / 4);
    cr_assert(user.fast);
    quota_spend(&user, 0, 100, SECOND + SECOND / 2);
    cr_assert_not(user.fast);
    quota_spend(&user, 0, 100, 3600 * SECOND);
    cr_assert_eq(user.credit, 100, "no more than a second's worth is saved");
    quota_spend(&user, 1000000, 0, 3600 * SECOND);
    cr_assert_not(user.fast, "no bound any more");
}

// Waits as long as the quota says, until the user may go on. Returns how long that was, in ms.
static uint64_t wait_out(struct quota_user *user, int64_t rate, int64_t now_ns) {
    uint64_t waited = 0;
    while (user->fast) {
        waited += quota_wait_ms(user, rate);
        quota_spend(user, 0, rate, now_ns + (int64_t)waited * (SECOND / 1000));
    }
    return waited;
}

Test(quota, waits_for_a_big_read_as_long_as_its_events_take) {
    struct quota_user user = {0};
    quota_spend(&user, 26000, 1000, SECOND);
    uint64_t waited = wait_out(&user, 1000, SECOND);
    cr_assert(waited >= 25000 && waited <= 25002, "%llu ms", (unsigned long long)waited);
    quota_spend(&user, 1000000000000, 1000, 60 * SECOND);
    quota_spend(&user, 0, 1000, INT64_MAX);
    cr_assert(user.credit <= 1000);
}

Test(quota, loses_no_part_of_an_event_between_small_reads) {
    struct quota_user user = {0};
    quota_spend(&user, 2000, 1000, SECOND);
    for (int64_t at = 0; at <= SECOND; at += SECOND / 1000 * 3 / 2) {
        quota_spend(&user, 0, 1000, SECOND + at);
    }
    quota_spend(&user, 0, 1000, 2 * SECOND);
    cr_assert(user.credit >= -1, "%lld", (long long)user.credit);
}

Test(quota, a_user_that_comes_again_owes_what_it_owed) {
    struct quota quota = {0};
    struct quota_user *user;
    cr_assert_eq(quota_take(&quota, 1000, 1, SECOND, &user), 0);
    quota_spend(user, 300, 100, SECOND);
    cr_assert(user->fast);
    quota_give(&quota, user);
    cr_assert_eq(quota_take(&quota, 1000, 1, 2 * SECOND, &user), 0);
    quota_spend(user, 0, 100, 2 * SECOND);
    cr_assert(user->fast);
    cr_assert_eq(user->credit, -100);
    quota_give(&quota, user);
    struct quota_user *other;
    cr_assert_eq(quota_take(&quota, 1001, 1, 3 * SECOND, &other), 0);
    cr_assert_eq(quota.users.count, 2, "half paid");
    cr_assert_eq(quota_take(&quota, 1002, 1, 5 * SECOND, &other), 0);
    cr_assert_eq(quota.users.count, 2, "forgotten when the bucket is full");
    quota_deinit(&quota);
}

Test(quota, finds_those_that_are_too_fast) {
    struct quota quota = {0};
    struct quota_user *user[5];
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(quota_take(&quota, i, 1, SECOND, &user[i]), 0);
        user[i]->fast = i % 2;
    }
    struct quota_user *first = quota_next_fast(&quota, NULL);
    struct quota_user *second = quota_next_fast(&quota, first);
    cr_assert(first && second && first != second);
    cr_assert_null(quota_next_fast(&quota, second));
    quota_deinit(&quota);
}
