// SPDX-License-Identifier: Apache-2.0
//
// A store and its place on the engine: opens both, checks that they belong together, and holds the
// lease. What is remembered here is thrown away with each connection.
#pragma once

#include <limits.h>

#include "protocol/text/forms.h"
#include "ship/engine/cursor.h"
#include "ship/engine/lease.h"
#include "ship/options.h"
#include "ship/rows/small.h"
#include "store/follow/follow.h"

struct session {
    const struct ship_options *options;
    struct term *term;
    char path[PATH_MAX];        // of the store
    struct nvtxt_buf told_path; // the same as the engine can hold it
    char store[NVTXT_UUID_SIZE];
    char host[IDENTITY_HOST_SIZE];
    char machine[IDENTITY_MACHINE_SIZE];
    struct nvtxt_buf labels;
    char self[LEASE_HOLDER_SIZE];
    struct store_follow *follow; // NULL: not open

    struct pg *pg; // NULL: not connected
    struct schema_facts schema;
    bool reads_all;             // no row is hidden from the role, and it only looks
    struct cursor cursor;       // as the engine has it
    int64_t leased;             // the store whose lease is to be given back; 0: none
    struct store_place first;   // where the store begins, after segments of an older identity
    char done[NVTXT_UUID_SIZE]; // the identity whose segments were read to their end; "": none
    struct store_gap gap;       // between the cursor and where the follower goes on; to be written
    struct small small;
    struct nvtxt_buf bytes; // of a chunk
    unsigned columns;       // that events needed so far, rows_needed()
    struct failure failure; // of the last call
};

// Finds and opens the store. OUTCOME_DONE, or an outcome after its sentence.
enum outcome session_init(struct session *session, const struct ship_options *options,
                          struct term *term);
// Gives the lease back where that is possible. A signal leaves time for a connection of its own.
void session_deinit(struct session *session);

// How to connect; `role` as in struct pg_settings.
struct pg_settings session_settings(const struct ship_options *options, const char *role);

enum session_purpose {
    SESSION_SHIP,
    SESSION_COUNT, // to read the rows that shipping would bring
    SESSION_LOOK   // to ask how far the store is shipped
};

// Connects and checks schema and store. Only SESSION_SHIP writes: it registers the store where it
// is new, and takes the lease. With the others the cursor's id may be 0 afterwards.
enum failure_class session_connect(struct session *session, enum session_purpose purpose);
void session_disconnect(struct session *session);

// Gives the lease back, disconnects, and opens the store anew, whose next segment has another
// identity. session_connect() comes next. After a failure the store is not open.
enum failure_class session_reopen(struct session *session);

// The follower goes on where the cursor is, with all that changes told anew.
enum failure_class session_seek(struct session *session);

// A result of the follower as a failure, in session->failure; FAILURE_NONE for STORE_DONE and
// STORE_NOT_FOUND.
enum failure_class session_store_failure(struct session *session, int r);

// Takes the connection's failure over; returns `class`.
enum failure_class session_pg_failure(struct session *session, enum failure_class class);

// ---- Rounds (ship/round.c) ----------------------------------------------------------------------
//
// A round: rows of one segment from the cursor on, and the cursor, in one transaction.

struct round {
    bool changes; // in: also what changed without events
    bool more;    // out: there may be more at once
    bool wrote;   // out: there was something to write
    bool changed; // out: what changes was looked at
    int64_t events;
    int64_t behind;       // rows that are left
    struct store_gap gap; // rows that were removed before they were shipped; count 0: none
};

// Reads the link and ships what there is, up to the limits above. After a failure the transaction
// is rolled back; the next thing is session_seek(), or session_connect() when the connection may be
// of no use. FAILURE_AGAIN: a partition was made. FAILURE_NEW_STORE: another store goes on at
// its path, session_reopen().
enum failure_class round_run(struct session *session, struct round *round);
