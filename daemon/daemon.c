// SPDX-License-Identifier: Apache-2.0
//
// Start: configuration, locks, store (opened, recovered), loop and writer, sockets, ready. Stop is
// the reverse: sockets closed, connections ended in order, writer (which closes the store), locks.
// A start that fails says one sentence and undoes what it has done. Clients can connect only when
// everything that serves them works.
//
// The first SIGTERM or SIGINT stops in order, up to a deadline, which leaves some of StopTimeout
// for what is not written yet; at its end that is given up. The deadline or a second signal cuts
// the connections, but the store is closed properly all the same.
#include "daemon/daemon.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "config.h"
#include "daemon/base/log.h"
#include "daemon/base/process.h"
#include "daemon/conf/paths.h"
#include "daemon/conn/conn.h"
#include "daemon/conn/server.h"
#include "daemon/conn/session_expiry.h"
#include "daemon/control/control.h"
#include "daemon/control/control_cmds.h"
#include "daemon/follow/watch_state.h"
#include "daemon/reload.h"
#include "daemon/socket/activation.h"
#include "daemon/socket/listener.h"
#include "daemon/socket/sockets.h"
#include "daemon/writer/revive.h"
#include "daemon/writer/writer.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

struct daemon {
    struct conf config;
    uv_loop_t loop;
    struct server server;
    struct writer writer;
    struct revive revive;
    struct control control;
    struct control_feed feed;
    struct control_flushes flushes;
    struct expiry expiry;
    struct watch watch;
    struct store_file_list known; // files that the store knows, until the watch has them
    struct watchdog watchdog;
    struct reload reload;
    struct sockets sockets;
    struct log_pump log_pump;
    uv_signal_t sigterm, sigint, sighup;
    uv_timer_t deadline;
    struct job stop_job;
    size_t descriptors; // for connections and followed files together
    int store_lock;
    bool stopping;
    char why[512]; // why the start failed: a sentence
};

// ---- Stop ---------------------------------------------------------------------------------------

static void close_handles(struct daemon *daemon) {
    hub_close_handle(&daemon->sigterm);
    hub_close_handle(&daemon->sigint);
    hub_close_handle(&daemon->sighup);
    hub_close_handle(&daemon->deadline);
    log_pump_stop(&daemon->log_pump);
}

// Events of plain sources that could not be stored: logged now, and noted for the next start.
static void log_unwritten(const struct daemon *daemon) {
    uint64_t events = daemon->server.unwritten;
    const char *path = daemon->revive.path;
    if (!events) {
        return;
    }
    log_error("the stop gave up on the store: events of plain connections are lost events=%" PRIu64,
              events);
    int r = stop_note_add(path, nvtxt_realtime_ns(), events);
    if (r < 0) {
        log_error("their number cannot be noted beside the store %s for the next start: %s", path,
                  strerror(-r));
    }
}

// The writer has ended: closes the last handles, which ends the loop.
static void on_writer_stopped(struct job *job) {
    struct daemon *daemon = job->context;
    writer_join(&daemon->writer);
    log_unwritten(daemon);
    server_close_handles(&daemon->server);
    close_handles(daemon);
}

static void stop_control(struct daemon *daemon) {
    control_close(&daemon->control);
    control_events_close(&daemon->feed);
    control_flush_close(&daemon->flushes);
}

static void on_stopped(struct server *server) {
    struct daemon *daemon = server->owner;
    sockets_close(&daemon->sockets);
    stop_control(daemon);
    watchdog_stop(&daemon->watchdog);
    daemon->stop_job =
        (struct job){.kind = JOB_STOP, .on_done = on_writer_stopped, .context = daemon};
    hub_push(&server->hub, &daemon->stop_job);
}

#define WRITE_MOST_MS 2000 // a whole MemoryBudget on a slow disk

// The last part of StopTimeout is for writing what was read.
static uint64_t time_to_write_ms(const struct daemon *daemon) {
    uint64_t part = (uint64_t)daemon->config.stop_timeout_ms / 4;
    return part < WRITE_MOST_MS ? part : WRITE_MOST_MS;
}

static void on_end_of_time(uv_timer_t *timer) {
    struct daemon *daemon = timer->data;
    log_warning("the stop takes too long: what is not written is given up bytes=%zu",
                daemon->server.hub.batcher.in_flight);
    bqueue_give_up(&daemon->server.hub.queue);
}

static void on_deadline(uv_timer_t *timer) {
    struct daemon *daemon = timer->data;
    log_warning("the stop takes too long: connections are cut connections=%zu",
                daemon->server.conn_count);
    uint64_t rest_ms = time_to_write_ms(daemon);
    uv_timer_start(timer, on_end_of_time, rest_ms, 0);
    server_abort(&daemon->server);
}

static void on_signal(uv_signal_t *handle, int number) {
    struct daemon *daemon = handle->data;
    if (daemon->stopping) {
        server_abort(&daemon->server);
        return;
    }
    daemon->stopping = true;
    expiry_stop(&daemon->expiry);
    watch_stop(&daemon->watch);
    log_info("stopping signal=%s", number == SIGINT ? "SIGINT" : "SIGTERM");
    activation_notify("STOPPING=1\nSTATUS=Stopping: what came in is committed");
    listener_take_waiting(&daemon->sockets.data);
    listener_close(&daemon->sockets.data);
    uint64_t timeout_ms = (uint64_t)daemon->config.stop_timeout_ms;
    uv_timer_start(&daemon->deadline, on_deadline, timeout_ms - time_to_write_ms(daemon), 0);
    server_stop(&daemon->server);
}

static void on_hangup(uv_signal_t *handle, int number) {
    struct daemon *daemon = handle->data;
    struct reload_result result;
    (void)number;
    if (!daemon->stopping) {
        reload_run(&daemon->reload, &result); // logs its result
    }
}

static int on_reload(struct control *control, struct reload_result *result) {
    struct daemon *daemon = control->owner;
    return reload_run(&daemon->reload, result);
}

// ---- Connections --------------------------------------------------------------------------------

static int prepare_data(struct listener *listener) {
    struct daemon *daemon = listener->owner;
    struct server *server = &daemon->server;
    if (server->conn_count >= daemon->descriptors - daemon->watch.reserved) {
        log_limited(&server->log_accept, LOG_LEVEL_WARNING,
                    "connections wait: the descriptors are used up connections=%zu",
                    server->conn_count);
        return LISTENER_NO_ROOM;
    }
    int r = conn_prepare(server);
    if (r < 0) {
        log_limited(&server->log_accept, LOG_LEVEL_WARNING,
                    "a connection could not be accepted: %s", strerror(-r));
    }
    return r;
}

static void on_data_connection(struct listener *listener, int fd_take) {
    struct daemon *daemon = listener->owner;
    conn_accept(&daemon->server, fd_take);
}

static int prepare_control(struct listener *listener) {
    struct daemon *daemon = listener->owner;
    return control_prepare(&daemon->control);
}

static void on_control_connection(struct listener *listener, int fd_take) {
    struct daemon *daemon = listener->owner;
    control_accept(&daemon->control, fd_take);
}

static void on_room(struct server *server) {
    struct daemon *daemon = server->owner;
    listener_go_on(&daemon->sockets.data);
    listener_go_on(&daemon->sockets.control);
}

static void on_commit(struct server *server) {
    struct daemon *daemon = server->owner;
    control_events_news(&daemon->feed);
}

// ---- Start --------------------------------------------------------------------------------------

static int exit_status_of(int r) {
    return r == STORE_NEWER || r == STORE_FOREIGN || r == STORE_REFUSED ? EX_DATAERR
           : r == STORE_BUSY                                            ? EX_TEMPFAIL
           : r == STORE_IO || r == STORE_NO_SPACE                       ? EX_IOERR
                                                                        : EX_CANTCREAT;
}

// Opens the store, ends the sources that a killed daemon left open, and lists the known files.
static int open_whole(struct daemon *daemon, struct store **store) {
    int moved, r;
    do {
        r = revive_open(&daemon->revive, store, daemon->why, sizeof(daemon->why));
    } while (r == STORE_BUSY && revive_wait(&daemon->revive));
    if (r) {
        return r;
    }
    r = store_recover(*store, nvtxt_realtime_ns());
    if (r == STORE_LACKING) { // the writer tries again until it can write; the next start recovers
        log_warning("sources that a killed daemon left open stay open: %s", store_error(*store));
        store_release_lock(*store);
        r = 0;
    }
    if (!r) {
        r = store_file_list(*store, &daemon->known);
    }
    if (r) {
        snprintf(daemon->why, sizeof(daemon->why), "the store '%s' cannot be recovered: %s",
                 daemon->revive.path, store_error(*store));
    } else if ((moved = stop_note_move(daemon->revive.path, *store))) {
        log_warning("what an earlier stop lost cannot be moved into the store: %s",
                    moved < 0 ? strerror(-moved) : store_error(*store));
    }
    return r;
}

static int open_store(struct daemon *daemon, struct store **store) {
    daemon->revive = (struct revive){
        .path = daemon->config.store,
        .options = {.synchronous_normal = daemon->config.synchronous == CONF_SYNCHRONOUS_NORMAL,
                    .file_mode = (uint32_t)daemon->config.store_mode,
                    .keeps_lock = true,
                    .checkpoint_helper = true,
                    .wal_cap_pages = (size_t)daemon->config.checkpoint_pages,
                    .no_cupti_views = !daemon->config.cupti_views},
        .lock_timeout_ns = daemon->config.lock_timeout_ms * 1000000,
        .lock = &daemon->store_lock,
    };
    int r = paths_store_group(&daemon->config, &daemon->revive.options.group, daemon->why,
                              sizeof(daemon->why));
    if (r) {
        return r;
    }
    r = open_whole(daemon, store);
    if (revive_is_due(r)) {
        revive_put_aside(&daemon->revive, *store, r, daemon->why);
        *store = NULL;
        r = open_whole(daemon, store);
    }
    if (r) {
        store_close(*store);
        *store = NULL;
    }
    return r ? exit_status_of(r) : 0;
}

static int open_sockets(struct daemon *daemon) {
    struct sockets *sockets = &daemon->sockets;
    sockets->data.owner = sockets->control.owner = daemon;
    sockets->data.prepare = prepare_data;
    sockets->data.on_connection = on_data_connection;
    sockets->control.prepare = prepare_control;
    sockets->control.on_connection = on_control_connection;
    struct rights *rights = &daemon->control.rights;
    rights_init(rights, daemon->config.store, (mode_t)daemon->config.store_mode);
    return sockets_open(sockets, &daemon->loop, &daemon->config, (gid_t)rights->group, daemon->why,
                        sizeof(daemon->why));
}

static void start_control(struct daemon *daemon) {
    struct control *control = &daemon->control;
    control_init(control, &daemon->server, control_commands, control_command_count);
    control_events_init(&daemon->feed, &daemon->server);
    control_flush_init(&daemon->flushes, &daemon->server);
    control->feed = &daemon->feed;
    control->flushes = &daemon->flushes;
    control->watch = &daemon->watch;
    control->reload = on_reload;
    control->owner = daemon;
}

static int start_handles(struct daemon *daemon, int64_t next_source_id) {
    struct server *server = &daemon->server;
    daemon->descriptors = descriptors_for_connections();
    int r = server_init(server, &daemon->loop, &daemon->config, next_source_id);
    if (r < 0) {
        return r;
    }
    server->owner = daemon;
    server->on_stopped = on_stopped;
    server->on_room = on_room;
    server->on_commit = on_commit;
    daemon->reload.server = server;
    daemon->reload.expiry = &daemon->expiry;
    daemon->reload.watch = &daemon->watch;
    start_control(daemon);
    uv_signal_t *signals[] = {&daemon->sigterm, &daemon->sigint, &daemon->sighup};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        r = uv_signal_init(&daemon->loop, signals[i]);
        if (r < 0) {
            return r;
        }
        signals[i]->data = daemon; // hub_close_handle() needs it
    }
    uv_timer_init(&daemon->loop, &daemon->deadline); // cannot fail
    daemon->deadline.data = daemon;
    r = log_pump_start(&daemon->log_pump, &daemon->loop);
    r = r ?: uv_signal_start(&daemon->sigterm, on_signal, SIGTERM);
    r = r ?: uv_signal_start(&daemon->sigint, on_signal, SIGINT);
    return r ?: uv_signal_start(&daemon->sighup, on_hangup, SIGHUP);
}

// The last step of the start.
static int start_serving(struct daemon *daemon) {
    int status = open_sockets(daemon);
    if (status) {
        return status;
    }
    int r = expiry_start(&daemon->expiry, &daemon->server);
    if (r >= 0) {
        r = watch_start(&daemon->watch, &daemon->server.hub, &daemon->known, daemon->descriptors);
    }
    if (r >= 0) {
        r = watchdog_start(&daemon->watchdog, &daemon->server.hub);
    }
    if (r < 0) {
        snprintf(daemon->why, sizeof(daemon->why), "the daemon cannot start: %s", strerror(-r));
        return EX_OSERR;
    }
    log_info("started version=%s pid=%d socket=%s store=%s", PACKAGE_VERSION, (int)getpid(),
             daemon->config.socket, daemon->config.store);
    activation_notify("READY=1\nSTATUS=Running");
    return 0;
}

static int on_owner(void *context, int64_t pid, int64_t uid, bool proven) {
    return pid < 0 || pid > NVTXT_ID_MAX ? 0 : owners_set(context, (uint32_t)pid, uid, proven);
}

// Which users own the names of processes.
static int load_owners(struct daemon *daemon, struct store *store) {
    int r = store_owners_load(store, on_owner, &daemon->server.hub.owners);
    return r > 0 ? nvtxt_origin(-EIO) : r;
}

static int on_session(void *context, const char *session_id, int64_t uid, size_t open_bytes,
                      int64_t seen_ns, int64_t expiry_s) {
    return parked_put(context, session_id, uid, open_bytes, seen_ns, expiry_s);
}

// What the sessions of the store keep open.
static int load_parked(struct daemon *daemon, struct store *store) {
    int r = store_sessions_open(store, on_session, &daemon->server.parked);
    return r > 0 ? nvtxt_origin(-EIO) : r;
}

static int start_writer(struct daemon *daemon, struct store *store) {
    struct rotate_limits limits;
    rotate_limits_of(&daemon->config, &limits);
    return writer_start(&daemon->writer, &daemon->server.hub.queue, store, &daemon->revive, &limits,
                        (size_t)daemon->config.memory_budget / 2);
}

// The last line of the log. Returns the exit status, which says so when the store gave up.
static int log_end(const struct server *server) {
    uint64_t events = server->hub.stats.events;
    uint64_t stored = events > server->uncommitted ? events - server->uncommitted : 0;
    log_line(server->gave_up ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO,
             "stopped lines=%" PRIu64 " events=%" PRIu64 " uncommitted=%" PRIu64,
             server->hub.stats.lines, stored, server->uncommitted);
    return server->gave_up ? EX_IOERR : 0;
}

// From the store on. Undoes what it has done when it fails.
static int serve(struct daemon *daemon) {
    struct store *store = NULL;
    int status = open_store(daemon, &store);
    if (status) {
        return status;
    }
    int r = start_handles(daemon, store_next_source_id(store));
    if (r >= 0) {
        r = load_owners(daemon, store);
    }
    if (r >= 0) {
        r = load_parked(daemon, store);
    }
    if (r >= 0) {
        r = start_writer(daemon, store);
    }
    if (r < 0) {
        snprintf(daemon->why, sizeof(daemon->why), "the daemon cannot start: %s", strerror(-r));
        store_close(store);
        stop_control(daemon);
        server_close_handles(&daemon->server);
        close_handles(daemon);
        uv_run(&daemon->loop, UV_RUN_DEFAULT);
        return EX_OSERR;
    }
    status = start_serving(daemon);
    if (status) {
        expiry_stop(&daemon->expiry);
        watch_stop(&daemon->watch);
        server_stop(&daemon->server); // without connections: ends at once, with the writer
    }
    uv_run(&daemon->loop, UV_RUN_DEFAULT);
    if (status) {
        return status;
    }
    *daemon->why = '\0'; // it is in the log already
    return log_end(&daemon->server);
}

// With the locks held.
static int run_locked(struct daemon *daemon) {
    if (uv_loop_init(&daemon->loop) < 0) {
        snprintf(daemon->why, sizeof(daemon->why), "the event loop cannot be made");
        return EX_OSERR;
    }
    int status = serve(daemon);
    watch_deinit(&daemon->watch);
    store_files_free(&daemon->known);
    control_deinit(&daemon->control);
    server_deinit(&daemon->server);
    uv_loop_close(&daemon->loop);
    return status;
}

static int run_daemon(struct daemon *daemon) {
    struct conf *config = &daemon->config;
    char *why = daemon->why;
    int status = descriptors_check(why, sizeof(daemon->why));
    if (status) {
        return status;
    }
    status = sockets_take(&daemon->sockets, config, why, sizeof(daemon->why));
    if (!status) {
        status = paths_resolve(config, why, sizeof(daemon->why));
    }
    if (!status) {
        status = lock_file_check_segment(config->store, why, sizeof(daemon->why));
    }
    if (!status) {
        status = sockets_lock(&daemon->sockets, config, why, sizeof(daemon->why));
    }
    if (status) {
        sockets_unlock(&daemon->sockets);
        return status;
    }
    daemon->store_lock = lock_file_take(config->store, "store", why, sizeof(daemon->why));
    status = daemon->store_lock < 0 ? EX_CANTCREAT : run_locked(daemon);
    lock_file_release(config->store, daemon->store_lock);
    sockets_unlock(&daemon->sockets);
    return status;
}

int daemon_main(int argc, char **argv) {
    struct daemon *daemon = calloc(1, sizeof(*daemon));
    int status = EX_OSERR;
    if (!daemon || conf_init(&daemon->config) < 0) {
        fputs("nvtxtd: out of memory\n", stderr);
    } else if (options_read(argc, argv, &daemon->config, &status) == OPTIONS_RUN) {
        signal(SIGPIPE, SIG_IGN);
        signal(SIGHUP, SIG_IGN); // until a reload is possible
        descriptors_occupy();
        log_open(getenv("JOURNAL_STREAM") != NULL);
        log_set_level((enum log_level)daemon->config.log_level);
        daemon->store_lock = -1;
        snprintf(daemon->why, sizeof(daemon->why), "out of memory");
        status = reload_init(&daemon->reload, &daemon->config, argc, argv) < 0 ? EX_OSERR
                                                                               : run_daemon(daemon);
        if (status && *daemon->why) {
            log_sentence("nvtxtd: %s", daemon->why);
        }
        log_close();
        reload_deinit(&daemon->reload);
    }
    if (daemon) {
        conf_deinit(&daemon->config);
    }
    free(daemon);
    return status;
}
