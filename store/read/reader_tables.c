// SPDX-License-Identifier: Apache-2.0
//
// Thin doors into a reader, and payloads. What another program stored need not fit its column: such
// a payload gets the next kind that holds it.
#include "store/read/reader_tables.h"

#include "store/db/connection.h"
#include "store/read/reader_state.h"

#define KINDS NVTXT_PAYLOAD_FLOAT
#define OLD_KINDS NVTXT_PAYLOAD_DOUBLE // those up to it come from sources of all kinds

struct sqlite3 *store_read_database(const struct store_reader *reader, bool *ours) {
    *ours = reader->ours;
    return reader->db;
}

int store_read_connect_again(const struct store_reader *reader, struct sqlite3 **db) {
    int rc = store_connection_read_again(db, reader->db);
    return rc ?: store_sql_exec(*db, "PRAGMA cache_size = -" STORE_READ_CACHE_KIB);
}

int store_read_result(struct store_reader *reader, int rc) {
    return store_reader_result(reader, rc);
}

bool store_read_has_column(struct store_reader *reader, const char *table, const char *column,
                           int *rc) {
    return store_reader_has_column(reader, table, column, rc);
}

int store_reader_rows(struct store_reader *reader) {
    int rc = store_sql_int(reader->db, "SELECT min(rowid) FROM NVTX_EVENTS", &reader->first_row);
    if (rc != 0) {
        return rc;
    }
    return store_sql_int(reader->db, "SELECT ifnull(max(rowid), -1) FROM NVTX_EVENTS",
                         &reader->last_row);
}

int store_read_spans(struct store_reader *reader, const struct store_read_window *window,
                     const struct store_span **spans, size_t *count) {
    int rc = store_reader_rows(reader);
    rc = rc ?: store_reader_spans(reader, window);
    *spans = reader->spans;
    *count = rc == SQLITE_OK ? reader->span_count : 0;
    return rc;
}

int store_read_offset(struct store_reader *reader, int64_t *offset_ns) {
    int rc = SQLITE_OK;
    *offset_ns = 0;
    if (!reader->ours &&
        store_reader_has_column(reader, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", &rc)) {
        rc = store_sql_int(reader->db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME",
                           offset_ns);
    }
    return rc;
}

// ---- Payloads -----------------------------------------------------------------------------------

static bool fits(const struct nvtxt_payload *payload) {
    switch (payload->kind) {
    case NVTXT_PAYLOAD_UINT32:
        return payload->int64 >= 0 && payload->int64 <= UINT32_MAX;
    case NVTXT_PAYLOAD_INT32:
        return payload->int64 >= INT32_MIN && payload->int64 <= INT32_MAX;
    case NVTXT_PAYLOAD_FLOAT:
        return (double)(float)payload->real == payload->real;
    case NVTXT_PAYLOAD_NONE:
    case NVTXT_PAYLOAD_INT64:
    case NVTXT_PAYLOAD_UINT64:
    case NVTXT_PAYLOAD_DOUBLE:
        break;
    }
    return true;
}

static void read_wide(struct sqlite3_value **values, struct nvtxt_payload *payload) {
    for (int kind = OLD_KINDS + 1; kind <= KINDS && payload->kind == NVTXT_PAYLOAD_NONE; kind++) {
        struct sqlite3_value *value = values[kind - NVTXT_PAYLOAD_INT64];
        if (store_sql_is_null(value)) {
            continue;
        }
        payload->kind = (enum nvtxt_payload_kind)kind;
        if (kind == NVTXT_PAYLOAD_FLOAT) {
            payload->real = sqlite3_value_double(value);
            payload->kind = fits(payload) ? NVTXT_PAYLOAD_FLOAT : NVTXT_PAYLOAD_DOUBLE;
        } else {
            payload->int64 = sqlite3_value_int64(value);
            payload->kind = fits(payload) ? payload->kind : NVTXT_PAYLOAD_INT64;
        }
    }
}

void store_read_payload(struct sqlite3_value **values, bool wide, struct nvtxt_payload *payload) {
    payload->kind = NVTXT_PAYLOAD_NONE;
    if (!store_sql_is_null(values[0])) {
        payload->kind = NVTXT_PAYLOAD_INT64;
        payload->int64 = sqlite3_value_int64(values[0]);
    } else if (!store_sql_is_null(values[1])) {
        payload->kind = NVTXT_PAYLOAD_DOUBLE;
        payload->real = sqlite3_value_double(values[1]);
    } else if (wide) {
        read_wide(values, payload);
    }
}
