// SPDX-License-Identifier: Apache-2.0
//
// A store and its transactions. Owns the SQLite handle, the ids that come next, and the modules of
// store/write. Used by one thread at a time.
//
// Caches and next ids are right as long as nobody else writes. PRAGMA data_version shows that, and
// is read once a transaction. After a rollback they are read again when they are needed. The log is
// moved into the main file between two transactions, never within one (wal.h).
//
// store_query.c has what a store is asked.
#include "store/store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "store/db/connection.h"
#include "store/db/sql.h"
#include "store/lock/writelock.h"
#include "store/segment/carry_over.h"
#include "store/segment/contents.h"
#include "store/store_state.h"

enum statement { BEGIN, COMMIT, ROLLBACK, DATA_VERSION, ADD_BATCH, STMTS };

static const char *const texts[STMTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [DATA_VERSION] = "PRAGMA data_version",
    [ADD_BATCH] = "INSERT INTO NVTXT_BATCHES (firstRow, lastRow, minStart, maxEnd, committedNs, "
                  "events) VALUES (?, ?, ?, ?, ?, ?)",
};

_Static_assert(STMTS == STORE_OWN_STMTS, "each statement has a place");

// ---- Errors -----------------------------------------------------------------------------------

const char *store_file_path(const struct store *store) {
    return sqlite3_db_filename(store->db, "main");
}

static int64_t bytes_of(const struct store *store, const char *ending) {
    int64_t bytes = store_file_size(store_file_path(store), ending);
    return bytes < 0 ? 0 : bytes;
}

int64_t store_file_bytes(const struct store *store) {
    return bytes_of(store, "");
}

int64_t store_wal_bytes(const struct store *store) {
    return bytes_of(store, "-wal");
}

int store_translate(struct store *store, int rc, const char *what) {
    int r = store_result_say(store->db, rc, what, store->path, store->error, sizeof(store->error));
    if (r != STORE_CORRUPT || !store_result_lacks_code(store->db)) {
        return r;
    }
    size_t len = strlen(store->error);
    snprintf(store->error + len, sizeof(store->error) - len,
             ", which a trigger or an index that somebody added to it calls: drop that one");
    return STORE_LACKING;
}

const char *store_error(const struct store *store) {
    return store->error;
}

// ---- Opening ----------------------------------------------------------------------------------

static int load_ids(struct store *store) {
    sqlite3 *db = store->db;
    bool sound = true;
    int rc = store_contents_sound(db, &sound);
    rc = rc == SQLITE_OK && !sound ? SQLITE_CORRUPT : rc;
    if (rc == 0) {
        rc = store_sql_int(db, "SELECT ifnull(max(rowid), 0) + 1 FROM NVTX_EVENTS",
                           &store->txn.next_row);
    }
    if (rc == 0) {
        rc = store_sql_int(db, "SELECT ifnull(max(id), 0) + 1 FROM StringIds",
                           &store->txn.next_string);
    }
    rc = rc ?: store_carry_fact(db, "rangeBase", &store->txn.range_base);
    if (rc == 0 && !store->options.read_only) {
        rc = store_event_pages_look(&store->bulk.pages);
    }
    store->ids_known = rc == SQLITE_OK;
    return rc;
}

static int open_parts(struct store *store) {
    store->txn.db = store->db;
    if (store_intern_init(&store->intern) < 0 ||
        store_name_rows_init(&store->name_rows, &store->txn) < 0) {
        return SQLITE_NOMEM;
    }
    store_domains_init(&store->domains, &store->txn);
    store_names_init(&store->names, &store->txn, &store->intern, &store->domains, &store->name_rows,
                     &store->owners);
    store_owners_init(&store->owners, &store->txn);
    store_catalog_init(&store->catalog, &store->txn, &store->names);
    store_sessions_init(&store->sessions, &store->txn, &store->domains);
    store_files_init(&store->files, &store->txn);
    return store->options.read_only ? SQLITE_OK
                                    : store_bulk_init(&store->bulk, &store->txn, &store->intern);
}

static void free_store(struct store *store) {
    store_bulk_deinit(&store->bulk);
    store_owners_deinit(&store->owners);
    store_catalog_deinit(&store->catalog);
    store_sessions_deinit(&store->sessions);
    store_files_deinit(&store->files);
    store_ended_deinit(&store->ended);
    store_names_deinit(&store->names);
    store_name_rows_deinit(&store->name_rows);
    store_domains_deinit(&store->domains);
    store_intern_deinit(&store->intern);
    store_sql_finalize(store->stmts, STMTS);
    sqlite3_finalize(store->pages);
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

static int give_id(struct store *store) {
    const struct store_options *options = &store->options;
    int rc = options->read_only ? SQLITE_OK
             : options->new_id  ? store_id_renew(store->db)
                                : store_id_ensure(store->db);
    return rc ?: store_id_read(store->db, store->id);
}

static int open_rest(struct store *store) {
    int rc = open_parts(store);
    rc = rc ?: give_id(store);
    if (rc == 0) {
        rc = store_sql_int(store->db, "SELECT ifnull(max(id), 0) + 1 FROM NVTXT_SOURCES",
                           &store->next_source_id);
    }
    int64_t before = 0;
    rc = rc ?: store_carry_fact(store->db, "sourceBase", &before);
    if (before >= store->next_source_id) {
        store->next_source_id = before + 1;
    }
    return rc ?: load_ids(store);
}

int store_open(struct store **out, const char *path, const struct store_options *options,
               char *error, size_t error_size) {
    char unused[STORE_ERROR_SIZE];
    *out = NULL;
    if (!error || error_size == 0) {
        error = unused;
        error_size = sizeof(unused);
    }
    struct store *store = calloc(1, sizeof(*store));
    char *copy = strdup(options->name ?: path);
    if (!store || !copy) {
        free(store);
        free(copy);
        snprintf(error, error_size, "cannot open the store %s: out of memory", path);
        return nvtxt_origin(-ENOMEM);
    }
    store->path = copy;
    store->options = *options;
    int rc = store_connection_open(&store->db, path, options, error, error_size);
    if (rc == STORE_DONE) {
        store_wal_init(&store->wal, store->db, options->wal_cap_pages);
        rc = store_result_say(store->db, open_rest(store), "open the store", copy, error,
                              error_size);
    }
    if (rc != STORE_DONE) {
        free_store(store);
        return rc;
    }
    store_main_file_init(&store->main_file, store->db);
    if (options->checkpoint_helper && !options->plain && !options->read_only) {
        store_wal_start(&store->wal, store_file_path(store));
    }
    *out = store;
    return STORE_DONE;
}

void store_close(struct store *store) {
    if (!store) {
        return;
    }
    store_rollback(store);
    store_wal_stop(&store->wal);
    if (store_main_file_is_broken(&store->main_file)) { // only its log can be saved
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    } else if (!store->options.read_only && !store->options.plain &&
               store_wal_truncate(&store->wal, NULL, NULL) == SQLITE_BUSY) {
        // If nobody else has it open, SQLite can do it without the locks of -shm.
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    }
    free_store(store);
}

void store_leave(struct store *store) {
    store_rollback(store);
    store_wal_stop(&store->wal);
    if (store_main_file_is_broken(&store->main_file) ||
        store_carry_leave(store->db, nvtxt_realtime_ns()) != SQLITE_OK) {
        store_abandon(store); // its log stays and shows the keeper that there is work
        return;
    }
    store_close(store);
}

void store_abandon(struct store *store) {
    if (store) {
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        store_rollback(store);
        store_wal_stop(&store->wal);
        free_store(store);
    }
}

int64_t store_next_source_id(const struct store *store) {
    return store->next_source_id;
}

// ---- Transactions -----------------------------------------------------------------------------

static int run_statement(struct store *store, enum statement which) {
    int rc = store_sql_prepare(store->db, &store->stmts[which], texts[which]);
    return rc ?: store_sql_run(store->stmts[which]);
}

static void forget(struct store *store) {
    store_intern_forget(&store->intern);
    store_name_rows_forget(&store->name_rows);
    store->ids_known = false;
    store->losses_known = false;
}

// Forgets caches and ids if somebody else has written since. Needs the write lock.
static int refresh(struct store *store) {
    int64_t version = 0;
    int rc = store_sql_prepare(store->db, &store->stmts[DATA_VERSION], texts[DATA_VERSION]);
    rc = rc ?: store_sql_run_int(store->stmts[DATA_VERSION], &version);
    if (rc == SQLITE_OK && version != store->data_version) {
        forget(store);
        store->data_version = version;
    }
    return rc != SQLITE_OK || store->ids_known ? rc : load_ids(store);
}

static int begin(struct store *store) {
    if (store->options.read_only) {
        return SQLITE_READONLY;
    }
    // Makes up for a rollback that failed for lack of memory.
    int rc = sqlite3_get_autocommit(store->db) ? SQLITE_OK : run_statement(store, ROLLBACK);
    if (rc != SQLITE_OK) {
        return rc;
    }
    store_wal_checkpoint_if_due(&store->wal);
    return run_statement(store, BEGIN);
}

// True when somebody renamed or removed the file, or its log: a commit would be in no file then.
static bool is_gone(const struct store *store) {
    char log[PATH_MAX];
    int moved = 0;
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
        moved) {
        return true;
    }
    return !store->options.plain && store_file_name(log, store_file_path(store), "-wal") == 0 &&
           access(log, F_OK) < 0 && errno == ENOENT;
}

// A commit to a file that was cut or written over would be lost.
static int check_main_file(struct store *store) {
    if (!store_main_file_is_broken(&store->main_file)) {
        return STORE_DONE;
    }
    snprintf(store->error, sizeof(store->error),
             "the store %s was cut or written over while it was in use", store->path);
    return STORE_CORRUPT;
}

int store_begin(struct store *store) {
    if (is_gone(store)) {
        snprintf(store->error, sizeof(store->error),
                 "the store %s, or its log, was moved or removed while it was in use", store->path);
        return STORE_GONE;
    }
    int rc = check_main_file(store);
    if (rc != STORE_DONE) {
        return rc;
    }
    rc = begin(store);
    if (rc != SQLITE_OK) {
        return store_translate(store, rc, "write to");
    }
    store->in_transaction = true;
    store->released_lock = false;
    store->batch_row_written = false;
    store->failed = STORE_DONE;
    store->txn.now_ns = nvtxt_realtime_ns();
    store->txn.events = 0;
    store->txn.first_row = store->txn.last_row = 0;
    rc = refresh(store);
    if (rc != SQLITE_OK) {
        int r = store_translate(store, rc, "write to");
        store_rollback(store);
        return r;
    }
    store->committed_row = store->txn.next_row - 1;
    return STORE_DONE;
}

int store_write(struct store *store, struct store_batch *batch) {
    if (!store->in_transaction || store->failed) {
        return store->failed ?: nvtxt_origin(-EINVAL);
    }
    store->losses_known = store->losses_known && !batch->losses && !batch->has_source_losses;
    store_domains_begin(batch);
    int rc = store_owners_write(&store->owners, batch);
    rc = rc ?: store_catalog_write(&store->catalog, batch);
    rc = rc ?: store_bulk_write(&store->bulk, batch);
    rc = rc ?: store_sessions_write(&store->sessions, batch);
    rc = rc ?: store_files_write(&store->files, batch);
    store->failed = store_translate(store, rc, "write to");
    return store->failed;
}

bool store_is_full(const struct store *store) {
    return store_event_pages_full(&store->bulk.pages);
}

static int write_batch_row(struct store *store) {
    const struct store_txn *txn = &store->txn;
    if (txn->events == 0 || store->batch_row_written) {
        return SQLITE_OK;
    }
    int rc = store_sql_prepare(store->db, &store->stmts[ADD_BATCH], texts[ADD_BATCH]);
    if (rc == 0) {
        rc =
            store_sql_bind(store->stmts[ADD_BATCH], "iiiiii", txn->first_row, txn->last_row,
                           txn->min_start, txn->max_end, nvtxt_realtime_ns(), (int64_t)txn->events);
    }
    rc = rc ?: store_sql_run(store->stmts[ADD_BATCH]);
    store->batch_row_written = rc == SQLITE_OK;
    return rc;
}

int store_commit(struct store *store) {
    if (!store->in_transaction || store->failed) {
        return store->failed ?: nvtxt_origin(-EINVAL);
    }
    int rc = check_main_file(store);
    if (rc != STORE_DONE) {
        return rc;
    }
    rc = write_batch_row(store);
    rc = rc ?: run_statement(store, COMMIT);
    if (rc != SQLITE_OK) {
        return store_translate(store, rc, "commit to");
    }
    store->in_transaction = false;
    return STORE_DONE;
}

void store_rollback(struct store *store) {
    if (!store->in_transaction) {
        return;
    }
    if (!sqlite3_get_autocommit(store->db)) {
        run_statement(store, ROLLBACK);
    }
    store->in_transaction = false;
    store->failed = STORE_DONE;
    forget(store);
}

void store_release_lock(struct store *store) {
    if (store->options.keeps_lock && !store->in_transaction) {
        store_writelock_release(store->db);
        store->released_lock = true;
    }
}

bool store_has_released_lock(const struct store *store) {
    return store->released_lock;
}

void store_checkpoint_if_due(struct store *store) {
    store_wal_checkpoint_if_due(&store->wal);
}

int store_checkpoint(struct store *store, struct store_checkpointed *done) {
    int pages = 0, moved = 0;
    *done = (struct store_checkpointed){.before_bytes = store_wal_bytes(store)};
    int rc = check_main_file(store);
    if (rc != STORE_DONE) {
        return rc;
    }
    rc = store_wal_truncate(&store->wal, &pages, &moved);
    rc = rc ?: store_main_file_is_broken(&store->main_file) ? SQLITE_CORRUPT : rc;
    done->pinned = rc == SQLITE_BUSY;
    done->bytes = store_wal_bytes(store);
    done->pages = pages;
    done->moved_pages = moved;
    return done->pinned ? STORE_DONE : store_translate(store, rc, "checkpoint");
}
