// SPDX-License-Identifier: Apache-2.0
//
// Inserts into a table of which only the names of columns are known. Columns that the table has are
// filled, those that it lacks are left out. Other columns of the table get NULL, or where they are
// NOT NULL a 0 or an empty text. Private to store/.
//
// Functions return SQLite result codes.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Columns are numbered from 0 in the order of the names that the caller gives.
struct store_shape {
    sqlite3_stmt *insert; // NULL: the table does not exist
    uint32_t has;         // bit of each column that the table has
    uint32_t required;    // of those, the ones that are NOT NULL
};

// `names`: at most 32. The caller calls deinit, also after a failure.
int store_shape_init(struct store_shape *shape, sqlite3 *db, const char *table,
                     const char *const *names, size_t count);
void store_shape_deinit(struct store_shape *shape);

static inline bool store_shape_has(const struct store_shape *shape, int column) {
    return shape->has >> column & 1;
}

// Bind one column; nothing happens for one that the table lacks. NULL for a required column is 0.
int store_shape_int(const struct store_shape *shape, int column, int64_t value);
int store_shape_real(const struct store_shape *shape, int column, double value);
int store_shape_null(const struct store_shape *shape, int column);
// The text must live until the row is in.
int store_shape_text(const struct store_shape *shape, int column, const char *data, size_t len);
