// SPDX-License-Identifier: Apache-2.0
//
// One step is two jobs of the writer: find a session that was last seen too long ago, then load it.
// The next step looks after the place of that one, so that one that stays is in nobody's way; the
// timer begins at the first again. A jump of the wall clock since the start is subtracted.
#include "daemon/conn/session_expiry.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "daemon/conn/conn.h"
#include "daemon/conn/server.h"
#include "daemon/conn/session.h"
#include "daemon/source/source.h"
#include "protocol/base/origin.h"

#define FIRST_CHECK_MS 60000        // at most; clients that waited for the daemon are back by then
#define JUMP_NS INT64_C(1000000000) // less: the clock is corrected slowly, which is no jump

static void find_next(struct expiry *expiry);

static void on_timer(uv_timer_t *timer) {
    find_next(timer->data);
}

static uint64_t period_ms(const struct expiry *expiry) {
    return hub_check_period_ms(expiry->server->hub.config->session_expiry_ms);
}

// At most `ms`, and not past the time when a session is due that has an expiry of its own.
static int wait_at_most(struct expiry *expiry, uint64_t ms) {
    int64_t uid, due_ns;
    if (parked_first_due(&expiry->server->parked, &uid, &due_ns)) {
        int64_t left_ms = (due_ns - nvtxt_boottime_ns()) / 1000000 + 1;
        uint64_t left = left_ms < HUB_SHORTEST_CHECK_MS ? HUB_SHORTEST_CHECK_MS : (uint64_t)left_ms;
        ms = left < ms ? left : ms;
    }
    return uv_timer_start(&expiry->timer, on_timer, ms, 0);
}

static void wait_for_next(struct expiry *expiry) {
    if (expiry->stopped) {
        return;
    }
    expiry->after = (struct store_session_place){0};
    wait_at_most(expiry, period_ms(expiry));
}

// A search that is under way sees it by itself.
static void on_due(void *context) {
    struct expiry *expiry = context;
    if (!expiry->stopped && uv_is_active((uv_handle_t *)&expiry->timer)) {
        wait_at_most(expiry, uv_timer_get_due_in(&expiry->timer));
    }
}

// Ends what the store holds of the session. Returns 0, NVTXT_RESTORE_NEWER (it stays) or -errno.
static int end_stored(struct expiry *expiry, struct job *job) {
    struct server *server = expiry->server;
    const struct store_session *stored = &job->session;
    struct nvtxt_source_config config = {.limits = server->hub.limits,
                                         .opened_ns = stored->opened_ns};
    struct nvtxt_interp *interp = NULL;
    int r = source_restore(stored, &config, &interp);
    if (r == NVTXT_RESTORE_BAD) {
        return session_give_up(server, job->session_id, stored, "expired");
    }
    if (r != 0) {
        return r;
    }
    struct source *source =
        source_new(&server->hub.batcher, stored->source_id, STORE_SOURCE_SESSION, interp);
    if (!source) {
        return nvtxt_origin(-ENOMEM);
    }
    source->session_id = job->session_id;
    source->opened_ns = stored->opened_ns;
    source->peer = (struct peer){.uid = stored->uid, .gid = -1};
    r = source_set_name(source, stored->name);
    if (r >= 0) {
        r = source_end(source, "expired");
    }
    batcher_settle(&source->member);
    source_free(source);
    return r;
}

static void on_loaded(struct job *job) {
    struct expiry *expiry = job->context;
    struct server *server = expiry->server;
    int r = 0;
    bool loaded = job->result == STORE_DONE;
    // Its user may have connected in between: it lives.
    bool alive = loaded && session_find(server, job->session_id, job->uid) != NULL;
    if (loaded && !alive && !expiry->stopped && !job->session.ended) {
        r = end_stored(expiry, job);
        if (r == NVTXT_RESTORE_NEWER) {
            parked_keep(&server->parked, job->session_id, job->uid);
            log_limited(&expiry->log_newer, LOG_LEVEL_WARNING,
                        SOURCE_NEWER("an expired session") "; it stays until then session=%s",
                        NVTXT_STATE_VERSION, job->session_id);
        } else if (r < 0) {
            log_error("an expired session cannot be closed session=%s: %s", job->session_id,
                      strerror(-r));
        } else {
            parked_take(&server->parked, job->session_id, job->uid);
            server->hub.stats.sessions_expired++;
            batcher_push(&server->hub.batcher, false);
        }
    }
    if (job->result == STORE_NOT_FOUND || job->result == STORE_UNSURE || // it was in another store
        (loaded && job->session.ended)) {
        parked_take(&server->parked, job->session_id, job->uid);
    } else {
        parked_delay(&server->parked, job->session_id, job->uid); // others have their turn
    }
    if (loaded) {
        store_session_deinit(&job->session);
    }
    if (loaded && r >= 0) {
        find_next(expiry);
    } else {
        wait_for_next(expiry);
    }
    free(job->answer);
    free(job);
}

static void load(struct expiry *expiry, const char *session_id, int64_t uid) {
    struct job *job = job_new(JOB_SESSION_LOAD, on_loaded, expiry);
    if (!job) {
        wait_for_next(expiry);
        return;
    }
    memcpy(job->session_id, session_id, sizeof(job->session_id));
    job->uid = uid;
    hub_push(&expiry->server->hub, job);
}

// Writes a connected session again, so that it counts as seen.
static void mark_seen(struct expiry *expiry, struct session *session) {
    struct conn *conn = session->conn;
    if (conn->phase == CONN_OPEN && source_join_batch(conn->source) >= 0 &&
        batcher_push(&expiry->server->hub.batcher, false) >= 0) {
        find_next(expiry);
    } else {
        wait_for_next(expiry);
    }
}

static void on_found(struct job *job) {
    struct expiry *expiry = job->context;
    struct session *session = session_find(expiry->server, job->session_id, job->uid);
    if (job->result == STORE_NOT_FOUND && job->after.row == 0) { // else some before it may stay
        parked_forget(&expiry->server->parked, job->before_ns);
    }
    if (job->result != STORE_DONE || expiry->stopped) {
        wait_for_next(expiry);
    } else {
        expiry->after = job->after;
        if (session) {
            mark_seen(expiry, session);
        } else {
            load(expiry, job->session_id, job->uid);
        }
    }
    free(job);
}

// How far the wall clock was set forward since the start: what was seen before looks that much
// older. When it was set back, sessions are kept longer, which does no harm.
static int64_t jumped_ns(const struct expiry *expiry) {
    int64_t jumped = nvtxt_realtime_ns() - nvtxt_boottime_ns() - expiry->offset_ns;
    return jumped > JUMP_NS ? jumped : 0;
}

// Ends a session that is due by its own expiry. Returns false when there is none.
static bool end_due(struct expiry *expiry) {
    int64_t uid, due_ns;
    const char *id = parked_first_due(&expiry->server->parked, &uid, &due_ns);
    if (expiry->stopped || !id || due_ns > nvtxt_boottime_ns()) {
        return false;
    }
    batcher_push(&expiry->server->hub.batcher, false); // what it brought in goes first
    load(expiry, id, uid);
    return true;
}

static void find_next(struct expiry *expiry) {
    if (end_due(expiry)) {
        return;
    }
    struct job *job = expiry->stopped ? NULL : job_new(JOB_EXPIRED, on_found, expiry);
    if (!job) {
        wait_for_next(expiry);
        return;
    }
    job->before_ns = nvtxt_realtime_ns() - jumped_ns(expiry) -
                     expiry->server->hub.config->session_expiry_ms * 1000000;
    job->after = expiry->after;
    hub_push(&expiry->server->hub, job);
}

int expiry_start(struct expiry *expiry, struct server *server) {
    expiry->server = server;
    expiry->offset_ns = nvtxt_realtime_ns() - nvtxt_boottime_ns();
    uv_timer_init(server->hub.loop, &expiry->timer); // cannot fail
    expiry->timer.data = expiry;
    server->parked.on_due = on_due;
    server->parked.on_due_context = expiry;
    uint64_t ms = period_ms(expiry);
    return wait_at_most(expiry, ms < FIRST_CHECK_MS ? ms : FIRST_CHECK_MS);
}

void expiry_configure(struct expiry *expiry) {
    if (uv_is_active((uv_handle_t *)&expiry->timer)) { // else it looks right now
        wait_for_next(expiry);
    }
}

void expiry_stop(struct expiry *expiry) {
    expiry->stopped = true;
    hub_close_handle(&expiry->timer);
}
