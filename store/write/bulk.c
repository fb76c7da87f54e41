// SPDX-License-Identifier: Apache-2.0
//
// The cheapest way into SQLite is a statement that runs once over many rows: `INSERT INTO … SELECT
// … FROM` a virtual table whose cursor walks the records of a batch. For each row that leaves a
// function call for each column. A loop of bind, step and reset pays each time for entering and
// leaving the virtual machine.
//
// Columns that no event of the batch fills are left out of the statement, or NULL in it, which
// costs next to nothing; asking the virtual table for them would cost a call.
//
// Ids are known before SQLite gives them: within a transaction nobody else writes, and SQLite gives
// a row without a rowid the largest one plus 1. So a first pass over the records looks up, or
// gives, the id of every text, and the strings are written first. The rangeId of a start/end range
// is its own rowid plus a base above the rows of earlier segments; the rows of a source are a range
// of rowids. After each statement the last rowid must be the expected one.
#include "store/write/bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// The columns that not every event fills, in the table's order, and their flags; a variant is the
// set of flags without the two that fill none.
static const char *const optional[] = {"endGlobalTid", "uint64Value", "int64Value", "doubleValue",
                                       "uint32Value",  "int32Value",  "floatValue", "jsonText"};
#define FIRST_OPTIONAL STORE_EVENT_ELSEWHERE
#define OPTIONALS ((int)(sizeof(optional) / sizeof(optional[0])))

static int variant_of(unsigned flags) {
    return (int)(flags / FIRST_OPTIONAL % STORE_BULK_VARIANTS);
}

// The columns are the first ones of the table, in its order. Then SQLite makes a row directly from
// what the virtual table returns; any other list costs a copy of each value (OP_SCopy). So those
// before the last one that is filled are NULL in the statement, and those after it are left out.
static int prepare_events(struct store_bulk *bulk, int variant) {
    char columns[128] = "";
    char values[128] = "";
    for (int i = 1; i < OPTIONALS && variant >> i != 0; i++) {
        const char *value = variant >> i & 1 ? optional[i] : "NULL";
        snprintf(columns + strlen(columns), sizeof(columns) - strlen(columns), ", %s", optional[i]);
        snprintf(values + strlen(values), sizeof(values) - strlen(values), ", %s", value);
    }
    char text[640];
    snprintf(text, sizeof(text),
             "INSERT INTO NVTX_EVENTS (start, end, eventType, rangeId, text, category, color, "
             "globalTid, domainId, endGlobalTid, textId%s) SELECT start, end, eventType, rangeId, "
             "text, category, color, globalTid, domainId, %s, textId%s FROM nvtxt_batch_events",
             columns, variant & 1 ? optional[0] : "NULL", values);
    return store_sql_prepare(bulk->txn->db, &bulk->events[variant], text);
}

int store_bulk_init(struct store_bulk *bulk, struct store_txn *txn, struct store_intern *intern) {
    *bulk = (struct store_bulk){.txn = txn, .intern = intern, .tables.txn = txn};
    return store_batch_tables_register(txn->db, &bulk->tables);
}

void store_bulk_deinit(struct store_bulk *bulk) {
    store_sql_finalize(bulk->events, STORE_BULK_VARIANTS);
    store_sql_finalize(bulk->stmts, STORE_BULK_STMTS);
    free(bulk->tables.fresh);
    bulk->tables.fresh = NULL;
}

// ---- Writing ----------------------------------------------------------------------------------

static int add_fresh(struct store_bulk *bulk, struct store_event *event) {
    if (nvtxt_grow(&bulk->tables.fresh, &bulk->fresh_room, bulk->tables.fresh_count + 1,
                   sizeof(*bulk->tables.fresh)) < 0) {
        return SQLITE_NOMEM;
    }
    event->text_id = bulk->txn->next_string + (int64_t)bulk->tables.fresh_count;
    bulk->tables.fresh[bulk->tables.fresh_count++] = event;
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
    if (bulk->tables.fresh_count == 0) {
        return SQLITE_OK;
    }
    int rc = store_sql_prepare(txn->db, &bulk->stmts[STRINGS], texts[STRINGS]);
    rc = rc ?: store_sql_run(bulk->stmts[STRINGS]);
    txn->next_string += (int64_t)bulk->tables.fresh_count;
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

static int write_events(struct store_bulk *bulk, unsigned flags) {
    struct store_txn *txn = bulk->txn;
    int variant = variant_of(flags);
    int rc = bulk->events[variant] ? SQLITE_OK : prepare_events(bulk, variant);
    rc = rc ?: store_sql_run(bulk->events[variant]);
    int64_t row = txn->next_row;
    txn->next_row += (int64_t)bulk->tables.batch->events;
    if (rc == SQLITE_OK && sqlite3_last_insert_rowid(txn->db) != txn->next_row - 1) {
        rc = SQLITE_INTERNAL;
    }
    if (txn->first_row == 0) {
        txn->first_row = row;
    }
    txn->last_row = txn->next_row - 1;
    const struct store_share *share = bulk->tables.batch->first;
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
    unsigned flags = 0;
    bulk->tables.batch = batch;
    bulk->tables.fresh_count = 0;
    for (const struct store_share *share = batch->first; share; share = store_share_next(share)) {
        flags |= share->flags;
        for (const struct store_run *run = share->runs; run && rc == SQLITE_OK; run = run->next) {
            rc = read_run(bulk, run);
        }
    }
    rc = rc ?: write_strings(bulk);
    rc = rc ?: write_events(bulk, flags);
    bulk->tables.batch = NULL;
    if (bulk->fresh_room > KEEP_FRESH) {
        free(bulk->tables.fresh);
        bulk->tables.fresh = NULL;
        bulk->fresh_room = 0;
    }
    bulk->tables.fresh_count = 0;
    return rc;
}
