// SPDX-License-Identifier: Apache-2.0
//
// The INSERT is built from pragma table_info. Column i is parameter i + 1, so a binding needs no
// look-up. table_info does not list generated columns, so they are left out.
#include "store/nsys/table_shape.h"

#include "store/db/sql.h"

enum { NAME, TYPE, NOT_NULL, DEFAULT, KEY }; // columns of the look-up

static int find_name(const char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (sqlite3_stricmp(names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

// One column of the table: its name to `columns`, its value to `values`.
static void add_column(struct store_shape *shape, sqlite3_stmt *row, const char *const *names,
                       size_t count, sqlite3_str *columns, sqlite3_str *values) {
    const char *name = (const char *)sqlite3_column_text(row, NAME);
    const char *type = (const char *)sqlite3_column_text(row, TYPE);
    bool required = sqlite3_column_int(row, NOT_NULL) != 0;
    int index = find_name(names, count, name ?: "");
    const char *comma = sqlite3_str_length(columns) > 0 ? ", " : "";
    if (index >= 0) {
        shape->has |= (uint32_t)1 << index;
        shape->required |= (uint32_t)required << index;
        sqlite3_str_appendf(columns, "%s\"%w\"", comma, name);
        sqlite3_str_appendf(values, "%s?%d", comma, index + 1);
    } else if (required && sqlite3_column_type(row, DEFAULT) == SQLITE_NULL &&
               sqlite3_column_int(row, KEY) == 0) {
        bool text = type && (sqlite3_strlike("%CHAR%", type, 0) == 0 ||
                             sqlite3_strlike("%TEXT%", type, 0) == 0);
        sqlite3_str_appendf(columns, "%s\"%w\"", comma, name);
        sqlite3_str_appendf(values, "%s%s", comma, text ? "''" : "0");
    }
}

static int prepare(struct store_shape *shape, sqlite3 *db, const char *table, sqlite3_str *columns,
                   sqlite3_str *values) {
    if (sqlite3_str_errcode(columns) || sqlite3_str_errcode(values)) {
        return SQLITE_NOMEM;
    }
    if (shape->has == 0) {
        return SQLITE_OK;
    }
    char *text = sqlite3_mprintf("INSERT INTO main.\"%w\" (%s) VALUES (%s)", table,
                                 sqlite3_str_value(columns), sqlite3_str_value(values));
    int rc = text
                 ? sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &shape->insert, NULL)
                 : SQLITE_NOMEM;
    sqlite3_free(text);
    return rc;
}

int store_shape_init(struct store_shape *shape, sqlite3 *db, const char *table,
                     const char *const *names, size_t count) {
    sqlite3_stmt *rows = NULL;
    sqlite3_str *columns = sqlite3_str_new(db);
    sqlite3_str *values = sqlite3_str_new(db);
    *shape = (struct store_shape){0};
    int rc = sqlite3_prepare_v2(db,
                                "SELECT p.name, p.type, p.\"notnull\", p.dflt_value, p.pk "
                                "FROM main.sqlite_master m "
                                "JOIN pragma_table_info(m.name, 'main') p "
                                "WHERE m.type = 'table' AND m.name = ?1 ORDER BY p.cid",
                                -1, &rows, NULL);
    rc = rc ?: store_sql_bind(rows, "t", table);
    while (store_sql_next(rows, &rc)) {
        add_column(shape, rows, names, count, columns, values);
    }
    sqlite3_finalize(rows);
    rc = rc ?: prepare(shape, db, table, columns, values);
    sqlite3_free(sqlite3_str_finish(columns));
    sqlite3_free(sqlite3_str_finish(values));
    return rc;
}

void store_shape_deinit(struct store_shape *shape) {
    sqlite3_finalize(shape->insert);
    *shape = (struct store_shape){0};
}

int store_shape_int(const struct store_shape *shape, int column, int64_t value) {
    return store_shape_has(shape, column) ? sqlite3_bind_int64(shape->insert, column + 1, value)
                                          : SQLITE_OK;
}

int store_shape_real(const struct store_shape *shape, int column, double value) {
    return store_shape_has(shape, column) ? sqlite3_bind_double(shape->insert, column + 1, value)
                                          : SQLITE_OK;
}

int store_shape_null(const struct store_shape *shape, int column) {
    if (!store_shape_has(shape, column)) {
        return SQLITE_OK;
    }
    return shape->required >> column & 1 ? sqlite3_bind_int(shape->insert, column + 1, 0)
                                         : sqlite3_bind_null(shape->insert, column + 1);
}

int store_shape_text(const struct store_shape *shape, int column, const char *data, size_t len) {
    return store_shape_has(shape, column)
               ? sqlite3_bind_text64(shape->insert, column + 1, len ? data : "", len, SQLITE_STATIC,
                                     SQLITE_UTF8)
               : SQLITE_OK;
}
