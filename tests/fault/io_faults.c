// SPDX-License-Identifier: Apache-2.0
//
// The n-th I/O call of a store fails, for n = 1, 2, 3 … until none does: once or from then on, as
// on a broken disk or on a full one. A run is the life of a session: open, batches with commits, a
// checkpoint, loading the session, close. Each step that fails is done again, first with the fault
// still there. In half of the runs the store is dropped and opened again in between, as after a
// crash; then the session's line says what is in it. In the end every event of every reported
// commit must be there once, and the store must be sound.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/db/sql.h"
#include "store/store.h"
#include "tests/fault/fault_kit.h"
#include "tests/fault/vfs_shim.h"

#define BATCHES 4
#define EVENTS 60 // of a batch, each with a text of its own
#define SESSION "0b5d2c9e6f0c4d0a9d5e0d1f7a3b8c21"

struct run {
    char path[128];
    struct store *store;
    bool reopen; // after each failure
    unsigned failures;
};

static int64_t number(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    int64_t value = -1;
    must(sqlite3_open(path, &db) == SQLITE_OK && store_sql_int(db, sql, &value) == SQLITE_OK, sql);
    sqlite3_close(db);
    return value;
}

static struct store_batch *make_batch(unsigned which) {
    struct store_batch *batch = store_batch_new();
    struct nvtxt_sink sink;
    struct nvtxt_counters counters = {
        .lines = (which + 1) * EVENTS, .events = (which + 1) * EVENTS, .has_time = true};
    struct store_batch_source *share = store_batch_source(
        batch,
        &(struct store_source){.id = 1, .kind = STORE_SOURCE_SESSION, .session_id = SESSION});
    must(share != NULL, "memory");
    store_batch_sink(share, &sink);
    for (unsigned i = 0; i < EVENTS; i++) {
        char text[300];
        snprintf(text, sizeof(text), "%u %0250u", which, i);
        struct nvtxt_event event = {.type = NVTXT_EVENT_MARK,
                                    .pid = 1,
                                    .tid = 1,
                                    .start = which * EVENTS + i,
                                    .end = which * EVENTS + i,
                                    .text = nvtxt_slice_of(text)};
        must(sink.on_event(sink.context, &event) == 0, "memory");
    }
    struct nvtxt_name resource = {.kind = NVTXT_NAME_RESOURCE,
                                  .text = NVTXT_SLICE("stream"),
                                  .resource_kind = NVTXT_SLICE("cuStream"),
                                  .handle = which,
                                  .pid = 1};
    must(sink.on_name(sink.context, &resource) == 0, "memory");
    must(store_batch_progress(share, &counters, (struct nvtxt_slice){0}) == 0, "memory");
    must(store_batch_session(share, counters.lines, NVTXT_SLICE("{}")) == 0, "memory");
    // Every third batch has a whole state, the others a change.
    must(store_batch_state(share, which % 3 + 1, NVTXT_SLICE("{\"variables\":[]}")) == 0, "memory");
    return batch;
}

static int open_store(struct run *run) {
    struct store_options options = {.wal_cap_pages = 1};
    char error[512];
    int r = run->store ? 0 : store_open(&run->store, run->path, &options, error, sizeof(error));
    must(r != STORE_CORRUPT && r != STORE_FOREIGN && r != STORE_NEWER, error);
    return r;
}

// How many batches the store has, by the session's line.
static int stored_batches(struct run *run, unsigned *count) {
    struct store_session session;
    int r = store_session_load(run->store, SESSION, -1, true, 0, &session);
    must(r != STORE_CORRUPT, "a fault is no corruption");
    *count = r == STORE_DONE ? (unsigned)(session.line / EVENTS) : 0;
    must(r != STORE_DONE || session.line % EVENTS == 0, "half a batch");
    must(r != STORE_DONE || session.part_count == (session.line / EVENTS - 1) % 3 + 1,
         "parts of another batch");
    if (r == STORE_DONE) {
        store_session_deinit(&session);
    }
    return r == STORE_NOT_FOUND ? 0 : r;
}

static int write_batch(struct run *run, unsigned which) {
    struct store_batch *batch = make_batch(which);
    int r = store_begin(run->store);
    r = r ? r : store_write(run->store, batch);
    r = r ? r : store_commit(run->store);
    store_rollback(run->store);
    store_batch_free(batch);
    must(r != STORE_CORRUPT && r != STORE_GONE && r != STORE_REFUSED, store_error(run->store));
    return r;
}

static int step(struct run *run, unsigned *done) {
    unsigned stored = 0;
    int r = open_store(run);
    r = r ? r : stored_batches(run, &stored);
    must(r || stored >= *done, "a commit that was reported is not there");
    if (r) {
        return r;
    }
    *done = stored;
    if (stored < BATCHES) {
        r = write_batch(run, stored);
    }
    *done += stored < BATCHES && r == 0;
    struct store_checkpointed moved;
    return r == 0 && *done == BATCHES / 2 ? store_checkpoint(run->store, &moved) : r;
}

static void fail(struct run *run) {
    run->failures++;
    if (run->failures > 3) { // the lasting fault ends
        vfs_shim_arm(VFS_SHIM_ALL, 0, false, VFS_SHIM_IO);
    }
    if (run->reopen) {
        store_abandon(run->store);
        run->store = NULL;
    }
}

// Returns whether a call failed.
static bool run_once(struct run *run, unsigned n, bool lasting, enum vfs_shim_fault fault) {
    unsigned done = 0;
    vfs_shim_arm(VFS_SHIM_ALL, n, lasting, fault);
    while (done < BATCHES) {
        if (step(run, &done) != 0) {
            fail(run);
        }
    }
    store_close(run->store);
    run->store = NULL;
    bool struck = vfs_shim_has_struck() || run->failures > 0;
    vfs_shim_arm(VFS_SHIM_ALL, 0, false, VFS_SHIM_IO);
    must(number(run->path, "SELECT count(*) FROM NVTX_EVENTS") == BATCHES * EVENTS, "events");
    must(number(run->path, "SELECT count(DISTINCT start) FROM NVTX_EVENTS") == BATCHES * EVENTS,
         "events once");
    must(number(run->path, "SELECT count(*) FROM NVTX_EVENTS e JOIN StringIds s ON s.id = textId "
                           "WHERE s.value = e.text") == BATCHES * EVENTS,
         "their strings");
    must(number(run->path, "SELECT count(*) FROM NVTXT_RESOURCES") == BATCHES, "resources");
    must(number(run->path, "SELECT count(*) FROM pragma_integrity_check WHERE "
                           "integrity_check = 'ok'") == 1,
         "integrity");
    return struck;
}

static void all_calls(const char *folder, bool lasting, enum vfs_shim_fault fault, bool reopen,
                      unsigned stride) {
    unsigned n = 1;
    bool struck = true;
    for (; struck; n += stride) {
        struct run run = {.reopen = reopen};
        snprintf(run.path, sizeof(run.path), "%s/s.sqlite", folder);
        remove_store(run.path);
        struck = run_once(&run, n, lasting, fault);
        remove_store(run.path);
    }
    printf("# %u calls, every %u. failed%s%s%s\n", n - 1, stride, lasting ? " for ever" : " once",
           fault == VFS_SHIM_FULL ? ", disk full" : ", I/O error", reopen ? ", opened anew" : "");
}

int main(void) {
    unsigned stride = fault_stride(29, 59);
    vfs_shim_install();
    const char *folder = make_folder();
    for (int choice = 0; choice < 8; choice++) {
        all_calls(folder, choice & 1, choice & 2 ? VFS_SHIM_FULL : VFS_SHIM_IO, choice & 4, stride);
    }
    rmdir(folder);
    return 0;
}
