// SPDX-License-Identifier: Apache-2.0
//
// Connections are read in turns, and at the stop one may go while the server goes over all of them.
#include "daemon/conn/server.h"

#include "protocol/base/clock.h"
#include "tests/unit/server_kit.h"

#define LINE "#0123456789012345678901234567890\n" // a comment

// libuv reads a socket again and again while it fills the buffer; a first line's buffer is small.
Test(server, reads_a_connection_once_a_turn_of_the_loop) {
    struct kit kit;
    char text[4 * CONN_FIRST_READ_BYTES];
    kit_open(&kit);
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = LINE[i % (sizeof(LINE) - 1)];
    }
    int client = kit_connect(&kit);
    cr_assert_eq(write(client, text, sizeof(text)), (ssize_t)sizeof(text));
    uv_run(&kit.loop, UV_RUN_NOWAIT);
    cr_assert_eq(kit.server.hub.stats.bytes, CONN_FIRST_READ_BYTES);
    uv_run(&kit.loop, UV_RUN_NOWAIT);
    cr_assert_eq(kit.server.hub.stats.bytes, sizeof(text), "the rest in its next turn");
    close(client);
    kit_close(&kit);
}

Test(server, a_stop_reads_the_others_when_the_connection_closes_whose_turn_it_is) {
    struct kit kit;
    int clients[3];
    kit_open(&kit);
    for (int i = 0; i < 3; i++) {
        clients[i] = kit_connect(&kit);
        kit_send(clients[i], LINE);
    }
    kit.server.hub.batcher.pressed = true; // as with a full budget: nothing is read yet
    server_stop(&kit.server);
    struct conn *first = kit.server.conns, *second = first->next;
    cr_assert_eq(kit.server.cursor, first);
    conn_close(first);
    cr_assert_eq(kit.server.cursor, second);
    kit.server.hub.batcher.pressed = false;
    uv_async_send(&kit.server.hub.doorbell);
    while (kit.server.stage == SERVER_READING) {
        uv_run(&kit.loop, UV_RUN_ONCE);
    }
    cr_assert_eq(kit.server.hub.stats.bytes, 2 * strlen(LINE));
    for (int i = 0; i < 3; i++) {
        close(clients[i]);
    }
    kit_close(&kit);
}

static int say_hello(struct kit *kit, int number) {
    char hello[128];
    int client = kit_connect(kit);
    snprintf(
        hello, sizeof(hello),
        "#nvtxt-session {\"protocol\":1,\"session\":\"00000000-0000-4000-8000-00000000000%d\"}\n",
        number);
    kit_send(client, hello);
    return client;
}

static bool is_load_of(const struct job *job, int number) {
    return job->session_id[35] == '0' + number;
}

static void run_some(struct kit *kit) {
    for (int i = 0; i < 5; i++) {
        uv_run(&kit->loop, UV_RUN_NOWAIT);
    }
}

// Jobs that are no loads go back.
static struct job *take_load(struct kit *kit) {
    struct job *job;
    run_some(kit);
    while ((job = bqueue_try_take(&kit->server.hub.queue)) && job->kind != JOB_SESSION_LOAD) {
        kit_finish(kit, job);
    }
    return job;
}

Test(server, loads_sessions_of_a_user_that_keep_much_one_after_the_other) {
    struct kit kit;
    int clients[5];
    kit_open(&kit);
    for (int i = 1; i <= 4; i++) {
        char id[] = "00000000-0000-4000-8000-000000000000";
        id[35] = (char)('0' + i);
        cr_assert_eq(parked_put(&kit.server.parked, id, (int64_t)geteuid(), i < 4 ? 1000000 : 100,
                                nvtxt_realtime_ns(), 0),
                     0);
    }
    for (int i = 0; i < 5; i++) {
        clients[i] = say_hello(&kit, i + 1); // number 5 is new
    }
    struct job *first = kit_take(&kit, JOB_SESSION_LOAD);
    struct job *fresh = take_load(&kit);
    cr_assert(is_load_of(fresh, 5), "a new one does not wait");
    kit_finish(&kit, fresh);
    cr_assert_null(take_load(&kit));
    bool is_first[6] = {false};
    is_first[first->session_id[35] - '0'] = true;
    kit_finish(&kit, first);
    int gone = is_first[2] ? 0 : 1; // one that waits: its client goes
    close(clients[gone]);
    int taken = 0;
    struct job *job;
    while ((job = take_load(&kit))) {
        cr_assert_not(is_first[job->session_id[35] - '0'], "twice");
        is_first[job->session_id[35] - '0'] = true;
        taken++;
        cr_assert(is_load_of(job, 4) || !bqueue_try_take(&kit.server.hub.queue), "two at a time");
        kit_finish(&kit, job);
    }
    cr_assert_eq(taken, 3);
    cr_assert_eq(kit.server.conns->user->loading, 0);
    for (int i = 0; i < 5; i++) {
        if (i != gone) {
            close(clients[i]);
        }
    }
    kit_close(&kit);
}
