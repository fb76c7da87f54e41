// SPDX-License-Identifier: Apache-2.0
//
// Names by what they belong to. In a store they are looked up on demand, by the keys of
// NVTXT_NAME_ROWS. An export has no such keys, so all its names are read at once. Names that were
// found, and those that were not, stay in a table, because a reader asks for the same few names
// again and again.
//
// In an export each process numbers its own domains, so the process is part of the key; in a store
// it is not.
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/lang/names.h"
#include "store/read/reader.h"
#include "store/read/reader_state.h"
#include "store/value/codes.h"

struct key {
    enum nvtxt_name_kind kind;
    uint64_t who; // process or thread
    int64_t domain;
    uint64_t category;
};

struct known_name {
    struct nvtxt_hash_node node;
    struct key key;
    struct nvtxt_slice text; // data is NULL: it has none
};

// ---- The table ----------------------------------------------------------------------------------

static bool same(const struct key *a, const struct key *b) {
    return a->kind == b->kind && a->who == b->who && a->domain == b->domain &&
           a->category == b->category;
}

static uint64_t hash_of(const struct key *key) {
    const uint64_t numbers[] = {key->who, (uint64_t)key->domain, key->category};
    return nvtxt_hash_pair(key->kind, (struct nvtxt_slice){(const char *)numbers, sizeof(numbers)});
}

static struct known_name *find_name(struct store_reader *reader, const struct key *key) {
    struct known_name *name;
    NVTXT_HASH_FIND(name, node, &reader->names, hash_of(key), same(&name->key, key));
    return name;
}

// The name of a key, changed or made. NULL when memory is short.
static struct known_name *remember(struct store_reader *reader, const struct key *key,
                                   struct nvtxt_slice text) {
    struct known_name *name = find_name(reader, key);
    if (!name) {
        name = store_arena_make(&reader->name_bytes, sizeof(*name));
        if (!name) {
            return NULL;
        }
        name->key = *key;
        if (nvtxt_hash_add(&reader->names, &name->node, hash_of(key)) < 0) {
            return NULL;
        }
    }
    name->text = (struct nvtxt_slice){NULL, 0};
    if (text.data) {
        name->text.data = store_arena_copy(&reader->name_bytes, text.data, text.len);
        name->text.len = text.len;
    }
    return text.data && !name->text.data ? NULL : name;
}

void store_reader_free_names(struct store_reader *reader) {
    nvtxt_hash_deinit(&reader->names);
    store_arena_deinit(&reader->name_bytes);
    free((char *)reader->source_name.data);
}

// ---- Of a store ---------------------------------------------------------------------------------

#define BY_KEY(kind, domain, key)                                                                  \
    " WHERE r.kind = " kind " AND r.domainId = " domain " AND r.key = " key

static const char *const look_ups[] = {
    [STORE_READ_PROCESS] = "SELECT p.name FROM NVTXT_NAME_ROWS r JOIN PROCESSES p ON p.rowid = "
                           "r.row" BY_KEY("1", "0", "?1"),
    [STORE_READ_THREAD] = "SELECT t.value FROM NVTXT_NAME_ROWS r JOIN StringIds t ON t.id = "
                          "r.row" BY_KEY("2", "0", "?1"),
    [STORE_READ_DOMAIN] = "SELECT name FROM NVTXT_DOMAINS WHERE id = ?2",
    [STORE_READ_CATEGORY] =
        "SELECT c.text FROM NVTXT_NAME_ROWS r JOIN NVTX_EVENTS c ON c.rowid = "
        "r.row" BY_KEY("3", "?2", "?1 * 0x100000000 + ?3") " UNION ALL "
                                                           "SELECT c.text FROM NVTXT_NAME_ROWS r "
                                                           "JOIN NVTX_EVENTS c ON c.rowid = "
                                                           "r.row" BY_KEY("33", "?2",
                                                                          "?3") " LIMIT 1",
    [STORE_READ_SOURCE_AT] = "SELECT firstRow, lastRow, sourceId FROM NVTXT_EVENT_SOURCES "
                             "WHERE firstRow <= ?1 ORDER BY firstRow DESC LIMIT 1",
    [STORE_READ_SOURCE_NAME] = "SELECT coalesce(name, displayName, peerComm, 'source ' || id) "
                               "FROM NVTXT_SOURCES WHERE id = ?1",
    [STORE_READ_SOURCE_LEVELS] = "SELECT 1 FROM NVTXT_SOURCES WHERE id = ?1 AND levels = 1",
};

static int prepare(struct store_reader *reader, enum store_read_stmt which) {
    return store_sql_prepare(reader->db, &reader->stmts[which], look_ups[which]);
}

static int look_up(struct store_reader *reader, enum store_read_stmt which, const struct key *key,
                   struct known_name **name) {
    int rc = prepare(reader, which);
    sqlite3_stmt *stmt = reader->stmts[which];
    int wanted = sqlite3_bind_parameter_count(stmt);
    rc = rc ?: sqlite3_bind_int64(stmt, 1, (int64_t)key->who);
    rc = rc ?: (wanted < 2 ? SQLITE_OK : sqlite3_bind_int64(stmt, 2, key->domain));
    rc = rc ?: (wanted < 3 ? SQLITE_OK : sqlite3_bind_int64(stmt, 3, (int64_t)key->category));
    struct nvtxt_slice text = {NULL, 0};
    if (store_sql_next(stmt, &rc)) {
        rc = store_sql_view(stmt, 0, &text);
    }
    if (rc == SQLITE_OK) {
        *name = remember(reader, key, text);
        rc = *name ? SQLITE_OK : SQLITE_NOMEM;
    }
    return store_sql_done(stmt, rc);
}

// All names of an export into the table. Returns an SQLite result code.
static int load_names(struct store_reader *reader);

static struct nvtxt_slice name_of(struct store_reader *reader, enum store_read_stmt which,
                                  const struct key *key) {
    int rc = SQLITE_OK;
    if (!reader->ours && !reader->names_loaded) {
        rc = load_names(reader);
        reader->names_loaded = rc == SQLITE_OK;
    }
    struct known_name *name = find_name(reader, key);
    if (!name && reader->ours) {
        rc = look_up(reader, which, key, &name);
    }
    if (rc != SQLITE_OK && reader->failed == STORE_DONE) {
        reader->failed = store_reader_result(reader, rc);
    }
    return name ? name->text : (struct nvtxt_slice){NULL, 0};
}

struct nvtxt_slice store_read_process(struct store_reader *reader, uint64_t global_tid) {
    struct key key = {.kind = NVTXT_NAME_PROCESS, .who = global_tid >> 24};
    return name_of(reader, STORE_READ_PROCESS, &key);
}

struct nvtxt_slice store_read_thread(struct store_reader *reader, uint64_t global_tid) {
    struct key key = {.kind = NVTXT_NAME_THREAD, .who = global_tid};
    return name_of(reader, STORE_READ_THREAD, &key);
}

static uint64_t owner_of(const struct store_reader *reader, uint64_t global_tid) {
    return reader->ours ? 0 : global_tid >> 24;
}

struct nvtxt_slice store_read_domain(struct store_reader *reader, uint64_t global_tid,
                                     int64_t domain_id) {
    struct key key = {
        .kind = NVTXT_NAME_DOMAIN, .who = owner_of(reader, global_tid), .domain = domain_id};
    return domain_id ? name_of(reader, STORE_READ_DOMAIN, &key) : (struct nvtxt_slice){NULL, 0};
}

struct nvtxt_slice store_read_category(struct store_reader *reader, uint64_t global_tid,
                                       int64_t domain_id, uint32_t category) {
    struct key key = {.kind = NVTXT_NAME_CATEGORY,
                      .who = global_tid >> 24,
                      .domain = domain_id,
                      .category = category};
    return name_of(reader, STORE_READ_CATEGORY, &key);
}

// ---- All of them --------------------------------------------------------------------------------

#define THREADS_OF_EXPORT                                                                          \
    "SELECT 39, 0, 0, 0, globalTid, value FROM ThreadNames JOIN StringIds ON id = nameId"
#define PROCESSES_OF_EXPORT "SELECT -1, 0, 0, 0, globalPid, name FROM PROCESSES"
#define OUR_PROCESSES                                                                              \
    "SELECT -1, 0, 0, 0, globalPid, name FROM PROCESSES WHERE name <> 'Process ' || pid"
#define OUR_ROWS                                                                                   \
    "SELECT e.eventType, e.domainId, e.category, e.start, e.globalTid, e.text FROM "               \
    "NVTXT_NAME_ROWS r CROSS JOIN NVTX_EVENTS e ON e.rowid = r.row WHERE r.kind IN (3, 39, 75) "   \
    "OR (r.kind = 33 AND (SELECT user_version FROM pragma_user_version) < 4)"

// Runs a query for type, domain, category, time, thread and text, and hands out its rows.
static int each_row(struct store_reader *reader, const char *sql,
                    int (*on_row)(void *context, const struct key *key,
                                  const struct store_read_name *name),
                    void *context, int *stopped) {
    sqlite3_stmt *stmt = NULL;
    int rc = store_sql_prepare(reader->db, &stmt, sql);
    while (*stopped == 0 && store_sql_next(stmt, &rc)) {
        int type = sqlite3_column_int(stmt, 0);
        uint64_t thread = (uint64_t)sqlite3_column_int64(stmt, 4) & UINT64_C(0xFFFFFFFFFFFF);
        struct store_read_name name = {.category = (uint32_t)sqlite3_column_int64(stmt, 2),
                                       .global_tid = thread};
        struct key key = {.category = name.category};
        key.who = type == NVTXT_EVENT_CATEGORY ? thread >> 24 : owner_of(reader, thread);
        key.domain = sqlite3_column_int64(stmt, 1);
        key.kind = name.kind = type == NVTXT_EVENT_CATEGORY ? NVTXT_NAME_CATEGORY
                               : type == NVTXT_EVENT_THREAD ? NVTXT_NAME_THREAD
                               : type == NVTXT_EVENT_DOMAIN ? NVTXT_NAME_DOMAIN
                                                            : NVTXT_NAME_PROCESS;
        if (name.kind == NVTXT_NAME_THREAD || name.kind == NVTXT_NAME_PROCESS) {
            uint64_t who = name.kind == NVTXT_NAME_THREAD ? thread : thread >> 24;
            key = (struct key){.kind = name.kind, .who = who};
        }
        name.domain_id = sqlite3_column_int64(stmt, 1);
        name.has_row = type >= 0 && (reader->ours || type != NVTXT_EVENT_THREAD);
        name.at = type < 0 ? 0 : store_reader_time(reader, sqlite3_column_int64(stmt, 3));
        rc = store_sql_view(stmt, 5, &name.text);
        *stopped = rc == SQLITE_OK && name.text.data ? on_row(context, &key, &name) : 0;
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int load_row(void *context, const struct key *key, const struct store_read_name *name) {
    return remember(context, key, name->text) ? 0 : nvtxt_origin(-ENOMEM);
}

// The rows of an export's names in NVTX_EVENTS, which needs a scan of it.
static int rows_of_export(struct store_reader *reader, char *sql, size_t size) {
    static const char *const columns[] = {"domainId", "category", "globalTid", "text", "textId"};
    static const char *const there[] = {"domainId", "category", "globalTid", "text",
                                        "(SELECT value FROM StringIds WHERE id = textId)"};
    const char *v[5];
    int rc = SQLITE_OK;
    for (size_t i = 0; i < 5; i++) {
        bool has = store_reader_has_column(reader, "NVTX_EVENTS", columns[i], &rc);
        v[i] = has ? there[i] : i < 3 ? "0" : "NULL";
    }
    snprintf(sql, size,
             "SELECT eventType, %s, %s, start, %s, coalesce(%s, %s) FROM NVTX_EVENTS "
             "WHERE eventType IN (33, 75)",
             v[0], v[1], v[2], v[3], v[4]);
    return rc;
}

static int each_of_export(struct store_reader *reader,
                          int (*on_row)(void *context, const struct key *key,
                                        const struct store_read_name *name),
                          void *context, int *stopped) {
    char sql[512];
    int rc = rows_of_export(reader, sql, sizeof(sql));
    rc = rc ?: each_row(reader, sql, on_row, context, stopped);
    if (store_reader_has_column(reader, "ThreadNames", "nameId", &rc)) {
        rc = each_row(reader, THREADS_OF_EXPORT, on_row, context, stopped);
    }
    if (store_reader_has_column(reader, "PROCESSES", "globalPid", &rc)) {
        rc = each_row(reader, PROCESSES_OF_EXPORT, on_row, context, stopped);
    }
    return rc;
}

static int load_names(struct store_reader *reader) {
    int stopped = 0;
    int rc = each_of_export(reader, load_row, reader, &stopped);
    return rc ?: (stopped ? SQLITE_NOMEM : SQLITE_OK);
}

// Of a store of an older version there are none.
static const char resources[] =
    "SELECT domainId, globalPid, name, kind, handle, NULL FROM NVTXT_RESOURCES";
static const char counters[] =
    "SELECT domainId, globalPid, name, NULL, 0, json FROM NVTXT_COUNTERS";

static int each_in_domain(struct store_reader *reader, enum nvtxt_name_kind kind,
                          int (*on_name)(void *context, const struct store_read_name *name),
                          void *context, int *stopped) {
    bool of_resources = kind == NVTXT_NAME_RESOURCE;
    sqlite3_stmt *stmt = NULL;
    int rc = SQLITE_OK;
    if (!reader->ours ||
        !store_reader_has_column(reader, of_resources ? "NVTXT_RESOURCES" : "NVTXT_COUNTERS",
                                 "name", &rc)) {
        return rc;
    }
    rc = store_sql_prepare(reader->db, &stmt, of_resources ? resources : counters);
    while (*stopped == 0 && store_sql_next(stmt, &rc)) {
        struct store_read_name name = {
            .kind = kind,
            .global_tid = (uint64_t)sqlite3_column_int64(stmt, 1),
            .domain = store_read_domain(reader, 0, sqlite3_column_int64(stmt, 0)),
            .handle = (uint64_t)sqlite3_column_int64(stmt, 4)};
        rc = store_sql_view(stmt, 2, &name.text);
        rc = rc ?: store_sql_view(stmt, 3, &name.resource_kind);
        rc = rc ?: store_sql_view(stmt, 5, &name.json);
        *stopped = rc == SQLITE_OK ? on_name(context, &name) : 0;
    }
    sqlite3_finalize(stmt);
    return rc;
}

int store_read_counters(struct store_reader *reader,
                        int (*on_name)(void *context, const struct store_read_name *name),
                        void *context) {
    int stopped = 0;
    int rc = each_in_domain(reader, NVTXT_NAME_COUNTER, on_name, context, &stopped);
    return stopped ?: store_reader_result(reader, rc);
}

struct listing {
    struct store_reader *reader;
    int (*on_name)(void *context, const struct store_read_name *name);
    void *context;
};

static int list_row(void *context, const struct key *key, const struct store_read_name *name) {
    const struct listing *listing = context;
    struct store_read_name named = *name;
    if (name->kind == NVTXT_NAME_DOMAIN) {
        named.domain = name->text;
    } else if (name->kind == NVTXT_NAME_CATEGORY) {
        named.domain = store_read_domain(listing->reader, name->global_tid, key->domain);
    }
    return listing->on_name(listing->context, &named);
}

int store_read_names(struct store_reader *reader,
                     int (*on_name)(void *context, const struct store_read_name *name),
                     void *context) {
    struct listing listing = {reader, on_name, context};
    int stopped = 0;
    int rc;
    if (reader->ours) {
        rc = each_row(reader, OUR_ROWS, list_row, &listing, &stopped);
        rc = rc ?: each_row(reader, OUR_PROCESSES, list_row, &listing, &stopped);
        rc = rc ?: each_in_domain(reader, NVTXT_NAME_RESOURCE, on_name, context, &stopped);
        rc = rc ?: each_in_domain(reader, NVTXT_NAME_COUNTER, on_name, context, &stopped);
    } else {
        rc = each_of_export(reader, list_row, &listing, &stopped);
    }
    return stopped ?: store_reader_result(reader, rc);
}

// ---- Sources ------------------------------------------------------------------------------------

static int find_source(struct store_reader *reader, int64_t row) {
    int rc = prepare(reader, STORE_READ_SOURCE_AT);
    sqlite3_stmt *stmt = reader->stmts[STORE_READ_SOURCE_AT];
    rc = rc ?: store_sql_bind(stmt, "i", row);
    reader->source_id = 0;
    reader->source_first = reader->source_last = row;
    if (store_sql_next(stmt, &rc) && sqlite3_column_int64(stmt, 1) >= row) {
        reader->source_last = sqlite3_column_int64(stmt, 1);
        reader->source_id = sqlite3_column_int64(stmt, 2);
    }
    return store_sql_done(stmt, rc);
}

static int find_source_name(struct store_reader *reader) {
    int rc = prepare(reader, STORE_READ_SOURCE_NAME);
    sqlite3_stmt *stmt = reader->stmts[STORE_READ_SOURCE_NAME];
    rc = rc ?: store_sql_bind(stmt, "i", reader->source_id);
    free((char *)reader->source_name.data);
    reader->source_name = (struct nvtxt_slice){NULL, 0};
    if (store_sql_next(stmt, &rc)) {
        rc = store_sql_copy(stmt, 0, &reader->source_name);
    }
    return store_sql_done(stmt, rc);
}

// A store of an older version has no such column.
static int find_source_levels(struct store_reader *reader) {
    int rc = SQLITE_OK;
    sqlite3_stmt **stmt = &reader->stmts[STORE_READ_SOURCE_LEVELS];
    reader->source_levels = false;
    reader->lacks_levels =
        reader->lacks_levels ||
        (!*stmt && !store_reader_has_column(reader, "NVTXT_SOURCES", "levels", &rc));
    if (rc != SQLITE_OK || reader->lacks_levels) {
        return rc;
    }
    rc = prepare(reader, STORE_READ_SOURCE_LEVELS);
    rc = rc ?: store_sql_bind(*stmt, "i", reader->source_id);
    reader->source_levels = store_sql_next(*stmt, &rc);
    return store_sql_done(*stmt, rc);
}

int64_t store_read_source(struct store_reader *reader, int64_t row, struct nvtxt_slice *name) {
    int rc = SQLITE_OK;
    if (reader->ours && (row < reader->source_first || row > reader->source_last)) {
        int64_t before = reader->source_id;
        rc = find_source(reader, row);
        if (rc == SQLITE_OK && reader->source_id && reader->source_id != before) {
            rc = find_source_name(reader);
            rc = rc ?: find_source_levels(reader);
        }
    }
    if (rc != SQLITE_OK && reader->failed == STORE_DONE) {
        reader->failed = store_reader_result(reader, rc);
    }
    *name = reader->source_id ? reader->source_name : (struct nvtxt_slice){NULL, 0};
    return reader->source_id;
}

const char *store_read_level(struct store_reader *reader, const struct store_read_event *event) {
    struct nvtxt_slice name;
    bool may = event->type == NVTXT_EVENT_MARK && event->payload.kind == NVTXT_PAYLOAD_INT64;
    if (!may || !nvtxt_level_name(event->payload.int64) ||
        store_read_source(reader, event->row, &name) == 0 || !reader->source_levels) {
        return NULL;
    }
    return nvtxt_level_name(event->payload.int64);
}
