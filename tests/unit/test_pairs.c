// SPDX-License-Identifier: Apache-2.0
#include "inject/handles.h"

#include <criterion/criterion.h>

static struct pairs pairs;

Test(pairs, gives_back_what_was_kept_once) {
    uint64_t value = 0;
    cr_assert_not(pairs_take(&pairs, 7, &value));
    cr_assert(pairs_put(&pairs, 7, 70));
    cr_assert(pairs_get(&pairs, 7, &value));
    cr_assert_eq(value, 70);
    cr_assert(pairs_take(&pairs, 7, &value));
    cr_assert_not(pairs_get(&pairs, 7, &value));
    cr_assert_not(pairs_take(&pairs, 7, &value));
}

Test(pairs, keeps_a_key_as_often_as_it_comes) {
    uint64_t one = 0, other = 0;
    cr_assert(pairs_put(&pairs, 7, 1) && pairs_put(&pairs, 7, 2));
    cr_assert(pairs_take(&pairs, 7, &one) && pairs_take(&pairs, 7, &other));
    cr_assert_eq(one + other, 3);
    cr_assert_not(pairs_take(&pairs, 7, &one));
}

Test(pairs, holds_many_more_than_a_table_has_places) {
    uint64_t value = 0;
    for (uint64_t key = 1; key <= 300000; key++) {
        cr_assert(pairs_put(&pairs, key, ~key));
    }
    for (uint64_t key = 1; key <= 300000; key++) {
        cr_assert(pairs_take(&pairs, key, &value) && value == ~key);
    }
    cr_assert_not(pairs_get(&pairs, 5, &value));
}

Test(pairs, gives_a_place_back_as_often_as_it_is_taken) {
    uint64_t value = 0;
    for (uint64_t i = 0; i < 1000; i++) { // one key has 256 places
        cr_assert(pairs_put(&pairs, 7, i));
        cr_assert(pairs_take(&pairs, 7, &value) && value == i);
    }
}

Test(pairs, refuses_what_it_cannot_find_again) {
    uint64_t value = 0;
    cr_assert(pairs_put(&pairs, 0, 1) && pairs_take(&pairs, 0, &value));
    cr_assert_not(pairs_put(&pairs, UINT64_MAX, 1));
    cr_assert_not(pairs_get(&pairs, UINT64_MAX, &value));
    cr_assert_not(pairs_put(&pairs, UINT64_MAX - 1, 1));
    int kept = 0; // one key has 16 places in each of 16 tables
    while (pairs_put(&pairs, 7, 1)) {
        kept++;
    }
    cr_assert_eq(kept, 256);
}
