// SPDX-License-Identifier: Apache-2.0
//
// A session is loaded by a job of the writer; its connection may close meanwhile. What the load
// finds decides: a new session, one that is resumed, one that ended before (the client hears that
// again), or a refusal. Commits put sessions on a list of the server, and one acknowledgement for
// all their batches is sent at the end.
#include "daemon/conn/session.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "daemon/base/list.h"
#include "daemon/conn/conn.h"
#include "daemon/conn/server.h"
#include "daemon/source/source.h"
#include "protocol/wire/reply.h"

// Sends the last reply, and closes.
static void close_with_error(struct conn *conn, const char *code, const char *message) {
    nvtxt_reply_error(outq_buffer(&conn->outq), code, message);
    conn_close_after_reply(conn);
}

void session_note_refusal(struct server *server, const struct peer *peer, const char *code,
                          const char *message) {
    char text[256];
    server->hub.stats.connections_refused++;
    log_limited(&server->log_refused, LOG_LEVEL_WARNING,
                "connection refused code=%s uid=%" PRId64 " pid=%" PRId64 " message=\"%s\"", code,
                peer->uid, peer->pid, log_escape(text, sizeof(text), nvtxt_slice_of(message)));
}

void session_refuse(struct conn *conn, const char *code, const char *message) {
    session_note_refusal(conn->server, &conn->peer, code, message);
    close_with_error(conn, code, message);
}

// A client may have sent lines after its hello: they must not keep it from reading the reply.
static void refuse_and_drain(struct conn *conn, const char *code, const char *message) {
    session_note_refusal(conn->server, &conn->peer, code, message);
    nvtxt_reply_error(outq_buffer(&conn->outq), code, message);
    conn_drain_and_close(conn);
}

void session_shut_down(struct conn *conn) {
    close_with_error(conn, NVTXT_ERROR_SHUTTING_DOWN, "the daemon stops; resume later");
}

void session_disconnect(struct conn *conn) {
    close_with_error(conn, NVTXT_ERROR_DISCONNECTED,
                     "the daemon was told to disconnect this source");
}

struct session *session_find(struct server *server, const char *id, int64_t uid) {
    struct session *session;
    NVTXT_HASH_FIND(session, node, &server->sessions, nvtxt_hash_bytes(nvtxt_slice_of(id)),
                    strcmp(session->id, id) == 0 && session->conn->peer.uid == uid);
    return session;
}

// Whether the client is gone. While its socket is not read only the kernel knows.
static bool is_hung_up(struct conn *conn) {
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0) {
        return true;
    }
    struct pollfd poll_fd = {.fd = fd, .events = POLLRDHUP};
    return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLHUP | POLLRDHUP | POLLERR));
}

// The message also says which protocol would be right.
static void refuse_hello(struct conn *conn, const char *code, const char *why) {
    char message[384];
    const struct nvtxt_hello *hello = conn->session ? conn->session->hello : NULL;
    bool is_newer = hello && hello->protocol > NVTXT_PROTOCOL_VERSION;
    snprintf(message, sizeof(message), "%s; this daemon (" PACKAGE_VERSION ") speaks protocol %d%s",
             why, NVTXT_PROTOCOL_VERSION, is_newer ? ": install a newer package nvtxtd" : "");
    refuse_and_drain(conn, code, message);
}

void session_refuse_cut_hello(struct conn *conn) {
    refuse_hello(conn, NVTXT_ERROR_BAD_HELLO, "the line of the hello has no end");
    conn_close_after_reply(conn); // it sends no more: nothing to drain
}

// Writes a welcome. `welcome` says what the session has.
static void greet(struct session *session, int64_t source, uint64_t line,
                  struct nvtxt_welcome welcome) {
    const struct hub *hub = &session->conn->server->hub;
    welcome.session = session->id;
    welcome.source = source;
    welcome.line = line;
    welcome.limits = &hub->limits;
    welcome.synchronous = conf_synchronous_name(hub->config);
    welcome.version = PACKAGE_VERSION;
    welcome.control = hub->config->control_socket;
    welcome.store = hub->config->store;
    nvtxt_reply_welcome(outq_buffer(&session->conn->outq), &welcome);
    session->acked_line = line;
}

static void welcome(struct session *session, int64_t source, uint64_t line,
                    const struct nvtxt_interp *interp) {
    greet(session, source, line,
          (struct nvtxt_welcome){.nvtx = nvtxt_interp_has_nvtx(interp),
                                 .levels = nvtxt_interp_has_levels(interp),
                                 .escapes = nvtxt_interp_has_escapes(interp)});
}

// There is no interpreter: the session would have what the hello asks for.
static void welcome_as_asked(struct session *session, int64_t source, uint64_t line) {
    const struct nvtxt_hello *hello = session->hello;
    greet(session, source, line,
          (struct nvtxt_welcome){
              .nvtx = hello->nvtx > 0, .levels = hello->levels, .escapes = hello->escapes});
}

// It learns who is there, and nothing is left of it.
static void answer_probe(struct session *session) {
    welcome_as_asked(session, 0, 0);
    nvtxt_reply_end(outq_buffer(&session->conn->outq), 0, 0, 0, 0, "");
    conn_drain_and_close(session->conn);
}

void session_begin(struct conn *conn, struct nvtxt_slice line) {
    struct server *server = conn->server;
    char why[256] = "";
    struct session *session = calloc(1, sizeof(*session));
    struct nvtxt_hello *hello = session ? calloc(1, sizeof(*hello)) : NULL;
    if (!hello) {
        free(session);
        conn_close(conn);
        return;
    }
    session->conn = conn;
    session->hello = hello;
    conn->session = session;
    int r = nvtxt_hello_parse(line, hello, why, sizeof(why));
    if (r < 0) {
        conn_close(conn);
        return;
    }
    if (r > 0) {
        bool unsupported = r == NVTXT_HELLO_UNSUPPORTED;
        refuse_hello(conn, unsupported ? NVTXT_ERROR_UNSUPPORTED_PROTOCOL : NVTXT_ERROR_BAD_HELLO,
                     why);
        return;
    }
    memcpy(session->id, hello->session, sizeof(session->id));
    if (hello->is_probe) {
        answer_probe(session);
        return;
    }
    session->wants_diags = hello->diagnostics;
    struct session *older = session_find(server, session->id, conn->peer.uid);
    if (older && is_hung_up(older->conn)) {
        conn_break(older->conn, "closed");
        older = session_find(server, session->id, conn->peer.uid);
    }
    if (older) {
        refuse_and_drain(conn, NVTXT_ERROR_BUSY_SESSION,
                         "the session is connected already; it can be connected once only");
        return;
    }
    if (nvtxt_hash_add(&server->sessions, &session->node,
                       nvtxt_hash_bytes(nvtxt_slice_of(session->id))) < 0) {
        conn_close(conn);
        return;
    }
    session->listed = true;
    session_load(session);
}

static struct nvtxt_source_config source_config(struct conn *conn,
                                                const struct nvtxt_hello *hello) {
    struct server *server = conn->server;
    uint32_t peer_pid = (uint32_t)conn->peer.pid & NVTXT_ID_MAX;
    struct nvtxt_source_config config = {
        .limits = server->hub.limits,
        .default_pid = hello && hello->has_pid ? hello->pid : peer_pid,
        .claim = server->hub.config->claim == CONF_CLAIM_PEER,
        .claimed_pid = peer_pid,
        .opened_ns = conn->accepted_ns,
        .origin_ns = conn->accepted_ns,
        .mapping = hello ? hello->mapping : (struct nvtxt_mapping){0},
        .escapes = hello && hello->escapes,
        .levels = hello && hello->levels,
        .nvtx = hello && hello->nvtx > 0,
        .expiry_s = hello ? hello->expiry : 0,
    };
    if (hello && !hello->bad_parent) {
        memcpy(config.parent, hello->parent, sizeof(config.parent));
    }
    return config;
}

// The welcome is written: lines may come.
static void go_on(struct session *session) {
    struct conn *conn = session->conn;
    struct nvtxt_buf pending = conn->pending;
    conn->pending = (struct nvtxt_buf){0};
    free(session->hello);
    session->hello = NULL;
    conn->phase = CONN_OPEN;
    conn_flush(conn);
    if (conn->phase == CONN_OPEN && source_join_batch(conn->source) < 0) {
        conn_break(conn, "closed");
    }
    if (conn->phase == CONN_OPEN && pending.len > 0) {
        conn_feed(conn, (struct nvtxt_slice){pending.data, pending.len});
    }
    nvtxt_buf_deinit(&pending);
    if (conn->phase != CONN_CLOSED) {
        conn_update_reading(conn);
    }
}

static void open_new(struct session *session) {
    struct conn *conn = session->conn;
    struct server *server = conn->server;
    struct nvtxt_source_config config = source_config(conn, session->hello);
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    int64_t id = server->hub.next_source_id++;
    if (!interp || conn_open_source(conn, id, STORE_SOURCE_SESSION, conn->accepted_ns,
                                    session->hello->name, interp) < 0) {
        conn_close(conn);
        return;
    }
    if (session->hello->bad_parent &&
        source_warn_parent(conn->source, session->hello->parent) < 0) {
        conn_close(conn);
        return;
    }
    server->hub.stats.sessions_new++;
    conn->user->sessions++;
    welcome(session, id, 0, interp);
    go_on(session);
}

static void send_stored_diags(struct session *session, const struct store_session *stored) {
    struct nvtxt_buf *out = outq_buffer(&session->conn->outq);
    for (size_t i = 0; i < stored->diag_count; i++) {
        const struct store_session_diag *diag = &stored->diags[i];
        nvtxt_reply_diagnostic(out, diag->line, diag->column, diag->severity, diag->stage,
                               diag->code, diag->message);
    }
}

int session_give_up(struct server *server, const char *id, const struct store_session *stored,
                    const char *how) {
    struct loss loss = {.uid = stored->uid, .reason = LOSS_SESSION_STATE};
    struct store_source row = {.id = stored->source_id,
                               .kind = STORE_SOURCE_SESSION,
                               .session_id = id,
                               .name = stored->name,
                               .opened_ns = stored->opened_ns};
    int r = source_give_up(&server->hub.batcher, &row, stored, how, &loss);
    if (r < 0) {
        return r;
    }
    parked_take(&server->parked, id, stored->uid);
    log_error("the saved state of a session cannot be read: it ends where it was, at line "
              "%" PRIu64 " session=%s",
              stored->line, id);
    return 0;
}

// The client connects again; perhaps the store can be read then.
static void cannot_load(struct conn *conn, int r) {
    log_limited(&conn->server->log_broken, LOG_LEVEL_ERROR,
                "a session cannot be loaded from the store session=%s result=%d", conn->session->id,
                r);
    conn_close(conn);
}

// Ends it, and loads it again: the client hears of the end when it is durable.
static void give_up(struct session *session, const struct store_session *stored) {
    struct conn *conn = session->conn;
    session->given_up = true;
    if (session_give_up(conn->server, session->id, stored, "lost") < 0) {
        conn_close(conn);
    } else {
        session_load(session);
    }
}

// What a daemon of a newer version saved stays as it is.
static void refuse_newer(struct conn *conn) {
    char message[256];
    snprintf(message, sizeof(message), SOURCE_NEWER("this session") ", and resume it then",
             NVTXT_STATE_VERSION);
    refuse_and_drain(conn, NVTXT_ERROR_UNREADABLE_SESSION, message);
}

static void open_stored(struct session *session, const struct store_session *stored) {
    struct conn *conn = session->conn;
    struct nvtxt_source_config config = source_config(conn, NULL);
    config.began_pid = (uint32_t)stored->pid & NVTXT_ID_MAX;
    struct nvtxt_interp *interp = NULL;
    int r = source_restore(stored, &config, &interp);
    if (r == NVTXT_RESTORE_BAD && !session->given_up) {
        give_up(session, stored);
        return;
    }
    if (r == NVTXT_RESTORE_NEWER) {
        refuse_newer(conn);
        return;
    }
    if (r != 0) {
        cannot_load(conn, r);
        return;
    }
    const char *name = stored->name ?: session->hello->name;
    if (conn_open_source(conn, stored->source_id, STORE_SOURCE_SESSION, stored->opened_ns, name,
                         interp) < 0) {
        conn_close(conn);
        return;
    }
    // Its bytes count with the source now.
    parked_take(&conn->server->parked, session->id, conn->peer.uid);
    conn->server->hub.stats.sessions_resumed++;
    welcome(session, stored->source_id, stored->line, interp);
    send_stored_diags(session, stored);
    go_on(session);
}

// The session has ended before: sends the same totals again, stores nothing.
static void answer_ended(struct session *session, const struct store_session *stored) {
    const struct nvtxt_counters *totals = &stored->counters;
    struct conn *conn = session->conn;
    parked_take(&conn->server->parked, session->id, conn->peer.uid); // it was in another store
    welcome_as_asked(session, stored->source_id, stored->line);
    send_stored_diags(session, stored);
    nvtxt_reply_end(outq_buffer(&session->conn->outq), stored->line, totals->events,
                    totals->warnings, totals->errors,
                    strcmp(stored->how, "end") == 0 ? "" : stored->how);
    conn_drain_and_close(conn);
}

// `kept` is of the time of the load: sessions that began after it are added.
static bool has_enough(const struct session *session, int64_t kept) {
    const struct conn *conn = session->conn;
    uint64_t begun = conn->user->sessions - session->begun_before;
    return kept + (int64_t)begun >= conn->server->hub.config->max_sessions_per_user;
}

// Whether the session may have been there before: the id of a name comes again from a sender that
// knows nothing; a sender that was welcomed says what was acknowledged, if only line 0.
static bool may_be_stored(const struct session *session) {
    return session->id[14] == '5' || session->hello->has_acked; // the version of the UUID
}

static void refuse_unreadable(struct conn *conn, const char *file) {
    char message[1024];
    snprintf(message, sizeof(message),
             "the session may be in %.512s, which cannot be read; it goes on when that file can be "
             "read again, and begins anew when the file is moved out of the store's folder",
             file ?: "a segment of the store");
    refuse_and_drain(conn, NVTXT_ERROR_UNREADABLE_SESSION, message);
}

// Nobody knows it.
static void begin_anew(struct session *session, const struct job *job) {
    struct conn *conn = session->conn;
    parked_take(&conn->server->parked, session->id, conn->peer.uid); // it was in another store
    if (job->result == STORE_UNSURE && may_be_stored(session)) {
        refuse_unreadable(conn, job->answer);
    } else if (has_enough(session, job->kept)) {
        refuse_and_drain(conn, NVTXT_ERROR_QUOTA,
                         "this user has too many sessions that can be resumed");
    } else {
        open_new(session);
    }
}

void session_on_loaded(struct job *job) {
    struct server *server = job->context;
    struct session *session = session_find(server, job->session_id, job->uid);
    if (session && session->loading == job) { // else its connection has closed meanwhile
        struct conn *conn = session->conn;
        session->loading = NULL;
        const struct store_session *stored = &job->session;
        if (server->stage != SERVER_RUNNING) {
            session_shut_down(conn);
        } else if (job->result == STORE_NOT_FOUND || job->result == STORE_UNSURE) {
            begin_anew(session, job);
        } else if (job->result == STORE_BUSY) {
            refuse_and_drain(conn, NVTXT_ERROR_BUSY_SESSION,
                             "the session may be in a segment of the store that another process "
                             "has locked: try again when that process is done");
        } else if (job->result != STORE_DONE) {
            cannot_load(conn, job->result);
        } else if (stored->ended) {
            answer_ended(session, stored);
        } else {
            open_stored(session, stored);
        }
    }
    if (job->result == STORE_DONE) {
        store_session_deinit(&job->session);
    }
    session_load_next(server, job->uid, job->bytes);
    free(job->answer);
    free(job);
}

void session_end(struct conn *conn) {
    if (source_end(conn->source, "end") < 0) {
        conn_break(conn, "closed");
        return;
    }
    conn->server->hub.stats.sessions_ended++;
    conn->phase = CONN_ENDING;
    batcher_push(&conn->server->hub.batcher, true);
}

static bool is_all_acked(const struct session *session) {
    return session->acked_line >= nvtxt_interp_counters(session->conn->source->interp)->lines;
}

void session_half_close(struct conn *conn) {
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0 || !peer_may_read(fd)) {
        return;
    }
    if (is_all_acked(conn->session)) {
        if (!outq_is_empty(&conn->outq)) {
            conn_close_after_reply(conn);
        }
        return;
    }
    conn->session->half_closed = true;
    conn->phase = CONN_ENDING;
    batcher_push(&conn->server->hub.batcher, true);
}

static struct session *find_by_source(struct server *server, int64_t id) {
    struct source *source = source_find(&server->hub.sources, id);
    return source ? ((struct conn *)source->owner)->session : NULL;
}

void session_committed(struct server *server, const struct store_batch_source *share) {
    struct session *session = find_by_source(server, share->id);
    if (session && share->discarded) {
        // Not even its progress is in the store: the client connects again and resumes.
        log_limited(&server->log_broken, LOG_LEVEL_ERROR,
                    "the store refuses all of a session, its connection is closed session=%s",
                    session->id);
        conn_close(session->conn);
        return;
    }
    if (!session) {
        return;
    }
    struct nvtxt_buf *out = outq_buffer(&session->conn->outq);
    for (const struct store_diag *diag = share->diags; diag && session->wants_diags;
         diag = diag->next) {
        nvtxt_reply_diagnostic(out, diag->line, diag->column,
                               nvtxt_severity_name(nvtxt_diag_severity(diag->code)),
                               nvtxt_stage_name(nvtxt_diag_stage(diag->code)),
                               nvtxt_diag_code_name(diag->code), diag->message);
    }
    session->committed_line = share->counters.lines;
    if (share->ended) {
        session->end_committed = true;
        session->totals = share->counters;
    }
    if (session->has_answer) {
        return;
    }
    session->has_answer = true;
    session->next_to_answer = server->to_answer;
    server->to_answer = session;
}

void session_send_acks(struct server *server) {
    struct session *session;
    while ((session = server->to_answer)) {
        server->to_answer = session->next_to_answer;
        session->has_answer = false;
        struct conn *conn = session->conn;
        struct nvtxt_buf *out = outq_buffer(&conn->outq);
        if (session->committed_line > session->acked_line) {
            session->acked_line = session->committed_line;
            nvtxt_reply_ack(out, session->acked_line);
        }
        if (session->end_committed) {
            const struct nvtxt_counters *totals = &session->totals;
            nvtxt_reply_end(out, totals->lines, totals->events, totals->warnings, totals->errors,
                            "");
            conn_close_after_reply(conn);
        } else if (session->half_closed && is_all_acked(session)) {
            conn_close_after_reply(conn);
        } else {
            conn_flush(conn);
        }
    }
}

void session_free(struct session *session) {
    if (!session) {
        return;
    }
    struct server *server = session->conn->server;
    if (session->waits_to_load) {
        session_stop_waiting(server, session);
    }
    if (session->listed) {
        nvtxt_hash_remove(&server->sessions, &session->node);
    }
    if (session->has_answer) {
        LIST_UNLINK(server->to_answer, session, next_to_answer);
    }
    free(session->hello);
    free(session);
}
