// SPDX-License-Identifier: Apache-2.0
//
// The loop: a round, then a wait for whatever comes first: a change of the store and the end of the
// interval, the time to look once more, or at what changes without events, the time to renew the
// lease, a word of the engine, a signal. A failure ends the connection, and everything that was
// remembered with it.
#include "ship/ship.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/clock.h"
#include "ship/session.h"
#include "store/value/codes.h"

#define CHANGES_MS 5000   // how often rows that change are looked at, at most
#define AGAIN_MS 30000    // the longest wait for a commit whose bytes were seen coming
#define FIRST_DELAY_MS 50 // after a failure; doubled each time
#define LAST_DELAY_MS 30000

struct loop {
    struct session session;
    const struct ship_conf *conf;
    int watch_fd; // -1: there is none
    bool watches;
    bool store_changed;   // since the last round began
    bool changes_pending; // rows that change may have, since they were looked at
    int64_t round_ms;     // when the last round began
    int64_t changes_ms;   // when rows that change are looked at again
    int64_t again_ms;     // when the store is looked at once more; 0: only after a change
    int64_t step_ms;      // from the last round to again_ms; 0: not again
    int64_t renew_ms;     // when the lease is renewed
    int64_t alive_ms;     // how often the manager wants a sign of life
    int64_t behind;
    int64_t delay_ms; // after the last failure; 0: none
    int64_t tries;    // that failed in a row
    char last_sentence[FAILURE_SENTENCE];
    bool position_known;
    uint64_t position;
    int position_error;
    struct store_gap gap; // that was not said yet
};

static void say(const struct loop *loop, enum ship_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(const struct loop *loop, enum ship_log_level level, const char *format, ...) {
    static const char *const words[] = {"nvtxt-ship: error", "nvtxt-ship: warning", "nvtxt-ship",
                                        "nvtxt-ship"};
    struct term term = *loop->session.term;
    char sentence[FAILURE_SENTENCE + 256];
    if ((int64_t)level > loop->conf->log_level) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    term.program = words[level];
    term_say(&term, "%s", sentence);
}

// ---- Failures -----------------------------------------------------------------------------------

// A broken store is put aside by the daemon, which begins a new one.
static bool may_pass(enum failure_class class) {
    return class == FAILURE_GONE || class == FAILURE_ENGINE || class == FAILURE_AWAY ||
           class == FAILURE_STORE || class == FAILURE_MOVED || class == FAILURE_MEMORY ||
           class == FAILURE_NO_PARTITION || class == FAILURE_BAD_STORE || class == FAILURE_NO_STORE;
}

// Waits; a signal ends the wait. A tenth of the delay is left to chance, so that a thousand
// shippers do not come back in step.
static void wait_delay(struct loop *loop) {
    loop->delay_ms = loop->delay_ms ? loop->delay_ms * 2 : FIRST_DELAY_MS;
    loop->delay_ms = loop->delay_ms > LAST_DELAY_MS ? LAST_DELAY_MS : loop->delay_ms;
    int64_t until = nvtxt_monotonic_ms() + loop->delay_ms - random() % (loop->delay_ms / 10 + 1);
    for (int64_t left; !signals_came() && (left = until - nvtxt_monotonic_ms()) > 0;) {
        struct pollfd fd = {.fd = signals_fd(), .events = POLLIN};
        notify_alive();
        poll(&fd, 1, (int)(left < loop->alive_ms ? left : loop->alive_ms));
    }
}

// The next try is on a new connection. One that is well stays until then: a signal may come, and it
// gives the lease back.
static void wait_for_try(struct loop *loop, enum failure_class class) {
    struct session *session = &loop->session;
    if (session->follow) {
        store_follow_unwatch(session->follow); // nobody looks, and the daemon would pay for it
    }
    if (class == FAILURE_GONE || (session->pg && pg_rollback(session->pg))) {
        session_disconnect(session);
    }
    wait_delay(loop);
    if (!signals_came()) {
        session_disconnect(session);
    }
}

static void note_failure(struct loop *loop) {
    const struct failure *failure = &loop->session.failure;
    loop->tries++;
    if (failure->class != FAILURE_MOVED && strcmp(loop->last_sentence, failure->sentence) != 0) {
        snprintf(loop->last_sentence, sizeof(loop->last_sentence), "%s", failure->sentence);
        say(loop, SHIP_LOG_WARNING, "%s%s; it is tried again", failure_words_before(failure),
            failure->sentence);
    }
}

static void note_success(struct loop *loop) {
    if (loop->last_sentence[0]) {
        say(loop, SHIP_LOG_WARNING, "shipping goes on after %" PRId64 " failure%s", loop->tries,
            loop->tries == 1 ? "" : "s");
    }
    loop->last_sentence[0] = '\0';
    loop->tries = loop->delay_ms = 0;
}

// ---- Rounds -------------------------------------------------------------------------------------

static void say_gap(struct loop *loop) {
    if (loop->gap.count > 0) {
        say(loop, SHIP_LOG_WARNING,
            "%" PRId64 " rows from segment %" PRIu64 " on were removed before they were shipped",
            loop->gap.count, loop->gap.segment);
    }
    loop->gap = (struct store_gap){0};
}

// Who ships once and fails says the failure and nothing before it, so there gaps are added up.
static void note_gap(struct loop *loop, const struct store_gap *gap) {
    if (loop->gap.count == 0) {
        loop->gap.segment = gap->segment;
    }
    loop->gap.count += gap->count;
    if (loop->watches) {
        say_gap(loop);
    }
}

static void note_position(struct loop *loop) {
    const struct session *session = &loop->session;
    uint64_t segment = session->cursor.place.segment;
    bool is_usual = strcmp(loop->conf->position, "/var/lib/nvtxt-ship/position") == 0;
    if (!*loop->conf->position || (loop->position_known && loop->position == segment)) {
        return;
    }
    int r = position_write(loop->conf->position, store_follow_id(session->follow), segment);
    // Without the service's folder the usual file is not wanted.
    bool counts = r < 0 && !(is_usual && (r == -ENOENT || r == -EACCES));
    if (counts && r != loop->position_error) {
        say(loop, SHIP_LOG_WARNING, "the position cannot be written to %s: %s",
            loop->conf->position, strerror(-r));
    }
    loop->position_error = r;
    loop->position_known = r == 0 || !counts;
    loop->position = segment;
}

static enum failure_class begin_anew(struct loop *loop) {
    loop->position_known = false;
    return session_reopen(&loop->session);
}

static enum failure_class connect_now(struct loop *loop) {
    struct session *session = &loop->session;
    loop->changes_ms = 0;
    loop->store_changed = true;
    loop->step_ms = loop->conf->interval_ms;
    enum failure_class class = session->follow ? FAILURE_NONE : begin_anew(loop);
    class = class ?: session_connect(session, SESSION_SHIP);
    while (class == FAILURE_NEW_STORE && !signals_came()) { // nothing is left of the one before
        class = begin_anew(loop);
        class = class ?: session_connect(session, SESSION_SHIP);
    }
    return class;
}

// The daemon writes a batch, waits for the disk, and only then makes it visible, through memory
// that no watch sees. So a change is looked for again, after longer and longer steps.
static void look_again(struct loop *loop) {
    loop->again_ms = loop->step_ms ? loop->round_ms + loop->step_ms : 0;
    loop->step_ms = loop->step_ms < AGAIN_MS ? loop->step_ms * 2 : 0;
}

static enum failure_class run_round(struct loop *loop, struct round *round) {
    struct session *session = &loop->session;
    int64_t now = nvtxt_monotonic_ms();
    *round = (struct round){.changes = now >= loop->changes_ms};
    loop->round_ms = now;
    look_again(loop);
    if (loop->watches && store_follow_watch(session->follow, &loop->watch_fd) < 0) {
        loop->watch_fd = -1; // then each interval looks
    }
    loop->store_changed = false;
    loop->changes_pending = true;
    enum failure_class class = round_run(session, round);
    note_gap(loop, &round->gap);
    if (class == FAILURE_AGAIN || class == FAILURE_NEW_STORE) {
        loop->changes_ms = 0;
        round->more = true;
        class = class == FAILURE_AGAIN ? session_seek(session) : class;
        return class == FAILURE_NEW_STORE ? begin_anew(loop) : class;
    }
    if (class) {
        return class;
    }
    if (round->changed) {
        loop->changes_ms = now + CHANGES_MS;
        loop->changes_pending = false;
    }
    if (round->wrote) {
        loop->renew_ms = nvtxt_monotonic_ms() + loop->conf->lease_ms / 3;
        note_position(loop);
    }
    loop->behind = round->behind;
    loop->store_changed = loop->store_changed || round->more;
    return FAILURE_NONE;
}

// ---- Waiting ------------------------------------------------------------------------------------

static enum failure_class renew(struct loop *loop) {
    struct session *session = &loop->session;
    loop->renew_ms = nvtxt_monotonic_ms() + loop->conf->lease_ms / 3;
    pg_say_what(session->pg, "to renew the lease of the store");
    return session_pg_failure(
        session, lease_renew(session->pg, session->cursor.store_id, session->self, loop->behind));
}

static void look_for_change(struct loop *loop) {
    if (store_follow_changed(loop->session.follow)) {
        loop->store_changed = true;
        loop->step_ms = loop->conf->interval_ms;
    }
}

// Until the next round is due.
static enum failure_class wait_for_work(struct loop *loop) {
    struct session *session = &loop->session;
    while (!signals_came()) {
        notify_alive();
        int64_t now = nvtxt_monotonic_ms();
        int64_t due = loop->round_ms + loop->conf->interval_ms;
        loop->store_changed = loop->store_changed || loop->watch_fd < 0;
        bool is_due = (loop->store_changed && now >= due) ||
                      (loop->again_ms && now >= loop->again_ms) ||
                      (loop->changes_pending && now >= loop->changes_ms);
        if (is_due) {
            return FAILURE_NONE;
        }
        if (now >= loop->renew_ms) {
            enum failure_class class = renew(loop);
            if (class) {
                return class;
            }
            look_for_change(loop);
            continue;
        }
        int64_t until = loop->store_changed ? nvtxt_earlier(due, loop->renew_ms) : loop->renew_ms;
        until = loop->again_ms ? nvtxt_earlier(until, loop->again_ms) : until;
        until = loop->changes_pending ? nvtxt_earlier(until, loop->changes_ms) : until;
        until = until - now > loop->alive_ms ? now + loop->alive_ms : until;
        struct pollfd fds[] = {{.fd = signals_fd(), .events = POLLIN},
                               {.fd = pg_socket(session->pg), .events = POLLIN},
                               {.fd = loop->store_changed ? -1 : loop->watch_fd, .events = POLLIN}};
        poll(fds, 3, (int)(until - now));
        if (fds[1].revents && pg_look(session->pg)) {
            return session_pg_failure(session, FAILURE_GONE);
        }
        if (fds[2].revents) {
            look_for_change(loop);
        }
    }
    return FAILURE_NONE;
}

static enum failure_class turn(struct loop *loop) {
    struct round round;
    notify_alive();
    enum failure_class class = loop->session.pg ? FAILURE_NONE : connect_now(loop);
    class = class ?: run_round(loop, &round);
    if (class) {
        return class;
    }
    note_success(loop);
    return round.more || !loop->session.pg ? FAILURE_NONE : wait_for_work(loop);
}

enum outcome follow_run(const struct ship_options *options, struct term *term) {
    struct loop loop = {.conf = &options->conf, .watch_fd = -1};
    struct session *session = &loop.session;
    enum outcome outcome = session_init(session, options, term);
    if (outcome == OUTCOME_DONE) {
        loop.watches = true;
        loop.alive_ms = notify_interval_ms();
        notify_ready();
    }
    srandom((unsigned)(nvtxt_realtime_ns() >> 10));
    while (outcome == OUTCOME_DONE && !signals_came()) {
        enum failure_class class = turn(&loop);
        if (class == FAILURE_NONE || signals_came()) {
            continue;
        }
        if (may_pass(class)) {
            note_failure(&loop);
            wait_for_try(&loop, class);
        } else {
            outcome = ship_say_failure(term, &session->failure);
        }
    }
    notify_stopping();
    session_deinit(session);
    return outcome;
}

// ---- Once ---------------------------------------------------------------------------------------

static enum failure_class until_now(struct session *session) {
    return session_store_failure(session, store_follow_until_now(session->follow));
}

static enum failure_class ship_all(struct loop *loop) {
    struct session *session = &loop->session;
    struct round round = {.more = true};
    enum failure_class class = session_connect(session, SESSION_SHIP);
    class = class ?: until_now(session);
    while (class == FAILURE_NONE && round.more && !signals_came()) {
        loop->changes_ms = 0;
        if (session->pg) {
            class = run_round(loop, &round);
        } else { // the store has a new identity
            class = connect_now(loop);
            class = class ?: until_now(session);
        }
    }
    if (class == FAILURE_NONE && session->pg) { // without, the cursor is of the store before
        note_position(loop);
    }
    return class;
}

enum outcome follow_once(const struct ship_options *options, struct term *term) {
    struct loop loop = {.conf = &options->conf, .watch_fd = -1};
    enum outcome outcome = session_init(&loop.session, options, term);
    if (outcome == OUTCOME_DONE && ship_all(&loop)) {
        outcome = ship_say_failure(term, &loop.session.failure);
    } else if (outcome == OUTCOME_DONE) {
        say_gap(&loop);
    }
    session_deinit(&loop.session);
    return outcome;
}

// ---- Dry run ------------------------------------------------------------------------------------

static enum failure_class count_segment(struct session *session, int64_t *events) {
    while (!signals_came()) {
        const struct store_follow_event *rows;
        size_t count;
        int r = store_follow_events(session->follow, &rows, &count);
        if (r) {
            return session_store_failure(session, r);
        }
        *events += (int64_t)count;
    }
    return failure_set(&session->failure, FAILURE_STORE, "a signal came");
}

struct dry_run {
    int64_t events;   // of all segments
    uint64_t segment; // the last one
};

// FAILURE_NEW_STORE: the next segment is of another store.
static enum failure_class print_segments(struct session *session, struct dry_run *run) {
    for (;;) {
        int64_t events = 0;
        struct store_gap gap;
        struct store_follow_segment segment;
        store_follow_segment(session->follow, &segment);
        enum failure_class class = count_segment(session, &events);
        if (class) {
            return class;
        }
        if (events > 0) {
            printf("%" PRId64 " events of segment %" PRIu64 "\n", events, segment.number);
        }
        run->events += events;
        run->segment = segment.number;
        int r = store_follow_is_finished(session->follow) ? store_follow_next(session->follow, &gap)
                                                          : STORE_NOT_FOUND;
        if (r) {
            return session_store_failure(session, r);
        }
    }
}

// Rows that an older identity still has come first, as they would be shipped.
static enum failure_class print_stores(struct session *session) {
    struct dry_run run = {0};
    enum failure_class class = session_connect(session, SESSION_COUNT);
    for (;;) {
        class = class ?: until_now(session);
        class = class ?: print_segments(session, &run);
        if (class != FAILURE_NEW_STORE) {
            break;
        }
        class = session_reopen(session);
        class = class ?: session_connect(session, SESSION_COUNT);
    }
    if (class == FAILURE_NONE && run.events == 0) {
        printf("0 events of segment %" PRIu64 "\n", run.segment);
    }
    return class;
}

enum outcome follow_dry_run(const struct ship_options *options, struct term *term) {
    struct session session;
    enum outcome outcome = session_init(&session, options, term);
    if (outcome == OUTCOME_DONE) {
        if (print_stores(&session)) {
            outcome = ship_say_failure(term, &session.failure);
        } else if (fflush(stdout) != 0) {
            term_say(term, "cannot write to stdout: %m");
            outcome = OUTCOME_IO;
        }
    }
    session_disconnect(&session); // a dry run has no lease to give back
    session_deinit(&session);
    return outcome;
}
