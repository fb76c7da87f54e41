// SPDX-License-Identifier: Apache-2.0
//
// Eponymous virtual tables (https://www.sqlite.org/vtab.html): no CREATE, no rows of their own. A
// cursor walks the records in the order in which they are inserted and counts their rowids, so a
// start/end range knows its id. SQLite gets the texts where they lie in the arena, without a copy.
#include "store/write/bulk.h"

#include <assert.h>

struct cursor {
    sqlite3_vtab_cursor base; // first, as SQLite wants it
    const struct store_batch_tables *tables;
    const struct store_share *share;
    const struct store_run *run;
    const struct store_event *event, *run_end; // event is NULL at the end
    int64_t row;                               // the event's rowid; the place of the string
};

struct table {
    sqlite3_vtab base;
    const struct store_batch_tables *tables;
};

// ---- What both tables share -------------------------------------------------------------------

static int connect(sqlite3 *db, void *context, sqlite3_vtab **out, const char *declaration) {
    int rc = sqlite3_declare_vtab(db, declaration);
    if (rc != SQLITE_OK) {
        return rc;
    }
    struct table *table = sqlite3_malloc64(sizeof(*table));
    if (!table) {
        return SQLITE_NOMEM;
    }
    *table = (struct table){.tables = context};
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
    *cursor = (struct cursor){.tables = ((struct table *)table)->tables};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = ((struct cursor *)base)->row;
    return SQLITE_OK;
}

// ---- The table of events ----------------------------------------------------------------------

enum column {
    START,
    END,
    EVENT_TYPE,
    RANGE_ID,
    TEXT,
    CATEGORY,
    COLOR,
    GLOBAL_TID,
    DOMAIN_ID,
    END_GLOBAL_TID,
    TEXT_ID,
    UINT64_VALUE,
    INT64_VALUE,
    DOUBLE_VALUE,
    UINT32_VALUE,
    INT32_VALUE,
    FLOAT_VALUE,
    JSON_TEXT,
};

static int on_connect_events(sqlite3 *db, void *context, int argc, const char *const *argv,
                             sqlite3_vtab **out, char **error) {
    (void)argc;
    (void)argv;
    (void)error;
    return connect(db, context, out,
                   "CREATE TABLE x (start, end, eventType, rangeId, text, category, color, "
                   "globalTid, domainId, endGlobalTid, textId, uint64Value, int64Value, "
                   "doubleValue, uint32Value, int32Value, floatValue, jsonText)");
}

// Stands at the first event of `run` or of the first run after it that has one.
static void enter_run(struct cursor *cursor, const struct store_run *run) {
    for (;;) {
        while (run && run->count == 0) {
            run = run->next;
        }
        if (run) {
            break;
        }
        cursor->share = store_share_next(cursor->share);
        if (!cursor->share) {
            cursor->event = NULL;
            return;
        }
        run = cursor->share->runs;
    }
    cursor->run = run;
    cursor->event = run->events;
    cursor->run_end = run->events + run->count;
}

static int on_filter_events(sqlite3_vtab_cursor *base, int number, const char *name, int argc,
                            sqlite3_value **argv) {
    (void)number;
    (void)name;
    (void)argc;
    (void)argv;
    struct cursor *cursor = (struct cursor *)base;
    const struct store_batch *batch = cursor->tables->batch;
    cursor->row = cursor->tables->txn->next_row;
    cursor->share = batch ? batch->first : NULL;
    cursor->event = NULL;
    if (cursor->share) {
        enter_run(cursor, cursor->share->runs);
    }
    return SQLITE_OK;
}

static int on_next_event(sqlite3_vtab_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;
    cursor->row++;
    if (++cursor->event == cursor->run_end) {
        enter_run(cursor, cursor->run->next);
    }
    return SQLITE_OK;
}

static int on_events_end(sqlite3_vtab_cursor *base) {
    return ((struct cursor *)base)->event == NULL;
}

// A value that only events with the flag of its column have; NULL for the others.
static void result_rare(sqlite3_context *context, const struct store_event *event,
                        enum column column) {
    static const enum store_event_flag flags[] = {
        [END_GLOBAL_TID] = STORE_EVENT_ELSEWHERE, [UINT64_VALUE] = STORE_EVENT_UINT64,
        [INT64_VALUE] = STORE_EVENT_INT64,        [DOUBLE_VALUE] = STORE_EVENT_DOUBLE,
        [UINT32_VALUE] = STORE_EVENT_UINT32,      [INT32_VALUE] = STORE_EVENT_INT32,
        [FLOAT_VALUE] = STORE_EVENT_FLOAT,        [JSON_TEXT] = STORE_EVENT_JSON,
    };
    enum store_event_flag flag = flags[column];
    const struct store_event_extra *extra =
        event->flags & STORE_EVENT_EXTRA ? event->payload.extra : NULL;
    const union store_payload *payload = extra ? &extra->payload : &event->payload;
    if (!(event->flags & flag)) {
        return;
    }
    if (flag == STORE_EVENT_ELSEWHERE) {
        sqlite3_result_int64(context, (int64_t)extra->end_global_tid);
    } else if (flag == STORE_EVENT_JSON) {
        sqlite3_result_text(context, extra->json.data, (int)extra->json.len, SQLITE_STATIC);
    } else if (flag == STORE_EVENT_DOUBLE || flag == STORE_EVENT_FLOAT) {
        sqlite3_result_double(context, payload->real);
    } else {
        sqlite3_result_int64(context, payload->int64);
    }
}

int64_t store_batch_value(const struct store_batch_tables *tables, const struct store_event *event,
                          int64_t row, int column) {
    switch (column) {
    case EVENT_TYPE:
        return event->type;
    case RANGE_ID:
        return event->type == NVTXT_EVENT_START_END ? row + tables->txn->range_base : 0;
    case CATEGORY:
        return event->category;
    case COLOR:
        return event->color;
    case GLOBAL_TID:
        return (int64_t)event->global_tid;
    default:
        assert(column == DOMAIN_ID);
        return event->domain ? tables->batch->domains[event->domain]->store_id : 0;
    }
}

static int on_event_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index) {
    const struct cursor *cursor = (const struct cursor *)base;
    const struct store_event *event = cursor->event;
    switch ((enum column)index) {
    case START:
        sqlite3_result_int64(context, event->start);
        break;
    case END:
        sqlite3_result_int64(context, event->end);
        break;
    case TEXT:
        sqlite3_result_text(context, event->text, (int)event->text_len, SQLITE_STATIC);
        break;
    case EVENT_TYPE:
    case RANGE_ID:
    case CATEGORY:
    case COLOR:
    case GLOBAL_TID:
    case DOMAIN_ID:
        sqlite3_result_int64(context, store_batch_value(cursor->tables, event, cursor->row, index));
        break;
    case TEXT_ID:
        sqlite3_result_int64(context, event->text_id);
        break;
    case END_GLOBAL_TID:
    case UINT64_VALUE:
    case INT64_VALUE:
    case DOUBLE_VALUE:
    case UINT32_VALUE:
    case INT32_VALUE:
    case FLOAT_VALUE:
    case JSON_TEXT:
        result_rare(context, event, (enum column)index);
        break;
    }
    return SQLITE_OK;
}

static const sqlite3_module events_module = {
    .xConnect = on_connect_events,
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter_events,
    .xNext = on_next_event,
    .xEof = on_events_end,
    .xColumn = on_event_column,
    .xRowid = on_rowid,
};

// ---- The table of new strings -----------------------------------------------------------------

static int on_connect_strings(sqlite3 *db, void *context, int argc, const char *const *argv,
                              sqlite3_vtab **out, char **error) {
    (void)argc;
    (void)argv;
    (void)error;
    return connect(db, context, out, "CREATE TABLE x (value)");
}

static int on_filter_strings(sqlite3_vtab_cursor *base, int number, const char *name, int argc,
                             sqlite3_value **argv) {
    (void)number;
    (void)name;
    (void)argc;
    (void)argv;
    ((struct cursor *)base)->row = 0;
    return SQLITE_OK;
}

static int on_next_string(sqlite3_vtab_cursor *base) {
    ((struct cursor *)base)->row++;
    return SQLITE_OK;
}

static int on_strings_end(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;
    return (size_t)cursor->row >= cursor->tables->fresh_count;
}

static int on_string_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index) {
    (void)index;
    const struct cursor *cursor = (const struct cursor *)base;
    const struct store_event *event = cursor->tables->fresh[cursor->row];
    sqlite3_result_text(context, event->text, (int)event->text_len, SQLITE_STATIC);
    return SQLITE_OK;
}

static const sqlite3_module strings_module = {
    .xConnect = on_connect_strings,
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter_strings,
    .xNext = on_next_string,
    .xEof = on_strings_end,
    .xColumn = on_string_column,
    .xRowid = on_rowid,
};

// ---- Registering ------------------------------------------------------------------------------

int store_batch_tables_register(sqlite3 *db, const struct store_batch_tables *tables) {
    void *context = (void *)tables; // the tables only read it
    int rc = sqlite3_create_module_v2(db, "nvtxt_batch_events", &events_module, context, NULL);
    rc = rc ?: sqlite3_create_module_v2(db, "nvtxt_batch_strings", &strings_module, context, NULL);
    return rc;
}
