// SPDX-License-Identifier: Apache-2.0
//
// How far a store is shipped: its row of cursors. It is read anew on each connection, and what a
// round ships is committed together with it, after a comparison under a row lock; so what this
// process remembers, an answer to COMMIT that was lost, and a second shipper count for nothing
// (nvtxt-ship(1), "EXACTLY ONCE").
#pragma once

#include "ship/engine/identity.h"
#include "ship/engine/pg.h"
#include "store/follow/follow_rows.h"

struct cursor {
    int64_t store_id; // 0: the engine does not know the store
    bool is_ours;     // this role registered it
    struct store_place place;
    char host[IDENTITY_HOST_SIZE]; // as the engine has it, cut
};

// Reads the cursor of the store. A store that is not known, or that row security hides, has id 0.
enum failure_class cursor_read(struct pg *pg, const char *store, struct cursor *cursor);

// The last row of the cursor's segment whose key is there; 0: none. Keys have no place of their own
// in the cursor: they come in the order of rows.
enum failure_class cursor_last_key(struct pg *pg, const struct cursor *cursor, int64_t *row);

// Begins a transaction with the limits of a round: the engine lets go what it locks when this
// process falls silent.
enum failure_class cursor_begin(struct pg *pg);

// Of committed, by the engine's clock; both may be shipped.
struct cursor_span {
    int64_t oldest_ns; // before it nothing is kept
    int64_t newest_ns; // the end of the second day ahead
};

// Begins a transaction and locks the cursor. FAILURE_MOVED: it is not at `cursor`, or its shipper
// is not `shipper`. `span` is which rows there are partitions for, or may be.
enum failure_class cursor_lock(struct pg *pg, const struct cursor *cursor, const char *shipper,
                               struct cursor_span *span);

struct cursor_step {
    struct store_place place;
    int64_t events;       // rows shipped
    int64_t committed_ns; // of the last row; 0: no row
    int64_t behind_rows;
};

// Moves the cursor, in the transaction of cursor_lock().
enum failure_class cursor_move(struct pg *pg, int64_t store_id, const struct cursor_step *step);

// Ends the transaction. `goes_on`: more rows follow at once.
enum failure_class cursor_commit(struct pg *pg, bool goes_on);

// Makes the partitions for rows that were committed from `first_ns` to `last_ns`, and seven days
// ahead: `*made` of them. `*there`: there is one for each of these days.
enum failure_class cursor_make_partitions(struct pg *pg, int64_t first_ns, int64_t last_ns,
                                          int64_t *made, bool *there);

// Whether this role reads the rows of all hosts.
enum failure_class cursor_reads_all(struct pg *pg, bool *all);

// Whether this role may do all that shipping into a schema of this version needs. FAILURE_REFUSED
// names the GRANT. `writes`: the caller is about to write, so a database that is read-only is
// FAILURE_ENGINE.
enum failure_class cursor_check_rights(struct pg *pg, const char *schema, int64_t version,
                                       bool writes, struct failure *failure);

// ---- Registering (ship/engine/register.c) -------------------------------------------------------
//
// `version` is the schema's. In version 2 functions of its owner do it, which keep roles apart; in
// version 1 the shipper's role itself.

// Registers a new store, with a cursor at `place`. FAILURE_NOT_OURS, FAILURE_REFUSED: another role
// has it, or the name of the host.
enum failure_class cursor_add(struct pg *pg, int64_t version, const struct identity *identity,
                              const struct store_place *place, struct failure *failure);

// Whether a store that cursor_read() did not find may be registered under that host's name; as
// cursor_add(). Nothing is left behind.
enum failure_class cursor_check_new(struct pg *pg, int64_t version, const char *store,
                                    const char *host, struct failure *failure);

// FAILURE_NOT_OURS, with its sentence.
enum failure_class cursor_refuse(struct pg *pg, const char *store, struct failure *failure);

// Writes what has changed of host, labels and the like.
enum failure_class cursor_describe(struct pg *pg, int64_t version, int64_t store_id,
                                   const struct identity *identity);
