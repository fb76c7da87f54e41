// SPDX-License-Identifier: Apache-2.0
//
// The cheapest way into SQLite is a statement that runs once over many rows: `INSERT INTO … SELECT
// … FROM` a virtual table whose cursor walks the records of a batch. For each row that leaves a
// function call for each column. A loop of bind, step and reset pays each time for entering and
// leaving the virtual machine.
//
// Columns that no event of the batch fills are left out of the statement, or NULL in it, which
// costs next to nothing; asking the virtual table for them would cost a call. What all events of
// the batch have in common, as the thread and the colour often are, is a parameter. So there are
// many statements, one for a shape of batches, of which those that were made last are kept.
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

// The columns of the table, in its order. Some are filled only by events with a flag, so a shape
// has the flags of the batch; in some all events may have the same, so it has those that vary.
enum vary { TYPE = 1, RANGE_ID = 2, CATEGORY = 4, COLOR = 8, GLOBAL_TID = 16, DOMAIN = 32 };
#define VARY_BITS 6
#define OPTIONAL (STORE_EVENT_KEY - STORE_EVENT_ELSEWHERE) // the flags below

static const struct {
    const char *name;
    unsigned flag;
    enum vary vary;
} columns[] = {
    {.name = "start"},
    {.name = "end"},
    {.name = "eventType", .vary = TYPE},
    {.name = "rangeId", .vary = RANGE_ID},
    {.name = "text"},
    {.name = "category", .vary = CATEGORY},
    {.name = "color", .vary = COLOR},
    {.name = "globalTid", .vary = GLOBAL_TID},
    {.name = "domainId", .vary = DOMAIN},
    {.name = "endGlobalTid", .flag = STORE_EVENT_ELSEWHERE},
    {.name = "textId"},
    {.name = "uint64Value", .flag = STORE_EVENT_UINT64},
    {.name = "int64Value", .flag = STORE_EVENT_INT64},
    {.name = "doubleValue", .flag = STORE_EVENT_DOUBLE},
    {.name = "uint32Value", .flag = STORE_EVENT_UINT32},
    {.name = "int32Value", .flag = STORE_EVENT_INT32},
    {.name = "floatValue", .flag = STORE_EVENT_FLOAT},
    {.name = "jsonText", .flag = STORE_EVENT_JSON},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define LEAST 11 // columns that a statement names: up to textId

static bool is_common(size_t column, unsigned shape) {
    return columns[column].vary & ~shape;
}

static bool is_filled(size_t column, unsigned shape) {
    return !columns[column].flag || columns[column].flag << VARY_BITS & shape;
}

// Those that differ from the first event of the batch.
static unsigned vary_of(const struct store_batch *batch) {
    const struct store_event *first = NULL;
    unsigned type = 0, ranges = 0, category = 0, color = 0, domain = 0;
    uint64_t tid = 0;
    for (const struct store_share *share = batch->first; share; share = store_share_next(share)) {
        for (const struct store_run *run = share->runs; run; run = run->next) {
            for (size_t i = 0; i < run->count; i++) {
                const struct store_event *event = &run->events[i];
                first = first ?: event;
                type |= event->type ^ first->type;
                ranges |= event->type == NVTXT_EVENT_START_END;
                category |= event->category ^ first->category;
                color |= event->color ^ first->color;
                domain |= event->domain ^ first->domain;
                tid |= event->global_tid ^ first->global_tid;
            }
        }
    }
    return (type ? TYPE : 0u) | (ranges ? RANGE_ID : 0u) | (category ? CATEGORY : 0u) |
           (color ? COLOR : 0u) | (tid ? GLOBAL_TID : 0u) | (domain ? DOMAIN : 0u);
}

// The columns are the first ones of the table, in its order. Then SQLite makes a row directly from
// what the virtual table returns; any other list costs a copy of each value (OP_SCopy). So those
// that are not filled are NULL in the statement, but left out after the last one that is.
static int prepare_events(sqlite3 *db, unsigned shape, sqlite3_stmt **stmt) {
    char names[256] = "", values[256] = "", text[640];
    size_t count = COLUMNS, names_len = 0, values_len = 0;
    while (count > LEAST && !is_filled(count - 1, shape)) {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = columns[i].name, *comma = i > 0 ? ", " : "";
        const char *value = is_common(i, shape) ? "?" : is_filled(i, shape) ? name : "NULL";
        names_len +=
            (size_t)snprintf(names + names_len, sizeof(names) - names_len, "%s%s", comma, name);
        values_len += (size_t)snprintf(values + values_len, sizeof(values) - values_len, "%s%s",
                                       comma, value);
    }
    snprintf(text, sizeof(text), "INSERT INTO NVTX_EVENTS (%s) SELECT %s FROM nvtxt_batch_events",
             names, values);
    return store_sql_prepare(db, stmt, text);
}

// The statement of a shape; the one that was made first of those that are kept makes room.
static int find_events(struct store_bulk *bulk, unsigned shape, sqlite3_stmt **stmt) {
    for (size_t i = 0; i < STORE_BULK_SHAPES; i++) {
        if (bulk->shapes[i].stmt && bulk->shapes[i].shape == shape) {
            *stmt = bulk->shapes[i].stmt;
            return SQLITE_OK;
        }
    }
    struct store_bulk_shape *slot = &bulk->shapes[bulk->oldest];
    bulk->oldest = (bulk->oldest + 1) % STORE_BULK_SHAPES;
    store_sql_finalize(&slot->stmt, 1);
    slot->shape = shape;
    int rc = prepare_events(bulk->txn->db, shape, &slot->stmt);
    *stmt = slot->stmt;
    return rc;
}

// What all events have in common is that of the first one.
static int bind_common(const struct store_bulk *bulk, unsigned shape, sqlite3_stmt *stmt) {
    const struct store_share *share = bulk->tables.batch->first;
    while (share->events == 0) {
        share = store_share_next(share);
    }
    const struct store_run *run = share->runs;
    while (run->count == 0) {
        run = run->next;
    }
    int rc = SQLITE_OK, parameter = 0;
    for (size_t i = 0; i < LEAST && rc == SQLITE_OK; i++) {
        if (is_common(i, shape)) {
            int64_t value = store_batch_value(&bulk->tables, run->events, 0, (int)i);
            rc = sqlite3_bind_int64(stmt, ++parameter, value);
        }
    }
    return rc;
}

int store_bulk_init(struct store_bulk *bulk, struct store_txn *txn, struct store_intern *intern) {
    *bulk = (struct store_bulk){.txn = txn, .intern = intern, .tables.txn = txn};
    return store_batch_tables_register(txn->db, &bulk->tables);
}

void store_bulk_deinit(struct store_bulk *bulk) {
    for (size_t i = 0; i < STORE_BULK_SHAPES; i++) {
        store_sql_finalize(&bulk->shapes[i].stmt, 1);
    }
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
    unsigned shape = (flags & OPTIONAL) << VARY_BITS | vary_of(bulk->tables.batch);
    sqlite3_stmt *stmt = NULL;
    int rc = find_events(bulk, shape, &stmt);
    rc = rc ?: bind_common(bulk, shape, stmt);
    rc = rc ?: store_sql_run(stmt);
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
