// SPDX-License-Identifier: Apache-2.0
//
// What an SQLite export of Nsight Systems says about itself, whatever version wrote it: its
// targets, its session and its timeline. Versions differ in their tables and columns, so each is
// looked for before it is read. Only reads. And where events go in it.
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
    // It is a copy of a store (nsys_copy.h): what a store can do with its names it can do, too. A
    // domain has one id in all processes, a text one id, and its session may grow.
    bool is_copy;
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

// Where events go.
struct store_nsys_place {
    uint16_t target; // upper 16 bits of globalTid
    int64_t zero_ns; // taken from every time
    bool prolong;    // keep events outside the session's window, and widen it
};

struct store_nsys_counts {
    uint64_t events;    // rows of type mark, push/pop range, start/end range that were added
    uint64_t outside;   // events that were left out because they are outside the session's window
    uint64_t payloads;  // payloads and JSON texts for which the export has no column
    uint64_t names;     // names that were left out because the export has another name there
    uint64_t resources; // names of resources and counters: an export has no table for them
    bool any_outside;   // the two below are set
    int64_t outside_first_ns, outside_last_ns; // as the events came, before zero_ns is taken away
};
