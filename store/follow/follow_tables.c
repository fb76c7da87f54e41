// SPDX-License-Identifier: Apache-2.0
//
// The small tables. Diagnostics and losses only grow: their rows after the place. Of the others a
// sweep reads all rows, and hands out those whose contents have another hash value than those that
// were handed out last; what was added is found by its id alone. One buffer has room for the rows
// of any of them.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "store/db/sql.h"
#include "store/follow/follow.h"
#include "store/follow/follow_state.h"
#include "store/value/codes.h"
#include "store/write/name_rows.h"

#define KEPT_TEXT ((size_t)1 << 20)
#define SEEN_MAX ((size_t)1 << 19) // rows, in 16 MiB; more, and all of them are handed out again

void *store_follow_room(struct store_follow *follow) {
    union {
        struct store_follow_source source;
        struct store_follow_diagnostic diagnostic;
        struct store_follow_loss loss;
        struct store_follow_key key;
        struct store_follow_domain domain;
        struct store_follow_name name;
        struct store_follow_category category;
        struct store_follow_range range;
    } any;
    if (!follow->rows) {
        follow->rows = calloc(STORE_FOLLOW_ROWS, sizeof(any));
    }
    store_arena_reset(&follow->texts, KEPT_TEXT);
    return follow->rows;
}

struct store_maybe store_follow_maybe(sqlite3_stmt *stmt, int column) {
    return (struct store_maybe){sqlite3_column_type(stmt, column) != SQLITE_NULL,
                                sqlite3_column_int64(stmt, column)};
}

int store_follow_text(struct store_follow *follow, sqlite3_stmt *stmt, int column,
                      struct nvtxt_slice *text) {
    int rc = store_sql_view(stmt, column, text);
    if (rc != SQLITE_OK || !text->data) {
        return rc;
    }
    text->data = store_arena_copy(&follow->texts, text->data, text->len);
    if (text->len > STORE_FOLLOW_TEXT) {
        sqlite3_db_release_memory(follow->db); // the pages that it came through
    }
    return text->data ? SQLITE_OK : SQLITE_NOMEM;
}

static bool is_full(const struct store_follow *follow, size_t count, int steps) {
    return count == STORE_FOLLOW_ROWS || steps == STORE_FOLLOW_STEPS ||
           store_arena_used(&follow->texts) >= STORE_FOLLOW_TEXT;
}

// ---- The tables ---------------------------------------------------------------------------------

int64_t store_follow_end_of(const struct store_follow *follow, int64_t limit) {
    if (!follow->has_limit || follow->facts.number < follow->limit_segment) {
        return INT64_MAX;
    }
    return follow->facts.number == follow->limit_segment ? limit : 0;
}

static int take_diagnostic(struct store_follow *follow, sqlite3_stmt *stmt, size_t at) {
    struct store_follow_diagnostic *row = (struct store_follow_diagnostic *)follow->rows + at;
    *row = (struct store_follow_diagnostic){.row = sqlite3_column_int64(stmt, 0),
                                            .source_id = store_follow_maybe(stmt, 1),
                                            .line = store_follow_maybe(stmt, 2),
                                            .column = store_follow_maybe(stmt, 3),
                                            .at_ns = store_follow_maybe(stmt, 4)};
    int rc = store_follow_text(follow, stmt, 5, &row->severity);
    rc = rc ?: store_follow_text(follow, stmt, 6, &row->stage);
    rc = rc ?: store_follow_text(follow, stmt, 7, &row->code);
    rc = rc ?: store_follow_text(follow, stmt, 8, &row->message);
    return rc ?: store_follow_text(follow, stmt, 9, &row->excerpt);
}

static int take_loss(struct store_follow *follow, sqlite3_stmt *stmt, size_t at) {
    struct store_follow_loss *row = (struct store_follow_loss *)follow->rows + at;
    *row = (struct store_follow_loss){.row = sqlite3_column_int64(stmt, 0),
                                      .at_ns = store_follow_maybe(stmt, 1),
                                      .source_id = store_follow_maybe(stmt, 2),
                                      .uid = store_follow_maybe(stmt, 3),
                                      .pid = store_follow_maybe(stmt, 4),
                                      .count = sqlite3_column_int64(stmt, 5)};
    return store_follow_text(follow, stmt, 6, &row->reason);
}

static int take_key(struct store_follow *follow, sqlite3_stmt *stmt, size_t at) {
    struct store_follow_key *row = (struct store_follow_key *)follow->rows + at;
    *row = (struct store_follow_key){.row = sqlite3_column_int64(stmt, 0),
                                     .source_id = sqlite3_column_int64(stmt, 1)};
    int rc = store_follow_text(follow, stmt, 2, &row->key);
    return rc ?: store_follow_text(follow, stmt, 3, &row->parent);
}

static int take_source(struct store_follow *follow, sqlite3_stmt *stmt, size_t at) {
    struct store_follow_source *row = (struct store_follow_source *)follow->rows + at;
    *row = (struct store_follow_source){
        .id = sqlite3_column_int64(stmt, 0),
        .peer_pid = store_follow_maybe(stmt, 7),
        .peer_uid = store_follow_maybe(stmt, 8),
        .peer_gid = store_follow_maybe(stmt, 9),
        .opened_ns = store_follow_maybe(stmt, 10),
        .closed_ns = store_follow_maybe(stmt, 11),
        .lines = store_follow_maybe(stmt, 12),
        .events = store_follow_maybe(stmt, 13),
        .warnings = store_follow_maybe(stmt, 14),
        .errors = store_follow_maybe(stmt, 15),
        .first_ns = store_follow_maybe(stmt, 16),
        .last_ns = store_follow_maybe(stmt, 17),
        .levels = sqlite3_column_int(stmt, 18) == 1,
    };
    int rc = store_follow_text(follow, stmt, 1, &row->kind);
    rc = rc ?: store_follow_text(follow, stmt, 2, &row->session);
    rc = rc ?: store_follow_text(follow, stmt, 3, &row->name);
    rc = rc ?: store_follow_text(follow, stmt, 4, &row->display_name);
    rc = rc ?: store_follow_text(follow, stmt, 5, &row->peer_comm);
    rc = rc ?: store_follow_text(follow, stmt, 6, &row->ended);
    return rc ?: store_follow_text(follow, stmt, 19, &row->parent);
}

static int take_domain(struct store_follow *follow, sqlite3_stmt *stmt, size_t at) {
    struct store_follow_domain *row = (struct store_follow_domain *)follow->rows + at;
    row->id = sqlite3_column_int64(stmt, 0);
    return store_follow_text(follow, stmt, 1, &row->name);
}

static int take_name(struct store_follow *follow, sqlite3_stmt *stmt, size_t at) {
    struct store_follow_name *row = (struct store_follow_name *)follow->rows + at;
    row->id = sqlite3_column_int64(stmt, 1);
    return store_follow_text(follow, stmt, 2, &row->name);
}

static int take_category(struct store_follow *follow, sqlite3_stmt *stmt, size_t at) {
    struct store_follow_category *row = (struct store_follow_category *)follow->rows + at;
    uint64_t key = (uint64_t)sqlite3_column_int64(stmt, 2);
    bool has_process = sqlite3_column_int(stmt, 0) == STORE_ROW_CATEGORY;
    row->domain_id = sqlite3_column_int64(stmt, 1);
    row->pid = has_process ? (int64_t)(key >> 32) : STORE_FOLLOW_ALL_PROCESSES;
    row->category = (int64_t)(key & UINT32_MAX);
    return store_follow_text(follow, stmt, 3, &row->name);
}

// A statement begins with the keys of a row: its id, or three numbers. Kind 33 is a category of all
// processes, of an older version.
#define SOURCES(levels, parent)                                                                    \
    "SELECT id, kind, sessionId, name, displayName, peerComm, ended, peerPid, peerUid, peerGid, "  \
    "openedNs, closedNs, lines, events, warnings, errors, firstNs, lastNs, " levels ", " parent    \
    " FROM NVTXT_SOURCES WHERE id > ?1 ORDER BY id"
_Static_assert(STORE_ROW_CATEGORY == 3, "the kind in the statement");

struct table {
    int keys; // how many columns, of rows that change
    int (*take)(struct store_follow *follow, sqlite3_stmt *stmt, size_t at);
    const char *text;
};

static const struct table tables[] = {
    [STORE_FOLLOW_DIAGNOSTICS] =
        {0, take_diagnostic,
         "SELECT rowid, sourceId, line, \"column\", atNs, severity, stage, code, message, excerpt "
         "FROM NVTXT_DIAGNOSTICS WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid"},
    [STORE_FOLLOW_LOSSES] = {0, take_loss,
                             "SELECT rowid, atNs, sourceId, uid, pid, count, reason "
                             "FROM NVTXT_LOSSES WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid"},
    [STORE_FOLLOW_KEYS] = {0, take_key,
                           "SELECT eventRow, sourceId, key, parent FROM NVTXT_RANGE_KEYS WHERE "
                           "eventRow > ?1 AND eventRow <= ?2 ORDER BY eventRow"},
    [STORE_FOLLOW_SOURCES] = {1, take_source, SOURCES("levels", "parent")},
    [STORE_FOLLOW_DOMAINS] = {1, take_domain,
                              "SELECT id, name FROM NVTXT_DOMAINS WHERE id > ?1 ORDER BY id"},
    [STORE_FOLLOW_PROCESSES] =
        {1, take_name, "SELECT rowid, pid, name FROM PROCESSES WHERE rowid > ?1 ORDER BY rowid"},
    [STORE_FOLLOW_THREADS] = {1, take_name,
                              "SELECT t.nameId, t.globalTid, s.value FROM ThreadNames t JOIN "
                              "StringIds s ON s.id = t.nameId "
                              "WHERE t.nameId > ?1 ORDER BY t.nameId"},
    [STORE_FOLLOW_CATEGORIES] =
        {3, take_category,
         "SELECT n.kind, n.domainId, n.key, e.text FROM NVTXT_NAME_ROWS n JOIN NVTX_EVENTS e "
         "ON e.rowid = n.row WHERE (n.kind, n.domainId, n.key) > (?1, ?2, ?3) AND n.kind IN "
         "(3, 33) ORDER BY n.kind, n.domainId, n.key"},
};

static int prepare(struct store_follow *follow, enum store_follow_table table) {
    const char *text = tables[table].text;
    if (table == STORE_FOLLOW_SOURCES && !follow->facts.has_parents) {
        text = follow->facts.has_levels ? SOURCES("levels", "NULL") : SOURCES("NULL", "NULL");
    }
    if (!store_follow_room(follow)) {
        return SQLITE_NOMEM;
    }
    return store_sql_prepare(follow->db, &follow->stmts[table], text);
}

// ---- Rows that only grow ------------------------------------------------------------------------

// `*after` moves to the last row that is handed out; `end` is the last one that may be.
static int read_grown(struct store_follow *follow, enum store_follow_table table, int64_t *after,
                      int64_t end, size_t *count) {
    sqlite3_stmt **stmt = &follow->stmts[table];
    int64_t last = *after;
    size_t rows = 0;
    int rc = prepare(follow, table);
    rc = rc ?: store_sql_bind(*stmt, "ii", *after, end);
    while (!is_full(follow, rows, 0) && store_sql_next(*stmt, &rc)) {
        last = sqlite3_column_int64(*stmt, 0);
        rc = tables[table].take(follow, *stmt, rows++);
    }
    rc = *stmt ? store_sql_done(*stmt, rc) : rc;
    if (rc == SQLITE_OK) {
        *after = last;
        *count = rows;
    }
    return rc != SQLITE_OK ? store_follow_translate(follow, rc)
           : rows          ? STORE_DONE
                           : STORE_NOT_FOUND;
}

// ---- Rows that change ---------------------------------------------------------------------------

static uint64_t hash_of(sqlite3_stmt *stmt, int first, int last, uint64_t hash) {
    for (int i = first; i < last; i++) {
        uint64_t type = (uint64_t)sqlite3_column_type(stmt, i);
        int64_t number = 0;
        struct nvtxt_slice bytes = {(const char *)&number, sizeof(number)};
        if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
            bytes.data = sqlite3_column_blob(stmt, i);
            bytes.len = (size_t)sqlite3_column_bytes(stmt, i);
        } else {
            number = sqlite3_column_int64(stmt, i);
        }
        hash = nvtxt_hash_pair(hash + type, bytes);
    }
    return hash;
}

// Whether the row is new, or other than the last time: 1, 0 or -ENOMEM. Of two rows with the same
// key value each is always other than the last one, which does no harm.
static int has_changed(struct store_follow *follow, enum store_follow_table table,
                       sqlite3_stmt *stmt) {
    uint64_t key = hash_of(stmt, 0, tables[table].keys, nvtxt_hash_number(table));
    uint64_t contents =
        hash_of(stmt, tables[table].keys, sqlite3_column_count(stmt), 0) | 1; // not 0
    if (follow->seen.count == SEEN_MAX) {
        nvtxt_map_clear(&follow->seen);
    }
    uint64_t *last = nvtxt_map_value(&follow->seen, key);
    if (!last) {
        return nvtxt_origin(-ENOMEM);
    }
    bool is_other = *last != contents;
    *last = contents;
    return is_other;
}

static void begin_sweep(struct store_follow_sweep *sweep, enum store_follow_what what) {
    sweep->is_on = true;
    sweep->at = what == STORE_FOLLOW_ADDED ? sweep->top : INT64_MIN;
    sweep->domain = sweep->key = INT64_MIN;
}

static void move_sweep(struct store_follow_sweep *sweep, enum store_follow_table table,
                       sqlite3_stmt *stmt) {
    sweep->at = sqlite3_column_int64(stmt, 0);
    sweep->top = sweep->at > sweep->top ? sweep->at : sweep->top;
    if (tables[table].keys == 3) {
        sweep->domain = sqlite3_column_int64(stmt, 1);
        sweep->key = sqlite3_column_int64(stmt, 2);
    }
}

// Steps through rows until the table ends or the chunk is full. Returns an SQLite result code.
static int sweep_rows(struct store_follow *follow, enum store_follow_table table, bool *at_end,
                      size_t *count) {
    struct store_follow_sweep *sweep = &follow->sweeps[table];
    sqlite3_stmt *stmt = follow->stmts[table];
    int rc = store_sql_bind(stmt, tables[table].keys == 3 ? "iii" : "i", sweep->at, sweep->domain,
                            sweep->key);
    for (int steps = 0; rc == SQLITE_OK && !is_full(follow, *count, steps); steps++) {
        if (!store_sql_next(stmt, &rc)) {
            *at_end = rc == SQLITE_OK;
            break;
        }
        int changed = has_changed(follow, table, stmt);
        rc = changed < 0 ? SQLITE_NOMEM
             : changed   ? tables[table].take(follow, stmt, *count)
                         : SQLITE_OK;
        *count += changed > 0;
        move_sweep(sweep, table, stmt);
    }
    return store_sql_done(stmt, rc);
}

static int read_changing(struct store_follow *follow, enum store_follow_table table,
                         enum store_follow_what what, size_t *count) {
    struct store_follow_sweep *sweep = &follow->sweeps[table];
    bool at_end = false;
    size_t rows = 0;
    if (!sweep->is_on) {
        begin_sweep(sweep, what);
    }
    int rc = prepare(follow, table);
    rc = rc ?: sweep_rows(follow, table, &at_end, &rows);
    sweep->is_on = rc == SQLITE_OK && !(at_end && rows == 0);
    if (rc != SQLITE_OK) {
        return store_follow_translate(follow, rc);
    }
    *count = rows;
    return sweep->is_on ? STORE_DONE : STORE_NOT_FOUND;
}

// A category that comes has a row among those of the events.
static int read_categories(struct store_follow *follow, enum store_follow_what what,
                           size_t *count) {
    if (!follow->sweeps[STORE_FOLLOW_CATEGORIES].is_on) {
        if (what == STORE_FOLLOW_ADDED && !follow->has_new_categories) {
            return STORE_NOT_FOUND;
        }
        follow->has_new_categories = false;
    }
    return read_changing(follow, STORE_FOLLOW_CATEGORIES, STORE_FOLLOW_CHANGED, count);
}

static int read_table(struct store_follow *follow, enum store_follow_table table,
                      enum store_follow_what what, size_t *count) {
    struct store_place *place = &follow->place;
    switch (table) {
    case STORE_FOLLOW_DIAGNOSTICS:
        return read_grown(follow, table, &place->diagnostic_row,
                          store_follow_end_of(follow, follow->limit.diagnostic_row), count);
    case STORE_FOLLOW_LOSSES:
        return read_grown(follow, table, &place->loss_row,
                          store_follow_end_of(follow, follow->limit.loss_row), count);
    case STORE_FOLLOW_KEYS: // a key came with its event
        return follow->facts.has_parents
                   ? read_grown(follow, table, &follow->key_row, place->event_row, count)
                   : STORE_NOT_FOUND;
    case STORE_FOLLOW_SOURCES:
    case STORE_FOLLOW_DOMAINS:
    case STORE_FOLLOW_PROCESSES:
    case STORE_FOLLOW_THREADS:
        return read_changing(follow, table, what, count);
    case STORE_FOLLOW_CATEGORIES:
        return read_categories(follow, what, count);
    case STORE_FOLLOW_TABLES:
        break;
    }
    assert(!"a table");
    return STORE_NOT_FOUND;
}

int store_follow_rows(struct store_follow *follow, enum store_follow_table table,
                      enum store_follow_what what, const void **rows, size_t *count) {
    *count = 0;
    int r = follow->reader ? read_table(follow, table, what, count) : STORE_NOT_FOUND;
    *rows = follow->rows;
    return r;
}

void store_follow_forget_rows(struct store_follow *follow) {
    nvtxt_map_clear(&follow->seen);
    memset(follow->sweeps, 0, sizeof(follow->sweeps));
    follow->has_new_categories = true;
    follow->key_row = 0;
}

void store_follow_pass_keys(struct store_follow *follow, int64_t row) {
    follow->key_row = row;
}
