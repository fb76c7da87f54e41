// SPDX-License-Identifier: Apache-2.0
//
// A store that is written while its checkpoint helper works beside it: the helper moves pages into
// the main file by itself, the WAL stays near its cap, nothing is lost. A plain program, so that
// ThreadSanitizer can watch it.
#undef NDEBUG
#include "store/store.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_A_COMMIT 1000
#define DEADLINE_S 60

static char folder[] = "/tmp/nvtxt-checkpointer-XXXXXX";
static char path[64];

static void write_commit(struct store *store, struct store_batch *batch) {
    const struct store_source source = {.id = 1, .kind = STORE_SOURCE_FILE, .name = "events"};
    struct nvtxt_sink sink;
    store_batch_sink(store_batch_source(batch, &source), &sink);
    struct nvtxt_event event = {.type = NVTXT_EVENT_MARK, .text = NVTXT_SLICE("a message")};
    for (int i = 0; i < EVENTS_A_COMMIT; i++) {
        assert(sink.on_event(sink.context, &event) == 0);
    }
    assert(store_begin(store) == STORE_DONE);
    assert(store_write(store, batch) == STORE_DONE);
    assert(store_commit(store) == STORE_DONE);
    store_batch_reset(batch);
}

static struct store *open_store(size_t wal_cap_pages) {
    struct store_options options = {.checkpoint_helper = true, .wal_cap_pages = wal_cap_pages};
    struct store *store;
    char error[512];
    if (store_open(&store, path, &options, error, sizeof(error)) != STORE_DONE) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return store;
}

// Below the writer's cap only the helper can make the main file grow.
static int helper_moves_pages(struct store_batch *batch) {
    struct store *store = open_store(1000000);
    int64_t before = store_file_bytes(store);
    int commits = 0;
    for (; commits < 100; commits++) {
        write_commit(store, batch);
    }
    for (time_t end = time(NULL) + DEADLINE_S; store_file_bytes(store) < before + (1 << 20);) {
        assert(time(NULL) < end);
        usleep(1000);
    }
    store_close(store);
    return commits;
}

static int wal_stays_near_its_cap(struct store_batch *batch) {
    const size_t cap = 200;
    struct store *store = open_store(cap);
    int64_t most = 0;
    int commits = 0;
    for (; commits < 200; commits++) {
        write_commit(store, batch);
        if (store_wal_bytes(store) > most) {
            most = store_wal_bytes(store);
        }
    }
    assert(most < (int64_t)(2 * cap + 200) * 4120);
    store_close(store);
    return commits;
}

static void count_events(int wanted) {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    assert(sqlite3_prepare_v2(db, "SELECT count(*) FROM NVTX_EVENTS", -1, &stmt, NULL) ==
           SQLITE_OK);
    assert(sqlite3_step(stmt) == SQLITE_ROW);
    assert(sqlite3_column_int(stmt, 0) == wanted);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

int main(void) {
    assert(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/s.sqlite", folder);
    struct store_batch *batch = store_batch_new();
    assert(batch);
    int commits = helper_moves_pages(batch);
    commits += wal_stays_near_its_cap(batch);
    count_events(commits * EVENTS_A_COMMIT);
    store_batch_free(batch);
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[80];
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        unlink(name);
    }
    assert(rmdir(folder) == 0);
    return 0;
}
