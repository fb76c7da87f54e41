// SPDX-License-Identifier: Apache-2.0
//
// The n-th allocation fails, for n = 1, 2, 3 … until none does: once or from then on, in our own
// code, in SQLite, in jansson or in libuv. Each act must end, free all that it took, and report
// short memory if it did not do its work. The store must hold a batch whole or not at all.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/conf/conf.h"
#include "daemon/conn/server.h"
#include "daemon/conn/session_expiry.h"
#include "daemon/socket/listener.h"
#include "protocol/base/frame.h"
#include "protocol/interp/state.h"
#include "protocol/wire/ctlmsg.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/reply.h"
#include "store/db/sql.h"
#include "store/store.h"
#include "tests/fault/alloc.h"
#include "tests/fault/fault_kit.h"

#define SESSION "0b5d2c9e6f0c4d0a9d5e0d1f7a3b8c21"
#define EVENTS 4

static char path[64];

static const char text[] =
    "TimeBase = Manual\nCategoryId = 7\nWord = \"a value that does not fit anywhere inline\"\n"
    "@RangePush, Time, Message, ThreadId\n@RangePop, Time, ThreadId\n@Marker, Time, Message\n"
    "@RangeStart, Time, RangeId, Message\n@RangeEnd, Time, RangeId\n"
    "SetFileDisplayName, \"shown\"\nSetThreadName, 3, \"worker\"\nSetCategoryName, 7, \"seven\"\n"
    "Payload = 'u32:7'\nJson = '{\"a\":1}'\nSetResourceName, cuStream, 1, \"stream\"\n"
    "@SetCounter, Name, Json, Domain\n"
    "SetCounter, loss, '{\"unit\":\"\\\\ud800\",\"description\":\"of it\"}', \"a domain\"\n"
    "RangePush, 1, \"outer\", 1\nRangePush, 2, \"inner\", 1\nRangePush, 2, \"other\", 2\n"
    "RangePop, 3, 1\nRangeStart, 4, 9, \"started\"\nRangeStart, 5, 10, \"stays open\"\n"
    "RangeEnd, 6, 9\nMarker, 7, $Word\nMarker, 8, $Nothing\nMarker, 9, 'bad \xff byte'\n";

// Feeds the text in small pieces. Returns 0 or -errno.
static int feed(struct nvtxt_interp *interp, const struct nvtxt_sink *sink) {
    struct nvtxt_frame frame;
    int r = 0;
    nvtxt_frame_init(&frame, 4096);
    for (size_t at = 0; at < sizeof(text) - 1 && r >= 0; at += 37) {
        size_t len = sizeof(text) - 1 - at < 37 ? sizeof(text) - 1 - at : 37;
        struct nvtxt_slice input = {text + at, len}, line;
        while ((r = nvtxt_frame_next(&frame, &input, &line)) > 0) {
            r = nvtxt_interp_line(interp, line, sink);
            if (r < 0) {
                break;
            }
        }
    }
    nvtxt_frame_deinit(&frame);
    return r;
}

static int save_share(struct store_batch_source *share, struct nvtxt_interp *interp) {
    const struct nvtxt_counters *counters = nvtxt_interp_counters(interp);
    struct nvtxt_open_range range;
    struct nvtxt_buf state = {0};
    int r = store_batch_progress(share, counters, nvtxt_interp_display_name(interp));
    uint64_t part = 0;
    r = r ? r : nvtxt_state_save_part(interp, true, &state, &part);
    r = r ? r : store_batch_state(share, part, (struct nvtxt_slice){state.data, state.len});
    nvtxt_buf_clear(&state);
    r = r ? r : nvtxt_state_save(interp, &state);
    r = r ? r
          : store_batch_session(share, counters->lines,
                                (struct nvtxt_slice){state.data, state.len});
    while (r == 0 && nvtxt_interp_take_opened(interp, &range) == 1) {
        r = store_batch_open_range(share, &range);
    }
    nvtxt_buf_deinit(&state);
    return r;
}

static int fill(struct store_batch *batch, struct nvtxt_interp *interp) {
    struct nvtxt_sink sink;
    struct store_batch_source *share =
        store_batch_source(batch, &(struct store_source){.id = 1,
                                                         .kind = STORE_SOURCE_SESSION,
                                                         .session_id = SESSION,
                                                         .name = "name",
                                                         .has_peer = true});
    if (!share) {
        return -ENOMEM;
    }
    store_batch_sink(share, &sink);
    int r = feed(interp, &sink);
    r = r ? r : save_share(share, interp);
    return r ? r : store_batch_loss(batch, 1, 1, 1, 1, "memory", 1);
}

static const struct nvtxt_source_config config = {
    .limits = NVTXT_LIMITS_DEFAULT, .default_pid = 7, .escapes = true, .nvtx = true};

// ---- Acts: 0, or a failure that memory explains -------------------------------------------------

static int act_batch(void) {
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    struct store_batch *batch = store_batch_new();
    int r = interp && batch ? fill(batch, interp) : -ENOMEM;
    store_batch_free(batch);
    nvtxt_interp_free(interp);
    return r;
}

static int on_event(void *context, const struct nvtxt_event *event) {
    (void)context, (void)event;
    return 0;
}
static int on_name(void *context, const struct nvtxt_name *name) {
    (void)context, (void)name;
    return 0;
}
static int on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context, (void)diag;
    return 0;
}

static int act_state(void) {
    static const struct nvtxt_sink sink = {on_event, on_name, on_diag, NULL};
    struct nvtxt_interp *interp = nvtxt_interp_new(&config), *restored = NULL;
    struct nvtxt_buf state = {0};
    int r = interp ? feed(interp, &sink) : -ENOMEM;
    r = r ? r : nvtxt_state_save_in_one(interp, true, &state);
    r = r ? r
          : nvtxt_state_restore(&restored, &config, (struct nvtxt_slice){state.data, state.len},
                                NULL, 0);
    must(r == 0 || !restored, "half a state");
    r = r ? r : nvtxt_interp_end(restored, &sink);
    must(r != 0 || nvtxt_interp_counters(restored)->events == 7, "events after a restore");
    nvtxt_interp_free(restored);
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&state);
    return r;
}

static int act_messages(void) {
    struct nvtxt_hello hello = {.protocol = 1, .session = SESSION}, parsed;
    struct nvtxt_lost lost = {.lines = 3, .reason = "full"}, read_lost;
    struct nvtxt_keyed keyed = {.key = "run", .parent = SESSION ":run"}, read_keyed;
    struct nvtxt_ctl_request request;
    struct nvtxt_buf out = {0};
    char why[256];
    nvtxt_hello_format(&out, &hello);
    bool good =
        !nvtxt_buf_failed(&out) && nvtxt_hello_parse((struct nvtxt_slice){out.data, out.len - 1},
                                                     &parsed, why, sizeof(why)) == 0;
    nvtxt_buf_clear(&out);
    nvtxt_lost_format(&out, &lost);
    good = good && !nvtxt_buf_failed(&out) &&
           nvtxt_lost_parse((struct nvtxt_slice){out.data, out.len - 1}, &read_lost);
    nvtxt_buf_clear(&out);
    nvtxt_keyed_format(&out, &keyed);
    good = good && !nvtxt_buf_failed(&out) &&
           nvtxt_keyed_parse((struct nvtxt_slice){out.data, out.len - 1}, &read_keyed) == 1;
    nvtxt_buf_clear(&out);
    nvtxt_reply_welcome(&out, &(struct nvtxt_welcome){.session = SESSION,
                                                      .limits = &config.limits,
                                                      .synchronous = "full",
                                                      .version = "1",
                                                      .control = "/c",
                                                      .store = "/s"});
    nvtxt_reply_diagnostic(&out, 1, 2, "error", "lexing", "bad", "a \"message\" \x01");
    good = good && !nvtxt_buf_failed(&out);
    nvtxt_buf_clear(&out);
    nvtxt_ctl_request_format(&out, 1, "status", NULL);
    good = good && !nvtxt_buf_failed(&out);
    if (good && nvtxt_ctl_request_parse((struct nvtxt_slice){out.data, out.len - 1}, &request, why,
                                        sizeof(why)) == 0) {
        nvtxt_ctl_request_deinit(&request);
    } else {
        good = false;
    }
    nvtxt_buf_deinit(&out);
    return good ? 0 : -ENOMEM;
}

static int write_to(struct store *store, struct store_batch *batch) {
    struct store_session session;
    struct store_losses losses;
    int r = store_begin(store);
    r = r ? r : store_write(store, batch);
    r = r ? r : store_commit(store);
    store_rollback(store);
    r = r ? r : store_session_load(store, SESSION, 0, true, 0, &session);
    if (r == 0) {
        struct nvtxt_interp *interp = NULL;
        r = nvtxt_state_restore(&interp, &config, nvtxt_slice_of(session.state), session.parts,
                                session.part_count);
        for (size_t i = 0; i < session.range_count && r == 0; i++) {
            r = nvtxt_interp_restore_open(interp, &session.ranges[i]);
        }
        nvtxt_interp_free(interp);
        store_session_deinit(&session);
    }
    r = r ? r : store_losses_load(store, 10, &losses);
    if (r == 0) {
        store_losses_deinit(&losses);
    }
    return r;
}

static int act_store(void) {
    struct store_options options = {.synchronous_normal = true};
    struct store *store = NULL;
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    struct store_batch *batch = store_batch_new();
    char error[512];
    int r = interp && batch ? fill(batch, interp) : -ENOMEM;
    r = r ? r : store_open(&store, path, &options, error, sizeof(error));
    r = r ? r : write_to(store, batch);
    store_close(store);
    store_batch_free(batch);
    nvtxt_interp_free(interp);
    return r;
}

static int no_room(struct listener *listener) {
    (void)listener;
    return LISTENER_NO_ROOM;
}

// Opens the handles of a start as the daemon does. They are closed again however far this comes.
static int start_serving(uv_loop_t *loop, struct server *server, struct expiry *expiry,
                         struct listener *listener, const struct conf *conf) {
    char socket[96], why[512];
    snprintf(socket, sizeof(socket), "%s.sock", path);
    int r = server_init(server, loop, conf, 1);
    r = r ? r : expiry_start(expiry, server);
    int status = r ? 0 : listener_open(listener, loop, socket, 0600, (gid_t)-1, why, sizeof(why));
    must(status == 0 || status == EX_OSERR, why);
    return status ? -ENOMEM : r;
}

static int act_loop(void) {
    uv_loop_t loop;
    struct conf conf;
    struct server server = {0};
    struct expiry expiry = {.stopped = false};
    struct listener listener = {.prepare = no_room};
    int r = conf_init(&conf);
    if (r == 0 && (r = uv_loop_init(&loop)) == 0) {
        r = start_serving(&loop, &server, &expiry, &listener, &conf);
        expiry_stop(&expiry);
        listener_close(&listener);
        server_close_handles(&server);
        uv_run(&loop, UV_RUN_DEFAULT);
        server_deinit(&server);
        must(uv_loop_close(&loop) == 0, "a handle is left");
    }
    conf_deinit(&conf);
    return r;
}

// ---- All of them --------------------------------------------------------------------------------

// Events, a resource and a counter, open ranges.
static const char beside_events[] =
    "SELECT (SELECT count(*) FROM NVTX_EVENTS WHERE uint32Value = 7 AND jsonText IS NOT NULL) + "
    "(SELECT count(*) FROM NVTXT_RESOURCES) + (SELECT count(unit) FROM NVTXT_COUNTERS WHERE "
    "description = 'of it') + (SELECT count(jsonText) FROM NVTXT_OPEN_RANGES)";

// Whatever failed: all of the batch is there, or nothing of it.
static void check_store(bool whole) {
    sqlite3 *db = NULL;
    int64_t events = 0, sound = 0, beside = 0;
    if (access(path, F_OK) < 0) {
        return;
    }
    must(sqlite3_open(path, &db) == SQLITE_OK, "open");
    if (store_sql_int(db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)",
                      &events) != SQLITE_OK) {
        events = 0; // not even the tables
    }
    must(events == EVENTS || (!whole && events == 0), "half a batch");
    must(events == 0 || store_sql_int(db, beside_events, &beside) == SQLITE_OK, "other tables");
    must(events == 0 || beside == EVENTS + 2 + 3, "what stands beside the events");
    must(store_sql_int(db,
                       "SELECT count(*) FROM pragma_integrity_check WHERE "
                       "integrity_check = 'ok'",
                       &sound) == SQLITE_OK &&
             sound == 1,
         "integrity");
    sqlite3_close(db);
}

struct act {
    const char *name;
    int (*act)(void);
};

static int do_act(const void *context) {
    return ((const struct act *)context)->act();
}

static void check_act(const void *context, int result) {
    (void)context;
    check_store(result == 0);
    remove_store(path);
}

static void all_allocations(const char *name, int (*act)(void), bool lasting, unsigned stride) {
    const struct act acts = {name, act};
    printf("# %s\n", name);
    unsigned count = alloc_each(stride, lasting, do_act, check_act, &acts);
    printf("# %u allocations, every %u. failed %s\n", count, stride, lasting ? "for ever" : "once");
}

int main(void) {
    unsigned stride = fault_stride(23, 499);
    alloc_install();
    const char *folder = make_folder();
    snprintf(path, sizeof(path), "%s/s.sqlite", folder);
    must(act_store() == 0, "without a fault"); // SQLite keeps some of its first time
    check_store(true);
    remove_store(path);
    for (int lasting = 0; lasting < 2; lasting++) {
        all_allocations("batch", act_batch, lasting, 1);
        all_allocations("state", act_state, lasting, 1);
        all_allocations("messages", act_messages, lasting, 1);
        all_allocations("loop", act_loop, lasting, 1);
        all_allocations("store", act_store, lasting, stride);
    }
    rmdir(folder);
    return 0;
}
