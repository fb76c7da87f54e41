// SPDX-License-Identifier: Apache-2.0
//
// A user that is over a bound is not read, on any of its connections, until its bytes are committed
// or a timer says that its rate allows more. The stop goes through the stages of enum server_stage;
// each goes on when the writer has done jobs or a connection closes. One socket after the other is
// read then, as far as the memory budget allows.
#include "daemon/conn/server.h"

#include <stdlib.h>

#include "daemon/conn/conn.h"
#include "daemon/conn/session.h"
#include "daemon/source/source.h"
#include "protocol/base/origin.h"

// What a stopping daemon reads from one socket: more than its buffer holds, so that the sender's
// last lines are read, and bounded, so that a sender that never stops does not delay the stop.
#define LAST_READ_BYTES (1u << 20)

// ---- Jobs that the writer has done --------------------------------------------------------------

static void go_on_stopping(struct server *server);

static void on_drained(struct hub *hub) {
    struct server *server = NVTXT_CONTAINER_OF(hub, struct server, hub);
    session_send_acks(server);
    if (server->committed) {
        server->on_commit(server);
    }
    server->committed = false;
    go_on_stopping(server);
}

// ---- Users --------------------------------------------------------------------------------------

static void update_reading(struct server *server, const struct quota_user *user) {
    for (struct conn *conn = server->conns; conn; conn = conn->next) {
        if (conn->user == user) {
            conn_update_reading(conn);
        }
    }
}

static void on_resume(uv_timer_t *timer);

static void resume_later(struct server *server, const struct quota_user *user) {
    uint64_t ms = quota_wait_ms(user, server->hub.config->max_events_per_second);
    uv_handle_t *handle = (uv_handle_t *)&server->resume;
    if (ms == 0 || uv_is_closing(handle)) {
        return;
    }
    if (!uv_is_active(handle) || uv_timer_get_due_in(&server->resume) > ms) {
        uv_timer_start(&server->resume, on_resume, ms, 0);
    }
}

void server_charge(struct server *server, struct quota_user *user, uint64_t events) {
    bool before = user->full || user->fast;
    quota_check_bytes(user, (size_t)server->hub.config->max_bytes_per_user);
    quota_spend(user, events, server->hub.config->max_events_per_second, nvtxt_boottime_ns());
    bool after = user->full || user->fast;
    resume_later(server, user);
    if (before == after) {
        return;
    }
    server->hub.stats.pauses += after;
    update_reading(server, user);
}

static void on_resume(uv_timer_t *timer) {
    struct server *server = timer->data;
    struct quota_user *user = quota_next_fast(&server->quota, NULL);
    for (; user; user = quota_next_fast(&server->quota, user)) {
        server_charge(server, user, 0);
    }
}

static void give_bytes(struct server *server, const struct store_batch *batch) {
    const struct store_batch_source *share = store_batch_first(batch);
    for (; share; share = share->next) {
        struct quota_user *user =
            share->cost ? quota_give_bytes(&server->quota, share->source.peer_uid, share->cost)
                        : NULL;
        if (user) {
            server_charge(server, user, 0);
        }
    }
}

// At the stop: nothing of it is acknowledged, so sessions send it again.
static void give_up(struct server *server, const struct store_batch_source *share) {
    uint64_t events = share->discarded ? 0 : store_batch_source_events(share);
    server->gave_up = true;
    server->uncommitted += events;
    if (share->source.kind == STORE_SOURCE_PLAIN) {
        server->unwritten += events;
    }
}

static void on_committed(struct batcher *batcher, struct store_batch *batch, int r) {
    struct server *server = NVTXT_CONTAINER_OF(batcher, struct server, hub.batcher);
    give_bytes(server, batch);
    server->committed |= r == 0;
    for (struct store_batch_source *share = store_batch_first(batch); share; share = share->next) {
        if (r != 0) {
            give_up(server, share);
        } else if (share->source.kind == STORE_SOURCE_SESSION) {
            session_committed(server, share);
        }
    }
}

static void on_pressure(struct hub_listener *listener, bool pressed) {
    struct server *server = NVTXT_CONTAINER_OF(listener, struct server, listener);
    (void)pressed;
    for (struct conn *conn = server->conns; conn; conn = conn->next) {
        conn_update_reading(conn);
    }
}

// ---- Life ---------------------------------------------------------------------------------------

int server_init(struct server *server, uv_loop_t *loop, const struct conf *config,
                int64_t next_source_id) {
    *server = (struct server){0};
    int r = hub_init(&server->hub, loop, config, next_source_id);
    if (r < 0) {
        return r;
    }
    server->read_buffer = malloc(SERVER_READ_BYTES);
    if (!server->read_buffer) {
        return nvtxt_origin(-ENOMEM);
    }
    uv_timer_init(loop, &server->resume); // these two cannot fail
    uv_timer_init(loop, &server->drain);
    server->resume.data = server->drain.data = server;
    server->parked.quota = &server->quota;
    server->hub.on_drained = on_drained;
    server->hub.batcher.on_committed = on_committed;
    server->listener.on_pressure = on_pressure;
    hub_listen(&server->hub, &server->listener);
    return 0;
}

void server_configure(struct server *server) {
    hub_configure(&server->hub);
    for (struct conn *conn = server->conns; conn; conn = conn->next) {
        if (conn->user) {
            server_charge(server, conn->user, 0); // its bound may be higher now
        }
    }
}

void server_close_handles(struct server *server) {
    hub_close_handle(&server->resume);
    hub_close_handle(&server->drain);
    hub_close(&server->hub);
}

void server_deinit(struct server *server) {
    hub_deinit(&server->hub);
    parked_deinit(&server->parked);
    quota_deinit(&server->quota);
    nvtxt_hash_deinit(&server->sessions);
    free(server->spare);
    server->spare = NULL;
    free(server->read_buffer);
    server->read_buffer = NULL;
}

// ---- Draining -----------------------------------------------------------------------------------

static void on_drain(uv_timer_t *timer) {
    struct server *server = timer->data;
    uint64_t now = uv_now(server->hub.loop), next_ms = 0;
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (conn->phase != CONN_DRAINING) {
            continue;
        }
        if (conn->drain_until_ms <= now) {
            conn_close(conn);
        } else if (next_ms == 0 || conn->drain_until_ms < next_ms) {
            next_ms = conn->drain_until_ms;
        }
    }
    if (next_ms > 0 && !uv_is_closing((uv_handle_t *)timer)) {
        uv_timer_start(timer, on_drain, next_ms - now, 0);
    }
}

void server_drain(struct server *server, struct conn *conn) {
    uv_handle_t *handle = (uv_handle_t *)&server->drain;
    conn->drain_until_ms = uv_now(server->hub.loop) + CONN_DRAIN_MS;
    if (!uv_is_active(handle) && !uv_is_closing(handle)) {
        uv_timer_start(&server->drain, on_drain, CONN_DRAIN_MS, 0);
    }
}

// ---- The stop -----------------------------------------------------------------------------------

void server_forget(struct server *server, const struct conn *conn) {
    server->conn_count--;
    if (server->cursor == conn) {
        server->cursor = conn->next;
    }
    if (server->stage == SERVER_RUNNING) {
        server->on_room(server);
    } else if (server->stage == SERVER_REPLYING) {
        go_on_stopping(server);
    }
}

// One socket after the other, as far as the budget allows; goes on when the writer has done
// batches.
static void read_rest(struct server *server) {
    while (server->cursor && !server->hub.batcher.pressed) {
        struct conn *conn = server->cursor;
        server->cursor = conn->next;
        conn_read_rest(conn, LAST_READ_BYTES);
    }
}

// Plain sources end; sessions are settled with the batch.
static void end_sources(struct server *server) {
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (!conn->session) {
            conn_break(conn, "shutdown");
        }
    }
    batcher_push(&server->hub.batcher, true);
}

static void send_shutdown(struct server *server) {
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (conn->phase != CONN_LAST_REPLY) {
            session_shut_down(conn);
        }
    }
}

static void go_on_stopping(struct server *server) {
    if (server->stage == SERVER_READING) {
        read_rest(server);
        if (server->cursor || server->hub.batcher.pressed) {
            return;
        }
        server->stage = SERVER_COMMITTING;
        end_sources(server);
    }
    if (server->stage == SERVER_COMMITTING && server->hub.batcher.jobs_out == 0) {
        server->stage = SERVER_REPLYING;
        send_shutdown(server);
    }
    if (server->stage == SERVER_REPLYING && server->conn_count == 0) {
        server->stage = SERVER_STOPPED;
        server->on_stopped(server);
    }
}

void server_stop(struct server *server) {
    if (server->stage != SERVER_RUNNING) {
        return;
    }
    server->stage = SERVER_READING;
    atomic_store(&server->stopping, true);
    server->cursor = server->conns;
    for (struct conn *conn = server->conns; conn; conn = conn->next) {
        conn_update_reading(conn);
    }
    go_on_stopping(server);
}

void server_abort(struct server *server) {
    bqueue_hurry(&server->hub.queue);
    if (server->stage == SERVER_STOPPED) {
        return;
    }
    server->stage = SERVER_COMMITTING; // else the last close would end the stop before the push
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (conn->session && conn->phase != CONN_LAST_REPLY) {
            session_shut_down(conn); // does not wait for a client that does not read
        }
    }
    while (server->conns) {
        conn_close(server->conns);
    }
    batcher_push(&server->hub.batcher, true); // goes to the writer before its JOB_STOP
    server->stage = SERVER_REPLYING;
    go_on_stopping(server);
}
