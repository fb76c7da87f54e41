// SPDX-License-Identifier: Apache-2.0
//
// The write lock of store/lock/writelock.h while the checkpoint helper runs. Another process, which
// only reads, locks every byte of -shm that it can get and goes on trying, while a store is opened,
// written, emptied, written again and closed. Then the lock is given back, and taken again. A plain
// program, so that ThreadSanitizer can watch it.
#undef NDEBUG
#include "store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/plain/thread_kit.h"

#define FIRST_BYTE 120 // of -shm: the write lock
#define LAST_BYTE 127
#define EVENTS_A_COMMIT 200
#define COMMITS 30

static char shm[80];

static struct store *open_store(void) {
    const struct store_options options = {
        .keeps_lock = true, .checkpoint_helper = true, .wal_cap_pages = 50};
    return kit_open(&options);
}

// Locks those of the wanted bytes from FIRST_BYTE on that it can; returns the others.
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

// Starts the other process. When this returns it has tried once to lock each byte.
static pid_t start_stranger(void) {
    int ends[2];
    char ready = 0;
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
    assert(read(ends[0], &ready, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void end_stranger(pid_t pid) {
    kill(pid, SIGKILL);
    assert(waitpid(pid, NULL, 0) == pid);
}

// The result of a write by somebody else who does not wait for the lock.
static int write_beside(void) {
    sqlite3 *db;
    assert(sqlite3_open_v2(kit_path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    int rc = sqlite3_exec(db, "UPDATE NVTXT_SOURCES SET name = name || '+'", NULL, NULL, NULL);
    sqlite3_close(db);
    return rc;
}

static void no_reader_stops_the_writer(bool after_truncate) {
    struct store_checkpointed done;
    struct store *store = open_store();
    if (after_truncate) {
        kit_commit(store, EVENTS_A_COMMIT);
        assert(store_checkpoint(store, &done) == STORE_DONE && done.bytes == 0);
    }
    pid_t stranger = start_stranger();
    for (int i = 0; i < COMMITS; i++) {
        kit_commit(store, EVENTS_A_COMMIT);
    }
    assert(store_checkpoint(store, &done) == STORE_DONE && done.pinned);
    kit_commit(store, EVENTS_A_COMMIT);
    store_close(store);
    end_stranger(stranger);
    kit_count_events();
}

static void the_lock_is_given_back_when_asked(void) {
    struct store *store = open_store();
    kit_commit(store, EVENTS_A_COMMIT);
    assert(write_beside() == SQLITE_BUSY);
    assert(!store_has_released_lock(store));
    store_release_lock(store);
    assert(store_has_released_lock(store));
    assert(write_beside() == SQLITE_OK);
    kit_commit(store, EVENTS_A_COMMIT);
    assert(!store_has_released_lock(store));
    assert(write_beside() == SQLITE_BUSY);
    store_close(store);
    assert(write_beside() == SQLITE_OK);
}

static void a_close_gives_the_lock_back_to_who_has_the_file_open(void) {
    sqlite3 *reader;
    struct store *store = open_store();
    kit_commit(store, EVENTS_A_COMMIT);
    assert(sqlite3_open_v2(kit_path, &reader, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    assert(sqlite3_exec(reader, "SELECT * FROM NVTXT_SOURCES", NULL, NULL, NULL) == SQLITE_OK);
    store_close(store);
    assert(write_beside() == SQLITE_OK);
    sqlite3_close(reader);
}

int main(void) {
    kit_make_folder();
    snprintf(shm, sizeof(shm), "%s-shm", kit_path);
    no_reader_stops_the_writer(false);
    no_reader_stops_the_writer(true);
    the_lock_is_given_back_when_asked();
    a_close_gives_the_lock_back_to_who_has_the_file_open();
    kit_count_events();
    kit_remove_folder();
    return 0;
}
