// SPDX-License-Identifier: Apache-2.0
//
// Two locks. `lock` guards the fields that both threads use (pages, stop) and is held for moments.
// `pass` is held while either side checkpoints: so the writer waits for a pass to end, where SQLite
// would answer that the log is busy.
#include "store/db/checkpointer.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "store/db/sql.h"

#define PASS_PAGES 1000 // new WAL pages that are worth a pass: 4 MiB, a few milliseconds

struct store_checkpointer {
    sqlite3 *db; // the helper thread's own
    pthread_t thread;
    pthread_mutex_t pass;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    size_t pages;  // of the WAL, as noted last
    size_t passed; // of them when the last pass began
    bool stop;
};

static bool is_wanted(const struct store_checkpointer *checkpointer) {
    return checkpointer->pages >= checkpointer->passed + PASS_PAGES;
}

static void *run_checkpoints(void *context) {
    struct store_checkpointer *checkpointer = context;
    pthread_mutex_lock(&checkpointer->lock);
    while (!checkpointer->stop) {
        if (!is_wanted(checkpointer)) {
            pthread_cond_wait(&checkpointer->wanted, &checkpointer->lock);
            continue;
        }
        checkpointer->passed = checkpointer->pages;
        pthread_mutex_unlock(&checkpointer->lock);
        pthread_mutex_lock(&checkpointer->pass);
        sqlite3_wal_checkpoint_v2(checkpointer->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
        pthread_mutex_unlock(&checkpointer->pass);
        pthread_mutex_lock(&checkpointer->lock);
    }
    pthread_mutex_unlock(&checkpointer->lock);
    return NULL;
}

// A connection that leaves -wal and -shm alone when it is closed. The read is needed: a connection
// that has read nothing checkpoints nothing.
static int open_connection(sqlite3 **db, const char *path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int on = 1;
    int rc = sqlite3_open_v2(path, db, flags, NULL);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_file_control(*db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    return store_sql_exec(*db, "PRAGMA wal_autocheckpoint = 0; SELECT 1 FROM sqlite_master");
}

static int start_thread(struct store_checkpointer *checkpointer) {
    // The loop handles signals: this thread starts with all of them blocked.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&checkpointer->thread, NULL, run_checkpoints, checkpointer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

static void checkpointer_free(struct store_checkpointer *checkpointer) {
    sqlite3_close(checkpointer->db);
    pthread_cond_destroy(&checkpointer->wanted);
    pthread_mutex_destroy(&checkpointer->lock);
    pthread_mutex_destroy(&checkpointer->pass);
    free(checkpointer);
}

struct store_checkpointer *store_checkpointer_start(const char *path) {
    struct store_checkpointer *checkpointer = calloc(1, sizeof(*checkpointer));
    if (!checkpointer) {
        return NULL;
    }
    pthread_mutex_init(&checkpointer->pass, NULL);
    pthread_mutex_init(&checkpointer->lock, NULL);
    pthread_cond_init(&checkpointer->wanted, NULL);
    if (open_connection(&checkpointer->db, path) == SQLITE_OK && start_thread(checkpointer) == 0) {
        return checkpointer;
    }
    checkpointer_free(checkpointer);
    return NULL;
}

void store_checkpointer_stop(struct store_checkpointer *checkpointer) {
    if (!checkpointer) {
        return;
    }
    pthread_mutex_lock(&checkpointer->lock);
    checkpointer->stop = true;
    pthread_cond_signal(&checkpointer->wanted);
    pthread_mutex_unlock(&checkpointer->lock);
    pthread_join(checkpointer->thread, NULL);
    checkpointer_free(checkpointer);
}

void store_checkpointer_note(struct store_checkpointer *checkpointer, size_t wal_pages) {
    if (!checkpointer) {
        return;
    }
    pthread_mutex_lock(&checkpointer->lock);
    if (wal_pages < checkpointer->pages) {
        checkpointer->passed = 0; // the WAL began again
    }
    checkpointer->pages = wal_pages;
    if (is_wanted(checkpointer)) {
        pthread_cond_signal(&checkpointer->wanted);
    }
    pthread_mutex_unlock(&checkpointer->lock);
}

int store_checkpointer_finish(struct store_checkpointer *checkpointer, sqlite3 *db, int mode,
                              int *pages, int *moved) {
    if (checkpointer) {
        pthread_mutex_lock(&checkpointer->pass);
    }
    int rc = sqlite3_wal_checkpoint_v2(db, "main", mode, pages, moved);
    if (checkpointer) {
        pthread_mutex_unlock(&checkpointer->pass);
    }
    return rc;
}
