// SPDX-License-Identifier: Apache-2.0
//
// Each store is opened anew, read-only, as store/db opens for readers that leave nothing. What all
// rows hold together is bounded as well: many long values are stopped before they fill the memory.
#include "report/rule/sql_guard.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/load/capture.h"
#include "report/rule/builder.h"
#include "store/db/connection.h"

#define MOST_COLUMNS 200                      // SQLITE_LIMIT_COLUMN of the guard
#define MOST_BYTES ((size_t)16 * 1024 * 1024) // of all texts of a table

struct run {
    struct report_builder *builder;
    const struct report_sql_query *query;
    const struct report_capture *capture;
    struct report_sql_guard guard;
    struct report_rule_table *table; // NULL before the first store
    size_t message;
    size_t bytes;
    char *reason;
    struct report_cell cells[MOST_COLUMNS + 1];
};

static bool has_store_column(const struct run *run) {
    return run->capture->store_count > 1;
}

static int fail(struct run *run, const char *text) {
    snprintf(run->reason, REPORT_SQL_REASON, "%s", text);
    return NVTXT_WRONG;
}

static int why(struct run *run, sqlite3 *db, int rc) {
    return report_sql_why(&run->guard, db, rc, run->reason) ?: NVTXT_WRONG;
}

// ---- Columns and rows ---------------------------------------------------------------------------

static int make_table(struct run *run, sqlite3_stmt *stmt) {
    struct nvtxt_slice header[MOST_COLUMNS + 1];
    size_t columns = 0;
    int count = sqlite3_column_count(stmt);
    if (has_store_column(run)) {
        header[columns++] = NVTXT_SLICE("Store");
    }
    for (int i = 0; i < count && i < MOST_COLUMNS; i++) {
        header[columns++] = nvtxt_slice_of(sqlite3_column_name(stmt, i));
    }
    if (run->table) {
        return run->table->table.column_count == columns
                   ? 0
                   : fail(run, "the stores give different numbers of columns");
    }
    run->table = report_build_table(run->builder, run->message, run->query->title, header, columns);
    return run->table ? 0 : nvtxt_origin(-ENOMEM);
}

// Bytes that are no UTF-8 are the affair of the writers.
static struct report_cell make_cell(sqlite3_stmt *stmt, int column) {
    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_INTEGER:
        return report_cell_int(sqlite3_column_int64(stmt, column));
    case SQLITE_FLOAT:
        return report_cell_real(sqlite3_column_double(stmt, column));
    case SQLITE_NULL:
        return (struct report_cell){0};
    default: // text, or bytes
        break;
    }
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    size_t len = (size_t)sqlite3_column_bytes(stmt, column);
    return report_cell_text(text ? (struct nvtxt_slice){text, len} : NVTXT_SLICE(""));
}

static int add_row(struct run *run, sqlite3_stmt *stmt, struct nvtxt_slice store) {
    size_t columns = 0;
    if (has_store_column(run)) {
        run->cells[columns++] = report_cell_text(store);
    }
    for (int i = 0; columns < run->table->table.column_count; i++) {
        struct report_cell cell = make_cell(stmt, i);
        run->bytes += cell.text_len;
        run->cells[columns++] = cell;
    }
    if (run->bytes > MOST_BYTES) {
        return fail(run, "the query gives more than 16 MiB of text");
    }
    report_build_row(run->builder, run->table, run->cells);
    return run->builder->failed ? nvtxt_origin(-ENOMEM) : 0;
}

static bool is_full(const struct run *run) {
    return run->query->rows > 0 && run->table && run->table->table.row_count >= run->query->rows;
}

static int read_rows(struct run *run, sqlite3 *db, sqlite3_stmt *stmt, struct nvtxt_slice store) {
    int rc = SQLITE_OK;
    int r = make_table(run, stmt);
    while (r == 0 && !is_full(run) && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        r = run->table->table.row_count >= REPORT_SQL_ROWS
                ? fail(run, "the query gives more than 1,000 rows")
                : add_row(run, stmt, store);
    }
    return r != 0 || rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE ? r
                                                                              : why(run, db, rc);
}

// ---- Stores -------------------------------------------------------------------------------------

static int bind(struct run *run, sqlite3 *db, sqlite3_stmt *stmt) {
    int since = sqlite3_bind_parameter_index(stmt, ":since");
    int until = sqlite3_bind_parameter_index(stmt, ":until");
    int rc = since ? sqlite3_bind_int64(stmt, since, run->query->since_ns) : SQLITE_OK;
    rc = rc ?: until ? sqlite3_bind_int64(stmt, until, run->query->until_ns) : SQLITE_OK;
    return rc == SQLITE_OK ? 0 : why(run, db, rc);
}

static int ask(struct run *run, sqlite3 *db, struct nvtxt_slice store) {
    sqlite3_stmt *stmt = NULL;
    size_t at;
    bool unknown;
    int r = report_sql_prepare(&run->guard, db, run->query->sql, &stmt, run->reason, &at, &unknown);
    r = r == NVTXT_WRONG ? NVTXT_WRONG : r;
    r = r ?: bind(run, db, stmt);
    r = r ?: read_rows(run, db, stmt, store);
    sqlite3_finalize(stmt);
    return r;
}

static int ask_store(struct run *run, const struct report_store *store) {
    struct nvtxt_slice segment = store->segments[store->segment_count - 1];
    char path[PATH_MAX];
    sqlite3 *db = NULL;
    if (segment.len >= sizeof(path)) {
        return fail(run, "the store's path is too long");
    }
    memcpy(path, segment.data, segment.len);
    path[segment.len] = '\0';
    int rc = store_connection_read(&db, path);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(db, STORE_BUSY_MS);
        rc = report_sql_guard_connection(&run->guard, db);
    }
    int r = rc == SQLITE_OK
                ? ask(run, db, report_build_name(run->builder, store->path, store->path.len))
                : why(run, db, rc);
    sqlite3_close(db);
    return r;
}

static void describe(struct run *run) {
    for (size_t i = 0; i < run->capture->store_count && run->table; i++) {
        if (run->capture->stores[i].segment_count > 1) {
            run->table->description =
                NVTXT_SLICE("Only the newest segment of each store was asked.");
        }
    }
}

int report_sql_run(struct report_builder *builder, const struct report_capture *capture,
                   size_t message, const struct report_sql_query *query, char *reason) {
    struct run run = {
        .builder = builder,
        .query = query,
        .capture = capture,
        .message = message,
        .reason = reason,
    };
    int r = 0;
    report_sql_begin(&run.guard, query->interrupted);
    for (size_t i = 0; i < capture->store_count && r == 0 && !is_full(&run); i++) {
        r = ask_store(&run, &capture->stores[i]);
    }
    report_sql_end(&run.guard);
    describe(&run);
    return r;
}
