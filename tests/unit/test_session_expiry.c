// SPDX-License-Identifier: Apache-2.0
//
// A session that nobody resumed ends; one that was resumed while its state was loaded does not.
#include "daemon/conn/session_expiry.h"

#include "protocol/base/clock.h"
#include "tests/unit/server_kit.h"

#define ABSENT "11111111-2222-3333-4444-555555555555"
#define BACK "66666666-7777-8888-9999-aaaaaaaaaaaa"

// The writer has found a session. Returns the job that asks for its state.
static struct job *find(struct kit *kit, const char *id) {
    struct job *job = kit_take(kit, JOB_EXPIRED);
    job->next = NULL;
    memcpy(job->session_id, id, strlen(id) + 1);
    bqueue_finish(&kit->server.hub.queue, job);
    job = kit_take(kit, JOB_SESSION_LOAD);
    cr_assert_str_eq(job->session_id, id);
    return job;
}

static void give_back(struct kit *kit, struct job *job, int64_t source_id) {
    job->next = NULL;
    job->result = STORE_DONE;
    job->session.uid = (int64_t)geteuid();
    job->session.source_id = source_id;
    job->session.state = strdup("{}");
    bqueue_finish(&kit->server.hub.queue, job);
}

Test(session_expiry, leaves_a_session_that_connected_meanwhile) {
    struct kit kit;
    struct expiry expiry = {0};
    kit_open(&kit);
    kit.config.session_expiry_ms = 1; // the search begins at once
    cr_assert_eq(expiry_start(&expiry, &kit.server), 0);
    give_back(&kit, find(&kit, ABSENT), 1);
    struct job *asked = find(&kit, BACK);
    cr_assert_eq(kit.server.hub.stats.sessions_expired, 1);
    int client = kit_connect(&kit);
    kit_send(client, "#nvtxt-session {\"protocol\":1,\"session\":\"" BACK "\"}\n");
    struct job *load = kit_take(&kit, JOB_SESSION_LOAD);
    cr_assert_eq(kit.server.conns->phase, CONN_LOADING);
    give_back(&kit, asked, 2);
    kit_finish(&kit, kit_take(&kit, JOB_EXPIRED));
    cr_assert_eq(kit.server.hub.stats.sessions_expired, 1);
    kit_finish(&kit, load);
    close(client);
    expiry_stop(&expiry);
    kit_close(&kit);
}

// A session that is due by the word of its hello.
Test(expiry, ends_a_session_that_is_due_but_not_one_that_connects) {
    struct kit kit;
    struct expiry expiry = {0};
    kit_open(&kit);
    kit.config.session_expiry_ms = 1000000000;
    int64_t uid = (int64_t)geteuid();
    cr_assert_eq(expiry_start(&expiry, &kit.server), 0);
    int64_t seen_ns = nvtxt_realtime_ns(); // not so long ago that a search forgets them
    cr_assert_eq(parked_put(&kit.server.parked, BACK, uid, 0, seen_ns, 0), 0);
    int64_t due_uid, due_ns;
    cr_assert_null(parked_first_due(&kit.server.parked, &due_uid, &due_ns));
    cr_assert_eq(parked_put(&kit.server.parked, BACK, uid, 0, seen_ns, 1), 0);
    cr_assert_eq(parked_put(&kit.server.parked, ABSENT, uid, 7, seen_ns, 100000), 0);
    cr_assert_str_eq(parked_first_due(&kit.server.parked, &due_uid, &due_ns), BACK);
    struct job *asked = kit_take(&kit, JOB_SESSION_LOAD); // the timer was set anew
    cr_assert_str_eq(asked->session_id, BACK);
    int client = kit_connect(&kit);
    kit_send(client, "#nvtxt-session {\"protocol\":1,\"session\":\"" BACK "\"}\n");
    struct job *load = kit_take(&kit, JOB_SESSION_LOAD);
    give_back(&kit, asked, 2);
    kit_finish(&kit, kit_take(&kit, JOB_EXPIRED));
    cr_assert_eq(kit.server.hub.stats.sessions_expired, 0);
    cr_assert_str_eq(parked_first_due(&kit.server.parked, &due_uid, &due_ns), BACK);
    kit_finish(&kit, load);
    close(client);
    expiry_stop(&expiry);
    kit_close(&kit);
}

static void give_back_failed(struct kit *kit, struct job *job, int result) {
    job->next = NULL;
    job->result = result;
    bqueue_finish(&kit->server.hub.queue, job);
}

Test(expiry, does_not_ask_again_and_again_for_what_cannot_be_read) {
    struct kit kit;
    struct expiry expiry = {0};
    kit_open(&kit);
    kit.config.session_expiry_ms = 1000000000;
    int64_t uid = (int64_t)geteuid(), due_uid, first_due_ns, due_ns;
    cr_assert_eq(expiry_start(&expiry, &kit.server), 0);
    cr_assert_eq(parked_put(&kit.server.parked, BACK, uid, 7, nvtxt_realtime_ns(), 1), 0);
    cr_assert_str_eq(parked_first_due(&kit.server.parked, &due_uid, &first_due_ns), BACK);
    // Another process has the segment locked: it is due a second later.
    give_back_failed(&kit, kit_take(&kit, JOB_SESSION_LOAD), STORE_BUSY);
    struct job *asked = kit_take(&kit, JOB_SESSION_LOAD);
    cr_assert_str_eq(parked_first_due(&kit.server.parked, &due_uid, &due_ns), BACK);
    cr_assert_geq(due_ns, first_due_ns + 1000000000);
    // It may be in a segment that was put aside: the store in use does not have it.
    give_back_failed(&kit, asked, STORE_UNSURE);
    while (kit.server.hub.queue.done) {
        uv_run(&kit.loop, UV_RUN_ONCE);
    }
    cr_assert_null(parked_first_due(&kit.server.parked, &due_uid, &due_ns));
    expiry_stop(&expiry);
    kit_close(&kit);
}

// What a newer daemon saved stays, is not asked for again, and is in nobody's way.
Test(expiry, leaves_what_a_newer_version_saved) {
    struct kit kit;
    struct expiry expiry = {0};
    kit_open(&kit);
    kit.config.session_expiry_ms = 1000000000;
    int64_t uid = (int64_t)geteuid(), due_uid, due_ns;
    cr_assert_eq(expiry_start(&expiry, &kit.server), 0);
    cr_assert_eq(parked_put(&kit.server.parked, BACK, uid, 7, nvtxt_realtime_ns(), 1), 0);
    struct job *job = kit_take(&kit, JOB_SESSION_LOAD);
    cr_assert_str_eq(job->session_id, BACK);
    job->next = NULL;
    job->result = STORE_DONE;
    job->session.uid = uid;
    job->session.source_id = 1;
    job->session.state = strdup("{\"version\":99}");
    bqueue_finish(&kit.server.hub.queue, job);
    job = kit_take(&kit, JOB_EXPIRED);
    cr_assert_null(parked_first_due(&kit.server.parked, &due_uid, &due_ns));
    cr_assert_eq(parked_bytes(&kit.server.parked, BACK, uid), 7);
    cr_assert_eq(kit.server.hub.stats.sessions_expired, 0);
    // The next search is for those after the one that was found.
    memcpy(job->session_id, ABSENT, sizeof(ABSENT));
    job->next = NULL;
    job->after = (struct store_session_place){.seen_ns = 5, .row = 6};
    bqueue_finish(&kit.server.hub.queue, job);
    give_back(&kit, kit_take(&kit, JOB_SESSION_LOAD), 2);
    job = kit_take(&kit, JOB_EXPIRED);
    cr_assert_eq(kit.server.hub.stats.sessions_expired, 1);
    cr_assert(job->after.seen_ns == 5 && job->after.row == 6);
    kit_finish(&kit, job);
    expiry_stop(&expiry);
    kit_close(&kit);
}
