// SPDX-License-Identifier: Apache-2.0
//
// A statement is prepared into its slot on first use and stays there. store_sql_bind() reads its
// arguments by letters, so that callers read as SQL and values.
#include "store/db/sql.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int store_sql_prepare(sqlite3 *db, sqlite3_stmt **slot, const char *text) {
    if (*slot) {
        return SQLITE_OK;
    }
    return sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, slot, NULL);
}

static int bind_bytes(sqlite3_stmt *stmt, int index, const char *data, size_t len) {
    return sqlite3_bind_text64(stmt, index, data ?: "", len, SQLITE_STATIC, SQLITE_UTF8);
}

static int bind_string(sqlite3_stmt *stmt, int index, const char *string) {
    return string ? sqlite3_bind_text(stmt, index, string, -1, SQLITE_STATIC)
                  : sqlite3_bind_null(stmt, index);
}

int store_sql_bind(sqlite3_stmt *stmt, const char *types, ...) {
    va_list list;
    va_start(list, types);
    int rc = SQLITE_OK;
    for (int index = 1; *types && rc == SQLITE_OK; types++, index++) {
        if (*types == 'i') {
            rc = sqlite3_bind_int64(stmt, index, va_arg(list, int64_t));
        } else if (*types == 'd') {
            rc = sqlite3_bind_double(stmt, index, va_arg(list, double));
        } else if (*types == 't') {
            rc = bind_string(stmt, index, va_arg(list, const char *));
        } else if (*types == 's') {
            const char *data = va_arg(list, const char *);
            rc = bind_bytes(stmt, index, data, va_arg(list, size_t));
        } else if (*types == 'o') {
            struct nvtxt_slice text = va_arg(list, struct nvtxt_slice);
            rc = text.data ? bind_bytes(stmt, index, text.data, text.len)
                           : sqlite3_bind_null(stmt, index);
        } else if (*types == 'm') {
            struct store_maybe number = va_arg(list, struct store_maybe);
            rc = number.is_set ? sqlite3_bind_int64(stmt, index, number.value)
                               : sqlite3_bind_null(stmt, index);
        } else {
            assert(*types == 'n');
            rc = sqlite3_bind_null(stmt, index);
        }
    }
    va_end(list);
    return rc;
}

int store_sql_done(sqlite3_stmt *stmt, int rc) {
    int reset = sqlite3_reset(stmt);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : (reset ?: rc);
}

int store_sql_run(sqlite3_stmt *stmt) {
    return store_sql_done(stmt, sqlite3_step(stmt));
}

int store_sql_run_int(sqlite3_stmt *stmt, int64_t *value) {
    int rc = sqlite3_step(stmt);
    *value = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    return store_sql_done(stmt, rc);
}

bool store_sql_next(sqlite3_stmt *stmt, int *rc) {
    if (*rc == SQLITE_OK) {
        *rc = sqlite3_step(stmt);
        if (*rc == SQLITE_ROW || *rc == SQLITE_DONE) {
            bool is_row = *rc == SQLITE_ROW;
            *rc = SQLITE_OK;
            return is_row;
        }
    }
    return false;
}

// SQLite's answer for most rows is "false": then it goes on with the next one.
static void on_row(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const struct store_sql_rows *rows = sqlite3_user_data(context);
    if (rows->take(rows->context, values)) {
        sqlite3_result_int(context, 1);
    }
}

int store_sql_rows_register(sqlite3 *db, struct store_sql_rows *rows) {
    return sqlite3_create_function_v2(db, "nvtxt_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, rows,
                                      on_row, NULL, NULL, NULL);
}

int store_sql_exec(sqlite3 *db, const char *text) {
    return sqlite3_exec(db, text, NULL, NULL, NULL);
}

int store_sql_commit(sqlite3 *db, int rc) {
    rc = rc ?: store_sql_exec(db, "COMMIT");
    if (rc != SQLITE_OK && !sqlite3_get_autocommit(db)) {
        store_sql_exec(db, "ROLLBACK");
    }
    return rc;
}

int store_sql_int(sqlite3 *db, const char *text, int64_t *value) {
    sqlite3_stmt *stmt = NULL;
    *value = 0;
    int rc = sqlite3_prepare_v2(db, text, -1, &stmt, NULL);
    rc = rc ?: store_sql_run_int(stmt, value);
    sqlite3_finalize(stmt);
    return rc;
}

void store_sql_finalize(sqlite3_stmt **slots, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sqlite3_finalize(slots[i]);
        slots[i] = NULL;
    }
}

void store_sql_text(sqlite3_stmt *stmt, int column, char *text, size_t size) {
    const unsigned char *data = sqlite3_column_text(stmt, column);
    size_t len = (size_t)sqlite3_column_bytes(stmt, column);
    len = len < size ? len : size - 1;
    if (data && len > 0) {
        memcpy(text, data, len);
    }
    text[data ? len : 0] = '\0';
}

int store_sql_view(sqlite3_stmt *stmt, int column, struct nvtxt_slice *text) {
    text->data = (const char *)sqlite3_column_text(stmt, column);
    text->len = (size_t)sqlite3_column_bytes(stmt, column);
    bool lost = !text->data && sqlite3_column_type(stmt, column) != SQLITE_NULL;
    return lost ? SQLITE_NOMEM : SQLITE_OK;
}

int store_sql_value(sqlite3_value *value, struct nvtxt_slice *text) {
    text->data = (const char *)sqlite3_value_text(value);
    text->len = text->data ? (size_t)sqlite3_value_bytes(value) : 0;
    return text->data || store_sql_is_null(value) ? SQLITE_OK : SQLITE_NOMEM;
}

int store_sql_copy(sqlite3_stmt *stmt, int column, struct nvtxt_slice *slice) {
    struct nvtxt_slice text;
    int rc = store_sql_view(stmt, column, &text);
    char *copy = rc == SQLITE_OK ? malloc(text.len + 1) : NULL;
    if (!copy) {
        return SQLITE_NOMEM;
    }
    if (text.len > 0) {
        memcpy(copy, text.data, text.len);
    }
    copy[text.len] = '\0';
    *slice = (struct nvtxt_slice){copy, text.len};
    return SQLITE_OK;
}

int store_sql_string(sqlite3_stmt *stmt, int column, char **string) {
    struct nvtxt_slice slice = {0};
    int rc = SQLITE_OK;
    if (sqlite3_column_type(stmt, column) != SQLITE_NULL) {
        rc = store_sql_copy(stmt, column, &slice);
    }
    *string = (char *)slice.data;
    return rc;
}
