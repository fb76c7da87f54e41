// SPDX-License-Identifier: Apache-2.0
//
// A store and its transactions. Owns the SQLite handle, the ids that come next, and the parts that
// write (bulk, names, catalog, sessions). Every part returns SQLite's codes raw; translate() makes
// them ours, with a sentence that says what failed.
//
// Caches and next ids are right as long as nobody else wrote; PRAGMA data_version tells, once a
// transaction. After a rollback they are read again when they are next needed.
//
// WAL: automatic checkpoints are off. They would run inside COMMIT, before the acknowledgement goes
// out. A helper thread (checkpointer.h) does most of the work beside the writer; when the WAL has
// passed its cap, the next transaction begins with what is left.
#include "store/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "store/bulk.h"
#include "store/carry.h"
#include "store/catalog.h"
#include "store/checkpointer.h"
#include "store/connection.h"
#include "store/diags.h"
#include "store/events.h"
#include "store/figures.h"
#include "store/files.h"
#include "store/losses.h"
#include "store/older.h"
#include "store/recover.h"
#include "store/result.h"
#include "store/sessions.h"
#include "store/sql.h"

#define WAL_CAP_PAGES 8000 // 32 MiB: where the writer's checkpoints were measured fastest
#define TRUNCATE_BUSY_MS 5 // nobody waits for a truncation
#define ERROR_SIZE 512
#define PAGE_BYTES 4096 // what SQLite makes them; a page in the log has 24 bytes more

enum statement { BEGIN, COMMIT, ROLLBACK, DATA_VERSION, PAGES, ADD_BATCH, STORE_STMTS };

static const char *const texts[STORE_STMTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [DATA_VERSION] = "PRAGMA data_version",
    [PAGES] = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    [ADD_BATCH] = "INSERT INTO NVTXT_BATCHES (firstRow, lastRow, minStart, maxEnd, committedNs, "
                  "events) VALUES (?, ?, ?, ?, ?, ?)",
};

struct store {
    sqlite3 *db;
    char *path; // by which sentences call it
    struct store_options options;
    struct store_txn txn;
    struct store_intern intern;
    struct store_domains domains;
    struct store_name_rows name_rows;
    struct store_names names;
    struct store_catalog catalog;
    struct store_bulk bulk;
    struct store_sessions sessions;
    struct store_files files;
    sqlite3_stmt *stmts[STORE_STMTS];
    int64_t data_version;   // when the ids and caches were right
    int64_t next_source_id; // as read when the store was opened
    int64_t losses;         // rows of NVTXT_LOSSES, with those of earlier segments
    bool losses_known;
    int64_t committed_row; // of NVTX_EVENTS, while a transaction is open
    bool ids_known;
    bool in_transaction;
    bool batch_row_written;
    int failed; // result of the failed write of this transaction: it can only be rolled back
    size_t wal_pages;
    size_t checkpoint_at;                    // WAL pages from which the next attempt is made
    struct store_checkpointer *checkpointer; // NULL: all checkpoints are this thread's
    char error[ERROR_SIZE];
};

// ---- Errors -----------------------------------------------------------------------------------

// Remembers a sentence and returns our code for `rc`.
static int translate(struct store *store, int rc, const char *what) {
    return store_result_say(store->db, rc, what, store->path, store->error, sizeof(store->error));
}

const char *store_error(const struct store *store) {
    return store->error;
}

// ---- Opening ----------------------------------------------------------------------------------

static int on_wal(void *context, sqlite3 *db, const char *name, int pages) {
    (void)db;
    (void)name;
    struct store *store = context;
    if ((size_t)pages < store->wal_pages) {
        store->checkpoint_at = store->options.wal_cap_pages; // it began again at its start
    }
    store->wal_pages = (size_t)pages;
    store_checkpointer_note(store->checkpointer, store->wal_pages);
    return SQLITE_OK;
}

static int load_ids(struct store *store) {
    sqlite3 *db = store->db;
    int rc = store_sql_int(db, "SELECT ifnull(max(rowid), 0) + 1 FROM NVTX_EVENTS",
                           &store->txn.next_row);
    rc = rc
             ?: store_sql_int(db, "SELECT ifnull(max(id), 0) + 1 FROM StringIds",
                              &store->txn.next_string);
    rc = rc ?: store_carry_fact(db, "rangeBase", &store->txn.range_base);
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
    store_names_init(&store->names, &store->txn, &store->intern, &store->domains,
                     &store->name_rows);
    store_catalog_init(&store->catalog, &store->txn, &store->names);
    store_sessions_init(&store->sessions, &store->txn, &store->domains);
    store_files_init(&store->files, &store->txn);
    return store_bulk_init(&store->bulk, &store->txn, &store->intern);
}

static void free_store(struct store *store) {
    store_bulk_deinit(&store->bulk);
    store_catalog_deinit(&store->catalog);
    store_sessions_deinit(&store->sessions);
    store_files_deinit(&store->files);
    store_names_deinit(&store->names);
    store_name_rows_deinit(&store->name_rows);
    store_domains_deinit(&store->domains);
    store_intern_deinit(&store->intern);
    store_sql_finalize(store->stmts, STORE_STMTS);
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

static int open_rest(struct store *store) {
    int rc = open_parts(store);
    rc = rc
             ?: store_sql_int(store->db, "SELECT ifnull(max(id), 0) + 1 FROM NVTXT_SOURCES",
                              &store->next_source_id);
    int64_t before = 0;
    rc = rc ?: store_carry_fact(store->db, "sourceBase", &before);
    if (before >= store->next_source_id) {
        store->next_source_id = before + 1;
    }
    return rc ?: load_ids(store);
}

int store_open(struct store **out, const char *path, const struct store_options *options,
               char *error, size_t error_size) {
    char unused[ERROR_SIZE];
    *out = NULL;
    if (!error || error_size == 0) {
        error = unused;
        error_size = sizeof(unused);
    }
    struct store *store = calloc(1, sizeof(*store));
    char *copy = strdup(options->name ? options->name : path);
    if (!store || !copy) {
        free(store);
        free(copy);
        snprintf(error, error_size, "cannot open the store %s: out of memory", path);
        return -ENOMEM;
    }
    store->path = copy;
    store->options = *options;
    if (store->options.wal_cap_pages == 0) {
        store->options.wal_cap_pages = WAL_CAP_PAGES;
    }
    store->checkpoint_at = store->options.wal_cap_pages;
    int rc = store_connection_open(&store->db, path, options, error, error_size);
    if (rc == STORE_DONE) {
        sqlite3_wal_hook(store->db, on_wal, store);
        rc = store_result_say(store->db, open_rest(store), "open the store", copy, error,
                              error_size);
    }
    if (rc != STORE_DONE) {
        free_store(store);
        return rc;
    }
    if (options->checkpoint_helper && !options->plain && !options->read_only) {
        store->checkpointer = store_checkpointer_start(store_file(store));
    }
    *out = store;
    return STORE_DONE;
}

void store_close(struct store *store) {
    if (!store) {
        return;
    }
    store_rollback(store);
    store_checkpointer_stop(store->checkpointer);
    store->checkpointer = NULL;
    if (!store->options.read_only) {
        store_checkpoint(store, true);
    }
    free_store(store);
}

void store_abandon(struct store *store) {
    if (store) {
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        store_rollback(store);
        store_checkpointer_stop(store->checkpointer);
        free_store(store);
    }
}

int64_t store_next_source_id(const struct store *store) {
    return store->next_source_id;
}

// ---- Transactions -----------------------------------------------------------------------------

static int run(struct store *store, enum statement which) {
    int rc = store_sql_prepare(store->db, &store->stmts[which], texts[which]);
    return rc ?: store_sql_run(store->stmts[which]);
}

static void forget(struct store *store) {
    store_intern_forget(&store->intern);
    store_name_rows_forget(&store->name_rows);
    store->ids_known = false;
    store->losses_known = false;
}

// Has anybody else written since the ids and caches were right? Holding the write lock.
static int refresh(struct store *store) {
    int rc = store_sql_prepare(store->db, &store->stmts[DATA_VERSION], texts[DATA_VERSION]);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_stmt *stmt = store->stmts[DATA_VERSION];
    rc = sqlite3_step(stmt);
    int64_t version = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    rc = store_sql_done(stmt, rc);
    if (rc == SQLITE_OK && version != store->data_version) {
        forget(store);
        store->data_version = version;
    }
    return rc != SQLITE_OK || store->ids_known ? rc : load_ids(store);
}

static int64_t realtime_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// When all of it could be moved, the next transaction writes the WAL from its start again. When
// readers keep it from that, nothing is tried again before it has grown by another half.
static void checkpoint_at_cap(struct store *store) {
    if (store->wal_pages >= store->checkpoint_at) {
        store_checkpointer_finish(store->checkpointer, store->db, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                  NULL);
        store->checkpoint_at = store->wal_pages + store->options.wal_cap_pages / 2;
    }
}

static int begin(struct store *store) {
    if (store->options.read_only) {
        return SQLITE_READONLY;
    }
    // A rollback that failed, for want of memory, is made up for.
    int rc = sqlite3_get_autocommit(store->db) ? SQLITE_OK : run(store, ROLLBACK);
    if (rc != SQLITE_OK) {
        return rc;
    }
    checkpoint_at_cap(store);
    return run(store, BEGIN);
}

// Somebody renamed or removed the file, or its log: what is written now would be in no file.
static bool is_gone(const struct store *store) {
    char log[PATH_MAX];
    int moved = 0;
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
        moved) {
        return true;
    }
    int len = snprintf(log, sizeof(log), "%s-wal", store_file(store));
    return !store->options.plain && len < (int)sizeof(log) && access(log, F_OK) < 0 &&
           errno == ENOENT;
}

int store_begin(struct store *store) {
    if (is_gone(store)) {
        snprintf(store->error, sizeof(store->error),
                 "the store %s, or its log, was moved or removed while it was in use", store->path);
        return STORE_GONE;
    }
    int rc = begin(store);
    if (rc != SQLITE_OK) {
        return translate(store, rc, "write to");
    }
    store->in_transaction = true;
    store->batch_row_written = false;
    store->failed = STORE_DONE;
    store->txn.now_ns = realtime_ns();
    store->txn.events = 0;
    store->txn.first_row = store->txn.last_row = 0;
    rc = refresh(store);
    if (rc != SQLITE_OK) {
        int result = translate(store, rc, "write to");
        store_rollback(store);
        return result;
    }
    store->committed_row = store->txn.next_row - 1;
    return STORE_DONE;
}

int store_write(struct store *store, struct store_batch *batch) {
    if (!store->in_transaction || store->failed) {
        return store->failed ? store->failed : -EINVAL;
    }
    store->losses_known = store->losses_known && !batch->losses && !batch->told;
    store_domains_begin(batch);
    int rc = store_catalog_write(&store->catalog, batch);
    rc = rc ?: store_bulk_write(&store->bulk, batch);
    rc = rc ?: store_sessions_write(&store->sessions, batch);
    rc = rc ?: store_files_write(&store->files, batch);
    store->failed = translate(store, rc, "write to");
    return store->failed;
}

static int write_batch_row(struct store *store) {
    const struct store_txn *txn = &store->txn;
    if (txn->events == 0 || store->batch_row_written) {
        return SQLITE_OK;
    }
    int rc = store_sql_prepare(store->db, &store->stmts[ADD_BATCH], texts[ADD_BATCH]);
    rc = rc
             ?: store_sql_bind(store->stmts[ADD_BATCH], "iiiiii", txn->first_row, txn->last_row,
                               txn->min_start, txn->max_end, realtime_ns(), (int64_t)txn->events);
    rc = rc ?: store_sql_run(store->stmts[ADD_BATCH]);
    store->batch_row_written = rc == SQLITE_OK;
    return rc;
}

int store_commit(struct store *store) {
    if (!store->in_transaction || store->failed) {
        return store->failed ? store->failed : -EINVAL;
    }
    int rc = write_batch_row(store);
    rc = rc ?: run(store, COMMIT);
    if (rc != SQLITE_OK) {
        return translate(store, rc, "commit to");
    }
    store->in_transaction = false;
    return STORE_DONE;
}

void store_rollback(struct store *store) {
    if (!store->in_transaction) {
        return;
    }
    if (!sqlite3_get_autocommit(store->db)) {
        run(store, ROLLBACK);
    }
    store->in_transaction = false;
    store->failed = STORE_DONE;
    forget(store);
}

int store_checkpoint(struct store *store, bool truncate) {
    if (store->options.plain) {
        return STORE_DONE;
    }
    int mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    sqlite3_busy_timeout(store->db, TRUNCATE_BUSY_MS);
    int rc = store_checkpointer_finish(store->checkpointer, store->db, mode, NULL, NULL);
    sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
    if (rc == SQLITE_OK && truncate) {
        store->wal_pages = 0;
    }
    return translate(store, rc, "checkpoint");
}

int store_checkpoint_now(struct store *store, struct store_checkpointed *done) {
    int pages = 0, moved = 0;
    *done = (struct store_checkpointed){.before_bytes = store_wal_bytes(store)};
    sqlite3_busy_timeout(store->db, TRUNCATE_BUSY_MS);
    int rc = store_checkpointer_finish(store->checkpointer, store->db, SQLITE_CHECKPOINT_TRUNCATE,
                                       &pages, &moved);
    sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
    done->pinned = rc == SQLITE_BUSY;
    done->bytes = store_wal_bytes(store);
    done->pages = pages;
    done->moved_pages = moved;
    if (rc == SQLITE_OK) {
        store->wal_pages = 0;
        store->checkpoint_at = store->options.wal_cap_pages;
    }
    return done->pinned ? STORE_DONE : translate(store, rc, "checkpoint");
}

// ---- Sessions ---------------------------------------------------------------------------------

int store_session_load(struct store *store, const char *session_id, bool want_diags, uint64_t acked,
                       struct store_session *session) {
    const struct store_older older = {store->options.name, store_file(store), store->db};
    bool found = false;
    *session = (struct store_session){0};
    int rc = store_sessions_load(&store->sessions, session_id, session, &found);
    if (rc == SQLITE_OK && !found) {
        rc = store_older_session(&older, session_id, session, &found);
    }
    if (rc == SQLITE_OK && found && want_diags) {
        rc = store_older_diags(&older, acked, session);
        rc = rc ?: store_sessions_diags(&store->sessions, acked, session);
    }
    if (rc != SQLITE_OK) {
        store_session_deinit(session);
        return translate(store, rc, "read");
    }
    return found ? STORE_DONE : STORE_NOT_FOUND;
}

int store_session_count(struct store *store, int64_t uid, int64_t *count) {
    return translate(store, store_sessions_count(&store->sessions, uid, count), "read");
}

int store_session_expired(struct store *store, int64_t before_ns, char *session_id, size_t size) {
    bool found = false;
    int rc = store_sessions_expired(&store->sessions, before_ns, session_id, size, &found);
    return rc != SQLITE_OK ? translate(store, rc, "read") : found ? STORE_DONE : STORE_NOT_FOUND;
}

int store_file_list(struct store *store, struct store_file_list *list) {
    *list = (struct store_file_list){0};
    int rc = store_files_read(store->db, list);
    if (rc != SQLITE_OK) {
        store_files_free(list);
    }
    return translate(store, rc, "read");
}

int store_file_load(struct store *store, int64_t source_id, struct store_file *file,
                    struct store_session *session) {
    bool found = false;
    *file = (struct store_file){0};
    *session = (struct store_session){0};
    int rc = store_files_load(&store->files, source_id, file, session, &found);
    if (rc == SQLITE_OK && found) {
        rc = store_sessions_ranges(&store->sessions, source_id, &session->ranges,
                                   &session->range_count);
    }
    if (rc != SQLITE_OK) {
        store_session_deinit(session);
        store_file_deinit(file);
        return translate(store, rc, "read");
    }
    return found ? STORE_DONE : STORE_NOT_FOUND;
}

static int recover_some(struct store *store, struct store_batch *batch, int64_t now_ns,
                        int *count) {
    int rc = store_begin(store);
    if (rc != STORE_DONE) {
        return rc;
    }
    rc = translate(store, store_recover_read(&store->sessions, now_ns, batch, count), "read");
    rc = rc ? rc : store_write(store, batch);
    rc = rc ? rc : store_commit(store);
    if (rc != STORE_DONE) {
        store_rollback(store);
    }
    return rc;
}

int store_recover(struct store *store, int64_t now_ns) {
    struct store_batch *batch = store_batch_new();
    if (!batch) {
        return translate(store, SQLITE_NOMEM, "recover");
    }
    int count = STORE_RECOVER_AT_ONCE;
    int rc = STORE_DONE;
    while (rc == STORE_DONE && count == STORE_RECOVER_AT_ONCE) {
        rc = recover_some(store, batch, now_ns, &count);
        store_batch_reset(batch);
    }
    store_batch_free(batch);
    return rc;
}

// ---- Losses -----------------------------------------------------------------------------------

int store_losses_load(struct store *store, size_t limit, struct store_losses *losses) {
    *losses = (struct store_losses){0};
    store->losses_known = false; // somebody may have looked through them and deleted them
    const struct store_older older = {store->options.name, store_file(store), store->db};
    int rc = store_losses_read(store->db, limit, losses);
    rc = rc ?: store_older_losses(&older, limit, losses);
    int result = translate(store, rc, "read");
    if (result != STORE_DONE) {
        store_losses_deinit(losses);
    }
    return result;
}

int64_t store_loss_count(struct store *store) {
    int64_t before = 0;
    if (!store->losses_known) {
        store->losses_known = store_losses_count(store->db, &store->losses) == SQLITE_OK &&
                              store_carry_fact(store->db, "lossesBefore", &before) == SQLITE_OK;
        store->losses += before;
    }
    return store->losses_known ? store->losses : -1;
}

// ---- Diagnostics ------------------------------------------------------------------------------

int store_diags_load(struct store *store, int64_t source_id, size_t limit,
                     struct store_diags *diags) {
    *diags = (struct store_diags){0};
    int result = translate(store, store_diags_read(store->db, source_id, limit, diags), "read");
    if (result != STORE_DONE) {
        store_diags_deinit(diags);
    }
    return result;
}

// ---- Events -----------------------------------------------------------------------------------

int store_events_load(struct store *store, const char *path, const struct store_event_query *query,
                      struct store_events *events) {
    *events = (struct store_events){0};
    struct store_events_place active = {.db = store->db, .last_row = store->committed_row};
    int rc = store->in_transaction ? SQLITE_OK : store_events_last(store->db, &active.last_row);
    rc = rc ?: store_events_read(&active, path, query, events);
    int result = translate(store, rc, "read");
    if (result != STORE_DONE) {
        store_events_deinit(events);
    }
    return result;
}

// ---- Figures ----------------------------------------------------------------------------------

int store_figures(struct store *store, struct store_figures *figures) {
    *figures = (struct store_figures){0};
    return translate(store, store_figures_read(store->db, figures), "read");
}

static int64_t bytes_of(const struct store *store, const char *suffix) {
    char path[PATH_MAX];
    struct stat status;
    int len = snprintf(path, sizeof(path), "%s%s", store_file(store), suffix);
    return len < (int)sizeof(path) && stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

const char *store_file(const struct store *store) {
    return sqlite3_db_filename(store->db, "main");
}

int64_t store_content_bytes(struct store *store) {
    int64_t bytes = 0;
    if (store_sql_prepare(store->db, &store->stmts[PAGES], texts[PAGES]) == SQLITE_OK) {
        if (sqlite3_step(store->stmts[PAGES]) == SQLITE_ROW) {
            bytes = sqlite3_column_int64(store->stmts[PAGES], 0);
        }
        sqlite3_reset(store->stmts[PAGES]);
    }
    return bytes;
}

int64_t store_file_bytes(const struct store *store) {
    return bytes_of(store, "");
}

int64_t store_wal_used(const struct store *store) {
    return (int64_t)store->wal_pages * (PAGE_BYTES + 24);
}

int64_t store_begun_ns(struct store *store) {
    int64_t begun = 0;
    return store_carry_fact(store->db, "startedNs", &begun) == SQLITE_OK ? begun : 0;
}

bool store_holds_events(struct store *store) {
    int64_t holds = 0;
    return store_sql_int(store->db, "SELECT EXISTS (SELECT 1 FROM NVTXT_BATCHES)", &holds) ==
               SQLITE_OK &&
           holds;
}

int64_t store_wal_bytes(const struct store *store) {
    return bytes_of(store, "-wal");
}
