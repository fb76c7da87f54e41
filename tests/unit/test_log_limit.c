// SPDX-License-Identifier: Apache-2.0
//
// A peer cannot fill the log: it may cause a number of lines a window, then they are counted.
#include "daemon/base/log.h"

#include <criterion/criterion.h>

static void say(struct log_limit *limit, int times) {
    for (int i = 0; i < times; i++) {
        log_limited(limit, LOG_LEVEL_INFO, "a line");
    }
}

Test(log_limit, counts_what_is_held_back_and_begins_anew) {
    struct log_limit limit = {.window_ms = 3600 * 1000, .most = 3};
    say(&limit, 3);
    cr_assert(limit.lines == 3 && limit.held_back == 0);
    say(&limit, 2);
    cr_assert(limit.lines == 3 && limit.held_back == 2, "%u lines", limit.lines);
    limit.window_start_ms -= limit.window_ms; // as if the window were over
    say(&limit, 1);
    cr_assert(limit.lines == 1 && limit.held_back == 0, "the count stood on this line");
}

Test(log_limit, has_usual_numbers) {
    struct log_limit limit = {0};
    say(&limit, 8);
    cr_assert(limit.lines == 5 && limit.held_back == 3, "%u lines", limit.lines);
}

Test(log_limit, does_not_count_lines_that_are_not_written_anyway) {
    struct log_limit limit = {.most = 1};
    log_set_level(LOG_LEVEL_WARNING);
    say(&limit, 5);
    cr_assert(limit.lines == 0 && limit.held_back == 0);
}
