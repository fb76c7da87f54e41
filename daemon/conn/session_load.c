// SPDX-License-Identifier: Apache-2.0
//
// Sessions of one user that keep much are loaded one after the other, as their state takes memory,
// and time of the loop; new ones do not wait.
#include <string.h>

#include "daemon/base/list.h"
#include "daemon/conn/conn.h"
#include "daemon/conn/server.h"
#include "daemon/conn/session.h"

// What sessions of a user that are loaded together may keep: it takes some milliseconds to restore.
#define LOADED_TOGETHER_BYTES 262144

static void push_load(struct session *session, size_t bytes) {
    struct conn *conn = session->conn;
    struct job *job = job_new(JOB_SESSION_LOAD, session_on_loaded, conn->server);
    if (!job) {
        conn_close(conn);
        return;
    }
    memcpy(job->session_id, session->id, sizeof(job->session_id));
    job->want_diags = session->hello->diagnostics && session->hello->has_acked;
    job->acked = session->hello->acked;
    job->uid = conn->peer.uid;
    job->bytes = bytes;
    session->loading = job;
    session->begun_before = conn->user->sessions;
    conn->user->loading += job->bytes;
    // The lines of an older connection of this session go first.
    batcher_push(&conn->server->hub.batcher, false);
    hub_push(&conn->server->hub, job);
}

// What it keeps, as far as that is known before it is loaded.
static size_t bytes_of(const struct session *session) {
    return parked_bytes(&session->conn->server->parked, session->id, session->conn->peer.uid);
}

static bool may_load(const struct quota_user *user, size_t bytes) {
    return bytes == 0 || user->loading == 0 || user->loading + bytes <= LOADED_TOGETHER_BYTES;
}

void session_load(struct session *session) {
    struct conn *conn = session->conn;
    size_t bytes = bytes_of(session);
    conn->phase = CONN_LOADING;
    if (may_load(conn->user, bytes)) {
        push_load(session, bytes);
        return;
    }
    LIST_APPEND(conn->server->to_load, session, next_to_load);
    session->waits_to_load = true;
}

void session_stop_waiting(struct server *server, struct session *session) {
    LIST_UNLINK(server->to_load, session, next_to_load);
    session->next_to_load = NULL;
    session->waits_to_load = false;
}

void session_load_next(struct server *server, int64_t uid, size_t bytes) {
    struct session *session = server->to_load, *next;
    quota_loaded(&server->quota, uid, bytes);
    for (; session && server->stage == SERVER_RUNNING; session = next) { // else told of the stop
        next = session->next_to_load;
        size_t more = bytes_of(session);
        if (session->conn->peer.uid == uid && may_load(session->conn->user, more)) {
            session_stop_waiting(server, session);
            push_load(session, more);
        }
    }
}
