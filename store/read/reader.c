// SPDX-License-Identifier: Apache-2.0
//
// Makes events of rows. A chunk is one statement over a range of rows, which a function takes as it
// runs, until the end of the range, or until the chunk is full. Then it is reset: so the read
// transaction is over before the caller sees the rows. In an export the numbers of rows are chosen
// by others: they may be far apart, and as large or small as can be.
#include "store/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "store/read/older_segments.h"
#include "store/read/reader_state.h"
#include "store/read/reader_tables.h"
#include "store/value/codes.h"

// A chunk is some milliseconds of reading and fits the second level of a processor's cache.
#define CHUNK_ROWS 2048
#define CHUNK_STEPS (8 * CHUNK_ROWS)    // with rows that are left out, which take time too
#define CHUNK_TEXT ((size_t)512 * 1024) // the text that ends a chunk early
#define KEPT_TEXT ((size_t)2 << 20)

#define KINDS NVTXT_PAYLOAD_FLOAT // of payloads

enum column {
    ROW,
    TYPE,
    START,
    END,
    TEXT,
    CATEGORY,
    COLOR,
    GLOBAL_TID,
    DOMAIN_ID,
    END_GLOBAL_TID,
    RANGE_ID,
    PAYLOADS,               // in the order of enum nvtxt_payload_kind
    JSON = PAYLOADS + KINDS // this and all payloads but Int64 and Double: only of a wide reader
};

#define ROWS "SELECT 1 FROM NVTX_EVENTS WHERE rowid BETWEEN ?1 AND ?2 AND "
#define OUR_ROWS(range_id)                                                                         \
    ROWS "nvtxt_row(rowid, eventType, start, end, text, category, color, globalTid, domainId, "    \
         "endGlobalTid, " range_id ", int64Value, doubleValue"
#define WIDE ", uint64Value, uint32Value, int32Value, floatValue, jsonText)"

// By whether ids of ranges are asked for, and whether the rows may be wide.
static const char *const our_rows[2][2] = {{OUR_ROWS("0") ")", OUR_ROWS("0") WIDE},
                                           {OUR_ROWS("rangeId") ")", OUR_ROWS("rangeId") WIDE}};

#define RANGE_ID_PART 9 // of those below

// Columns that an export of some version may lack, and what stands for them.
static const struct {
    const char *column;
    const char *there;
    const char *lacking;
} parts[] = {
    {"start", "start", "0"},
    {"end", "\"end\"", "NULL"},
    {"textId", "(SELECT value FROM StringIds WHERE id = textId)", "NULL"},
    {"text", "text", "NULL"},
    {"category", "category", "NULL"},
    {"color", "color", "NULL"},
    {"globalTid", "globalTid", "NULL"},
    {"domainId", "domainId", "NULL"},
    {"endGlobalTid", "endGlobalTid", "NULL"},
    [RANGE_ID_PART] = {"rangeId", "rangeId", "0"},
    {"int64Value", "int64Value", "NULL"},
    {"doubleValue", "doubleValue", "NULL"},
    {"uint64Value", "uint64Value", "NULL"},
    {"uint32Value", "uint32Value", "NULL"},
    {"int32Value", "int32Value", "NULL"},
    {"floatValue", "floatValue", "NULL"},
    {"jsonText", "jsonText", "NULL"},
    {"jsonTextId", "(SELECT value FROM StringIds WHERE id = jsonTextId)", "NULL"},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static int find_parts(struct store_reader *reader, const char *v[PARTS]) {
    int rc = SQLITE_OK;
    for (size_t i = 0; i < PARTS; i++) {
        bool there = store_reader_has_column(reader, "NVTX_EVENTS", parts[i].column, &rc);
        v[i] = there ? parts[i].there : parts[i].lacking;
    }
    return rc;
}

static bool on_row(void *context, sqlite3_value **row);

static int prepare_text(struct store_reader *reader, const char *sql) {
    sqlite3_stmt **slot = &reader->stmts[STORE_READ_ROWS];
    reader->taking = (struct store_sql_rows){on_row, reader};
    int rc = *slot ? SQLITE_OK : store_sql_rows_register(reader->db, &reader->taking);
    return rc ?: store_sql_prepare(reader->db, slot, sql);
}

static int prepare_export_rows(struct store_reader *reader) {
    const char *v[PARTS];
    char sql[1024];
    int rc = find_parts(reader, v);
    v[RANGE_ID_PART] = reader->range_ids ? v[RANGE_ID_PART] : parts[RANGE_ID_PART].lacking;
    snprintf(sql, sizeof(sql),
             ROWS "nvtxt_row(rowid, eventType, %s, coalesce(%s, %s), coalesce(%s, %s, ''), %s, %s, "
                  "%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, coalesce(%s, %s))",
             v[0], v[1], v[0], v[3], v[2], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12],
             v[13], v[14], v[15], v[16], v[17]);
    return rc ?: prepare_text(reader, sql);
}

// Searches the columns that only the extension has.
static int search_export(struct store_reader *reader, int64_t *found) {
    const char *v[PARTS];
    char sql[256];
    int rc = find_parts(reader, v);
    snprintf(sql, sizeof(sql),
             "SELECT EXISTS (SELECT 1 FROM NVTX_EVENTS WHERE coalesce(%s, %s, %s, %s, %s, %s) "
             "IS NOT NULL)",
             v[12], v[13], v[14], v[15], v[16], v[17]);
    return rc ?: store_sql_int(reader->db, sql, found);
}

int store_read_has_nvtx(struct store_reader *reader, bool *has) {
    int64_t found = reader->wide;
    int rc = reader->ours ? SQLITE_OK : search_export(reader, &found);
    *has = found != 0;
    return store_reader_result(reader, rc);
}

// Five columns more make an export slower by some percent, so they are read only from a store in
// which a source had the extension. A store of an older version has no such source.
static int find_width(struct store_reader *reader) {
    int64_t found = !reader->ours;
    int rc = SQLITE_OK;
    if (reader->ours && store_reader_has_column(reader, "NVTXT_SOURCES", "nvtx", &rc)) {
        rc = store_sql_int(reader->db, "SELECT EXISTS (SELECT 1 FROM NVTXT_SOURCES WHERE nvtx = 1)",
                           &found);
    }
    reader->wide = found != 0;
    return rc;
}

static int prepare_rows(struct store_reader *reader) {
    int rc = find_width(reader);
    if (rc != SQLITE_OK || !reader->ours) {
        return rc ?: prepare_export_rows(reader);
    }
    return prepare_text(reader, our_rows[reader->range_ids][reader->wide]);
}

int store_read_range_ids(struct store_reader *reader) {
    reader->range_ids = true;
    store_sql_finalize(&reader->stmts[STORE_READ_ROWS], 1);
    return store_reader_result(reader, prepare_rows(reader));
}

// ---- Opening ------------------------------------------------------------------------------------

#define OF_EVENTS " FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"

static int export_totals(struct store_reader *reader) {
    struct store_totals *totals = &reader->totals;
    int64_t events = 0;
    int rc = store_sql_int(reader->db, "SELECT count(*)" OF_EVENTS, &events);
    rc = rc ?: store_sql_int(reader->db, "SELECT min(start)" OF_EVENTS, &totals->first_ns);
    if (rc == 0) {
        rc = store_sql_int(reader->db, "SELECT max(coalesce(\"end\", start))" OF_EVENTS,
                           &totals->last_ns);
    }
    totals->events = (uint64_t)events;
    if (events > 0) {
        totals->first_ns = store_reader_time(reader, totals->first_ns);
        totals->last_ns = store_reader_time(reader, totals->last_ns);
    }
    return rc;
}

// Reads in one transaction what the store is at this moment.
static int take_stock(struct store_reader *reader) {
    int rc = store_sql_exec(reader->db, "BEGIN");
    rc = rc ?: store_reader_rows(reader);
    rc = rc ?: store_read_offset(reader, &reader->offset_ns); // from the start of its session
    if (rc == 0) {
        rc =
            (reader->ours ? store_totals_read(reader->db, &reader->totals) : export_totals(reader));
    }
    rc = rc ?: prepare_rows(reader);
    rc = rc ?: store_reader_spans(reader, &STORE_READ_ALL);
    if (!sqlite3_get_autocommit(reader->db)) {
        int ended = store_sql_exec(reader->db, "COMMIT");
        rc = rc ?: ended;
    }
    return rc;
}

static void begin_anew(struct store_reader *reader, const struct store_read_window *window) {
    reader->since_ns = window->since_ns;
    reader->until_ns = window->until_ns;
    reader->span_at = 0;
    reader->rows_read = 0;
    reader->next_row = reader->span_count > 0 ? reader->spans[0].first : 0;
}

int store_read_connect(struct store_reader **out, const char *path, char *error, size_t size) {
    struct store_reader *reader = calloc(1, sizeof(*reader));
    *out = NULL;
    if (!reader || strlen(path) >= sizeof(reader->path)) {
        int r = reader ? nvtxt_origin(-ENAMETOOLONG) : nvtxt_origin(-ENOMEM);
        snprintf(error, size, "cannot read %s: %s", path, strerror(-r));
        free(reader);
        return r;
    }
    strcpy(reader->path, path);
    int r = store_reader_connect(reader);
    if (r != STORE_DONE) {
        snprintf(error, size, "%s", reader->error);
        store_read_close(reader);
        return r;
    }
    *out = reader;
    return STORE_DONE;
}

int store_read_open(struct store_reader **out, const char *path, char *error, size_t size) {
    int r = store_read_connect(out, path, error, size);
    r = r ?: store_reader_result(*out, take_stock(*out));
    if (r != STORE_DONE) {
        if (*out) {
            snprintf(error, size, "%s", (*out)->error);
        }
        store_read_close(*out);
        *out = NULL;
        return r;
    }
    begin_anew(*out, &STORE_READ_ALL);
    return STORE_DONE;
}

void store_read_close(struct store_reader *reader) {
    if (!reader) {
        return;
    }
    store_sql_finalize(reader->stmts, STORE_READ_STMTS);
    sqlite3_close(reader->db);
    store_reader_free_names(reader);
    store_arena_deinit(&reader->texts);
    free(reader->spans);
    free(reader->events);
    free(reader);
}

const char *store_read_error(const struct store_reader *reader) {
    return reader->error;
}

const struct store_totals *store_read_totals(const struct store_reader *reader) {
    return &reader->totals;
}

int store_read_select(struct store_reader *reader, const struct store_read_window *window) {
    int rc = store_reader_spans(reader, window);
    begin_anew(reader, window);
    return store_reader_result(reader, rc);
}

int store_read_find_sources(struct store_reader *reader, const char *name, int64_t **ids,
                            size_t *count) {
    sqlite3_stmt *stmt = NULL;
    *ids = NULL;
    *count = 0;
    if (!reader->ours) {
        return STORE_DONE;
    }
    int rc = store_sql_prepare(reader->db, &stmt,
                               "SELECT id FROM NVTXT_SOURCES WHERE ?1 IN (name, displayName, "
                               "peerComm) OR CAST(id AS TEXT) = ?1");
    rc = rc ?: store_sql_bind(stmt, "t", name);
    while (store_sql_next(stmt, &rc)) {
        int64_t *id = nvtxt_add(ids, count, sizeof(*id));
        rc = id ? SQLITE_OK : SQLITE_NOMEM;
        if (id) {
            *id = sqlite3_column_int64(stmt, 0);
        }
    }
    sqlite3_finalize(stmt);
    return store_reader_result(reader, rc);
}

// ---- Chunks -------------------------------------------------------------------------------------

static int copy_text(struct store_reader *reader, sqlite3_value *value, struct nvtxt_slice *text) {
    int rc = store_sql_value(value, text);
    if (text->len == 0) {
        text->data = "";
        return rc;
    }
    char *copy = store_arena_take(&reader->texts, text->len, 1);
    text->data = copy ? memcpy(copy, text->data, text->len) : NULL;
    return copy ? SQLITE_OK : SQLITE_NOMEM;
}

#define THREAD_BITS UINT64_C(0xFFFFFFFFFFFF) // PID and TID; an export has machine bits above

// Takes a row, if it is in the window: then the chunk has one event more.
static int take_row(struct store_reader *reader, sqlite3_value **row) {
    struct store_read_event *event = &reader->events[reader->count];
    int type = sqlite3_value_int(row[TYPE]);
    if (type != NVTXT_EVENT_MARK && type != NVTXT_EVENT_PUSH_POP && type != NVTXT_EVENT_START_END) {
        return SQLITE_OK;
    }
    event->type = (enum nvtxt_event_type)type;
    event->start = store_reader_time(reader, sqlite3_value_int64(row[START]));
    event->end = store_reader_time(reader, sqlite3_value_int64(row[END]));
    if (event->end < reader->since_ns || event->start > reader->until_ns) {
        return SQLITE_OK;
    }
    event->row = reader->last;
    event->range_id = sqlite3_value_int64(row[RANGE_ID]);
    event->category = (uint32_t)sqlite3_value_int64(row[CATEGORY]);
    event->color = (uint32_t)sqlite3_value_int64(row[COLOR]);
    event->global_tid = (uint64_t)sqlite3_value_int64(row[GLOBAL_TID]) & THREAD_BITS;
    event->domain_id = sqlite3_value_int64(row[DOMAIN_ID]);
    event->end_global_tid = (uint64_t)sqlite3_value_int64(row[END_GLOBAL_TID]) & THREAD_BITS;
    event->ended_elsewhere =
        !store_sql_is_null(row[END_GLOBAL_TID]) && event->end_global_tid != event->global_tid;
    store_read_payload(&row[PAYLOADS], reader->wide, &event->payload);
    event->json = (struct nvtxt_slice){NULL, 0};
    int rc = reader->wide ? copy_text(reader, row[JSON], &event->json) : SQLITE_OK;
    rc = rc ?: copy_text(reader, row[TEXT], &event->text);
    reader->count += rc == SQLITE_OK;
    return rc;
}

// Stops after a row that failed, and when the chunk is full.
static bool on_row(void *context, sqlite3_value **row) {
    struct store_reader *reader = context;
    reader->last = sqlite3_value_int64(row[ROW]);
    reader->rc = take_row(reader, row);
    reader->steps++;
    return reader->rc != SQLITE_OK || reader->count == CHUNK_ROWS || reader->steps == CHUNK_STEPS ||
           store_arena_used(&reader->texts) >= CHUNK_TEXT;
}

// Reads until the range ends or the chunk is full: then `*full`.
static int read_rows(struct store_reader *reader, int64_t first, int64_t last, bool *full) {
    sqlite3_stmt *stmt = reader->stmts[STORE_READ_ROWS];
    reader->count = 0;
    reader->steps = 0;
    int rc = store_sql_bind(stmt, "ii", first, last);
    *full = store_sql_next(stmt, &rc);
    rc = *full ? reader->rc : rc;
    return store_sql_done(stmt, rc);
}

static void go_on_after(struct store_reader *reader, int64_t last) {
    reader->rows_read += (double)last - (double)reader->next_row + 1;
    if (last < reader->spans[reader->span_at].last) {
        reader->next_row = last + 1;
    } else if (++reader->span_at < reader->span_count) {
        reader->next_row = reader->spans[reader->span_at].first;
    }
}

int store_read_chunk(struct store_reader *reader, const struct store_read_event **events,
                     size_t *count) {
    if (!reader->events) { // not before: an export of many segments has many readers open
        reader->events = calloc(CHUNK_ROWS, sizeof(*reader->events));
    }
    *events = reader->events;
    *count = 0;
    if (!reader->events) {
        return store_reader_result(reader, SQLITE_NOMEM);
    }
    if (reader->failed != STORE_DONE || reader->span_at >= reader->span_count) {
        return reader->failed != STORE_DONE ? reader->failed : STORE_NOT_FOUND;
    }
    store_arena_reset(&reader->texts, KEPT_TEXT);
    bool full = false;
    int64_t last = reader->spans[reader->span_at].last;
    int rc = read_rows(reader, reader->next_row, last, &full);
    *count = reader->count;
    if (rc == SQLITE_OK) {
        go_on_after(reader, full ? reader->last : last);
    }
    return store_reader_result(reader, rc);
}

// ---- Rows for a follower ------------------------------------------------------------------------

// Any window, and any payload: a source with the extension may come at any time.
static int begin_after(struct store_reader *reader) {
    if (!reader->events) {
        reader->events = calloc(CHUNK_ROWS, sizeof(*reader->events));
        reader->wide = true;
        reader->since_ns = INT64_MIN;
        reader->until_ns = INT64_MAX;
    }
    int rc = reader->events ? SQLITE_OK : SQLITE_NOMEM;
    return rc ?: prepare_text(reader, our_rows[true][true]);
}

void store_read_rows_free(struct store_reader *reader) {
    store_arena_reset(&reader->texts, KEPT_TEXT);
}

int store_read_rows_after(struct store_reader *reader, int64_t after, int64_t last,
                          struct store_read_rows *rows) {
    store_read_rows_free(reader);
    *rows = (struct store_read_rows){.last = after, .at_end = after >= last};
    if (rows->at_end) {
        return SQLITE_OK;
    }
    bool full = false;
    reader->last = after;
    int rc = begin_after(reader);
    rc = rc ?: read_rows(reader, after + 1, last, &full);
    *rows = (struct store_read_rows){.events = reader->events,
                                     .count = reader->count,
                                     .last = reader->last,
                                     .at_end = rc == SQLITE_OK && !full,
                                     .has_names = (size_t)reader->steps > reader->count,
                                     .bytes = store_arena_used(&reader->texts)};
    return rc;
}

double store_read_progress(const struct store_reader *reader) {
    return reader->rows > 0 ? reader->rows_read / reader->rows : 1;
}
