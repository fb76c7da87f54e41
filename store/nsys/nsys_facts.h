// SPDX-License-Identifier: Apache-2.0
//
// What an SQLite export of Nsight Systems says about itself, whatever version wrote it: its
// targets, its session and its timeline. Versions differ in their tables and columns, so each is
// looked for before it is read. Only reads.
//
// Functions return SQLite result codes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;

#define STORE_TARGETS_MAX 16

// True when the open database has the tables of an export: StringIds, and one that only exports
// have.
int store_export_recognize(struct sqlite3 *db, bool *is_export);

struct store_export_facts {
    // The targets in its ids: the upper 16 bits of globalTid and globalPid, a hardware id and a VM
    // id of 8 bits each. At most STORE_TARGETS_MAX of them.
    uint16_t targets[STORE_TARGETS_MAX];
    size_t target_count;
    bool has_session; // session_ns is the Unix time of the export's time 0
    int64_t session_ns;
    bool has_window; // the session went from first_ns to last_ns, in the export's time
    int64_t first_ns;
    int64_t last_ns;
    // first_ns in ANALYSIS_DETAILS, which in some exports counts from another moment than the
    // events.
    int64_t details_first_ns;
};

int store_export_facts_read(struct sqlite3 *db, struct store_export_facts *facts);

// Smallest start and largest end of all rows that have a thread or a process; false in `*any` and 0
// when there is none. Reads the whole file.
int store_export_extent(struct sqlite3 *db, bool *any, int64_t *first_ns, int64_t *last_ns);

// Whether the database has this table, or, with a column, this column of it. A view is no table.
int store_export_has(struct sqlite3 *db, const char *table, const char *column, bool *has);
