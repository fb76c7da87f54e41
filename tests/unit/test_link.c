// SPDX-License-Identifier: Apache-2.0
#include "client/session/link.h"

#include <criterion/criterion.h>

static int64_t delay_of(struct link *link) {
    link_back_off(link, 1000000);
    return link->next_ms - 1000000;
}

Test(link, waits_longer_each_time_up_to_a_bound) {
    struct link link;
    link_init(&link, "/nonexistent");
    cr_assert_eq(delay_of(&link), 0, "the first failure is tried again at once");
    int64_t most = LINK_DELAY_FIRST_MS;
    for (int i = 0; i < 100; i++) {
        int64_t delay = delay_of(&link);
        cr_assert(delay >= most / 2 && delay <= most, "%d: %lld of %lld", i, (long long)delay,
                  (long long)most);
        most = 2 * most < LINK_DELAY_MOST_MS ? 2 * most : LINK_DELAY_MOST_MS;
    }
    link_worked(&link);
    cr_assert_eq(delay_of(&link), 0);
}
