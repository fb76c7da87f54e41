// SPDX-License-Identifier: Apache-2.0
//
// What store/lock/writelock.h says of SQLite's locks, beside the checkpoint helper: another process
// that only reads locks every byte of -shm that it can get, and goes on trying, while a store is
// opened, written, emptied, written again and closed. Then the lock is given back, and taken again.
// A plain program, so that ThreadSanitizer can watch it.
#undef NDEBUG
#include "store/store.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_BYTE 120 // of -shm: the write lock
#define LAST_BYTE 127
#define EVENTS_A_COMMIT 200
#define COMMITS 30

static char folder[] = "/tmp/nvtxt-writelock-XXXXXX";
static char path[64], shm[80];
static int commits;

static void write_commit(struct store *store) {
    const struct store_source source = {.id = 1, .kind = STORE_SOURCE_FILE, .name = "events"};
    struct store_batch *batch = store_batch_new();
    struct nvtxt_sink sink;
    assert(batch);
    store_batch_sink(store_batch_source(batch, &source), &sink);
    struct nvtxt_event event = {.type = NVTXT_EVENT_MARK, .text = NVTXT_SLICE("a message")};
    for (int i = 0; i < EVENTS_A_COMMIT; i++) {
        assert(sink.on_event(sink.context, &event) == 0);
    }
    assert(store_begin(store) == STORE_DONE);
    assert(store_write(store, batch) == STORE_DONE);
    assert(store_commit(store) == STORE_DONE);
    store_batch_free(batch);
    commits++;
}

static struct store *open_store(void) {
    struct store_options options = {
        .keeps_lock = true, .checkpoint_helper = true, .wal_cap_pages = 50};
    struct store *store;
    char error[512];
    if (store_open(&store, path, &options, error, sizeof(error)) != STORE_DONE) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return store;
}

// Which of the bytes from FIRST_BYTE on are not ours yet; those that can be had are, then.
static unsigned lock_bytes(int fd, unsigned wanted) {
    for (int byte = FIRST_BYTE; byte <= LAST_BYTE; byte++) {
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
        unsigned bit = 1u << (byte - FIRST_BYTE);
        if ((wanted & bit) && fcntl(fd, F_SETLK, &lock) == 0) {
            wanted &= ~bit;
        }
    }
    return wanted;
}

// Another process; it has locked once what it could when this returns.
static pid_t start_stranger(void) {
    int ends[2];
    char said = 0;
    assert(pipe(ends) == 0);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        int fd = open(shm, O_RDONLY);
        unsigned wanted = fd < 0 ? 0 : lock_bytes(fd, 0xff);
        if (fd < 0 || write(ends[1], "l", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            usleep(1000);
            wanted = lock_bytes(fd, wanted);
        }
    }
    assert(read(ends[0], &said, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void end_stranger(pid_t pid) {
    kill(pid, SIGKILL);
    assert(waitpid(pid, NULL, 0) == pid);
}

// What somebody else's write comes to; the lock is not waited for.
static int write_beside(void) {
    sqlite3 *db;
    assert(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    int rc = sqlite3_exec(db, "UPDATE NVTXT_SOURCES SET name = name || '+'", NULL, NULL, NULL);
    sqlite3_close(db);
    return rc;
}

static void count_events(void) {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    assert(sqlite3_prepare_v2(db, "SELECT count(*) FROM NVTX_EVENTS", -1, &stmt, NULL) ==
           SQLITE_OK);
    assert(sqlite3_step(stmt) == SQLITE_ROW);
    assert(sqlite3_column_int(stmt, 0) == commits * EVENTS_A_COMMIT);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static void no_reader_stops_the_writer(bool after_truncate) {
    struct store_checkpointed done;
    struct store *store = open_store();
    if (after_truncate) {
        write_commit(store);
        assert(store_checkpoint(store, &done) == STORE_DONE && done.bytes == 0);
    }
    pid_t stranger = start_stranger();
    for (int i = 0; i < COMMITS; i++) {
        write_commit(store);
    }
    assert(store_checkpoint(store, &done) == STORE_DONE && done.pinned);
    write_commit(store);
    store_close(store);
    end_stranger(stranger);
    count_events();
}

static void the_lock_is_given_back_when_asked(void) {
    struct store *store = open_store();
    write_commit(store);
    assert(write_beside() == SQLITE_BUSY);
    assert(!store_has_let_go(store));
    store_let_go(store);
    assert(store_has_let_go(store));
    assert(write_beside() == SQLITE_OK);
    write_commit(store);
    assert(!store_has_let_go(store));
    assert(write_beside() == SQLITE_BUSY);
    store_close(store);
    assert(write_beside() == SQLITE_OK);
}

int main(void) {
    assert(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/s.sqlite", folder);
    snprintf(shm, sizeof(shm), "%s-shm", path);
    no_reader_stops_the_writer(false);
    no_reader_stops_the_writer(true);
    the_lock_is_given_back_when_asked();
    count_events();
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[80];
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        unlink(name);
    }
    assert(rmdir(folder) == 0);
    return 0;
}
