// SPDX-License-Identifier: Apache-2.0
//
// Calls that wait for events: what happens to those whose time is over.
#include "daemon/control/control_cmds.h"

#include "tests/unit/server_kit.h"

#define CALL "{\"id\":1,\"command\":\"events\",\"wait_ms\":3600000}\n"

static uint64_t ahead_ms; // of the loop's time

// In place of libuv's: the test decides when the time of all calls is over.
uint64_t uv_now(const uv_loop_t *loop) {
    (void)loop;
    return uv_hrtime() / 1000000 + ahead_ms;
}

// The first answer cannot be sent. That closes the connection and ends its other calls, which the
// loop over the calls has not come to yet.
Test(control_events, an_answer_that_cannot_be_sent_ends_the_calls_after_it) {
    struct kit kit;
    struct control_feed feed;
    struct control control = {.feed = &feed};
    int fds[2];
    kit_open(&kit);
    control_init(&control, &kit.server, control_commands, control_command_count);
    control_events_init(&feed, &kit.server);
    control.rights.daemon_uid = (int64_t)geteuid();
    kit_pair(fds);
    kit_send(fds[0], CALL CALL CALL CALL);
    cr_assert_eq(shutdown(fds[0], SHUT_RD), 0); // it reads nothing any more, but may still send
    cr_assert_eq(control_prepare(&control), 0);
    control_accept(&control, fds[1]);
    struct job *asked = kit_take(&kit, JOB_ASK);
    cr_assert_neq(feed.first, feed.last, "one is asked for, others wait");
    cr_assert_not_null(control.conns);
    ahead_ms = 2 * 3600000;
    uv_timer_set_repeat(&feed.timer, 1);
    cr_assert_eq(uv_timer_again(&feed.timer), 0);
    while (control.conns) {
        uv_run(&kit.loop, UV_RUN_ONCE);
    }
    cr_assert_null(feed.first);
    kit_finish(&kit, asked);
    while (feed.reading) {
        uv_run(&kit.loop, UV_RUN_ONCE);
    }
    close(fds[0]);
    control_close(&control);
    control_events_close(&feed);
    kit_close(&kit);
    control_deinit(&control);
}
