// SPDX-License-Identifier: Apache-2.0
//
// The tables and views of a store, and how older stores become today's. Each step leads from one
// user_version to the next, in a transaction of its own; the first one makes everything. The rules
// are in nvtxt-store(5).
//
// Functions return SQLite result codes unless they say otherwise.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_APPLICATION_ID 0x4E565458 // "NVTX", in the file's header
#define STORE_SCHEMA_VERSION 7          // user_version of what this code writes

extern const char store_schema_events_sql[]; // makes the table NVTX_EVENTS
extern const char store_schema_tree_sql[];   // makes the view NVTXT_TREE (tree.c)

struct store_schema_step {
    int (*apply)(
        sqlite3 *db); // within a transaction; leads from the version of its index to the next
};

// The steps of this program: STORE_SCHEMA_VERSION of them.
extern const struct store_schema_step store_schema_steps[];

enum store_schema_state {
    STORE_SCHEMA_OURS,    // version written to `*version`; 0 for an empty database
    STORE_SCHEMA_FOREIGN, // another application's
};

// What the open database is, by its application id, version and tables.
int store_schema_inspect(sqlite3 *db, enum store_schema_state *state, int *version);

// What a store of the version `version`, which is above ours, means for a person: both versions,
// and the package to install. A clause that stands after the name of the file.
void store_schema_newer(int64_t version, char *clause, size_t size);
#define STORE_SCHEMA_CLAUSE 192 // bytes that have room for it

// The sentence with that clause: `before`, the path, the clause, `after`. Returns STORE_NEWER.
int store_schema_refuse_newer(int64_t version, const char *before, const char *path,
                              const char *after, char *error, size_t size);

// Runs those of the `count` steps that the database has not had. Another process may do the same at
// the same time, so each step looks again when it holds the lock. SQLITE_CORRUPT: the tables are
// not those of the version that the file claims.
int store_schema_upgrade(sqlite3 *db, const struct store_schema_step *steps, int count);

// Makes the tables of an export alone, with the rows that every store has, in an empty database.
int store_schema_export(sqlite3 *db);

// Makes or drops the two CUPTI compatibility views; does nothing when they are as wanted.
int store_schema_cupti(sqlite3 *db, bool wanted);
