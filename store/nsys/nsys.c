// SPDX-License-Identifier: Apache-2.0
//
// One transaction from the opening to the end, without a journal: the file is a copy that is thrown
// away when anything fails, and memory stays flat because SQLite writes pages as it needs room.
//
// Both `text` and `textId` are filled where both are there: some readers look at the one only, some
// at the other, and those that look at both take either. A mark ends where it starts, also where
// `end` may be NULL; rows that name something have NULL where the export's own have it.
#include "store/nsys/nsys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/connection.h"
#include "store/db/result.h"
#include "store/db/schema.h"
#include "store/db/sql.h"
#include "store/db/stranger.h"
#include "store/nsys/nsys_rows.h"
#include "store/value/codes.h"
#include "store/value/record.h"

#define CACHE_KIB "16384"

static const char *const event_columns[COL_COUNT] = {
    [COL_START] = "start",          [COL_END] = "end",        [COL_TYPE] = "eventType",
    [COL_RANGE] = "rangeId",        [COL_TEXT] = "text",      [COL_CATEGORY] = "category",
    [COL_COLOR] = "color",          [COL_TID] = "globalTid",  [COL_DOMAIN] = "domainId",
    [COL_END_TID] = "endGlobalTid", [COL_TEXT_ID] = "textId", [COL_INT64] = "int64Value",
    [COL_DOUBLE] = "doubleValue"};
static const char *const string_columns[] = {"id", "value"};
static const char *const thread_columns[] = {"nameId", "globalTid"};
static const char *const process_columns[] = {"globalPid", "pid", "name"};

static int translate(struct store_foreign *foreign, int rc, const char *what) {
    return store_result_say(foreign->db, rc, what, foreign->name, foreign->error,
                            sizeof(foreign->error));
}

const char *store_foreign_error(const struct store_foreign *foreign) {
    return foreign->error;
}

const struct store_export_facts *store_foreign_facts(const struct store_foreign *foreign) {
    return &foreign->facts;
}

const struct store_foreign_counts *store_foreign_counts(const struct store_foreign *foreign) {
    return &foreign->counts;
}

// ---- Opening ----------------------------------------------------------------------------------

static int open_file(struct store_foreign *foreign, const char *path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sqlite3_open_v2(path, &foreign->db, flags, NULL);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_extended_result_codes(foreign->db, 1);
    // A guarded connection could not do without a journal any more.
    rc = sqlite3_exec(foreign->db, "PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    rc = rc ?: store_stranger_guard(foreign->db);
    return rc
               ?: sqlite3_exec(foreign->db,
                               "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
                               "PRAGMA cache_size = -" CACHE_KIB "; BEGIN IMMEDIATE",
                               NULL, NULL, NULL);
}

static int make_events_table(sqlite3 *db) {
    bool has = false;
    int rc = store_export_has(db, "NVTX_EVENTS", NULL, &has);
    if (rc != SQLITE_OK || has) {
        return rc;
    }
    return sqlite3_exec(db, store_schema_events_sql, NULL, NULL, NULL);
}

static int init_shapes(struct store_foreign *foreign) {
    sqlite3 *db = foreign->db;
    int rc = make_events_table(db);
    rc = rc ?: store_shape_init(&foreign->events, db, "NVTX_EVENTS", event_columns, COL_COUNT);
    rc = rc ?: store_shape_init(&foreign->strings, db, "StringIds", string_columns, 2);
    rc = rc ?: store_shape_init(&foreign->threads, db, "ThreadNames", thread_columns, 2);
    rc = rc ?: store_shape_init(&foreign->processes, db, "PROCESSES", process_columns, 3);
    return rc;
}

// What a reader cannot do without. Returns NULL or the name of what is missing.
static const char *lacking(const struct store_foreign *foreign) {
    static const int needed[] = {COL_START, COL_END, COL_TYPE, COL_TID};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (!store_shape_has(&foreign->events, needed[i])) {
            return event_columns[needed[i]];
        }
    }
    bool says = store_shape_has(&foreign->events, COL_TEXT) ||
                store_shape_has(&foreign->events, COL_TEXT_ID);
    return says ? NULL : event_columns[COL_TEXT];
}

static int read_types(struct store_foreign *foreign) {
    static const struct {
        const char *name;
        int64_t usual;
    } types[TYPE_COUNT] = {
        [TYPE_CATEGORY] = {"NvtxCategory", NVTXT_EVENT_CATEGORY},
        [TYPE_MARK] = {"NvtxMark", NVTXT_EVENT_MARK},
        [TYPE_THREAD] = {"NvtxThread", NVTXT_EVENT_THREAD},
        [TYPE_PUSH_POP] = {"NvtxPushPopRange", NVTXT_EVENT_PUSH_POP},
        [TYPE_START_END] = {"NvtxStartEndRange", NVTXT_EVENT_START_END},
        [TYPE_DOMAIN] = {"NvtxDomainCreate", NVTXT_EVENT_DOMAIN},
    };
    bool has_id = false;
    bool has_name = false;
    int rc = store_export_has(foreign->db, "ENUM_NSYS_EVENT_TYPE", "id", &has_id);
    rc = rc ?: store_export_has(foreign->db, "ENUM_NSYS_EVENT_TYPE", "name", &has_name);
    for (int i = 0; i < TYPE_COUNT && rc == SQLITE_OK; i++) {
        int64_t id = 0;
        char text[128];
        snprintf(text, sizeof(text), "SELECT id FROM ENUM_NSYS_EVENT_TYPE WHERE name = '%s'",
                 types[i].name);
        rc = has_id && has_name ? store_sql_int(foreign->db, text, &id) : SQLITE_OK;
        foreign->types[i] = id > 0 ? id : types[i].usual;
    }
    return rc;
}

// A name has no end, category or colour of its own. What stands there differs between versions, so
// it is taken from a row that names the same kind of thing, else from one that names any.
static int read_nulls_of(struct store_foreign *foreign, enum foreign_type type) {
    static const int columns[] = {COL_END, COL_RANGE, COL_CATEGORY, COL_COLOR, COL_DOMAIN};
    sqlite3_stmt *stmt = NULL;
    char parts[sizeof(columns) / sizeof(columns[0])][32];
    char text[512];
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        snprintf(parts[i], sizeof(parts[i]), "\"%s\" IS NULL", event_columns[columns[i]]);
        if (!store_shape_has(&foreign->events, columns[i])) {
            strcpy(parts[i], "0");
        }
    }
    snprintf(text, sizeof(text),
             "SELECT %s, %s, %s, %s, %s FROM main.NVTX_EVENTS WHERE eventType IN (?1, ?2, ?3) "
             "ORDER BY eventType <> ?4 LIMIT 1",
             parts[0], parts[1], parts[2], parts[3], parts[4]);
    int rc = sqlite3_prepare_v2(foreign->db, text, -1, &stmt, NULL);
    rc = rc
             ?: store_sql_bind(stmt, "iiii", foreign->types[TYPE_CATEGORY],
                               foreign->types[TYPE_THREAD], foreign->types[TYPE_DOMAIN],
                               foreign->types[type]);
    if (rc == SQLITE_OK) {
        int step = sqlite3_step(stmt);
        for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]) && step == SQLITE_ROW; i++) {
            foreign->nulls[type] |= (uint32_t)sqlite3_column_int(stmt, (int)i) << columns[i];
        }
        rc = store_sql_done(stmt, step);
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int read_nulls(struct store_foreign *foreign) {
    int rc = read_nulls_of(foreign, TYPE_CATEGORY);
    rc = rc ?: read_nulls_of(foreign, TYPE_THREAD);
    return rc ?: read_nulls_of(foreign, TYPE_DOMAIN);
}

#define ROOM "< 1 << 62" // some give ids from the upper half; there is room below

// The number after the largest that `text` finds, if the table has the column.
static int next_after(struct store_foreign *foreign, const char *table, const char *column,
                      const char *text, int64_t *next) {
    bool has = false;
    int64_t largest = 0;
    int rc = store_export_has(foreign->db, table, column, &has);
    rc = rc != SQLITE_OK || !has ? rc : store_sql_int(foreign->db, text, &largest);
    if (largest == INT64_MAX) { // nothing can be numbered after it
        return SQLITE_CORRUPT;
    }
    *next = largest < 0 ? 1 : largest + 1;
    return rc;
}

static int read_ids(struct store_foreign *foreign) {
    struct store_txn *txn = &foreign->txn;
    int rc = next_after(foreign, "NVTX_EVENTS", NULL, "SELECT max(rowid) FROM NVTX_EVENTS",
                        &txn->next_row);
    rc = rc
             ?: next_after(foreign, "PROCESSES", NULL, "SELECT max(rowid) FROM PROCESSES",
                           &foreign->next_process);
    rc = rc
             ?: next_after(foreign, "StringIds", "id",
                           "SELECT max(id) FROM StringIds WHERE id " ROOM, &txn->next_string);
    rc = rc
             ?: next_after(foreign, "NVTX_EVENTS", "domainId",
                           "SELECT max(domainId) FROM NVTX_EVENTS WHERE domainId " ROOM,
                           &foreign->next_domain);
    rc = rc
             ?: next_after(foreign, "NVTX_EVENTS", "rangeId",
                           "SELECT max(rangeId) FROM NVTX_EVENTS WHERE rangeId " ROOM,
                           &foreign->next_range);
    foreign->first_row = txn->next_row;
    foreign->first_string = txn->next_string;
    foreign->first_process = foreign->next_process;
    return rc;
}

static int open_rest(struct store_foreign *foreign) {
    int rc = store_export_facts_read(foreign->db, &foreign->facts);
    rc = rc ?: init_shapes(foreign);
    rc = rc ?: read_types(foreign);
    rc = rc ?: read_ids(foreign);
    rc = rc ?: lacking(foreign) ? rc : read_nulls(foreign);
    foreign->txn.db = foreign->db;
    if (rc == SQLITE_OK && (store_intern_init(&foreign->intern) < 0 ||
                            store_name_rows_init(&foreign->rows, &foreign->txn) < 0)) {
        rc = SQLITE_NOMEM;
    }
    return rc;
}

int store_foreign_open(struct store_foreign **out, const char *path, const char *name, char *error,
                       size_t size) {
    struct store_foreign *foreign = calloc(1, sizeof(*foreign));
    *out = NULL;
    if (foreign) {
        foreign->name = strdup(name);
    }
    if (!foreign || !foreign->name) {
        free(foreign);
        snprintf(error, size, "cannot open %s: out of memory", name);
        return -ENOMEM;
    }
    int rc = open_file(foreign, path);
    rc = rc ?: open_rest(foreign);
    int result = store_result_say(foreign->db, rc, "read", name, error, size);
    const char *missing = result == STORE_DONE ? lacking(foreign) : NULL;
    if (missing) {
        snprintf(error, size,
                 "the table NVTX_EVENTS of %s has no column '%s': events cannot be added to it",
                 name, missing);
        result = STORE_FOREIGN;
    }
    if (result != STORE_DONE) {
        store_foreign_close(foreign);
        return result;
    }
    *out = foreign;
    return STORE_DONE;
}

void store_foreign_close(struct store_foreign *foreign) {
    if (!foreign) {
        return;
    }
    store_shape_deinit(&foreign->events);
    store_shape_deinit(&foreign->strings);
    store_shape_deinit(&foreign->threads);
    store_shape_deinit(&foreign->processes);
    store_sql_finalize(foreign->stmts, FOREIGN_STMTS);
    store_name_rows_deinit(&foreign->rows);
    store_intern_deinit(&foreign->intern);
    sqlite3_close(foreign->db);
    free(foreign->domain.name);
    free(foreign->name);
    free(foreign);
}

int store_foreign_place(struct store_foreign *foreign, const struct store_foreign_place *place) {
    foreign->place = *place;
    int rc = store_foreign_names_load(foreign);
    sqlite3_progress_handler(foreign->db, 0, NULL, NULL); // who loads looks for itself
    return translate(foreign, rc, "read");
}

// ---- Rows -------------------------------------------------------------------------------------

static int add_string(struct store_foreign *foreign, struct nvtxt_slice text, int64_t id) {
    const struct store_shape *shape = &foreign->strings;
    int rc = store_shape_int(shape, 0, id);
    rc = rc ?: store_shape_text(shape, 1, text.data, text.len);
    return rc ?: store_sql_run(shape->insert);
}

int store_foreign_string(struct store_foreign *foreign, struct nvtxt_slice text, int64_t *id) {
    *id = 0;
    if (!store_shape_has(&foreign->events, COL_TEXT_ID)) {
        return SQLITE_OK;
    }
    const char *data = text.len ? text.data : "";
    uint32_t hash = store_text_hash(data, text.len);
    *id = store_intern_find(&foreign->intern, hash, data, text.len);
    if (*id >= 0) {
        return SQLITE_OK;
    }
    *id = foreign->txn.next_string++;
    store_intern_add(&foreign->intern, hash, data, text.len, *id);
    return add_string(foreign, text, *id);
}

static int bind_payload(struct store_foreign *foreign, const struct nvtxt_payload *payload) {
    const struct store_shape *shape = &foreign->events;
    bool is_int = payload->kind == NVTXT_PAYLOAD_INT64;
    bool is_real = payload->kind == NVTXT_PAYLOAD_DOUBLE;
    if ((is_int && !store_shape_has(shape, COL_INT64)) ||
        (is_real && !store_shape_has(shape, COL_DOUBLE))) {
        foreign->counts.payloads++;
    }
    int rc = is_int ? store_shape_int(shape, COL_INT64, payload->int64)
                    : store_shape_null(shape, COL_INT64);
    return rc
               ?: is_real ? store_shape_real(shape, COL_DOUBLE, payload->real)
                          : store_shape_null(shape, COL_DOUBLE);
}

int store_foreign_add_row(struct store_foreign *foreign, const struct foreign_row *row) {
    const struct store_shape *shape = &foreign->events;
    const struct {
        int column;
        int64_t value;
    } numbers[] = {
        {COL_START, row->start},       {COL_END, row->end},
        {COL_RANGE, row->range_id},    {COL_TYPE, foreign->types[row->type]},
        {COL_CATEGORY, row->category}, {COL_COLOR, row->color},
        {COL_DOMAIN, row->domain},     {COL_TID, (int64_t)row->tid},
        {COL_TEXT_ID, row->text_id},
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && rc == SQLITE_OK; i++) {
        bool none = numbers[i].value == 0 || numbers[i].column == COL_END;
        rc = none && foreign->nulls[row->type] >> numbers[i].column & 1
                 ? store_shape_null(shape, numbers[i].column)
                 : store_shape_int(shape, numbers[i].column, numbers[i].value);
    }
    rc = rc ?: store_shape_text(shape, COL_TEXT, row->text.data, row->text.len);
    rc = rc
             ?: row->ended_elsewhere ? store_shape_int(shape, COL_END_TID, (int64_t)row->end_tid)
                                     : store_shape_null(shape, COL_END_TID);
    rc = rc ?: bind_payload(foreign, &row->payload);
    rc = rc ?: store_sql_run(shape->insert);
    foreign->txn.next_row++;
    return rc;
}

// ---- The sink ---------------------------------------------------------------------------------

// Every failure ends the merge: its sentence is kept, the code is what a sink may return.
static int told(struct store_foreign *foreign, int rc) {
    int result = translate(foreign, rc, "write to");
    return result == STORE_DONE ? 0 : result == -ENOMEM ? -ENOMEM : -EIO;
}

static void leave_out(struct store_foreign *foreign, int64_t first, int64_t last) {
    struct store_foreign_counts *counts = &foreign->counts;
    if (!counts->any_outside || first < counts->outside_first_ns) {
        counts->outside_first_ns = first;
    }
    if (!counts->any_outside || last > counts->outside_last_ns) {
        counts->outside_last_ns = last;
    }
    counts->any_outside = true;
    counts->outside++;
}

// Moves an event to the export's time. False when it is left out.
static bool move_event(struct store_foreign *foreign, const struct nvtxt_event *event,
                       int64_t *start, int64_t *end) {
    const struct store_export_facts *facts = &foreign->facts;
    int64_t zero = foreign->place.zero_ns;
    bool fits = !__builtin_sub_overflow(event->start, zero, start) &&
                !__builtin_sub_overflow(event->end, zero, end);
    int64_t first = *start < *end ? *start : *end;
    int64_t last = *start < *end ? *end : *start;
    bool inside = !facts->has_window || foreign->place.prolong ||
                  (last >= facts->first_ns && first <= facts->last_ns);
    if (!fits || !inside) {
        leave_out(foreign, event->start < event->end ? event->start : event->end,
                  event->start < event->end ? event->end : event->start);
        return false;
    }
    bool is_first = foreign->counts.events == 0;
    foreign->first_ns = is_first || first < foreign->first_ns ? first : foreign->first_ns;
    foreign->last_ns = is_first || last > foreign->last_ns ? last : foreign->last_ns;
    return true;
}

static int add_event(struct store_foreign *foreign, const struct nvtxt_event *event, int64_t start,
                     int64_t end) {
    bool is_range = event->type == NVTXT_EVENT_START_END;
    struct foreign_row row = {.type = event->type == NVTXT_EVENT_MARK ? TYPE_MARK
                                      : is_range                      ? TYPE_START_END
                                                                      : TYPE_PUSH_POP,
                              .start = start,
                              .end = end,
                              .text = event->text,
                              .category = event->category,
                              .color = event->color,
                              .tid = store_foreign_tid(foreign, event->pid, event->tid),
                              .ended_elsewhere = event->ended_elsewhere,
                              .payload = event->payload};
    int rc = SQLITE_OK;
    if (event->ended_elsewhere) {
        row.end_tid = store_foreign_tid(foreign, event->end_pid, event->end_tid);
        rc = store_foreign_see_thread(foreign, row.end_tid);
    }
    if (!foreign->has_last_tid || foreign->last_tid != row.tid) {
        rc = rc ?: store_foreign_see_thread(foreign, row.tid);
        foreign->last_tid = row.tid;
        foreign->has_last_tid = true;
    }
    rc =
        rc ?: store_foreign_domain(foreign, event->domain, event->pid, row.tid, start, &row.domain);
    rc = rc ?: store_foreign_string(foreign, event->text, &row.text_id);
    row.range_id = is_range ? foreign->next_range++ : 0;
    rc = rc ?: store_foreign_add_row(foreign, &row);
    foreign->counts.events++;
    return rc;
}

static int on_event(void *context, const struct nvtxt_event *event) {
    struct store_foreign *foreign = context;
    int64_t start = 0;
    int64_t end = 0;
    if (!move_event(foreign, event, &start, &end)) {
        return 0;
    }
    return told(foreign, add_event(foreign, event, start, end));
}

static int on_name(void *context, const struct nvtxt_name *name) {
    struct store_foreign *foreign = context;
    return told(foreign, store_foreign_name(foreign, name));
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    (void)diag;
    return 0;
}

void store_foreign_sink(struct store_foreign *foreign, struct nvtxt_sink *sink) {
    *sink = (struct nvtxt_sink){
        .on_event = on_event, .on_name = on_name, .on_diag = on_diag, .context = foreign};
}

// ---- The end ----------------------------------------------------------------------------------

static int widen_session(struct store_foreign *foreign) {
    const struct store_export_facts *facts = &foreign->facts;
    int64_t shift = facts->details_first_ns - facts->first_ns;
    int64_t first;
    int64_t last;
    bool has_duration = false;
    sqlite3_stmt *stmt = NULL;
    if (!foreign->place.prolong || !facts->has_window || foreign->counts.events == 0 ||
        (foreign->first_ns >= facts->first_ns && foreign->last_ns <= facts->last_ns) ||
        __builtin_add_overflow(foreign->first_ns, shift, &first) ||
        __builtin_add_overflow(foreign->last_ns, shift, &last)) {
        return SQLITE_OK;
    }
    int rc = sqlite3_prepare_v2(foreign->db,
                                "UPDATE main.ANALYSIS_DETAILS SET startTime = min(startTime, ?1), "
                                "stopTime = max(stopTime, ?2)",
                                -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, "ii", first, last);
    rc = rc ?: store_sql_run(stmt);
    sqlite3_finalize(stmt);
    rc = rc ?: store_export_has(foreign->db, "ANALYSIS_DETAILS", "duration", &has_duration);
    if (rc == SQLITE_OK && has_duration) {
        rc = sqlite3_exec(foreign->db,
                          "UPDATE main.ANALYSIS_DETAILS SET duration = stopTime - startTime", NULL,
                          NULL, NULL);
    }
    return rc;
}

int store_foreign_finish(struct store_foreign *foreign) {
    int rc = widen_session(foreign);
    rc = rc ?: sqlite3_exec(foreign->db, "COMMIT", NULL, NULL, NULL);
    return translate(foreign, rc, "write to");
}
