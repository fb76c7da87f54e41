// SPDX-License-Identifier: Apache-2.0
//
// Thin doors into a reader, and payloads. What another program stored need not fit its column: such
// a payload gets the next kind that holds it.
#include "store/read/reader_tables.h"

#include "store/db/sql.h"
#include "store/read/reader_state.h"

#define KINDS NVTXT_PAYLOAD_FLOAT
#define OLD_KINDS NVTXT_PAYLOAD_DOUBLE // those up to it come from sources of all kinds

struct sqlite3 *store_read_database(const struct store_reader *reader, bool *ours) {
    *ours = reader->ours;
    return reader->db;
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

static void read_wide(struct sqlite3_stmt *row, int first, struct nvtxt_payload *payload) {
    for (int kind = OLD_KINDS + 1; kind <= KINDS && payload->kind == NVTXT_PAYLOAD_NONE; kind++) {
        int column = first + kind - NVTXT_PAYLOAD_INT64;
        if (sqlite3_column_type(row, column) == SQLITE_NULL) {
            continue;
        }
        payload->kind = (enum nvtxt_payload_kind)kind;
        if (kind == NVTXT_PAYLOAD_FLOAT) {
            payload->real = sqlite3_column_double(row, column);
            payload->kind = fits(payload) ? NVTXT_PAYLOAD_FLOAT : NVTXT_PAYLOAD_DOUBLE;
        } else {
            payload->int64 = sqlite3_column_int64(row, column);
            payload->kind = fits(payload) ? payload->kind : NVTXT_PAYLOAD_INT64;
        }
    }
}

void store_read_payload(struct sqlite3_stmt *row, int first, bool wide,
                        struct nvtxt_payload *payload) {
    payload->kind = NVTXT_PAYLOAD_NONE;
    if (sqlite3_column_type(row, first) != SQLITE_NULL) {
        payload->kind = NVTXT_PAYLOAD_INT64;
        payload->int64 = sqlite3_column_int64(row, first);
    } else if (sqlite3_column_type(row, first + 1) != SQLITE_NULL) {
        payload->kind = NVTXT_PAYLOAD_DOUBLE;
        payload->real = sqlite3_column_double(row, first + 1);
    } else if (wide) {
        read_wide(row, first, payload);
    }
}
