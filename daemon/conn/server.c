// SPDX-License-Identifier: Apache-2.0
#include "daemon/conn/server.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/conn/conn.h"
#include "daemon/conn/session.h"
#include "daemon/source/source.h"
#include "protocol/base/hash.h"

// What a stopping daemon still takes from one socket: more than its buffer holds, so that a
// sender's last lines are in, and bounded, so that one that never stops does not hold us up.
#define LAST_READ_BYTES (1u << 20)

// ---- What comes back from the writer -----------------------------------------------------------

static void go_on_stopping(struct server *server);

static void on_drained(struct hub *hub) {
    struct server *server = NVTXT_CONTAINER_OF(hub, struct server, hub);
    session_send_acks(server);
    if (server->news) {
        server->on_news(server);
    }
    server->news = false;
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

static void on_patience(uv_timer_t *timer);

static void be_patient(struct server *server, const struct quota_user *user) {
    uint64_t ms = quota_wait_ms(user, server->hub.config->max_events_per_second);
    uv_handle_t *handle = (uv_handle_t *)&server->patience;
    if (ms == 0 || uv_is_closing(handle)) {
        return;
    }
    if (!uv_is_active(handle) || uv_timer_get_due_in(&server->patience) > ms) {
        uv_timer_start(&server->patience, on_patience, ms, 0);
    }
}

void server_charge(struct server *server, struct quota_user *user, uint64_t events) {
    bool before = user->full || user->fast;
    quota_check_bytes(user, (size_t)server->hub.config->max_bytes_per_user);
    quota_spend(user, events, server->hub.config->max_events_per_second, clocks_boottime_ns());
    bool after = user->full || user->fast;
    be_patient(server, user);
    if (before == after) {
        return;
    }
    server->hub.stats.pauses += after;
    update_reading(server, user);
}

static void on_patience(uv_timer_t *timer) {
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

// At the stop: nothing is acknowledged, and sessions come again with it.
static void give_up(struct server *server, const struct store_batch_source *share) {
    uint64_t events = share->discarded ? 0 : store_batch_source_events(share);
    server->gave_up = true;
    server->uncommitted += events;
    if (share->source.kind == STORE_SOURCE_PLAIN) {
        server->unwritten += events;
    }
}

static void on_committed(struct batcher *batcher, struct store_batch *batch, int result) {
    struct server *server = NVTXT_CONTAINER_OF(batcher, struct server, hub.batcher);
    give_bytes(server, batch);
    server->news |= result == 0;
    for (struct store_batch_source *share = store_batch_first(batch); share; share = share->next) {
        if (result != 0) {
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

// ---- Life --------------------------------------------------------------------------------------

int server_init(struct server *server, uv_loop_t *loop, const struct conf *config,
                int64_t next_source_id) {
    *server = (struct server){0};
    int r = hub_init(&server->hub, loop, config, next_source_id);
    if (r < 0) {
        return r;
    }
    server->read_buffer = malloc(SERVER_READ_BYTES);
    if (!server->read_buffer) {
        return -ENOMEM;
    }
    r = uv_timer_init(loop, &server->patience);
    if (r < 0) {
        return r;
    }
    server->patience.data = server;
    r = uv_timer_init(loop, &server->parting);
    if (r < 0) {
        return r;
    }
    server->parting.data = server;
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
            server_charge(server, conn->user, 0); // a bound that was raised may free it
        }
    }
}

void server_close_handles(struct server *server) {
    if (server->patience.data) {
        uv_close((uv_handle_t *)&server->patience, NULL);
    }
    if (server->parting.data) {
        uv_close((uv_handle_t *)&server->parting, NULL);
    }
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

// ---- Clients that were told the end -------------------------------------------------------------

static void on_parting(uv_timer_t *timer) {
    struct server *server = timer->data;
    uint64_t now = uv_now(server->hub.loop), next_ms = 0;
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (conn->phase != CONN_PARTING) {
            continue;
        }
        if (conn->part_by_ms <= now) {
            conn_close(conn);
        } else if (next_ms == 0 || conn->part_by_ms < next_ms) {
            next_ms = conn->part_by_ms;
        }
    }
    if (next_ms > 0 && !uv_is_closing((uv_handle_t *)timer)) {
        uv_timer_start(timer, on_parting, next_ms - now, 0);
    }
}

void server_part(struct server *server, struct conn *conn) {
    uv_handle_t *handle = (uv_handle_t *)&server->parting;
    conn->part_by_ms = uv_now(server->hub.loop) + CONN_PARTING_MS;
    if (!uv_is_active(handle) && !uv_is_closing(handle)) {
        uv_timer_start(&server->parting, on_parting, CONN_PARTING_MS, 0);
    }
}

// ---- The orderly stop --------------------------------------------------------------------------

void server_forget(struct server *server, struct conn *conn, struct conn *next) {
    server->conn_count--;
    if (server->cursor == conn) {
        server->cursor = next;
    }
    if (server->stage == SERVER_RUNNING) {
        server->on_room(server);
    } else if (server->stage == SERVER_TELLING) {
        go_on_stopping(server);
    }
}

// One socket after the other, as far as memory allows; goes on when batches come back.
static void read_rest(struct server *server) {
    while (server->cursor && !server->hub.batcher.pressed) {
        struct conn *conn = server->cursor;
        server->cursor = conn->next;
        conn_read_rest(conn, LAST_READ_BYTES);
    }
}

// Plain sources are over; what sessions brought in is settled by the batch.
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

static void tell_sessions(struct server *server) {
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (conn->phase != CONN_LEAVING) {
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
        server->stage = SERVER_TELLING;
        tell_sessions(server);
    }
    if (server->stage == SERVER_TELLING && server->conn_count == 0) {
        server->stage = SERVER_STOPPED;
        server->on_stopped(server);
    }
}

void server_stop(struct server *server) {
    if (server->stage != SERVER_RUNNING) {
        return;
    }
    server->stage = SERVER_READING;
    atomic_store(&server->leaving, true);
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
    server->stage = SERVER_COMMITTING; // the last one to close must not end it before the push
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (conn->session && conn->phase != CONN_LEAVING) {
            session_shut_down(conn); // who does not read just now is not waited for
        }
    }
    while (server->conns) {
        conn_close(server->conns);
    }
    batcher_push(&server->hub.batcher, true); // what was taken goes to the writer before its stop
    server->stage = SERVER_TELLING;
    go_on_stopping(server);
}
