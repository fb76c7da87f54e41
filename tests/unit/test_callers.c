// SPDX-License-Identifier: Apache-2.0
//
// Users of the control socket: how long one is remembered, and how many commits one may ask for.
#include "daemon/control/callers.h"

#include <criterion/criterion.h>

#define SECOND INT64_C(1000000000)

static size_t count(const struct callers *callers) {
    size_t number = 0;
    for (const struct caller *caller = callers->first; caller; caller = caller->next) {
        number++;
    }
    return number;
}

Test(callers, are_known_as_long_as_they_have_something) {
    struct callers callers = {0};
    struct caller *one = callers_get(&callers, 1000, 10 * SECOND);
    one->conns = 1;
    cr_assert_eq(callers_get(&callers, 1000, 10 * SECOND), one);
    for (int64_t uid = 2000; uid < 3000; uid++) {
        cr_assert_not_null(callers_get(&callers, uid, uid * SECOND));
    }
    cr_assert_leq(count(&callers), 3, "those that are gone are forgotten");
    one->conns = 0;
    one->calls = 1; // one that is not answered yet
    callers_get(&callers, 1, 9000 * SECOND);
    cr_assert_eq(callers_get(&callers, 1000, 9000 * SECOND), one);
    callers_deinit(&callers);
}

Test(callers, have_so_many_commits_in_a_second) {
    struct callers callers = {0};
    struct caller *caller = callers_get(&callers, 1000, SECOND);
    int64_t wait_ns = 0;
    uint64_t number = 0;
    for (int i = 0; i < CALLERS_FLUSHES; i++) {
        cr_assert(caller_may_flush(caller, ++number, SECOND + i, &wait_ns));
    }
    cr_assert(caller_may_flush(caller, number, SECOND + 50, &wait_ns), "the same commit");
    cr_assert_not(caller_may_flush(caller, ++number, SECOND + SECOND / 4, &wait_ns));
    cr_assert_eq(wait_ns, SECOND - SECOND / 4);
    cr_assert_eq(callers_get(&callers, 1000, SECOND + 100), caller, "remembered");
    cr_assert(caller_may_flush(caller, number, 2 * SECOND, &wait_ns));
    callers_deinit(&callers);
}
