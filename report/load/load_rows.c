// SPDX-License-Identifier: Apache-2.0
//
// Makes events of rows, in the order of their rowids. Two more statements go along with the scan:
// the ranges whose end was filled in, and which rows came from which source. Of many rows most come
// from threads that read ahead; the rest is read here.
#include "report/load/load.h"
#include "report/load/load_ahead.h"

#include <stdio.h>
#include <string.h>

#define CHECK_EVERY 4096             // rows
#define PART_BYTES ((size_t)2 << 20) // of texts
#define OPEN_ROW (INT64_C(1) << 39)

struct cursor { // along the rows of the scan
    sqlite3_stmt *stmt;
    bool over;
    int64_t first, last, value;
};

struct scan {
    struct report_load_state *load;
    const struct report_load_file *file;
    struct report_raw_rows rows;
    struct report_ahead *ahead; // owned; NULL: nobody reads ahead
    int rc;                     // of the row that was taken last
    size_t read;                // rows
    struct cursor unclosed, sources;
    int64_t source_id; // of the row before
    uint32_t source;   // its index, or REPORT_NONE; both hold as soon as `has_source`
    bool has_source;
};

// ---- Cursors ------------------------------------------------------------------------------------

// Both begin near the first row that is read: a store may have long tables of older ones.
static int prepare_cursors(struct scan *scan, int64_t first) {
    if (!scan->file->ours) {
        scan->unclosed.over = scan->sources.over = true;
        return SQLITE_OK;
    }
    scan->unclosed.last = scan->sources.last = INT64_MIN;
    int rc = store_sql_prepare(scan->file->db, &scan->unclosed.stmt,
                               "SELECT eventRow, eventRow, 1 FROM NVTXT_UNCLOSED "
                               "WHERE eventRow >= ?1 ORDER BY eventRow");
    if (rc == 0) {
        rc = store_sql_prepare(scan->file->db, &scan->sources.stmt,
                               "SELECT firstRow, lastRow, sourceId FROM NVTXT_EVENT_SOURCES "
                               "WHERE firstRow >= ifnull((SELECT max(firstRow) FROM "
                               "NVTXT_EVENT_SOURCES WHERE firstRow <= ?1), ?1) "
                               "ORDER BY firstRow");
    }
    rc = rc ?: store_sql_bind(scan->unclosed.stmt, "i", first);
    return rc ?: store_sql_bind(scan->sources.stmt, "i", first);
}

// Moves to the span that ends at the row or after it. True when the row lies in it.
static bool lies_in(struct cursor *cursor, int64_t row, int *rc) {
    while (!cursor->over && cursor->last < row) {
        cursor->over = !store_sql_next(cursor->stmt, rc);
        if (!cursor->over) {
            cursor->first = sqlite3_column_int64(cursor->stmt, 0);
            cursor->last = sqlite3_column_int64(cursor->stmt, 1);
            cursor->value = sqlite3_column_int64(cursor->stmt, 2);
        }
    }
    return !cursor->over && cursor->first <= row;
}

// ---- Events -------------------------------------------------------------------------------------

static bool kind_of(int type, uint8_t *kind) {
    switch (type) {
    case 34:
    case 65:
        *kind = REPORT_MARK;
        return true;
    case 59:
    case 70:
        *kind = REPORT_PUSH_POP;
        return true;
    case 60:
    case 71:
        *kind = REPORT_START_END;
        return true;
    default:
        return false;
    }
}

static bool is_wanted(const struct report_load_state *load, const struct report_load_file *file,
                      const struct report_event *event) {
    bool open = event->flags & REPORT_OPEN;
    return !load->windowed ||
           (report_load_time(file, event->start) <= load->window.until_ns &&
            (open || report_load_time(file, event->end) >= load->window.since_ns));
}

static void widen(struct report_load_state *load, const struct report_event *event) {
    struct report_capture *capture = load->capture;
    int64_t last = event->end > event->start ? event->end : event->start;
    if (!load->any || event->start < capture->first_ns) {
        capture->first_ns = event->start;
    }
    if (!load->any || last > capture->last_ns) {
        capture->last_ns = last;
    }
    load->any = true;
}

// A place for what few events have.
static struct report_more *make_more(struct report_load_state *load, struct report_event *event) {
    if (event->more != REPORT_NONE) {
        return &load->capture->more[event->more];
    }
    if (REPORT_GROW(load, more, more_count) != SQLITE_OK) {
        return NULL;
    }
    event->more = (uint32_t)load->capture->more_count++;
    struct report_more *more = &load->capture->more[event->more];
    *more = (struct report_more){.end_global_tid = 0};
    return more;
}

static int read_more(struct report_load_state *load, const struct report_raw *raw,
                     struct report_event *event) {
    bool elsewhere = raw->has_end_global_tid &&
                     raw->end_global_tid != load->capture->threads[event->thread].global_tid;
    struct nvtxt_slice json = raw->json;
    event->payload.int64 = raw->payload.int64;
    event->payload_kind = (uint8_t)raw->payload.kind;
    event->category = raw->category;
    event->color = raw->color;
    if (!elsewhere && json.len == 0) {
        return SQLITE_OK;
    }
    struct report_more *more = make_more(load, event);
    const char *copy = store_arena_copy(&load->memory->texts, json.len ? json.data : "", json.len);
    if (!more || !copy) {
        return SQLITE_NOMEM;
    }
    more->json = (struct nvtxt_slice){json.len ? copy : NULL, json.len};
    more->end_global_tid = elsewhere ? raw->end_global_tid : 0;
    more->ended_elsewhere = elsewhere;
    return SQLITE_OK;
}

static int read_names(struct scan *scan, const struct report_raw *raw, struct report_event *event) {
    struct report_load_state *load = scan->load;
    uint32_t message = 0;
    int rc = report_load_bearer(load, scan->file, raw->global_tid, raw->domain_id, &event->thread,
                                &event->scope);
    rc = rc ?: report_load_text(load, raw->text, raw->has_text_id ? &raw->text_id : NULL, &message);
    if (rc != 0) {
        return rc;
    }
    return report_load_name(load, load->capture->scopes[event->scope].domain, message,
                            &event->name);
}

static void read_times(const struct report_raw *raw, struct report_event *event) {
    event->start = event->end = raw->start;
    if (event->kind == REPORT_MARK) {
        return;
    }
    if (raw->has_end) {
        event->end = raw->end;
    } else {
        event->flags |= REPORT_OPEN;
    }
}

// Most rows have the source of the row before.
static uint32_t source_of(struct scan *scan, int64_t id) {
    if (!scan->has_source || scan->source_id != id) {
        if (!nvtxt_map_get(&scan->load->sources, (uint64_t)id, &scan->source)) {
            scan->source = REPORT_NONE;
        }
        scan->source_id = id;
        scan->has_source = true;
    }
    return scan->source;
}

static int read_source(struct scan *scan, int64_t rowid, struct report_event *event) {
    int rc = SQLITE_OK;
    event->source = REPORT_NONE;
    if (lies_in(&scan->unclosed, rowid, &rc)) {
        event->flags |= REPORT_UNCLOSED;
    }
    if (lies_in(&scan->sources, rowid, &rc)) {
        event->source = source_of(scan, scan->sources.value);
    }
    return rc;
}

// Everything of the row but its times and its source.
static int read_row(struct scan *scan, const struct report_raw *raw, struct report_event *event) {
    event->store = (uint8_t)scan->file->store;
    event->more = REPORT_NONE;
    int rc = read_names(scan, raw, event);
    return rc != SQLITE_OK || scan->load->brief ? rc : read_more(scan->load, raw, event);
}

// A range that ends before it starts has no length.
static int turn(struct report_load_state *load, struct report_event *event) {
    struct report_more *more = make_more(load, event);
    if (!more) {
        return SQLITE_NOMEM;
    }
    more->given_end = event->end;
    event->flags |= REPORT_BACKWARD;
    event->end = event->start;
    return SQLITE_OK;
}

static int add_event(struct report_load_state *load, const struct report_event *event) {
    int rc = REPORT_GROW(load, events, event_count);
    if (rc == SQLITE_OK) {
        struct report_event *added = &load->capture->events[load->capture->event_count++];
        widen(load, event);
        *added = *event;
        bool backward = !(added->flags & REPORT_OPEN) && added->end < added->start;
        rc = backward ? turn(load, added) : rc;
    }
    return rc;
}

static int take_row(struct scan *scan, const struct report_raw *raw) {
    struct report_event event = {0};
    if (!kind_of(raw->type, &event.kind)) {
        return SQLITE_OK;
    }
    read_times(raw, &event);
    if (!is_wanted(scan->load, scan->file, &event)) {
        return SQLITE_OK;
    }
    event.row = report_load_row(scan->file, raw->row);
    int rc = read_row(scan, raw, &event);
    rc = rc ?: read_source(scan, raw->row, &event);
    return rc ?: add_event(scan->load, &event);
}

int report_load_part(struct report_load_state *load) {
    int r = load->part ? load->part(load->context, load->capture) : 0;
    if (load->part) {
        load->capture->event_count = load->capture->more_count = 0;
        report_load_names_forget(load);
    }
    return r == 0 ? SQLITE_OK : SQLITE_NOMEM;
}

static bool part_is_full(const struct report_load_state *load) {
    return load->part && (load->capture->event_count >= REPORT_LOAD_PART ||
                          store_arena_used(&load->memory->texts) > PART_BYTES);
}

// A few rows may have texts that need all there is.
static bool texts_are_long(const struct report_load_state *load) {
    return load->max_memory > 0 && report_load_texts(load) > load->max_memory;
}

static bool take(void *context, const struct report_raw *raw) {
    struct scan *scan = context;
    scan->rc = take_row(scan, raw);
    return scan->rc != SQLITE_OK || ++scan->read % CHECK_EVERY == 0 || texts_are_long(scan->load) ||
           part_is_full(scan->load);
}

// What is to be done when take() is true.
static int pause_scan(struct scan *scan) {
    int rc = scan->rc ?: report_load_check(scan->load);
    return rc == SQLITE_OK && part_is_full(scan->load) ? report_load_part(scan->load) : rc;
}

static int scan_rows(struct scan *scan, int64_t first, int64_t last) {
    scan->rows.take = take;
    scan->rows.context = scan;
    int rc = report_raw_begin(&scan->rows, first, last);
    while (store_sql_next(scan->rows.stmt, &rc)) {
        rc = scan->rows.rc ?: pause_scan(scan);
    }
    return store_sql_done(scan->rows.stmt, rc);
}

// Those that were read ahead, then what is left of their block.
static int scan_block(struct scan *scan, const struct report_ahead_block *block) {
    int rc = SQLITE_OK;
    for (size_t i = 0; i < block->count && rc == SQLITE_OK; i++) {
        rc = take(scan, &block->raws[i]) ? pause_scan(scan) : SQLITE_OK;
    }
    return rc != SQLITE_OK || block->read == block->last
               ? rc
               : scan_rows(scan, block->read + 1, block->last);
}

static bool is_odd(const struct report_ahead_block *block) {
    return block->failed || (int64_t)block->count != block->read - block->first + 1;
}

// A store has no holes between its rows. Where some are missing, somebody deleted them, or the file
// is damaged, and what is found there depends on where one begins: from there on one thread reads.
// So it does where a block could not be read.
static int scan_blocks(struct scan *scan, const struct store_span *span) {
    const struct report_ahead_block *block = NULL;
    int rc = SQLITE_OK;
    report_ahead_span(scan->ahead, span);
    while (rc == SQLITE_OK && (block = report_ahead_next(scan->ahead)) && !is_odd(block)) {
        rc = scan_block(scan, block);
    }
    if (rc == SQLITE_OK && block) {
        int64_t first = block->first;
        report_ahead_end(scan->ahead);
        scan->ahead = NULL;
        rc = scan_rows(scan, first, span->last);
    }
    return rc;
}

// The load is looked at after the same rows with any number of threads, for what it says then
// depends on them.
static int scan_span(struct scan *scan, const struct store_span *span) {
    int rc = scan->ahead ? scan_blocks(scan, span) : scan_rows(scan, span->first, span->last);
    return rc ?: report_load_check(scan->load);
}

int report_load_rows(struct report_load_state *load, const struct report_load_file *file) {
    struct scan scan = {.load = load, .file = file};
    const struct store_span *spans = NULL;
    size_t count = 0;
    int rc = store_read_spans(file->reader, &load->window, &spans, &count);
    rc = rc ?: report_raw_prepare(&scan.rows, load, file, file->db);
    rc = rc ?: prepare_cursors(&scan, count > 0 ? spans[0].first : 0);
    load->rows_began = report_load_texts(load);
    if (rc == SQLITE_OK) {
        scan.ahead = report_ahead_begin(load, file, spans, count, &scan.rows);
    }
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        rc = scan_span(&scan, &spans[i]);
    }
    report_ahead_end(scan.ahead);
    if (rc == SQLITE_OK) {
        load->row_texts += report_load_texts(load) - load->rows_began;
        load->rows_began = UINT64_MAX;
    }
    sqlite3_finalize(scan.rows.stmt);
    sqlite3_finalize(scan.unclosed.stmt);
    sqlite3_finalize(scan.sources.stmt);
    return rc;
}

// ---- Open ranges --------------------------------------------------------------------------------

// Newest first, so that a range in another one has the smaller row, as closed ranges have.

static int take_open_range(struct scan *scan, sqlite3_stmt *stmt, int64_t place) {
    struct report_load_state *load = scan->load;
    struct report_event event = {.flags = REPORT_OPEN, .source = REPORT_NONE};
    struct report_raw raw;
    sqlite3_value *row[REPORT_RAW_MOST];
    for (int i = 0; i < scan->rows.columns; i++) {
        row[i] = sqlite3_column_value(stmt, i);
    }
    int rc = report_raw_read(row, scan->rows.columns, &raw);
    if (rc != SQLITE_OK || !kind_of(raw.type, &event.kind) || event.kind == REPORT_MARK) {
        return rc;
    }
    event.start = event.end = raw.start;
    event.row = report_load_row(scan->file, OPEN_ROW + place);
    if (!is_wanted(load, scan->file, &event)) {
        return SQLITE_OK;
    }
    int64_t source = sqlite3_column_int64(stmt, scan->rows.columns);
    if (!nvtxt_map_get(&load->sources, (uint64_t)source, &event.source)) {
        event.source = REPORT_NONE;
    }
    rc = read_row(scan, &raw, &event);
    return rc ?: add_event(load, &event);
}

int report_load_open_ranges(struct report_load_state *load, const struct report_load_file *file) {
    sqlite3_stmt *row = NULL;
    int rc = SQLITE_OK;
    if (!file->ours || !file->newest) {
        return SQLITE_OK;
    }
    bool wide = store_read_has_column(file->reader, "NVTXT_OPEN_RANGES", "jsonText", &rc);
    char sql[512];
    snprintf(sql, sizeof(sql),
             "SELECT seq, kind, start, NULL, text, NULL, globalTid, domainId, category, color, "
             "NULL, int64Value, doubleValue, %ssourceId FROM NVTXT_OPEN_RANGES "
             "ORDER BY sourceId DESC, seq DESC",
             wide ? "uint64Value, uint32Value, int32Value, floatValue, jsonText, " : "");
    rc = rc ?: store_sql_prepare(file->db, &row, sql);
    struct scan scan = {.load = load, .file = file, .rows.columns = report_raw_columns(wide)};
    for (int64_t place = 0; store_sql_next(row, &rc); place++) {
        rc = take_open_range(&scan, row, place);
    }
    sqlite3_finalize(row);
    return rc;
}

// ---- How many -----------------------------------------------------------------------------------

#define OF_EVENTS "FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60, 65, 70, 71)"

// Whole batches, or the whole export. Rows of names are counted with those of their batch.
static int count_at_most(const struct report_load_state *load, const struct report_load_file *file,
                         int64_t *rows) {
    sqlite3_stmt *stmt = NULL;
    int rc = store_sql_prepare(file->db, &stmt,
                               file->ours ? "SELECT total(events) FROM NVTXT_BATCHES "
                                            "WHERE maxEnd >= ?1 AND minStart <= ?2"
                                          : "SELECT count(*) " OF_EVENTS);
    if (rc == SQLITE_OK && file->ours) {
        rc = store_sql_bind(stmt, "ii", load->window.since_ns, load->window.until_ns);
    }
    rc = rc ?: store_sql_run_int(stmt, rows);
    sqlite3_finalize(stmt);
    return rc;
}

// What is_wanted() takes.
static int count_wanted(const struct report_load_state *load, const struct report_load_file *file,
                        int64_t *rows) {
    sqlite3_stmt *stmt = NULL;
    const struct store_span *spans = NULL;
    size_t count = 0;
    int rc = store_read_spans(file->reader, &load->window, &spans, &count);
    if (rc == 0) {
        rc = store_sql_prepare(file->db, &stmt,
                               "SELECT count(*) " OF_EVENTS " AND rowid BETWEEN ?1 AND ?2 "
                               "AND start <= ?3 AND CASE WHEN eventType IN (34, 65) THEN start "
                               "ELSE ifnull(end, 9223372036854775807) END >= ?4");
    }
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        int64_t here = 0;
        rc = store_sql_bind(stmt, "iiii", spans[i].first, spans[i].last,
                            nvtxt_time_minus(load->window.until_ns, file->offset_ns),
                            nvtxt_time_minus(load->window.since_ns, file->offset_ns));
        rc = rc ?: store_sql_run_int(stmt, &here);
        *rows += here;
    }
    sqlite3_finalize(stmt);
    return rc;
}

int report_load_count(const struct report_load_state *load, struct report_load_file *file,
                      bool exactly, int64_t *rows) {
    *rows = 0;
    int r = store_read_offset(file->reader, &file->offset_ns);
    return r ?: exactly ? count_wanted(load, file, rows) : count_at_most(load, file, rows);
}
