// SPDX-License-Identifier: Apache-2.0
//
// One scan by rowid, whose rows a function takes while SQLite's machine runs. Columns that a file
// lacks are NULL.
#include "report/load/load_raw.h"

#include <stdio.h>
#include <string.h>

enum column {
    ROW,
    TYPE,
    START,
    END,
    TEXT,
    TEXT_ID,
    GLOBAL_TID,
    DOMAIN_ID,
    BRIEF, // from here on only if the caller looks at them
    CATEGORY = BRIEF,
    COLOR,
    END_GLOBAL_TID,
    PAYLOADS,
    WIDE = PAYLOADS + 2, // from here on only if the file is wide
    JSON = PAYLOADS + 6,
    COLUMNS
};
_Static_assert(COLUMNS <= REPORT_RAW_MOST, "a row has room");

static const char *const names[COLUMNS] = {
    [START] = "start",
    [END] = "end",
    [TEXT] = "text",
    [TEXT_ID] = "textId",
    [CATEGORY] = "category",
    [COLOR] = "color",
    [GLOBAL_TID] = "globalTid",
    [DOMAIN_ID] = "domainId",
    [END_GLOBAL_TID] = "endGlobalTid",
    [PAYLOADS] = "int64Value",
    [PAYLOADS + 1] = "doubleValue",
    [WIDE] = "uint64Value",
    [WIDE + 1] = "uint32Value",
    [WIDE + 2] = "int32Value",
    [WIDE + 3] = "floatValue",
    [JSON] = "jsonText",
};

// ---- Statements ---------------------------------------------------------------------------------

static int find_width(const struct report_load_file *file, bool *wide) {
    int64_t found = !file->ours;
    int rc = SQLITE_OK;
    if (file->ours && store_read_has_column(file->reader, "NVTXT_SOURCES", "nvtx", &rc)) {
        rc = store_sql_int(file->db, "SELECT EXISTS (SELECT 1 FROM NVTXT_SOURCES WHERE nvtx = 1)",
                           &found);
    }
    *wide = found != 0;
    return rc;
}

// Five columns that are not there, or only NULL, are not read.
static int narrow(struct report_raw_rows *rows, const struct report_load_state *load,
                  const struct report_load_file *file) {
    bool any = false, wide = false;
    rows->columns = BRIEF;
    if (load->brief) {
        return SQLITE_OK;
    }
    int rc = find_width(file, &wide);
    for (int i = WIDE; wide && !any && i < COLUMNS; i++) {
        any = store_read_has_column(file->reader, "NVTX_EVENTS", names[i], &rc);
    }
    rows->columns = wide && any ? COLUMNS : WIDE;
    return rc;
}

static bool on_row(void *context, sqlite3_value **values) {
    struct report_raw_rows *rows = context;
    struct report_raw raw;
    rows->rc = report_raw_read(values, rows->columns, &raw);
    rows->rc = rows->rc ?: raw.row < rows->least ? SQLITE_CORRUPT : SQLITE_OK;
    rows->least = raw.row < INT64_MAX ? raw.row + 1 : raw.row;
    return rows->rc != SQLITE_OK || rows->take(rows->context, &raw);
}

int report_raw_prepare(struct report_raw_rows *rows, const struct report_load_state *load,
                       const struct report_load_file *file, sqlite3 *db) {
    char sql[640] = "SELECT 1 FROM NVTX_EVENTS WHERE rowid BETWEEN ?1 AND ?2 AND "
                    "nvtxt_row(rowid, eventType";
    size_t len = strlen(sql);
    int rc = narrow(rows, load, file);
    for (int i = START; i < rows->columns; i++) {
        bool there = store_read_has_column(file->reader, "NVTX_EVENTS", names[i], &rc);
        len +=
            (size_t)snprintf(sql + len, sizeof(sql) - len, there ? ", \"%s\"" : ", NULL", names[i]);
    }
    snprintf(sql + len, sizeof(sql) - len, ")");
    rows->taking = (struct store_sql_rows){on_row, rows};
    rc = rc ?: store_sql_rows_register(db, &rows->taking);
    return rc ?: store_sql_prepare(db, &rows->stmt, sql);
}

int report_raw_begin(struct report_raw_rows *rows, int64_t first, int64_t last) {
    rows->rc = SQLITE_OK;
    rows->least = first;
    return store_sql_bind(rows->stmt, "ii", first, last);
}

// ---- Rows ---------------------------------------------------------------------------------------

int report_raw_columns(bool wide) {
    return wide ? COLUMNS : WIDE;
}

static int read_more(sqlite3_value **values, int columns, struct report_raw *raw) {
    raw->category = (uint32_t)sqlite3_value_int64(values[CATEGORY]);
    raw->color = (uint32_t)sqlite3_value_int64(values[COLOR]);
    raw->has_end_global_tid = !store_sql_is_null(values[END_GLOBAL_TID]);
    if (raw->has_end_global_tid) {
        raw->end_global_tid =
            (uint64_t)sqlite3_value_int64(values[END_GLOBAL_TID]) & REPORT_TID_BITS;
    }
    raw->payload = (struct nvtxt_payload){.kind = NVTXT_PAYLOAD_NONE, .int64 = 0};
    store_read_payload(&values[PAYLOADS], columns == COLUMNS, &raw->payload);
    return columns == COLUMNS ? store_sql_value(values[JSON], &raw->json) : SQLITE_OK;
}

int report_raw_read(sqlite3_value **values, int columns, struct report_raw *raw) {
    raw->row = sqlite3_value_int64(values[ROW]);
    raw->type = sqlite3_value_int(values[TYPE]);
    raw->start = sqlite3_value_int64(values[START]);
    raw->end = sqlite3_value_int64(values[END]);
    raw->has_end = raw->end != 0 || !store_sql_is_null(values[END]);
    raw->global_tid = (uint64_t)sqlite3_value_int64(values[GLOBAL_TID]) & REPORT_TID_BITS;
    raw->domain_id = sqlite3_value_int64(values[DOMAIN_ID]);
    raw->text_id = sqlite3_value_int64(values[TEXT_ID]);
    raw->has_text_id = raw->text_id != 0 || !store_sql_is_null(values[TEXT_ID]);
    raw->json = (struct nvtxt_slice){NULL, 0};
    int rc = store_sql_value(values[TEXT], &raw->text);
    return rc != SQLITE_OK || columns == BRIEF ? rc : read_more(values, columns, raw);
}
