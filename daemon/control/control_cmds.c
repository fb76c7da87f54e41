// SPDX-License-Identifier: Apache-2.0
//
// The table of the commands, at the end, and the functions of the small ones: `help`, `status`,
// `health`, `log-level`, `reload`. What only the writer knows comes from the state that it
// published, so `status` answers also when the writer hangs.
#include "daemon/control/control_cmds.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "daemon/base/log.h"
#include "protocol/base/clock.h"

static json_t *describe_args(const struct nvtxt_ctl_arg *args) {
    json_t *list = json_array();
    for (; list && args && args->name; args++) {
        json_t *arg = json_pack("{s:s, s:s, s:b}", "name", args->name, "type",
                                nvtxt_ctl_type_name(args->type), "required", args->required);
        if (arg && args->words) {
            json_object_set_new(arg, "words", json_string(args->words));
        }
        json_array_append_new(list, arg);
    }
    return list;
}

static json_t *describe(const struct control_command *command) {
    bool all = command->rights == RIGHTS_OPERATOR;
    return json_pack("{s:s, s:s, s:s, s:o}", "name", command->name, "for",
                     all ? "operators" : "readers", "help", command->help, "arguments",
                     describe_args(command->args));
}

static void run_help(struct control_call *call) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < call->control->command_count; i++) {
        json_array_append_new(list, describe(&call->control->commands[i]));
    }
    control_reply(call, list ? json_pack("{s:o}", "commands", list) : NULL);
}

static void add_totals(json_t *result, const struct stats *stats) {
#define X(name, meaning) control_set(result, #name, (int64_t)stats->name);
    STATS(X)
#undef X
}

static void add_rates(json_t *result, struct server *server) {
    struct rates_per_second rates =
        rates_get(&server->hub.batcher.rates, uv_now(server->hub.loop), &server->hub.stats);
    control_set(result, "lines_per_second", (int64_t)rates.lines);
    control_set(result, "events_per_second", (int64_t)rates.events);
    control_set(result, "bytes_per_second", (int64_t)rates.bytes);
}

static void add_writer(json_t *result, struct server *server) {
    struct writer_state state;
    bqueue_get_state(&server->hub.queue, &state);
    control_set(result, "store_bytes", state.store_bytes);
    control_set(result, "wal_bytes", state.wal_bytes);
    json_object_set_new(result, "segment", control_nullable(state.segment));
    control_set(result, "old_segments", state.old_segments);
    control_set(result, "old_segments_bytes", state.old_bytes);
    control_set(result, "rotations", (int64_t)state.rotations);
    json_object_set_new(result, "removed", control_removed(&state.removed));
    control_set(result, "queue_depth", (int64_t)bqueue_depth(&server->hub.queue));
    control_set(result, "bytes_in_flight", (int64_t)server->hub.batcher.in_flight);
    control_set(result, "losses", state.losses);
    control_set(result, "commits", (int64_t)state.commits);
    control_set(result, "committed_ns", state.committed_ns);
    json_object_set_new(result, "in_trouble", json_boolean(state.in_trouble));
    json_object_set_new(result, "last_error", control_nullable(state.last_error));
    if (state.last_error[0]) {
        control_set(result, "last_error_ns", state.last_error_ns);
    }
}

static void run_status(struct control_call *call) {
    struct server *server = call->server;
    const struct conf *config = server->hub.config;
    int64_t uptime = nvtxt_boottime_ns() - server->hub.started_ns;
    json_t *result = json_pack(
        "{s:s, s:I, s:I, s:o, s:o, s:s}", "version", PACKAGE_VERSION, "pid", (json_int_t)getpid(),
        "uptime_s", (json_int_t)(uptime / 1000000000), "socket", control_text(config->socket),
        "store", control_text(config->store), "synchronous", conf_synchronous_name(config));
    if (result) {
        add_writer(result, server);
        control_set(result, "connections", (int64_t)server->conn_count);
        control_set(result, "sources", (int64_t)server->hub.sources.count);
        control_set(result, "sessions", (int64_t)server->sessions.count);
        control_add_folders(result, call->control->watch);
        add_rates(result, server);
        add_totals(result, &server->hub.stats);
    }
    control_reply(call, result);
}

// ---- health -------------------------------------------------------------------------------------

static json_t *describe_loss(const struct store_loss_row *row) {
    return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:o}", "at_ns", (json_int_t)row->at_ns,
                     "reason", row->reason, "count", (json_int_t)row->count, "source",
                     (json_int_t)row->source_id, "uid", (json_int_t)row->uid, "pid",
                     (json_int_t)row->pid, "name", control_nullable(row->source));
}

// `losses` is NULL when the store cannot be asked now. The total counts also the losses in segments
// that were removed; it is -1 when it is not known.
// `aside`: NULL when no file is put aside, or that is not known.
static void answer_health(struct control_call *call, const struct store_losses *losses,
                          const char *aside) {
    struct writer_state state;
    bqueue_get_state(&call->server->hub.queue, &state);
    json_t *list = losses ? json_array() : json_null();
    for (size_t i = 0; losses && i < losses->count; i++) {
        json_array_append_new(list, describe_loss(&losses->rows[i]));
    }
    bool healthy = losses && losses->count == 0 && state.losses == 0 && !state.in_trouble;
    const char *error = state.in_trouble ? state.last_error : NULL;
    json_t *result =
        list ? json_pack("{s:b, s:b, s:o, s:I, s:o, s:o, s:I, s:I, s:o}", "healthy", healthy,
                         "in_trouble", state.in_trouble, "last_error", control_nullable(error),
                         "total", (json_int_t)state.losses, "losses", list, "removed",
                         control_removed(&state.removed), "rotations", (json_int_t)state.rotations,
                         "rotated_ns", (json_int_t)state.rotated_ns, "put_aside",
                         control_nullable(aside))
             : NULL;
    control_reply(call, result);
}

static void on_losses(struct job *job) {
    answer_health(job->context, job->result == STORE_DONE ? &job->losses : NULL, job->answer);
    free(job->answer);
    store_losses_deinit(&job->losses);
    free(job);
}

// A writer in trouble would answer only when the trouble is over: then the answer is what is known
// here.
static void run_health(struct control_call *call) {
    struct writer_state state;
    bqueue_get_state(&call->server->hub.queue, &state);
    struct job *job = state.in_trouble ? NULL : job_new(JOB_LOSSES, on_losses, call);
    if (!job) {
        answer_health(call, NULL, NULL);
        return;
    }
    batcher_push(&call->server->hub.batcher, false);
    hub_push(&call->server->hub, job);
}

// ---- log-level ----------------------------------------------------------------------------------

#define LOG_LEVELS "error|warning|info|debug" // in the order of enum log_level

static json_t *log_level_name(enum log_level level) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    return json_string(names[level]);
}

static void run_log_level(struct control_call *call) {
    const char *wanted = nvtxt_ctl_string(call->request.object, "level");
    enum log_level before = log_get_level();
    for (int level = LOG_LEVEL_ERROR; wanted && level <= LOG_LEVEL_DEBUG; level++) {
        json_t *name = log_level_name((enum log_level)level);
        if (name && strcmp(json_string_value(name), wanted) == 0) {
            log_set_level((enum log_level)level);
        }
        json_decref(name);
    }
    control_reply(call, json_pack("{s:o, s:o}", "level", log_level_name(log_get_level()), "before",
                                  log_level_name(before)));
}

// ---- reload -------------------------------------------------------------------------------------

static json_t *names(const struct nvtxt_conf_key *const *keys, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        json_array_append_new(list, json_string(keys[i]->name));
    }
    return list;
}

static void run_reload(struct control_call *call) {
    struct reload_result result;
    if (call->control->reload(call->control, &result) != 0) {
        control_fail(call, NVTXT_CTL_FAILED, result.why);
        return;
    }
    control_reply(call,
                  json_pack("{s:o, s:o}", "applied", names(result.applied, result.applied_count),
                            "needs_restart", names(result.restart, result.restart_count)));
}

// ---- The table ----------------------------------------------------------------------------------

#define END                                                                                        \
    { NULL, NVTXT_CTL_INTEGER, false, 0, 0, NULL }

static const struct nvtxt_ctl_arg diagnostics_args[] = {
    {"limit", NVTXT_CTL_INTEGER, false, 1, CONTROL_DIAGNOSTICS_MAX, NULL},
    {"source", NVTXT_CTL_INTEGER, false, 1, INT64_MAX, NULL},
    END,
};
static const struct nvtxt_ctl_arg events_args[] = {
    {"after", NVTXT_CTL_STRING, false, 1, 64, NULL},
    {"before", NVTXT_CTL_STRING, false, 1, 64, NULL},
    {"limit", NVTXT_CTL_INTEGER, false, 1, CONTROL_EVENTS_MAX, NULL},
    {"wait_ms", NVTXT_CTL_INTEGER, false, 0, CONTROL_WAIT_MS_MAX, NULL},
    {"pid", NVTXT_CTL_INTEGER, false, 0, NVTXT_ID_MAX, NULL},
    {"category", NVTXT_CTL_INTEGER, false, 0, UINT32_MAX, NULL},
    {"category_name", NVTXT_CTL_STRING, false, 1, 4096, NULL},
    {"message", NVTXT_CTL_STRING, false, 1, 4096, NULL},
    {"kind", NVTXT_CTL_STRING, false, 0, 0, "mark|range|push/pop|start/end"},
    END,
};
static const struct nvtxt_ctl_arg snapshot_args[] = {
    {"file", NVTXT_CTL_STRING, false, 1, 4000, NULL},
    {"into", NVTXT_CTL_STRING, false, 0, 0, "descriptor"},
    END,
};
static const struct nvtxt_ctl_arg disconnect_args[] = {
    {"source", NVTXT_CTL_INTEGER, true, 1, INT64_MAX, NULL},
    END,
};
static const struct nvtxt_ctl_arg log_level_args[] = {
    {"level", NVTXT_CTL_STRING, false, 0, 0, LOG_LEVELS},
    END,
};

// Row: name, who may use it, what it does, function, arguments.
const struct control_command control_commands[] = {
    {"help", RIGHTS_READER, "list the commands", run_help, NULL},
    {"status", RIGHTS_READER, "the state of the daemon and of its store, with totals", run_status,
     NULL},
    {"sources", RIGHTS_READER, "the sources that are connected or followed, with their counters",
     control_sources, NULL},
    {"diagnostics", RIGHTS_READER, "the last faults in lines, also of sources that have ended",
     control_diagnostics, diagnostics_args},
    {"events", RIGHTS_READER, "the events that were committed after a cursor; waits for more",
     control_events, events_args},
    {"health", RIGHTS_READER, "what was lost, and whether the store can be written", run_health,
     NULL},
    {"metrics", RIGHTS_READER, "totals and sizes in the text format of Prometheus", control_metrics,
     NULL},
    {"flush", RIGHTS_READER, "commit what came in; answers when that is done", control_flush, NULL},
    {"checkpoint", RIGHTS_OPERATOR, "move the write-ahead log into the store's main file",
     control_checkpoint, NULL},
    {"rotate", RIGHTS_OPERATOR, "begin a new segment of the store", control_rotate, NULL},
    {"snapshot", RIGHTS_OPERATOR, "copy the segment in use to a file, as it is at one moment",
     control_snapshot, snapshot_args},
    {"verify", RIGHTS_READER, "read the whole store and check that it is sound", control_verify,
     NULL},
    {"disconnect", RIGHTS_OPERATOR, "close the connection of a source; its session can be resumed",
     control_disconnect, disconnect_args},
    {"log-level", RIGHTS_OPERATOR, "show or set what is logged, from now on", run_log_level,
     log_level_args},
    {"reload", RIGHTS_OPERATOR, "read the configuration again; apply what needs no restart",
     run_reload, NULL},
};
const size_t control_command_count = sizeof(control_commands) / sizeof(control_commands[0]);
