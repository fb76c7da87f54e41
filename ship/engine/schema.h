// SPDX-License-Identifier: Apache-2.0
//
// The tables on the engine: makes them, brings an older version up, and checks which version there
// is (nvtxt-fleet(7), "SCHEMA"). Each step is a transaction. Nothing here goes down a version.
#pragma once

#include "ship/engine/pg.h"

#define SCHEMA_VERSION 4
#define SCHEMA_KEEP_DAYS 30
#define SCHEMA_KEEP_DAYS_MAX 100000
#define SCHEMA_NAME_MAX 58 // with "_read" it must fit the 63 bytes of a name

// The files of ship/sql, made into strings when the program is built.
extern const char schema_text_1[];
extern const char schema_text_2[];
extern const char schema_text_3[];
extern const char schema_text_4[];
extern const char schema_text_distributed[];
extern const char schema_text_roles[];

struct schema_wishes {
    int64_t keep_days; // 0: SCHEMA_KEEP_DAYS, or what is set already
    bool no_roles;
    bool no_own_rows;  // without the trigger that keeps a host to its own rows
    bool plain_events; // events without partitions and without the trigger
    bool distributed;  // over several machines
    int64_t shards;    // of each table then; 0: as the database says
    // Names of hosts that are given to roles: NAME, NUL, ROLE, NUL, and so on.
    struct nvtxt_buf hosts;
};

// Lower case letters, digits and _, not with a digit first; none of the engine's own names.
bool schema_name_is_good(const char *name);

// Appends the SQL that makes the schema `name`, as a transaction: what schema_init() runs where
// there is none yet.
void schema_write(struct nvtxt_buf *sql, const char *name, const struct schema_wishes *wishes);

// Appends the SQL that makes the functions which cut the schema's tables, up to what calls them, as
// a transaction, with the number of parts of each table for the rest of the session (0: none).
void schema_write_cut(struct nvtxt_buf *sql, const char *name, int64_t shards);

// After a failure for want of rights: adds to the sentence what the schema's owner, or the
// database's, may grant. Ends the transaction.
void schema_add_grant(struct pg *pg, const char *name, struct failure *failure);

// Makes the schema of the connection, or brings it up; a second call changes nothing but what
// `wishes` say. `*brought_up`: there was one of an older version. FAILURE_NEWER_SCHEMA,
// FAILURE_ENCODING and those of statements.
enum failure_class schema_init(struct pg *pg, const char *name, const struct schema_wishes *wishes,
                               bool *brought_up, struct failure *failure);

struct schema_facts {
    int64_t version, keep_days;
    bool plain_events;                // no partitions
    bool is_cut;                      // on several machines; set by who has looked (cluster.h)
    bool no_roles;                    // it was made without them
    bool keeps_owners;                // a role ships only stores that it registered
    bool may_add_logs, may_read_logs; // the table is there, and the role has the right
};

// Whether this program can work with what is there. FAILURE_NO_SCHEMA, FAILURE_NEWER_SCHEMA.
enum failure_class schema_check(struct pg *pg, const char *name, struct schema_facts *facts,
                                struct failure *failure);
