// SPDX-License-Identifier: Apache-2.0
//
// The order of a connection: schema, then the store's cursor, then whether the store has what was
// shipped (nothing is written before that), then the lease, then the cursor again, because it may
// have moved until then.
#include "ship/session.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/locate/find.h"
#include "protocol/base/clock.h"
#include "ship/rows/array.h"
#include "ship/ship.h"
#include "store/value/codes.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

enum failure_class session_pg_failure(struct session *session, enum failure_class class) {
    if (class && class != FAILURE_MOVED) {
        session->failure = *pg_failure(session->pg);
    } else if (class) {
        failure_set(&session->failure, class, "the cursor of the store was moved by another one");
    }
    return class;
}

// ---- The store ----------------------------------------------------------------------------------

static enum failure_class class_of(int r) {
    switch (r) {
    case STORE_DONE:
    case STORE_NOT_FOUND:
        return FAILURE_NONE;
    case STORE_FOLLOW_OTHER:
        return FAILURE_CLONE;
    case STORE_NEWER:
    case STORE_FOREIGN:
    case STORE_CORRUPT:
    case STORE_EMPTY:
    case STORE_FOLLOW_NO_ID:
        return FAILURE_BAD_STORE;
    case STORE_FOLLOW_NEW_ID:
        return FAILURE_NEW_STORE;
    case -ENOMEM:
        return FAILURE_MEMORY;
    default:
        return outcome_of_open(r) == OUTCOME_NO_INPUT ? FAILURE_NO_STORE : FAILURE_STORE;
    }
}

enum failure_class session_store_failure(struct session *session, int r) {
    enum failure_class class = class_of(r);
    if (class == FAILURE_CLONE) {
        return failure_set(&session->failure, class,
                           "this store is not the one that was shipped as %s (host %s): it was "
                           "cloned or restored; give it an identity of its own with --store-id",
                           session->store, session->cursor.host);
    }
    return class ? failure_set(&session->failure, class, "%s", store_follow_error(session->follow))
                 : FAILURE_NONE;
}

static enum failure_class open_store(struct session *session) {
    const char *option = session->options->conf.store_id;
    char error[PATH_MAX + 256];
    store_follow_close(session->follow);
    int r = store_follow_open(&session->follow, session->path, error, sizeof(error));
    if (r == STORE_FOLLOW_NO_ID && session->follow && *option) {
        r = STORE_DONE;
    }
    if (r) {
        store_follow_close(session->follow); // without an identity it cannot be shipped
        session->follow = NULL;
        return failure_set(&session->failure, class_of(r) ?: FAILURE_NO_STORE, "%s", error);
    }
    const char *id = *option ? option : store_follow_id(session->follow);
    snprintf(session->store, sizeof(session->store), "%s", id);
    return FAILURE_NONE;
}

// The engine gets a path that means something elsewhere, too; links stay.
static enum outcome choose_store(struct session *session) {
    const char *option = session->options->conf.store;
    char folder[PATH_MAX];
    if (*option) {
        bool is_relative = *option != '/' && getcwd(folder, sizeof(folder));
        int len = snprintf(session->path, sizeof(session->path), "%s%s%s",
                           is_relative ? folder : "", is_relative ? "/" : "", option);
        if (len < (int)sizeof(session->path)) {
            return OUTCOME_DONE;
        }
        term_say(session->term, "the path of the store is too long: '%.64s...'", option);
        return OUTCOME_NO_INPUT;
    }
    return find_store(session->term, NULL, "name one with --store, or set NVTXT_STORE",
                      session->path, sizeof(session->path));
}

// Names of files and hosts may be any bytes.
static void add_text(struct nvtxt_buf *out, const char *text) {
    row_text_add(out, nvtxt_slice_of(text));
    nvtxt_buf_add(out, "", 1);
}

static void own_host(char host[IDENTITY_HOST_SIZE]) {
    struct nvtxt_buf text = {0};
    identity_host(host);
    add_text(&text, host);
    snprintf(host, IDENTITY_HOST_SIZE, "%s", nvtxt_buf_failed(&text) ? "" : text.data);
    nvtxt_buf_deinit(&text);
}

enum outcome session_init(struct session *session, const struct ship_options *options,
                          struct term *term) {
    *session = (struct session){.options = options, .term = term};
    enum outcome outcome = choose_store(session);
    if (outcome) {
        return outcome;
    }
    if (open_store(session)) {
        return ship_say_failure(term, &session->failure);
    }
    if (*options->conf.host) {
        snprintf(session->host, sizeof(session->host), "%s", options->conf.host);
    } else {
        own_host(session->host);
    }
    add_text(&session->told_path, session->path);
    identity_machine(session->machine);
    identity_labels(&session->labels, options->conf.labels);
    lease_self(session->self);
    if (nvtxt_buf_failed(&session->labels) || nvtxt_buf_failed(&session->told_path)) {
        term_say(term, "out of memory");
        return OUTCOME_SYSTEM;
    }
    return OUTCOME_DONE;
}

// Shipping that was ended is in order; a command that was ended did not do what it was asked for.
static void end_shipping(void) {
    _exit(outcome_exit_status(OUTCOME_DONE));
}

static void end_command(void) {
    _exit(outcome_exit_status(OUTCOME_STOPPED));
}

struct pg_settings session_settings(const struct ship_options *options, const char *role) {
    bool ships = options->command == SHIP_FOLLOW && !options->dry_run;
    bool is_long = options->command == SHIP_INIT || options->command == SHIP_MAINTAIN ||
                   options->command == SHIP_PULL || options->command == SHIP_SIMULATE;
    bool cuts = options->command == SHIP_INIT && options->wishes.distributed;
    int64_t alive_ms = notify_interval_ms();
    return (struct pg_settings){.target = options->conf.target,
                                .schema = options->conf.schema,
                                .role = role,
                                .timeout_ms = options->conf.connect_timeout_ms,
                                .answer_ms = cuts      ? PG_COPY_ALL_MS
                                             : is_long ? PG_LONG_MS
                                                       : PG_STATEMENT_MS,
                                .stop_fd = signals_fd(),
                                .end = ships ? end_shipping : end_command,
                                .alive = alive_ms < INT64_MAX ? notify_alive : NULL,
                                .alive_ms = alive_ms};
}

void session_disconnect(struct session *session) {
    pg_close(session->pg);
    session->pg = NULL;
    session->small.pg = NULL;
}

// On the connection that there is. False: there is none, or it broke.
static bool give_back(struct session *session) {
    if (!session->pg) {
        return false;
    }
    pg_let_finish(session->pg);
    if (pg_rollback(session->pg) == FAILURE_GONE) {
        return false;
    }
    enum failure_class class = lease_give_back(session->pg, session->leased, session->self);
    if (class == FAILURE_ENGINE) { // what broke the statement before off may have come late
        class = lease_give_back(session->pg, session->leased, session->self);
    }
    return class != FAILURE_GONE;
}

// Whoever ends us leaves little time, and some of it may have been waited away.
static void connect_briefly(struct session *session) {
    struct pg_settings settings = session_settings(session->options, "ship");
    settings.spread = session->store;
    int64_t now = nvtxt_monotonic_ms();
    settings.stop_ms =
        session->pg && pg_stop_ms(session->pg) ? pg_stop_ms(session->pg) : now + PG_STOP_MS;
    session_disconnect(session);
    if (settings.stop_ms > now) {
        pg_open(&session->pg, &settings, &session->failure);
    }
}

static void end_lease(struct session *session) {
    if (session->leased && !give_back(session) && signals_came()) {
        connect_briefly(session);
        give_back(session);
    }
    session->leased = 0;
}

enum failure_class session_reopen(struct session *session) {
    strcpy(session->done, session->store);
    end_lease(session);
    session_disconnect(session);
    return open_store(session);
}

void session_deinit(struct session *session) {
    end_lease(session);
    session_disconnect(session);
    store_follow_close(session->follow);
    small_deinit(&session->small);
    nvtxt_buf_deinit(&session->labels);
    nvtxt_buf_deinit(&session->told_path);
    nvtxt_buf_deinit(&session->bytes);
}

// ---- The place ----------------------------------------------------------------------------------

// A follower without a place reads nothing, also when the store is there again.
static enum failure_class placed(struct session *session, int r) {
    return r == STORE_NOT_FOUND ? failure_set(&session->failure, FAILURE_NO_STORE, "%s",
                                              store_follow_error(session->follow))
                                : session_store_failure(session, r);
}

enum failure_class session_seek(struct session *session) {
    const struct store_place *place = &session->cursor.place;
    struct store_place now;
    int64_t last = 0;
    enum failure_class class =
        placed(session, store_follow_seek(session->follow, place, &session->gap));
    store_follow_place(session->follow, &now);
    bool goes_on = session->cursor.store_id && now.event_row == place->event_row;
    if (class || !goes_on || session->schema.version < 3) {
        return class;
    }
    class = cursor_last_key(session->pg, &session->cursor, &last);
    store_follow_pass_keys(session->follow, last);
    return session_pg_failure(session, class);
}

// Where a store begins that is new to the engine.
static enum failure_class first_place(struct session *session, struct store_place *place) {
    const char *from = session->options->conf.from;
    int64_t ns = INT64_MAX; // "now"
    *place = session->first;
    if (strcmp(from, "beginning") == 0) {
        return FAILURE_NONE;
    }
    if (strcmp(from, "now") != 0) {
        nvtxt_time_parse(from, &ns);
    }
    enum failure_class class = placed(session, store_follow_find(session->follow, ns, place));
    if (class == FAILURE_NONE && place->segment < session->first.segment) {
        *place = session->first;
    }
    return class;
}

static struct identity identity_of(const struct session *session) {
    return (struct identity){.store = session->store,
                             .host = session->host,
                             .labels = session->labels.data,
                             .machine = *session->machine ? session->machine : NULL,
                             .path = session->told_path.data,
                             .product = "nvtxtd " PACKAGE_VERSION};
}

static enum failure_class read_cursor(struct session *session) {
    return session_pg_failure(session, cursor_read(session->pg, session->store, &session->cursor));
}

static enum failure_class add_store(struct session *session) {
    struct store_place place;
    struct identity identity = identity_of(session);
    enum failure_class class = first_place(session, &place);
    if (class != 0) {
        return class;
    }
    return cursor_add(session->pg, session->schema.version, &identity, &place, &session->failure);
}

// Row security hides other roles' stores, but not from a superuser, nor from a role that reads
// everything.
static bool is_others(const struct session *session, const struct cursor *cursor) {
    return cursor->store_id != 0 && !cursor->is_ours && session->schema.keeps_owners &&
           !session->reads_all;
}

// Whether the store has what the cursor says; where it goes on.
static enum failure_class compare(struct session *session) {
    enum failure_class class = read_cursor(session);
    if (class == FAILURE_NONE && is_others(session, &session->cursor)) {
        class = cursor_refuse(session->pg, session->store, &session->failure);
    }
    return class || session->cursor.store_id == 0 ? class : session_seek(session);
}

// Goes on with the store as the engine knows it from before: the first segment with the new
// identity ends it.
static enum failure_class finish_older(struct session *session, const char *other,
                                       const struct cursor *cursor) {
    char id[NVTXT_UUID_SIZE];
    strcpy(id, session->store);
    strcpy(session->store, other);
    session->cursor = *cursor;
    store_follow_take(session->follow, other);
    enum failure_class class = session_seek(session);
    struct store_follow_segment segment = {0};
    if (class == FAILURE_NONE) {
        store_follow_segment(session->follow, &segment);
    }
    if (class == FAILURE_NONE && segment.number < session->first.segment) {
        return class;
    }
    strcpy(session->store, id);
    session->cursor = (struct cursor){0};
    store_follow_take(session->follow, id);
    // These segments are not what was shipped, or they went.
    bool has_none = class == FAILURE_CLONE || class == FAILURE_NEW_STORE;
    return has_none ? FAILURE_NONE : class;
}

// Finds the newest identity of older segments that is not new to the engine; the store begins after
// these. "": there is none.
static enum failure_class find_older(struct session *session, char other[STORE_ID_SIZE],
                                     struct cursor *older) {
    *older = (struct cursor){0};
    for (size_t changes = 0;; changes++) {
        struct store_place first;
        enum failure_class class =
            placed(session, store_follow_first(session->follow, changes, &first, other));
        if (class || !*other) {
            return class;
        }
        class = session_pg_failure(session, cursor_read(session->pg, other, older));
        if (class) {
            return class;
        }
        if (older->store_id && !is_others(session, older)) {
            session->first = first;
            return FAILURE_NONE;
        }
    }
}

// The store is new to the engine. What its oldest segments have may belong to an identity that is
// not, and is shipped under that first.
static enum failure_class look_for_older(struct session *session, enum session_purpose purpose) {
    struct cursor older;
    char other[STORE_ID_SIZE];
    enum failure_class class = find_older(session, other, &older);
    bool is_done = purpose == SESSION_LOOK || strcmp(other, session->done) == 0;
    return class || !*other || is_done ? class : finish_older(session, other, &older);
}

static void prepare_small(struct session *session) {
    session->small.pg = session->pg;
    session->small.store_id = session->cursor.store_id;
    session->small.adds_logs = session->schema.may_add_logs;
    session->small.frees = session->schema.version > 1;
    session->small.adds_parents = session->schema.version > 2;
}

static enum failure_class take_over(struct session *session) {
    enum failure_class class = FAILURE_NONE;
    pg_say_what(session->pg, "to let this process ship the store");
    if (session->cursor.store_id == 0) {
        class = add_store(session);
        class = class ?: read_cursor(session);
    }
    if (class) {
        return class;
    }
    session->leased = session->cursor.store_id; // also when the answer is lost
    class = lease_take(session->pg, session->cursor.store_id, session->self,
                       session->options->conf.lease_ms, session->cursor.host, &session->failure);
    class = class ?: compare(session);
    if (class) {
        return class;
    }
    struct identity identity = identity_of(session);
    class =
        cursor_describe(session->pg, session->schema.version, session->cursor.store_id, &identity);
    if (class == FAILURE_NONE && !session->options->conf.open_ranges) {
        prepare_small(session);
        class = small_free_ranges(&session->small);
    }
    return session_pg_failure(session, class);
}

// Who may read the rows of all hosts needs no right to ship for a look.
static enum failure_class check_rights(struct session *session, enum session_purpose purpose) {
    enum ship_command command = session->options->command;
    enum failure_class class = FAILURE_NONE;
    session->reads_all = false;
    if (command == SHIP_STATUS || command == SHIP_METRICS) {
        class = session_pg_failure(session, cursor_reads_all(session->pg, &session->reads_all));
    }
    return class || session->reads_all
               ? class
               : cursor_check_rights(session->pg, session->options->conf.schema,
                                     session->schema.version, purpose != SESSION_LOOK,
                                     &session->failure);
}

static enum failure_class check_schema(struct session *session, enum session_purpose purpose) {
    const char *schema = session->options->conf.schema;
    pg_say_what(session->pg, "to say how far the store is shipped");
    enum failure_class class =
        schema_check(session->pg, schema, &session->schema, &session->failure);
    return class ?: check_rights(session, purpose);
}

// Through one of the target's hosts.
static enum failure_class connect_through(struct session *session, enum session_purpose purpose,
                                          const struct pg_settings *settings) {
    session_disconnect(session);
    session->cursor = (struct cursor){0};
    session->first = (struct store_place){0};
    enum failure_class class = pg_open(&session->pg, settings, &session->failure);
    if (class && signals_came()) {
        session->leased = 0; // that took the time that was left for giving it back
    }
    class = class ?: check_schema(session, purpose);
    class = class ?: compare(session);
    if (class == FAILURE_NONE && session->cursor.store_id == 0 &&
        !*session->options->conf.store_id) {
        class = look_for_older(session, purpose);
    }
    if (class == FAILURE_NONE && purpose == SESSION_SHIP) {
        class = take_over(session);
    } else if (class == FAILURE_NONE && session->cursor.store_id == 0) {
        class = session->reads_all
                    ? FAILURE_NONE
                    : cursor_check_new(session->pg, session->schema.version, session->store,
                                       session->host, &session->failure);
        class = class ?: first_place(session, &session->cursor.place);
        class = class ?: session_seek(session);
    }
    if (class == FAILURE_NONE && strcmp(session->store, session->done) != 0) {
        session->done[0] = '\0'; // a file with that identity may come back, with more
    }
    prepare_small(session);
    return class;
}

// Another host may do what this one cannot.
static bool may_go_elsewhere(enum failure_class class) {
    return class == FAILURE_GONE || class == FAILURE_ENGINE || class == FAILURE_AWAY;
}

// libpq tries the next host only when one refuses a connection. One that says nothing, or fails
// before the store is ours, is passed over here. Once one has said that a machine behind it is
// away, that is what is wrong, whatever the others say.
enum failure_class session_connect(struct session *session, enum session_purpose purpose) {
    struct pg_settings settings = session_settings(session->options, "ship");
    settings.spread = session->store;
    size_t hosts = target_hosts(&settings);
    settings.timeout_ms /= (int64_t)hosts;
    struct failure away = {0};
    for (size_t at = 1;; at++) {
        settings.only = hosts > 1 ? at : 0;
        enum failure_class class = connect_through(session, purpose, &settings);
        if (!may_go_elsewhere(class)) {
            return class;
        }
        if (class == FAILURE_AWAY) {
            away = session->failure;
        }
        if (at == hosts || signals_came()) {
            session->failure = away.class ? away : session->failure;
            return away.class ?: class;
        }
    }
}
