// SPDX-License-Identifier: Apache-2.0
//
// Each connection is read once in an iteration of the loop, with a buffer of the server; after that
// on_alloc() gives libuv no buffer, so that the others come first. Lines go to the source, or to
// the session when they are a hello or an end. After each read the rows that the source has made
// are counted for its user. At the end of a stream a plain source ends with what was read.
#include "daemon/conn/conn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/list.h"
#include "daemon/conn/server.h"
#include "daemon/conn/session.h"
#include "daemon/source/source.h"
#include "protocol/base/origin.h"
#include "protocol/wire/reply.h"

#define STATE_BYTES_PER_ROW 256 // about what an event takes in the store, with its text

// ---- Reading ------------------------------------------------------------------------------------

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)suggested;
    struct conn *conn = handle->data;
    if (conn->read_at == conn->server->hub.loop_count) { // the others first
        *buffer = uv_buf_init(NULL, 0);
        return;
    }
    size_t size =
        conn->phase == CONN_FIRST_LINE ? CONN_FIRST_READ_BYTES : (size_t)SERVER_READ_BYTES;
    *buffer = uv_buf_init(conn->server->read_buffer, (unsigned)size);
}

static void on_eof(struct conn *conn);

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer) {
    struct conn *conn = stream->data;
    if (n == UV_ENOBUFS) {
        return; // it was read in this iteration
    }
    conn->read_at = conn->server->hub.loop_count;
    if (n > 0) {
        conn_feed(conn, (struct nvtxt_slice){buffer->base, (size_t)n});
    } else if (n < 0) {
        on_eof(conn);
    }
}

void conn_update_reading(struct conn *conn) {
    struct server *server = conn->server;
    bool takes =
        !server->hub.batcher.pressed && !(conn->user && (conn->user->full || conn->user->fast)) &&
        (conn->phase == CONN_FIRST_LINE || conn->phase == CONN_OPEN || conn->phase == CONN_ENDING);
    bool wanted = server->stage == SERVER_RUNNING && (takes || conn->phase == CONN_DRAINING);
    if (wanted == conn->reading || conn->phase == CONN_CLOSED) {
        return;
    }
    if (!wanted) {
        uv_read_stop((uv_stream_t *)&conn->pipe);
    } else if (uv_read_start((uv_stream_t *)&conn->pipe, on_alloc, on_read) < 0) {
        return; // the peer is gone: found out by a write, or by the next hello of the session
    }
    conn->reading = wanted;
}

void conn_read_rest(struct conn *conn, size_t limit) {
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0) {
        return;
    }
    while (limit > 0 && (conn->phase == CONN_FIRST_LINE || conn->phase == CONN_OPEN)) {
        size_t size = limit < SERVER_READ_BYTES ? limit : (size_t)SERVER_READ_BYTES;
        ssize_t n = read(fd, conn->server->read_buffer, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return; // there is nothing more to read
        }
        if (n == 0) {
            on_eof(conn);
            return;
        }
        limit -= (size_t)n;
        conn_feed(conn, (struct nvtxt_slice){conn->server->read_buffer, (size_t)n});
    }
}

// ---- Lines --------------------------------------------------------------------------------------

static void on_failed(struct source *source) {
    struct conn *conn = source->owner;
    log_limited(&conn->server->hub.log_memory, LOG_LEVEL_ERROR,
                "connection dropped: out of memory");
    conn_close(conn);
}

int conn_open_source(struct conn *conn, int64_t id, enum store_source_kind kind, int64_t opened_ns,
                     const char *name, struct nvtxt_interp *interp_take) {
    struct server *server = conn->server;
    struct source *source = source_new(&server->hub.batcher, id, kind, interp_take);
    if (!source) {
        return nvtxt_origin(-ENOMEM);
    }
    source->peer = conn->peer;
    source->opened_ns = opened_ns;
    source->owner = conn;
    source->on_failed = on_failed;
    source->user = conn->user;
    source->claims.claimed = server->hub.config->claim == CONF_CLAIM_PEER;
    conn->events = nvtxt_interp_counters(interp_take)->events;
    source->session_id = conn->session ? conn->session->id : NULL;
    if (source_set_name(source, name) < 0 ||
        nvtxt_hash_add(&server->hub.sources, &source->by_id, nvtxt_hash_number((uint64_t)id)) < 0) {
        source_free(source);
        return nvtxt_origin(-ENOMEM);
    }
    conn->source = source;
    source_count_held(source);
    hub_refresh_clocks(&server->hub, source);
    return claims_take_peer(&source->claims, conn->accepted_changes);
}

static int open_plain(struct conn *conn) {
    struct server *server = conn->server;
    uint32_t peer_pid = (uint32_t)conn->peer.pid & NVTXT_ID_MAX;
    struct nvtxt_source_config config = {
        .limits = server->hub.limits,
        .default_pid = peer_pid,
        .claim = server->hub.config->claim == CONF_CLAIM_PEER,
        .claimed_pid = peer_pid,
        .opened_ns = conn->accepted_ns,
        .origin_ns = conn->accepted_ns,
    };
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    if (!interp || conn_open_source(conn, server->hub.next_source_id++, STORE_SOURCE_PLAIN,
                                    conn->accepted_ns, NULL, interp) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    conn->phase = CONN_OPEN;
    return 0;
}

static void note_loss(struct conn *conn, const char *reason) {
    batcher_lose(&conn->server->hub.batcher, &(struct loss){
                                                 .at_ns = nvtxt_realtime_ns(),
                                                 .source_id = conn->source ? conn->source->id : 0,
                                                 .uid = conn->peer.uid,
                                                 .pid = conn->peer.pid,
                                                 .reason = reason,
                                                 .count = 1,
                                             });
}

// A session sends again what was not committed; what a plain source loses is noted as a loss: here,
// or when the source with the share that failed is settled.
void conn_fail(struct conn *conn) {
    struct server *server = conn->server;
    log_limited(&server->hub.log_memory, LOG_LEVEL_ERROR,
                "connection dropped: out of memory uid=%" PRId64 " pid=%" PRId64, conn->peer.uid,
                conn->peer.pid);
    if (!conn->session && !(conn->source && conn->source->failed && conn->source->member.share)) {
        note_loss(conn, LOSS_MEMORY);
    }
    conn_close(conn);
}

// Lines that its client dropped. The row of this loss goes into the batch that counts the line, so
// that it is written once, however often the line is sent.
static int take_lost(struct conn *conn, struct nvtxt_slice line) {
    struct nvtxt_lost lost;
    int r = nvtxt_lost_parse(line, &lost);
    if (r <= 0) {
        return r;
    }
    conn->losses_reported++;
    return store_batch_source_loss(conn->source->member.share, nvtxt_realtime_ns(), lost.reason,
                                   lost.lines);
}

// The key of the range of the next line.
static int take_keyed(struct conn *conn, struct nvtxt_slice line) {
    struct nvtxt_keyed keyed;
    int r = nvtxt_keyed_parse(line, &keyed);
    if (r <= 0) {
        return r;
    }
    nvtxt_interp_next_range(conn->source->interp, keyed.key, keyed.bad_parent ? "" : keyed.parent);
    return keyed.bad_parent ? source_warn_parent(conn->source, keyed.parent) : 0;
}

// A line of a session. Some comments are messages of its client.
static int take_session_line(struct conn *conn, struct nvtxt_slice line) {
    int r = source_line(conn->source, line);
    if (r < 0 || line.len == 0 || line.data[0] != '#') {
        return r;
    }
    r = take_lost(conn, line);
    r = r ?: take_keyed(conn, line);
    if (r < 0) {
        source_fail(conn->source);
    }
    return r;
}

static void take_line(struct conn *conn, struct nvtxt_slice line, bool overlong) {
    if (conn->phase == CONN_FIRST_LINE) {
        if (nvtxt_hello_is(line)) {
            session_begin(conn, line);
            return;
        }
        if (open_plain(conn) < 0) {
            conn_fail(conn);
            return;
        }
    }
    if (conn->session && !overlong && nvtxt_slice_equal(line, NVTXT_SLICE(NVTXT_END_LINE))) {
        session_end(conn);
        return;
    }
    int r = overlong        ? source_overlong(conn->source, line)
            : conn->session ? take_session_line(conn, line)
                            : source_line(conn->source, line);
    if (r < 0) {
        conn_fail(conn);
    } else {
        batcher_check(&conn->server->hub.batcher);
    }
}

// A line that begins like a hello and is too long for one.
static bool is_endless_hello(struct conn *conn) {
    if (conn->phase != CONN_FIRST_LINE) {
        return false;
    }
    struct nvtxt_slice start = nvtxt_frame_pending(&conn->frame);
    return start.len > NVTXT_HELLO_BYTES && nvtxt_hello_is(start);
}

static void count_partial(struct conn *conn, size_t partial) {
    if (conn->user) {
        conn->user->partial += partial - conn->partial;
    }
    conn->partial = partial;
}

// Returns how many rows its source has made since the last call: events, names, diagnostics,
// losses, the row of the source, and what was saved of its state, as rows of the usual size.
static uint64_t take_new_rows(struct conn *conn) {
    if (!conn->source) {
        return 0;
    }
    uint64_t events = nvtxt_interp_counters(conn->source->interp)->events;
    uint64_t rows = nvtxt_interp_rows(conn->source->interp) + 1;
    uint64_t more = events - conn->events + rows - conn->rows + conn->losses_reported;
    more += conn->source->state_bytes / STATE_BYTES_PER_ROW;
    conn->source->state_bytes %= STATE_BYTES_PER_ROW;
    conn->losses_reported = 0;
    conn->events = events;
    conn->rows = rows;
    return more;
}

// A line that may be so long may come, if it is the user's only one.
static size_t partial_max(const struct conf *config) {
    int64_t most = config->max_bytes_per_user;
    return (size_t)(most > config->max_line ? most : config->max_line);
}

// Counts for its user what was read. Refuses unfinished lines that are too long in sum.
static void charge(struct conn *conn) {
    struct server *server = conn->server;
    if (!conn->user) {
        return;
    }
    count_partial(conn, nvtxt_frame_pending(&conn->frame).len);
    server_charge(server, conn->user, take_new_rows(conn));
    if (conn->partial == 0 || conn->user->partial <= partial_max(server->hub.config)) {
        return;
    }
    if (!conn->session) {
        note_loss(conn, LOSS_QUOTA);
        nvtxt_frame_deinit(&conn->frame);
        nvtxt_frame_init(&conn->frame, server->hub.limits.line_bytes);
        if (conn->phase == CONN_OPEN && source_end(conn->source, "quota") < 0) {
            conn_fail(conn);
            return;
        }
    }
    session_refuse(conn, NVTXT_ERROR_QUOTA, "unfinished lines of this user take too much memory");
}

void conn_feed(struct conn *conn, struct nvtxt_slice input) {
    struct server *server = conn->server;
    server->hub.stats.bytes += input.len;
    if (conn->user) {
        conn->user->held_max = (size_t)server->hub.config->max_open_bytes_per_user;
    }
    if (conn->source) {
        hub_refresh_clocks(&server->hub, conn->source);
    }
    while (conn->phase == CONN_FIRST_LINE || conn->phase == CONN_OPEN) {
        struct nvtxt_slice line;
        int r = nvtxt_frame_next(&conn->frame, &input, &line);
        if (r < 0) {
            conn_fail(conn);
        } else if (r == NVTXT_FRAME_MORE) {
            if (is_endless_hello(conn)) {
                session_begin(conn, nvtxt_frame_pending(&conn->frame));
            }
            break;
        } else {
            take_line(conn, line, r == NVTXT_FRAME_OVERLONG);
        }
    }
    if (conn->phase == CONN_LOADING && input.len > 0) {
        nvtxt_buf_add(&conn->pending, input.data, input.len);
        if (nvtxt_buf_failed(&conn->pending)) {
            conn_close(conn);
        }
    }
    if (conn->phase == CONN_FIRST_LINE || conn->phase == CONN_OPEN) {
        charge(conn);
    }
    if (conn->phase != CONN_CLOSED) {
        conn_update_reading(conn);
    }
}

// ---- Ends ---------------------------------------------------------------------------------------

static void on_eof(struct conn *conn) {
    if (conn->phase == CONN_OPEN && conn->session) {
        session_half_close(conn);
    }
    if (conn->phase == CONN_ENDING || conn->phase == CONN_LAST_REPLY) {
        // It has sent everything and may still read.
        uv_read_stop((uv_stream_t *)&conn->pipe);
        conn->reading = false;
        return;
    }
    if (conn->phase == CONN_DRAINING) {
        conn_close_after_reply(conn);
    } else if (conn->phase == CONN_FIRST_LINE &&
               nvtxt_hello_is(nvtxt_frame_pending(&conn->frame))) {
        session_refuse_cut_hello(conn);
    } else {
        conn_break(conn, "closed");
    }
}

// The last line without LF, and the end of a plain source. When the daemon ends it, that line is
// cut, and half a line would be a wrong one: it is noted as a loss instead.
static void end_plain(struct conn *conn, const char *how) {
    struct nvtxt_slice line;
    bool whole = strcmp(how, "closed") == 0;
    int r = whole ? nvtxt_frame_finish(&conn->frame, &line) : NVTXT_FRAME_MORE;
    if (r < 0) {
        conn_fail(conn);
        return;
    }
    struct nvtxt_slice rest = nvtxt_frame_pending(&conn->frame);
    if (conn->phase == CONN_FIRST_LINE && r == NVTXT_FRAME_MORE &&
        (rest.len == 0 || nvtxt_hello_is(rest))) {
        return; // it sent nothing, or a part of a hello: there is no source
    }
    if (!whole && rest.len > 0) {
        note_loss(conn, LOSS_PARTIAL_LINE);
    }
    if (conn->phase == CONN_FIRST_LINE && open_plain(conn) < 0) {
        conn_fail(conn);
        return;
    }
    if (r != NVTXT_FRAME_MORE) {
        take_line(conn, line, r == NVTXT_FRAME_OVERLONG);
    }
    if (conn->phase == CONN_OPEN && source_end(conn->source, how) < 0) {
        conn_fail(conn);
    }
}

void conn_break(struct conn *conn, const char *how) {
    if (conn->phase == CONN_CLOSED) {
        return;
    }
    if (!conn->session && (conn->phase == CONN_FIRST_LINE || conn->phase == CONN_OPEN)) {
        end_plain(conn, how);
    }
    conn_close(conn);
}

static void on_closed(uv_handle_t *handle) {
    struct conn *conn = handle->data;
    outq_deinit(&conn->outq);
    nvtxt_frame_deinit(&conn->frame);
    nvtxt_buf_deinit(&conn->pending);
    free(conn);
}

// Settles and frees its source. What a session that can be resumed has open stays in the store.
static void close_source(struct conn *conn) {
    struct server *server = conn->server;
    struct source *source = conn->source;
    uint64_t rows = conn->user ? take_new_rows(conn) : 0;
    if (rows > 0) {
        server_charge(server, conn->user, rows);
    }
    batcher_settle(&source->member);
    bool is_waiting = conn->session && !source->over;
    size_t held = source->held;
    source_release_held(source);
    if (is_waiting) {
        parked_put(&server->parked, conn->session->id, conn->peer.uid, held, nvtxt_realtime_ns(),
                   nvtxt_interp_expiry(source->interp));
    }
    nvtxt_hash_remove(&server->hub.sources, &source->by_id);
    source_free(source);
    conn->source = NULL;
}

void conn_close(struct conn *conn) {
    if (conn->phase == CONN_CLOSED) {
        return;
    }
    conn->phase = CONN_CLOSED;
    struct server *server = conn->server;
    if (conn->source) {
        close_source(conn);
    }
    count_partial(conn, 0);
    quota_give(&server->quota, conn->user);
    conn->user = NULL;
    session_free(conn->session);
    conn->session = NULL;
    LIST_REMOVE(server->conns, conn);
    uv_close((uv_handle_t *)&conn->pipe, on_closed);
    server_forget(server, conn);
}

// The client is gone, or has closed its reading side. What it sent before that counts, so it is
// read to the end; but replies are dropped.
static void stop_answering(struct conn *conn) {
    outq_abandon(&conn->outq);
    if (conn->phase == CONN_LAST_REPLY || conn->phase == CONN_DRAINING) {
        conn_close(conn);
    }
}

// Ends the stream for the client; nothing is written after that.
static void end_stream(struct conn *conn) {
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0 || shutdown(fd, SHUT_WR) < 0) {
        conn_close(conn);
    }
}

static void on_drained(struct outq *outq, int status) {
    struct conn *conn = NVTXT_CONTAINER_OF(outq, struct conn, outq);
    if (status < 0) {
        stop_answering(conn);
    } else if (conn->phase == CONN_LAST_REPLY) {
        conn_close(conn);
    } else if (conn->phase == CONN_DRAINING) {
        end_stream(conn);
    }
}

void conn_flush(struct conn *conn) {
    if (conn->phase == CONN_CLOSED) {
        return;
    }
    int r = outq_flush(&conn->outq);
    if (r == OUTQ_UNREAD) {
        conn->server->hub.stats.slow_readers++;
        log_limited(&conn->server->log_broken, LOG_LEVEL_WARNING,
                    "client given up: it does not read its replies uid=%" PRId64 " pid=%" PRId64,
                    conn->peer.uid, conn->peer.pid);
    }
    if (r == OUTQ_UNREAD || r < 0) {
        conn_break(conn, "closed");
    } else if (r == OUTQ_BROKEN) {
        stop_answering(conn);
    }
}

void conn_close_after_reply(struct conn *conn) {
    if (conn->phase == CONN_CLOSED) {
        return;
    }
    conn->phase = CONN_LAST_REPLY;
    conn_update_reading(conn);
    conn_flush(conn);
    if (conn->phase == CONN_LAST_REPLY && outq_is_empty(&conn->outq)) {
        conn_close(conn);
    }
}

void conn_drain_and_close(struct conn *conn) {
    if (conn->phase == CONN_CLOSED) {
        return;
    }
    session_free(conn->session);
    conn->session = NULL;
    conn->phase = CONN_DRAINING;
    server_drain(conn->server, conn);
    conn_update_reading(conn);
    conn_flush(conn);
    if (conn->phase == CONN_DRAINING && outq_is_empty(&conn->outq)) {
        end_stream(conn);
    }
}

// ---- Life ---------------------------------------------------------------------------------------

int conn_prepare(struct server *server) {
    if (!server->spare) {
        server->spare = calloc(1, sizeof(*server->spare));
    }
    return server->spare ? 0 : nvtxt_origin(-ENOMEM);
}

struct conn *conn_new(struct server *server, int fd_take) {
    struct conn *conn = server->spare;
    server->spare = NULL;
    uv_pipe_init(server->hub.loop, &conn->pipe, 0); // cannot fail
    conn->pipe.data = conn;
    conn->server = server;
    conn->accepted_ns = nvtxt_realtime_ns();
    conn->accepted_changes = server->hub.owners.changes;
    nvtxt_frame_init(&conn->frame, server->hub.limits.line_bytes);
    outq_init(&conn->outq, (uv_stream_t *)&conn->pipe, OUTQ_LIMIT_BYTES, on_drained);
    LIST_ADD(server->conns, conn);
    server->conn_count++;
    if (uv_pipe_open(&conn->pipe, fd_take) == 0) {
        return conn;
    }
    close(fd_take); // after a success the handle owns it
    conn_close(conn);
    return NULL;
}
