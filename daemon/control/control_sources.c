// SPDX-License-Identifier: Apache-2.0
//
// The commands `sources` and `disconnect`, and what `status` says of watched folders. A source is a
// connection or a followed file; both are described by the same members. `disconnect` closes the
// connection first and answers when everything that was read from it is committed.
#include "daemon/control/control_cmds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/conn/conn.h"
#include "daemon/conn/session.h"
#include "daemon/follow/watch_state.h"
#include "daemon/source/source.h"

// ---- sources ------------------------------------------------------------------------------------

struct described {
    const char *kind, *session, *name, *comm; // each but `kind` may be NULL
    const struct nvtxt_counters *counters;
    struct nvtxt_slice display_name;
    int64_t id, pid, uid, gid, opened_ns, bytes;
};

static json_t *describe(const struct described *source) {
    return json_pack(
        "{s:I, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:o, s:I, s:I}", "source",
        (json_int_t)source->id, "kind", source->kind, "session", control_nullable(source->session),
        "name", control_nullable(source->name), "lines", (json_int_t)source->counters->lines,
        "events", (json_int_t)source->counters->events, "warnings",
        (json_int_t)source->counters->warnings, "errors", (json_int_t)source->counters->errors,
        "display_name", control_nullable_slice(source->display_name), "pid",
        (json_int_t)source->pid, "uid", (json_int_t)source->uid, "gid", (json_int_t)source->gid,
        "comm", control_nullable(source->comm), "opened_ns", (json_int_t)source->opened_ns, "bytes",
        (json_int_t)source->bytes);
}

static json_t *describe_connected(const struct source *source) {
    const struct peer *peer = &source->peer;
    return describe(&(struct described){
        .id = source->id,
        .kind = source->kind == STORE_SOURCE_SESSION ? "session" : "plain",
        .session = source->session_id,
        .name = source->name,
        .counters = nvtxt_interp_counters(source->interp),
        .display_name = nvtxt_interp_display_name(source->interp),
        .pid = peer->pid,
        .uid = peer->uid,
        .gid = peer->gid,
        .comm = peer->comm,
        .opened_ns = source->opened_ns,
        .bytes = (int64_t)source->bytes,
    });
}

static json_t *describe_file(const struct follow *follow) {
    const struct source *source = follow->live ? follow->live->source : NULL;
    struct described file = {
        .id = follow->source_id,
        .kind = "file",
        .name = follow->path,
        .counters = source ? nvtxt_interp_counters(source->interp) : &follow->counters,
        .uid = follow->uid,
        .gid = follow->gid,
        .opened_ns = follow->opened_ns,
        .bytes = (int64_t)follow->at.offset,
    };
    if (source) {
        file.display_name = nvtxt_interp_display_name(source->interp);
    }
    return describe(&file);
}

void control_sources(struct control_call *call) {
    const struct follow *follow = call->control->watch->known.first;
    json_t *list = json_array();
    for (struct conn *conn = call->server->conns; list && conn; conn = conn->next) {
        if (conn->source) {
            json_array_append_new(list, describe_connected(conn->source));
        }
    }
    for (; list && follow; follow = follow->next) {
        if (follow->source_id && !follow->ended) {
            json_array_append_new(list, describe_file(follow));
        }
    }
    control_reply(call, list ? json_pack("{s:o}", "sources", list) : NULL);
}

void control_add_folders(json_t *status, const struct watch *watch) {
    json_t *list = json_array();
    for (const struct folder *folder = watch->folders; list && folder; folder = folder->next) {
        json_t *row = json_pack("{s:o, s:b, s:I}", "path", control_text(folder->path), "watched",
                                folder->up, "files", (json_int_t)folder->names.count);
        if (row && folder->passed_over > 0) {
            json_object_set_new(row, "passed_over", json_integer((json_int_t)folder->passed_over));
        }
        json_array_append_new(list, row);
    }
    json_object_set_new(status, "files", json_integer((json_int_t)watch->known.count));
    json_object_set_new(status, "folders", list);
}

// ---- disconnect ---------------------------------------------------------------------------------

// The answer, until the commit is done.
struct disconnected {
    struct control_call *call;
    json_t *result; // owned
};

static void on_committed(struct job *job) {
    struct disconnected *disconnected = job->context;
    if (job->result == 0) {
        control_reply(disconnected->call, disconnected->result);
    } else {
        control_fail(disconnected->call, NVTXT_CTL_FAILED,
                     "the source is disconnected, but the store could not be written");
        json_decref(disconnected->result);
    }
    free(disconnected);
    free(job);
}

// A session whose end was read is left alone: it is over as soon as that is committed. Nothing here
// waits for a client that does not read.
static void cut(struct conn *conn) {
    if (conn->phase == CONN_ENDING) {
        return;
    }
    log_info("connection closed by the control command disconnect source=%" PRId64 " pid=%" PRId64,
             conn->source->id, conn->peer.pid);
    if (conn->session && conn->phase == CONN_OPEN) {
        session_disconnect(conn);
    } else {
        conn_break(conn, "disconnected");
    }
    conn_close(conn);
}

// All memory is taken first: once the connection is closed, nothing may fail.
static void disconnect(struct control_call *call, struct conn *conn) {
    struct disconnected *disconnected = calloc(1, sizeof(*disconnected));
    struct job *job = job_new(JOB_BATCH, on_committed, disconnected);
    json_t *result = json_pack("{s:o}", "source", describe_connected(conn->source));
    if (!job || !disconnected || !result) {
        free(job);
        free(disconnected);
        json_decref(result);
        control_reply(call, NULL);
        return;
    }
    *disconnected = (struct disconnected){call, result};
    cut(conn);
    job->commit = true;
    batcher_push(&call->server->hub.batcher, true);
    hub_push(&call->server->hub, job);
}

void control_disconnect(struct control_call *call) {
    struct server *server = call->server;
    int64_t id = nvtxt_ctl_integer(call->request.object, "source", 0);
    struct source *source = source_find(&server->hub.sources, id);
    char why[128];
    if (source && source->kind != STORE_SOURCE_FILE) {
        disconnect(call, source->owner);
        return;
    }
    snprintf(why, sizeof(why),
             source ? "source %" PRId64 " is a followed file, not a connection"
                    : "no source %" PRId64 " is connected; \"sources\" lists those that are",
             id);
    control_fail(call, NVTXT_CTL_FAILED, why);
}
