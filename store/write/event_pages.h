// SPDX-License-Identifier: Apache-2.0
//
// The events of a batch as the pages of an attached database, "nvtxt_batch". It has tables with the
// columns of NVTX_EVENTS, each of which is filled once in a transaction. `INSERT INTO NVTX_EVENTS
// SELECT * FROM nvtxt_batch.…` then copies whole records
// (https://www.sqlite.org/fileformat2.html), which costs 40 % of making them from values.
//
// No file and no memory is behind it: a VFS of its own writes a page into SQLite's buffer when
// SQLite reads it. What SQLite reads of a page does not change until the next transaction, as of a
// file that it has locked.
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/db/sql.h"
#include "store/value/record.h"

// The tables. A batch fills one, and a further one for each 300 MB. The last ones are left for a
// large batch.
#define STORE_EVENT_TABLES 20
#define STORE_EVENT_TABLES_LEFT 4

struct store_event_leaf;

struct store_event_pages {
    const struct store_txn *txn;
    const struct store_batch *batch;
    sqlite3_vfs vfs;
    char vfs_name[40];
    unsigned char *first; // owned: what of page 1 is not empty
    size_t first_size;
    uint32_t changes;                // transactions, as the header of a file counts them
    uint32_t next_page;              // the first one that was not given in this transaction
    size_t tables;                   // that are filled
    struct store_event_leaf *leaves; // owned: the leaves of the last table
    size_t leaf_count, leaf_room;
    size_t leaves_most;   // of a table; a test makes it small
    unsigned char *large; // owned: the last record that did not fit into a leaf
    size_t large_room;
    const struct store_event *large_of;
    int64_t schema;  // its version, when the columns were looked at; 0: not yet
    char names[512]; // of the columns, where NVTX_EVENTS has others than ours; else empty
    sqlite3_stmt *stmts[STORE_EVENT_TABLES];
};

// Attaches the database; `pages` must not move until the deinit, which detaches it. A connection
// that was opened without SQLITE_OPEN_URI may not know it.
int store_event_pages_init(struct store_event_pages *pages, struct store_txn *txn);
void store_event_pages_deinit(struct store_event_pages *pages);

// Call it before the first write, and after another connection wrote: looks at the columns that
// NVTX_EVENTS has.
int store_event_pages_look(struct store_event_pages *pages);

// True when the transaction should be committed before it gets another batch.
static inline bool store_event_pages_full(const struct store_event_pages *pages) {
    return pages->tables + STORE_EVENT_TABLES_LEFT >= STORE_EVENT_TABLES;
}

// Inserts the events of a batch, which have their text ids, and whose domains have theirs, into
// NVTX_EVENTS. SQLITE_MISUSE: the transaction has no table left.
int store_event_pages_write(struct store_event_pages *pages, const struct store_batch *batch);
