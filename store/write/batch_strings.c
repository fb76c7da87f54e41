// SPDX-License-Identifier: Apache-2.0
//
// An eponymous virtual table (https://www.sqlite.org/vtab.html): no CREATE, no rows of its own. A
// cursor walks the new texts in the order of their ids. SQLite gets them where they lie in the
// arena, without a copy.
#include "store/write/bulk.h"

struct cursor {
    sqlite3_vtab_cursor base; // first, as SQLite wants it
    const struct store_batch_strings *strings;
    size_t at;
};

struct table {
    sqlite3_vtab base;
    const struct store_batch_strings *strings;
};

static int on_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **error) {
    (void)argc;
    (void)argv;
    (void)error;
    int rc = sqlite3_declare_vtab(db, "CREATE TABLE x (value)");
    if (rc != SQLITE_OK) {
        return rc;
    }
    struct table *table = sqlite3_malloc64(sizeof(*table));
    if (!table) {
        return SQLITE_NOMEM;
    }
    *table = (struct table){.strings = context};
    *out = &table->base;
    return SQLITE_OK;
}

static int on_disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int on_best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    info->estimatedCost = 10000;
    info->estimatedRows = 10000;
    return SQLITE_OK;
}

static int on_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out) {
    struct cursor *cursor = sqlite3_malloc64(sizeof(*cursor));
    if (!cursor) {
        return SQLITE_NOMEM;
    }
    *cursor = (struct cursor){.strings = ((struct table *)table)->strings};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int on_filter(sqlite3_vtab_cursor *base, int number, const char *name, int argc,
                     sqlite3_value **argv) {
    (void)number;
    (void)name;
    (void)argc;
    (void)argv;
    ((struct cursor *)base)->at = 0;
    return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *base) {
    ((struct cursor *)base)->at++;
    return SQLITE_OK;
}

static int on_end(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->at >= cursor->strings->count;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index) {
    (void)index;
    const struct cursor *cursor = (const struct cursor *)base;
    const struct store_event *event = cursor->strings->events[cursor->at];
    sqlite3_result_text(context, event->text, (int)event->text_len, SQLITE_STATIC);
    return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = (sqlite3_int64)((struct cursor *)base)->at;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = on_connect,
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter,
    .xNext = on_next,
    .xEof = on_end,
    .xColumn = on_column,
    .xRowid = on_rowid,
};

int store_batch_strings_register(sqlite3 *db, const struct store_batch_strings *strings) {
    void *context = (void *)strings; // the table only reads it
    return sqlite3_create_module_v2(db, "nvtxt_batch_strings", &module, context, NULL);
}
