// SPDX-License-Identifier: Apache-2.0
//
// Control commands about what is connected: list it, disconnect it.
#include "daemon/control/control_cmds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/conn/conn.h"
#include "daemon/conn/session.h"
#include "daemon/control/control_json.h"
#include "daemon/source/source.h"

static json_t *describe(const struct source *source) {
    const struct nvtxt_counters *counters = nvtxt_interp_counters(source->interp);
    struct nvtxt_slice display = nvtxt_interp_display_name(source->interp);
    json_t *object = json_pack(
        "{s:I, s:s, s:o, s:o, s:I, s:I, s:I, s:I}", "source", (json_int_t)source->id, "kind",
        source->kind == STORE_SOURCE_SESSION ? "session" : "plain", "session",
        control_nullable(source->session_id), "name", control_nullable(source->name), "lines",
        (json_int_t)counters->lines, "events", (json_int_t)counters->events, "warnings",
        (json_int_t)counters->warnings, "errors", (json_int_t)counters->errors);
    if (!object) {
        return NULL;
    }
    json_object_set_new(object, "display_name",
                        display.len ? json_stringn(display.data, display.len) : json_null());
    control_set(object, "pid", source->peer.pid);
    control_set(object, "uid", source->peer.uid);
    control_set(object, "gid", source->peer.gid);
    json_object_set_new(object, "comm", control_nullable(source->peer.comm));
    control_set(object, "opened_ns", source->opened_ns);
    control_set(object, "bytes", (int64_t)source->bytes);
    return object;
}

void control_sources(struct control_call *call) {
    json_t *list = json_array();
    for (struct conn *conn = call->server->conns; list && conn; conn = conn->next) {
        if (conn->source) {
            json_array_append_new(list, describe(conn->source));
        }
    }
    if (list) {
        control_add_files(list, call->control->watch);
    }
    control_reply(call, list ? json_pack("{s:o}", "sources", list) : NULL);
}

// ---- disconnect ---------------------------------------------------------------------------------

// What the answer will say, while the commit is waited for.
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
    }
    if (job->result != 0) {
        json_decref(disconnected->result);
    }
    free(disconnected);
    free(job);
}

// A session whose end was read is over as soon as that is committed. A client that does not read
// is not waited for.
static void cut(struct conn *conn) {
    if (conn->phase == CONN_ENDING) {
        return;
    }
    log_info("source disconnected on demand source=%" PRId64 " pid=%" PRId64, conn->source->id,
             conn->peer.pid);
    if (conn->session && conn->phase == CONN_OPEN) {
        session_disconnect(conn);
    } else {
        conn_break(conn, "disconnected");
    }
    conn_close(conn);
}

// Cuts it and answers when everything that was read of it is committed. Memory first: afterwards
// nothing may fail.
static void disconnect(struct control_call *call, struct conn *conn) {
    struct job *job = calloc(1, sizeof(*job));
    struct disconnected *disconnected = calloc(1, sizeof(*disconnected));
    json_t *result = json_pack("{s:o}", "source", describe(conn->source));
    if (!job || !disconnected || !result) {
        free(job);
        free(disconnected);
        json_decref(result);
        control_fail(call, NVTXT_CTL_FAILED, "out of memory");
        return;
    }
    *disconnected = (struct disconnected){call, result};
    cut(conn);
    job->kind = JOB_BATCH;
    job->commit = true;
    job->on_done = on_committed;
    job->context = disconnected;
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
