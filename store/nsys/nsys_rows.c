// SPDX-License-Identifier: Apache-2.0
//
// The columns of the export's tables are found first; then a statement fills those that are there.
//
// Both `text` and `textId` are filled where both exist: some readers look at one only, some at the
// other, and those that look at both accept either. A mark ends where it starts, also where `end`
// may be NULL. Rows that name something have NULL where the export's own rows of that kind have it.
#include "store/nsys/nsys_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "store/db/schema.h"
#include "store/value/record.h"

static const char *const event_columns[COL_COUNT] = {
    [COL_START] = "start",        [COL_END] = "end",
    [COL_TYPE] = "eventType",     [COL_RANGE] = "rangeId",
    [COL_TEXT] = "text",          [COL_CATEGORY] = "category",
    [COL_COLOR] = "color",        [COL_TID] = "globalTid",
    [COL_DOMAIN] = "domainId",    [COL_END_TID] = "endGlobalTid",
    [COL_TEXT_ID] = "textId",     [COL_UINT64] = "uint64Value",
    [COL_INT64] = "int64Value",   [COL_DOUBLE] = "doubleValue",
    [COL_UINT32] = "uint32Value", [COL_INT32] = "int32Value",
    [COL_FLOAT] = "floatValue",   [COL_JSON] = "jsonText",
    [COL_JSON_ID] = "jsonTextId"};
static const char *const string_columns[] = {"id", "value"};
static const char *const thread_columns[] = {"nameId", "globalTid"};
static const char *const process_columns[] = {"globalPid", "pid", "name"};

// ---- What the export's tables are like ----------------------------------------------------------

static int make_events_table(sqlite3 *db) {
    bool has = false;
    int rc = store_export_has(db, "NVTX_EVENTS", NULL, &has);
    return rc != SQLITE_OK || has ? rc : store_sql_exec(db, store_schema_events_sql);
}

static int init_shapes(struct store_nsys *nsys) {
    sqlite3 *db = nsys->db;
    int rc = make_events_table(db);
    rc = rc ?: store_shape_init(&nsys->events, db, "NVTX_EVENTS", event_columns, COL_COUNT);
    rc = rc ?: store_shape_init(&nsys->strings, db, "StringIds", string_columns, 2);
    rc = rc ?: store_shape_init(&nsys->threads, db, "ThreadNames", thread_columns, 2);
    rc = rc ?: store_shape_init(&nsys->processes, db, "PROCESSES", process_columns, 3);
    return rc;
}

const char *store_nsys_rows_lack(const struct store_nsys *nsys) {
    static const int needed[] = {COL_START, COL_END, COL_TYPE, COL_TID};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (!store_shape_has(&nsys->events, needed[i])) {
            return event_columns[needed[i]];
        }
    }
    bool says =
        store_shape_has(&nsys->events, COL_TEXT) || store_shape_has(&nsys->events, COL_TEXT_ID);
    return says ? NULL : event_columns[COL_TEXT];
}

static int read_types(struct store_nsys *nsys) {
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
    int rc = store_export_has(nsys->db, "ENUM_NSYS_EVENT_TYPE", "id", &has_id);
    rc = rc ?: store_export_has(nsys->db, "ENUM_NSYS_EVENT_TYPE", "name", &has_name);
    for (int i = 0; i < TYPE_COUNT && rc == SQLITE_OK; i++) {
        int64_t id = 0;
        char text[128];
        snprintf(text, sizeof(text), "SELECT id FROM ENUM_NSYS_EVENT_TYPE WHERE name = '%s'",
                 types[i].name);
        rc = has_id && has_name ? store_sql_int(nsys->db, text, &id) : SQLITE_OK;
        nsys->types[i] = id > 0 ? id : types[i].usual;
    }
    return rc;
}

// A name has no end, category or colour. Versions differ in what stands there instead, so it is
// taken from a row that names the same kind of thing, else from one that names anything.
static int read_nulls_of(struct store_nsys *nsys, enum nsys_type type) {
    static const int columns[] = {COL_END, COL_RANGE, COL_CATEGORY, COL_COLOR, COL_DOMAIN};
    sqlite3_stmt *stmt = NULL;
    char parts[sizeof(columns) / sizeof(columns[0])][32];
    char text[512];
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        snprintf(parts[i], sizeof(parts[i]), "\"%s\" IS NULL", event_columns[columns[i]]);
        if (!store_shape_has(&nsys->events, columns[i])) {
            strcpy(parts[i], "0");
        }
    }
    snprintf(text, sizeof(text),
             "SELECT %s, %s, %s, %s, %s FROM main.NVTX_EVENTS WHERE eventType IN (?1, ?2, ?3) "
             "ORDER BY eventType <> ?4 LIMIT 1",
             parts[0], parts[1], parts[2], parts[3], parts[4]);
    int rc = sqlite3_prepare_v2(nsys->db, text, -1, &stmt, NULL);
    if (rc == 0) {
        rc = store_sql_bind(stmt, "iiii", nsys->types[TYPE_CATEGORY], nsys->types[TYPE_THREAD],
                            nsys->types[TYPE_DOMAIN], nsys->types[type]);
    }
    if (store_sql_next(stmt, &rc)) {
        for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
            nsys->nulls[type] |= (uint32_t)sqlite3_column_int(stmt, (int)i) << columns[i];
        }
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int read_nulls(struct store_nsys *nsys) {
    int rc = read_nulls_of(nsys, TYPE_CATEGORY);
    rc = rc ?: read_nulls_of(nsys, TYPE_THREAD);
    return rc ?: read_nulls_of(nsys, TYPE_DOMAIN);
}

#define ROOM "< 1 << 62" // some exports give ids from the upper half; ours go on below

// The number after the largest that `text` finds, if the table has the column.
static int next_after(struct store_nsys *nsys, const char *table, const char *column,
                      const char *text, int64_t *next) {
    bool has = false;
    int64_t largest = 0;
    int rc = store_export_has(nsys->db, table, column, &has);
    rc = rc != SQLITE_OK || !has ? rc : store_sql_int(nsys->db, text, &largest);
    if (largest == INT64_MAX) { // no number comes after it
        return SQLITE_CORRUPT;
    }
    *next = largest < 0 ? 1 : largest + 1;
    return rc;
}

static int read_ids(struct store_nsys *nsys) {
    struct store_txn *txn = &nsys->txn;
    int rc =
        next_after(nsys, "NVTX_EVENTS", NULL, "SELECT max(rowid) FROM NVTX_EVENTS", &txn->next_row);
    if (rc == 0) {
        rc = next_after(nsys, "PROCESSES", NULL, "SELECT max(rowid) FROM PROCESSES",
                        &nsys->next_process);
    }
    if (rc == 0) {
        rc = next_after(nsys, "StringIds", "id", "SELECT max(id) FROM StringIds WHERE id " ROOM,
                        &txn->next_string);
    }
    if (rc == 0) {
        rc = next_after(nsys, "NVTX_EVENTS", "domainId",
                        "SELECT max(domainId) FROM NVTX_EVENTS WHERE domainId " ROOM,
                        &nsys->next_domain);
    }
    if (rc == 0) {
        rc = next_after(nsys, "NVTX_EVENTS", "rangeId",
                        "SELECT max(rangeId) FROM NVTX_EVENTS WHERE rangeId " ROOM,
                        &nsys->next_range);
    }
    if (!nsys->facts.is_copy) { // else all rows are ours
        nsys->first_row = txn->next_row;
        nsys->first_string = txn->next_string;
        nsys->first_process = nsys->next_process;
    }
    return rc;
}

int store_nsys_rows_open(struct store_nsys *nsys) {
    int rc = init_shapes(nsys);
    rc = rc ?: read_types(nsys);
    rc = rc ?: read_ids(nsys);
    return rc ?: store_nsys_rows_lack(nsys) ? rc : read_nulls(nsys);
}

void store_nsys_rows_close(struct store_nsys *nsys) {
    store_shape_deinit(&nsys->events);
    store_shape_deinit(&nsys->strings);
    store_shape_deinit(&nsys->threads);
    store_shape_deinit(&nsys->processes);
}

// ---- Rows -------------------------------------------------------------------------------------

static int add_string(struct store_nsys *nsys, struct nvtxt_slice text, int64_t id) {
    const struct store_shape *shape = &nsys->strings;
    int rc = store_shape_int(shape, 0, id);
    rc = rc ?: store_shape_text(shape, 1, text.data, text.len);
    return rc ?: store_sql_run(shape->insert);
}

// In a copy of a store a text has one id: a temporary table knows all of them.
static int find_string(struct store_nsys *nsys, const char *data, size_t len, int64_t *id) {
    sqlite3_stmt **stmt = &nsys->stmts[FIND_STRING];
    int rc = store_sql_prepare(nsys->db, stmt, "SELECT id FROM temp.NVTXT_STRINGS WHERE value = ?");
    rc = rc ?: store_sql_bind(*stmt, "s", data, len);
    if (store_sql_next(*stmt, &rc)) {
        *id = sqlite3_column_int64(*stmt, 0);
    }
    return store_sql_done(*stmt, rc);
}

static int keep_string(struct store_nsys *nsys, const char *data, size_t len, int64_t id) {
    sqlite3_stmt **stmt = &nsys->stmts[KEEP_STRING];
    int rc = store_sql_prepare(nsys->db, stmt, "INSERT INTO temp.NVTXT_STRINGS VALUES (?, ?)");
    rc = rc ?: store_sql_bind(*stmt, "si", data, len, id);
    return rc ?: store_sql_run(*stmt);
}

static int intern(struct store_nsys *nsys, struct nvtxt_slice text, int64_t *id) {
    const char *data = text.len ? text.data : "";
    uint32_t hash = store_text_hash(data, text.len);
    *id = store_intern_find(&nsys->intern, hash, data, text.len);
    if (*id >= 0) {
        return SQLITE_OK;
    }
    int rc = nsys->facts.is_copy ? find_string(nsys, data, text.len, id) : SQLITE_OK;
    if (*id < 0) {
        *id = nsys->txn.next_string++;
        rc = rc ?: add_string(nsys, text, *id);
        rc = rc ?: nsys->facts.is_copy ? keep_string(nsys, data, text.len, *id) : rc;
    }
    store_intern_add(&nsys->intern, hash, data, text.len, *id);
    return rc;
}

int store_nsys_thread_string(struct store_nsys *nsys, struct nvtxt_slice text, int64_t *id) {
    if (nsys->facts.is_copy) {
        return intern(nsys, text, id);
    }
    *id = nsys->txn.next_string++;
    return add_string(nsys, text, *id);
}

int store_nsys_string(struct store_nsys *nsys, struct nvtxt_slice text, int64_t *id) {
    *id = 0;
    return store_shape_has(&nsys->events, COL_TEXT_ID) ? intern(nsys, text, id) : SQLITE_OK;
}

static int bind_payload(struct store_nsys *nsys, const struct nvtxt_payload *payload) {
    static const int columns[] = {
        [NVTXT_PAYLOAD_INT64] = COL_INT64,   [NVTXT_PAYLOAD_DOUBLE] = COL_DOUBLE,
        [NVTXT_PAYLOAD_UINT64] = COL_UINT64, [NVTXT_PAYLOAD_UINT32] = COL_UINT32,
        [NVTXT_PAYLOAD_INT32] = COL_INT32,   [NVTXT_PAYLOAD_FLOAT] = COL_FLOAT,
    };
    const struct store_shape *shape = &nsys->events;
    int rc = SQLITE_OK;
    for (int kind = NVTXT_PAYLOAD_INT64; kind <= NVTXT_PAYLOAD_FLOAT && rc == SQLITE_OK; kind++) {
        bool is_real = nvtxt_payload_is_real((enum nvtxt_payload_kind)kind);
        bool is_it = kind == (int)payload->kind;
        nsys->counts.payloads += is_it && !store_shape_has(shape, columns[kind]);
        if (!is_it || (is_real && isnan(payload->real))) {
            rc = store_shape_null(shape, columns[kind]);
        } else {
            rc = is_real ? store_shape_real(shape, columns[kind], payload->real)
                         : store_shape_int(shape, columns[kind], payload->int64);
        }
    }
    return rc;
}

// As text and as textId, like a message.
static int bind_json(struct store_nsys *nsys, struct nvtxt_slice json) {
    const struct store_shape *shape = &nsys->events;
    bool has_text = store_shape_has(shape, COL_JSON);
    bool has_id = store_shape_has(shape, COL_JSON_ID);
    int64_t id = 0;
    if (json.len == 0) {
        return store_shape_null(shape, COL_JSON) ?: store_shape_null(shape, COL_JSON_ID);
    }
    nsys->counts.payloads += !has_text && !has_id;
    int rc = has_id ? intern(nsys, json, &id) : SQLITE_OK;
    rc = rc ?: store_shape_int(shape, COL_JSON_ID, id);
    return rc ?: store_shape_text(shape, COL_JSON, json.data, json.len);
}

int store_nsys_add_row(struct store_nsys *nsys, const struct nsys_row *row) {
    const struct store_shape *shape = &nsys->events;
    const struct {
        int column;
        int64_t value;
    } numbers[] = {
        {COL_START, row->start},       {COL_END, row->end},
        {COL_RANGE, row->range_id},    {COL_TYPE, nsys->types[row->type]},
        {COL_CATEGORY, row->category}, {COL_COLOR, row->color},
        {COL_DOMAIN, row->domain},     {COL_TID, (int64_t)row->tid},
        {COL_TEXT_ID, row->text_id},
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && rc == SQLITE_OK; i++) {
        bool none = numbers[i].value == 0 || numbers[i].column == COL_END;
        rc = none && nsys->nulls[row->type] >> numbers[i].column & 1
                 ? store_shape_null(shape, numbers[i].column)
                 : store_shape_int(shape, numbers[i].column, numbers[i].value);
    }
    rc = rc ?: store_shape_text(shape, COL_TEXT, row->text.data, row->text.len);
    if (rc == 0) {
        rc = row->ended_elsewhere ? store_shape_int(shape, COL_END_TID, (int64_t)row->end_tid)
                                  : store_shape_null(shape, COL_END_TID);
    }
    rc = rc ?: bind_payload(nsys, &row->payload);
    rc = rc ?: bind_json(nsys, row->json);
    rc = rc ?: store_sql_run(shape->insert);
    nsys->txn.next_row++;
    return rc;
}
