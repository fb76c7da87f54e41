// SPDX-License-Identifier: Apache-2.0
//
// The commands of the control socket: one function each and one row in the table at the end.
// Loop thread; what only the writer knows comes from the figures it published, so that `status`
// answers when the writer is stuck as well.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "daemon/conn.h"
#include "daemon/control.h"
#include "daemon/paths.h"
#include "daemon/session.h"
#include "daemon/source.h"
#include "protocol/utf8.h"

static void run_help(struct control_call *call) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < control_command_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "name", control_commands[i].name,
                                              "help", control_commands[i].help));
    control_reply(call, list ? json_pack("{s:o}", "commands", list) : NULL);
}

// A text of the outside (a path, an error, a name), which may hold any bytes: repaired. NULL when
// memory is short.
static json_t *string_of(const char *text) {
    struct nvtxt_slice bytes = nvtxt_slice_of(text);
    char *valid = malloc(bytes.len * NVTXT_UTF8_GROWTH + 1);
    json_t *string = valid ? json_stringn(valid, nvtxt_utf8_repair(valid, bytes)) : NULL;
    free(valid);
    return string;
}

static json_t *nullable(const char *text) {
    return text && *text ? string_of(text) : json_null();
}

static void set_int(json_t *object, const char *name, int64_t value) {
    json_object_set_new(object, name, json_integer(value));
}

static void add_totals(json_t *result, const struct stats *stats) {
#define X(name, meaning) set_int(result, #name, (int64_t)stats->name);
    STATS(X)
#undef X
}

static void add_rates(json_t *result, struct server *server) {
    struct rates_per_second rates =
        rates_get(&server->batcher.rates, uv_now(server->loop), &server->stats);
    set_int(result, "lines_per_second", (int64_t)rates.lines);
    set_int(result, "events_per_second", (int64_t)rates.events);
    set_int(result, "bytes_per_second", (int64_t)rates.bytes);
}

static void add_writer(json_t *result, struct server *server) {
    struct writer_figures figures;
    bqueue_get_figures(&server->queue, &figures);
    set_int(result, "store_bytes", figures.store_bytes);
    set_int(result, "wal_bytes", figures.wal_bytes);
    set_int(result, "queue_depth", (int64_t)bqueue_depth(&server->queue));
    set_int(result, "bytes_in_flight", (int64_t)server->batcher.in_flight);
    set_int(result, "losses", figures.losses);
    set_int(result, "commits", (int64_t)figures.commits);
    set_int(result, "committed_ns", figures.committed_ns);
    json_object_set_new(result, "in_trouble", json_boolean(figures.in_trouble));
    json_object_set_new(result, "last_error", nullable(figures.last_error));
    if (figures.last_error[0])
        set_int(result, "last_error_ns", figures.last_error_ns);
}

static void run_status(struct control_call *call) {
    struct server *server = call->server;
    const struct conf *config = server->config;
    int64_t uptime = clocks_boottime_ns() - server->started_ns;
    json_t *result = json_pack(
        "{s:s, s:I, s:I, s:o, s:o, s:s}", "version", PACKAGE_VERSION, "pid", (json_int_t)getpid(),
        "uptime_s", (json_int_t)(uptime / 1000000000), "socket", string_of(config->socket), "store",
        string_of(paths_store_file(config)), "synchronous", conf_synchronous_name(config));
    if (result) {
        add_writer(result, server);
        set_int(result, "connections", (int64_t)server->conn_count);
        set_int(result, "sources", (int64_t)server->sources.count);
        set_int(result, "sessions", (int64_t)server->sessions.count);
        add_rates(result, server);
        add_totals(result, &server->stats);
    }
    control_reply(call, result);
}

static json_t *describe(const struct source *source) {
    const struct nvtxt_counters *counters = nvtxt_interp_counters(source->interp);
    struct nvtxt_slice display = nvtxt_interp_display_name(source->interp);
    json_t *object =
        json_pack("{s:I, s:s, s:o, s:o, s:I, s:I, s:I, s:I}", "source", (json_int_t)source->id,
                  "kind", source->kind == STORE_SOURCE_SESSION ? "session" : "plain", "session",
                  nullable(source->session_id), "name", nullable(source->name), "lines",
                  (json_int_t)counters->lines, "events", (json_int_t)counters->events, "warnings",
                  (json_int_t)counters->warnings, "errors", (json_int_t)counters->errors);
    if (!object)
        return NULL;
    json_object_set_new(object, "display_name",
                        display.len ? json_stringn(display.data, display.len) : json_null());
    set_int(object, "pid", source->peer.pid);
    set_int(object, "uid", source->peer.uid);
    set_int(object, "gid", source->peer.gid);
    json_object_set_new(object, "comm", nullable(source->peer.comm));
    set_int(object, "opened_ns", source->opened_ns);
    return object;
}

static void run_sources(struct control_call *call) {
    json_t *list = json_array();
    for (struct conn *conn = call->server->conns; list && conn; conn = conn->next)
        if (conn->source)
            json_array_append_new(list, describe(conn->source));
    control_reply(call, list ? json_pack("{s:o}", "sources", list) : NULL);
}

// ---- health -------------------------------------------------------------------------------------

static json_t *describe_loss(const struct store_loss_row *row) {
    return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:o}", "at_ns", (json_int_t)row->at_ns,
                     "reason", row->reason, "count", (json_int_t)row->count, "source",
                     (json_int_t)row->source_id, "uid", (json_int_t)row->uid, "pid",
                     (json_int_t)row->pid, "name", nullable(row->source));
}

// `losses` is NULL when the store cannot be asked now.
static void answer_health(struct control_call *call, const struct store_losses *losses) {
    struct writer_figures figures;
    bqueue_get_figures(&call->server->queue, &figures);
    json_t *list = losses ? json_array() : json_null();
    for (size_t i = 0; losses && i < losses->count; i++)
        json_array_append_new(list, describe_loss(&losses->rows[i]));
    bool healthy = losses && losses->count == 0 && !figures.in_trouble;
    const char *error = figures.in_trouble ? figures.last_error : NULL;
    control_reply(call,
                  list ? json_pack("{s:b, s:b, s:o, s:I, s:o}", "healthy", healthy, "in_trouble",
                                   figures.in_trouble, "last_error", nullable(error), "total",
                                   (json_int_t)figures.losses, "losses", list)
                       : NULL);
}

static void on_losses(struct job *job) {
    answer_health(job->context, job->result == STORE_DONE ? &job->losses : NULL);
    store_losses_deinit(&job->losses);
    free(job);
}

// A writer in trouble would answer only after it: what is known is told at once then.
static void run_health(struct control_call *call) {
    struct writer_figures figures;
    bqueue_get_figures(&call->server->queue, &figures);
    struct job *job = figures.in_trouble ? NULL : calloc(1, sizeof(*job));
    if (!job) {
        answer_health(call, NULL);
        return;
    }
    job->kind = JOB_LOSSES;
    job->on_done = on_losses;
    job->context = call;
    batcher_push(&call->server->batcher, false);
    server_push(call->server, job);
}

static void on_flushed(struct job *job) {
    struct control_call *call = job->context;
    int result = job->result;
    free(job);
    if (result == 0)
        control_reply(call, json_object());
    else
        control_fail(call, NVTXT_CTL_FAILED, "the store could not be written");
}

static void run_flush(struct control_call *call) {
    struct job *job = calloc(1, sizeof(*job));
    if (!job) {
        control_fail(call, NVTXT_CTL_FAILED, "out of memory");
        return;
    }
    job->kind = JOB_BATCH;
    job->commit = true;
    job->on_done = on_flushed;
    job->context = call;
    batcher_push(&call->server->batcher, true);
    server_push(call->server, job);
}

const struct control_command control_commands[] = {
    {"help", "list the commands", run_help},
    {"status", "the daemon's state, totals and the store's figures", run_status},
    {"sources", "the sources that are connected, with their counters", run_sources},
    {"health", "what could not be kept, and whether the store can be written", run_health},
    {"flush", "commit what came in; answers when it is safe in the store", run_flush},
    {"reload", "read the configuration again; apply what can change while it runs", control_reload},
};
const size_t control_command_count = sizeof(control_commands) / sizeof(control_commands[0]);
