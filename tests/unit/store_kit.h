// SPDX-License-Identifier: Apache-2.0
//
// What the tests of store/ share: a store in a folder of its own, hand-made events, and SQL through
// a second connection, so that what a test sees is what any reader sees.
#pragma once

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#define PID 1844
#define TID 4880
#define GLOBAL_TID(pid, tid) ((long long)(pid) << 24 | (tid))

struct kit {
    char folder[64];
    char path[96];
    struct store *store;
    struct store_batch *batch;
    struct store_options options;
    char error[512];
    char text[4096]; // what kit_text() returned last
};

static inline void kit_folder(struct kit *kit) {
    memset(kit, 0, sizeof(*kit));
    snprintf(kit->folder, sizeof(kit->folder), "%s/nvtxt-store-XXXXXX",
             getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 30 ? getenv("TMPDIR") : "/tmp");
    cr_assert_not_null(mkdtemp(kit->folder));
    snprintf(kit->path, sizeof(kit->path), "%s/s.sqlite", kit->folder);
    kit->batch = store_batch_new();
    cr_assert_not_null(kit->batch);
}

static inline int kit_reopen(struct kit *kit) {
    store_close(kit->store);
    return store_open(&kit->store, kit->path, &kit->options, kit->error, sizeof(kit->error));
}

static inline void kit_open(struct kit *kit) {
    kit_folder(kit);
    cr_assert_eq(kit_reopen(kit), STORE_DONE, "%s", kit->error);
}

static inline void kit_close(struct kit *kit) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    store_batch_free(kit->batch);
    store_close(kit->store);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s%s", kit->path, suffixes[i]);
        unlink(path);
    }
    cr_assert_eq(rmdir(kit->folder), 0, "a file was left in %s", kit->folder);
#if defined(__SANITIZE_ADDRESS__)
    cr_assert_eq(__lsan_do_recoverable_leak_check(), 0);
#endif
}

// Writes the batch in a transaction of its own and empties it.
static inline void kit_commit(struct kit *kit) {
    cr_assert_eq(store_begin(kit->store), STORE_DONE, "%s", store_error(kit->store));
    cr_assert_eq(store_write(kit->store, kit->batch), STORE_DONE, "%s", store_error(kit->store));
    cr_assert_eq(store_commit(kit->store), STORE_DONE, "%s", store_error(kit->store));
    store_batch_reset(kit->batch);
}

static inline struct nvtxt_sink kit_sink(struct kit *kit, const struct store_source *source) {
    struct nvtxt_sink sink;
    struct store_batch_source *share = store_batch_source(kit->batch, source);
    cr_assert_not_null(share);
    store_batch_sink(share, &sink);
    return sink;
}

static inline struct store_source kit_source(int64_t id) {
    return (struct store_source){.id = id, .kind = STORE_SOURCE_PLAIN, .opened_ns = 500};
}

static inline struct nvtxt_event kit_mark(int64_t at, const char *text) {
    return (struct nvtxt_event){.type = NVTXT_EVENT_MARK,
                                .pid = PID,
                                .tid = TID,
                                .start = at,
                                .end = at,
                                .text = nvtxt_slice_of(text)};
}

static inline struct nvtxt_event kit_range(int64_t start, int64_t end, const char *text) {
    struct nvtxt_event event = kit_mark(start, text);
    event.type = NVTXT_EVENT_START_END;
    event.end = end;
    return event;
}

static inline void kit_add(struct kit *kit, int64_t source_id, const struct nvtxt_event *event) {
    struct store_source source = kit_source(source_id);
    struct nvtxt_sink sink = kit_sink(kit, &source);
    cr_assert_eq(sink.on_event(sink.context, event), 0);
}

// A category without a process of its own gets that of its event, as the interpreter does it.
static inline void kit_add_name(struct kit *kit, const struct store_source *source,
                                const struct nvtxt_name *name) {
    struct nvtxt_sink sink = kit_sink(kit, source);
    struct nvtxt_name named = *name;
    if (named.kind == NVTXT_NAME_CATEGORY && !named.own_pid) {
        named.pid = named.at_pid;
    }
    cr_assert_eq(sink.on_name(sink.context, &named), 0);
}

// Rows of a query through a connection of its own: columns with |, rows with blanks between them.
static inline const char *kit_text(struct kit *kit, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    size_t len = 0;
    kit->text[0] = '\0';
    cr_assert_eq(sqlite3_open_v2(kit->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(db));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const char *value = (const char *)sqlite3_column_text(stmt, i);
            len += (size_t)snprintf(kit->text + len, sizeof(kit->text) - len, "%s%s",
                                    i ? "|" : (len ? " " : ""), value ? value : "NULL");
            cr_assert_lt(len, sizeof(kit->text));
        }
    }
    cr_assert_eq(sqlite3_finalize(stmt), SQLITE_OK);
    sqlite3_close(db);
    return kit->text;
}

static inline int64_t kit_int(struct kit *kit, const char *sql) {
    return strtoll(kit_text(kit, sql), NULL, 10);
}

static inline void kit_exec(struct kit *kit, const char *sql) {
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(kit->path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

#define assert_rows(kit, sql, expected) cr_assert_str_eq(kit_text(kit, sql), expected)
