// SPDX-License-Identifier: Apache-2.0
//
// What the programs about a store's threads share: one store in a folder of its own, commits of the
// same events, and their count as a reader sees it.
#pragma once

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

static char kit_folder[] = "/tmp/nvtxt-thread-XXXXXX";
static char kit_path[64];
static int kit_events; // that were committed

static inline void kit_make_folder(void) {
    assert(mkdtemp(kit_folder));
    snprintf(kit_path, sizeof(kit_path), "%s/s.sqlite", kit_folder);
}

static inline struct store *kit_open(const struct store_options *options) {
    struct store *store;
    char error[512];
    if (store_open(&store, kit_path, options, error, sizeof(error)) != STORE_DONE) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return store;
}

static inline void kit_commit(struct store *store, int events) {
    const struct store_source source = {.id = 1, .kind = STORE_SOURCE_FILE, .name = "events"};
    const struct nvtxt_event event = {.type = NVTXT_EVENT_MARK, .text = NVTXT_SLICE("a message")};
    struct store_batch *batch = store_batch_new();
    struct nvtxt_sink sink;
    assert(batch);
    store_batch_sink(store_batch_source(batch, &source), &sink);
    for (int i = 0; i < events; i++) {
        assert(sink.on_event(sink.context, &event) == 0);
    }
    assert(store_begin(store) == STORE_DONE);
    assert(store_write(store, batch) == STORE_DONE);
    assert(store_commit(store) == STORE_DONE);
    store_batch_free(batch);
    kit_events += events;
}

// A reader finds all events that were committed.
static inline void kit_count_events(void) {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert(sqlite3_open_v2(kit_path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    assert(sqlite3_prepare_v2(db, "SELECT count(*) FROM NVTX_EVENTS", -1, &stmt, NULL) ==
           SQLITE_OK);
    assert(sqlite3_step(stmt) == SQLITE_ROW);
    assert(sqlite3_column_int(stmt, 0) == kit_events);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static inline void kit_remove_folder(void) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[80];
        snprintf(name, sizeof(name), "%s%s", kit_path, endings[i]);
        unlink(name);
    }
    assert(rmdir(kit_folder) == 0);
}
