// SPDX-License-Identifier: Apache-2.0
//
// The cheapest way into SQLite is a statement that runs once over many rows; a loop of bind, step
// and reset pays each time for entering and leaving the virtual machine. New strings come from a
// virtual table (batch_strings.c), a function call for each. An event has 18 columns, so its row
// comes as a whole, from a table of a database that is made while SQLite reads it (event_pages.h).
//
// Ids are known before SQLite gives them: within a transaction nobody else writes, and SQLite gives
// a row without a rowid the largest one plus 1. So a first pass over the records looks up, or
// gives, the id of every text, and the strings are written first. The rangeId of a start/end range
// is its own rowid plus a base above the rows of earlier segments; the rows of a source are a range
// of rowids. After each statement the last rowid must be the expected one.
#include "store/write/bulk.h"

#include <stdlib.h>

#include "protocol/table/arrays.h"

// The array of new strings is freed after a batch that made it larger than this.
#define KEEP_FRESH ((size_t)32 * 1024)

// ---- Statements -------------------------------------------------------------------------------

enum statement { STRINGS, ADD_SOURCE_ROWS, ADD_UNCLOSED, ADD_KEY };

static const char *const texts[STORE_BULK_STMTS] = {
    [STRINGS] = "INSERT INTO StringIds (value) SELECT value FROM nvtxt_batch_strings",
    [ADD_SOURCE_ROWS] =
        "INSERT INTO NVTXT_EVENT_SOURCES (firstRow, lastRow, sourceId) VALUES (?, ?, ?)",
    [ADD_UNCLOSED] = "INSERT INTO NVTXT_UNCLOSED (eventRow) VALUES (?)",
    [ADD_KEY] = "INSERT INTO NVTXT_RANGE_KEYS (eventRow, sourceId, key, parent) "
                "VALUES (?, ?, ?, nullif(?, ''))",
};

int store_bulk_init(struct store_bulk *bulk, struct store_txn *txn, struct store_intern *intern) {
    *bulk = (struct store_bulk){.txn = txn, .intern = intern};
    int rc = store_batch_strings_register(txn->db, &bulk->fresh);
    return rc ?: store_event_pages_init(&bulk->pages, txn);
}

void store_bulk_deinit(struct store_bulk *bulk) {
    store_sql_finalize(bulk->stmts, STORE_BULK_STMTS);
    store_event_pages_deinit(&bulk->pages);
    free(bulk->fresh.events);
    bulk->fresh.events = NULL;
}

// ---- Writing ----------------------------------------------------------------------------------

static int add_fresh(struct store_bulk *bulk, struct store_event *event) {
    struct store_batch_strings *fresh = &bulk->fresh;
    if (nvtxt_grow(&fresh->events, &fresh->room, fresh->count + 1, sizeof(*fresh->events)) < 0) {
        return SQLITE_NOMEM;
    }
    event->text_id = bulk->txn->next_string + (int64_t)fresh->count;
    fresh->events[fresh->count++] = event;
    store_intern_add(bulk->intern, event->text_hash, event->text, event->text_len, event->text_id);
    return SQLITE_OK;
}

// Gives the events of a run their text ids and notes the smallest start and the largest end.
static int read_run(struct store_bulk *bulk, const struct store_run *run) {
    struct store_txn *txn = bulk->txn;
    for (size_t i = 0; i < run->count; i++) {
        struct store_event *event = &run->events[i];
        event->text_id =
            store_intern_find(bulk->intern, event->text_hash, event->text, event->text_len);
        if (event->text_id < 0 && add_fresh(bulk, event) != SQLITE_OK) {
            return SQLITE_NOMEM;
        }
        if (txn->events == 0 || event->start < txn->min_start) {
            txn->min_start = event->start;
        }
        if (txn->events == 0 || event->end > txn->max_end) {
            txn->max_end = event->end;
        }
        txn->events++;
    }
    return SQLITE_OK;
}

static int write_strings(struct store_bulk *bulk) {
    struct store_txn *txn = bulk->txn;
    if (bulk->fresh.count == 0) {
        return SQLITE_OK;
    }
    int rc = store_sql_prepare(txn->db, &bulk->stmts[STRINGS], texts[STRINGS]);
    rc = rc ?: store_sql_run(bulk->stmts[STRINGS]);
    txn->next_string += (int64_t)bulk->fresh.count;
    if (rc == SQLITE_OK && sqlite3_last_insert_rowid(txn->db) != txn->next_string - 1) {
        rc = SQLITE_INTERNAL;
    }
    return rc;
}

static int write_key(struct store_bulk *bulk, const struct store_event_extra *extra, int64_t row,
                     int64_t source_id) {
    return STORE_SQL_RUN(bulk, ADD_KEY, "iiss", row, source_id, extra->key.data, extra->key.len,
                         extra->parent.data, extra->parent.len);
}

// The rows beside those of events that few events have.
static int write_beside(struct store_bulk *bulk, const struct store_share *share, int64_t row) {
    int rc = SQLITE_OK;
    for (const struct store_run *run = share->runs; run && rc == SQLITE_OK; run = run->next) {
        for (size_t i = 0; i < run->count && rc == SQLITE_OK; i++, row++) {
            const struct store_event *event = &run->events[i];
            if (event->flags & STORE_EVENT_UNCLOSED) {
                rc = STORE_SQL_RUN(bulk, ADD_UNCLOSED, "i", row);
            }
            if (rc == SQLITE_OK && event->flags & STORE_EVENT_KEY) {
                rc = write_key(bulk, event->payload.extra, row, share->pub.id);
            }
        }
    }
    return rc;
}

static int write_source_rows(struct store_bulk *bulk, const struct store_share *share,
                             int64_t row) {
    sqlite3_stmt **slot = &bulk->stmts[ADD_SOURCE_ROWS];
    int rc = store_sql_prepare(bulk->txn->db, slot, texts[ADD_SOURCE_ROWS]);
    rc = rc ?: store_sql_bind(*slot, "iii", row, row + (int64_t)share->events - 1, share->pub.id);
    rc = rc ?: store_sql_run(*slot);
    if (rc == SQLITE_OK && share->flags & (STORE_EVENT_UNCLOSED | STORE_EVENT_KEY)) {
        rc = write_beside(bulk, share, row);
    }
    return rc;
}

static int write_events(struct store_bulk *bulk, const struct store_batch *batch) {
    struct store_txn *txn = bulk->txn;
    int64_t row = txn->next_row;
    int rc = store_event_pages_write(&bulk->pages, batch);
    txn->next_row += (int64_t)batch->events;
    if (rc == SQLITE_OK && sqlite3_last_insert_rowid(txn->db) != txn->next_row - 1) {
        rc = SQLITE_INTERNAL;
    }
    if (txn->first_row == 0) {
        txn->first_row = row;
    }
    txn->last_row = txn->next_row - 1;
    const struct store_share *share = batch->first;
    for (; share && rc == SQLITE_OK; share = store_share_next(share)) {
        if (share->events > 0) {
            rc = write_source_rows(bulk, share, row);
            row += (int64_t)share->events;
        }
    }
    return rc;
}

int store_bulk_write(struct store_bulk *bulk, const struct store_batch *batch) {
    if (batch->events == 0) {
        return SQLITE_OK;
    }
    int rc = SQLITE_OK;
    struct store_batch_strings *fresh = &bulk->fresh;
    fresh->count = 0;
    for (const struct store_share *share = batch->first; share; share = store_share_next(share)) {
        for (const struct store_run *run = share->runs; run && rc == SQLITE_OK; run = run->next) {
            rc = read_run(bulk, run);
        }
    }
    rc = rc ?: write_strings(bulk);
    rc = rc ?: write_events(bulk, batch);
    if (fresh->room > KEEP_FRESH) {
        free(fresh->events);
        fresh->events = NULL;
        fresh->room = 0;
    }
    fresh->count = 0;
    return rc;
}
