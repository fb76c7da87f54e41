// SPDX-License-Identifier: Apache-2.0
//
// A segment is built without a journal and without fsync, since nobody looks at it before it is
// complete, and synced once. Then it gets its name, its -wal and -shm, and the link.
//
// A plain store becomes a segment by hard links. Its files get their new names beside the old ones,
// so that readers of both use the same files and the same locks. Then the link takes the place of
// the old name, and the old names of the logs are removed.
#include "store/rotation.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "store/db/connection.h"
#include "store/db/schema.h"
#include "store/db/sql.h"
#include "store/lock/locks.h"
#include "store/lock/writelock.h"
#include "store/segment/carry_over.h"
#include "store/segment/contents.h"
#include "store/segment/segments.h"
#include "store/store_state.h"

#define CARRY_ROWS 10000 // about 2 MB, little for a segment of the usual size
#define LEAVE_BUSY_MS 20

// ---- A new segment ------------------------------------------------------------------------------

struct new_segment {
    const char *path; // the configured one
    const struct store_options *options;
    const char *lost; // the segment whose place it takes; NULL: none
    struct store_carry carry;
    char segment[PATH_MAX];
    char unfinished[PATH_MAX + 8];
    char copy[PATH_MAX + 8]; // of the segment before it; "": there is none
    char *error;
    size_t size;
};

static int sync_file(const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int r = fd < 0 || fsync(fd) < 0 ? nvtxt_origin(-errno) : 0;
    if (fd >= 0) {
        close(fd);
    }
    return r;
}

static int fill_database(sqlite3 *db, const struct new_segment *made) {
    int on = 1;
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, STORE_BUSY_MS);
    int rc = store_sql_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                                "PRAGMA temp_store = MEMORY");
    rc = rc ?: store_schema_upgrade(db, store_schema_steps, STORE_SCHEMA_VERSION);
    rc = rc ?: store_schema_cupti(db, !made->options->no_cupti_views);
    rc = rc ?: store_carry(db, &made->carry);
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    return rc ?: store_sql_exec(db, "PRAGMA journal_mode = WAL; SELECT 1 FROM sqlite_master");
}

static int build(const struct new_segment *made) {
    const struct store_options *options = made->options;
    sqlite3 *db = NULL;
    store_segments_remove(made->unfinished);
    int r = store_file_make(made->unfinished, 0600);
    r = r ?: store_file_set_group(made->unfinished, options->group);
    if (r < 0) {
        return store_result_say_errno(r, "make a new segment of", made->path, made->error,
                                      made->size);
    }
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sqlite3_open_v2(made->unfinished, &db, flags, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); // of the one before it
    rc = rc ?: fill_database(db, made);
    r = store_result_say(db, rc, "make a new segment of the store", made->path, made->error,
                         made->size);
    sqlite3_close(db);
    return r;
}

static int finish(const struct new_segment *made) {
    int r = sync_file(made->unfinished);
    r = r ?: store_file_set_group(made->unfinished, made->options->group);
    r = r ?: store_segments_rename(made->unfinished, made->segment);
    return r < 0 ? store_result_say_errno(r, "make a new segment of", made->path, made->error,
                                          made->size)
                 : STORE_DONE;
}

// The number that comes next, and the newest segment so far; `newest` is "" when there is none.
static int next_number(const char *path, uint64_t *number, char *newest) {
    struct store_segments list;
    int r = store_segments_scan(path, &list);
    *number = 1;
    *newest = '\0';
    if (r == 0 && list.count > 0) {
        *number = list.rows[list.count - 1].number + 1;
        snprintf(newest, PATH_MAX, "%s", list.rows[list.count - 1].path);
    }
    store_segments_deinit(&list);
    return r;
}

// Reads what another process keeps locked from a copy. The copy is named like an unfinished
// segment, so that the next start removes it if the daemon is killed here.
static int copy_beside(struct new_segment *made, const char *locked) {
    char name[PATH_MAX];
    int r = store_segments_name(made->path, made->carry.started_ns, made->carry.number + 1, name,
                                sizeof(name));
    int len = snprintf(made->copy, sizeof(made->copy), "%s" STORE_SEGMENT_UNFINISHED, name);
    r = r == 0 && len >= (int)sizeof(made->copy) ? nvtxt_origin(-ENAMETOOLONG) : r;
    r = r ?: store_segments_remove(made->copy);
    r = r ?: store_beside_copy(locked, made->copy);
    made->carry.from = made->copy;
    return r < 0 ? store_result_say_errno(r, "copy what goes on from the locked segment of",
                                          made->path, made->error, made->size)
                 : STORE_DONE;
}

// SQLite would take an empty file for a new database, and remove the log beside it.
static bool can_be_read(const char *segment) {
    sqlite3 *db = NULL;
    bool sound = false;
    if (store_file_size(segment, "") <= 0) {
        return false;
    }
    int rc = store_connection_read_left(&db, segment);
    rc = rc ?: store_contents_sound(db, &sound);
    sqlite3_close(db);
    return rc == SQLITE_OK && sound;
}

static int build_from(struct new_segment *made, const char *segment) {
    made->carry.from = segment;
    return segment && can_be_read(segment) ? build(made) : STORE_CORRUPT;
}

// Takes over the ids of the segment that was put aside, or of the newest other one that can be
// read; if there is none, it is a new store.
static int build_after_loss(struct new_segment *made) {
    struct store_carry *carry = &made->carry;
    struct store_segments list;
    int r = build_from(made, made->options->aside);
    if (store_segments_scan(made->path, &list) < 0) {
        list = (struct store_segments){0};
    }
    for (size_t i = list.count; i-- > 0 && r != STORE_DONE && r != STORE_NO_SPACE;) {
        r = build_from(made, list.rows[i].path);
    }
    if (r != STORE_DONE && r != STORE_NO_SPACE) {
        carry->from = NULL;
        r = build(made);
    }
    store_segments_deinit(&list);
    carry->from = NULL; // it was borrowed
    return r;
}

// Places that others remember in the lost segment must not lead into the new one.
static uint64_t number_after(uint64_t next, const struct new_segment *made) {
    uint64_t lost = made->lost ? store_segments_number(made->lost) : 0;
    bool goes_on = next > 1 || made->options->aside;
    return goes_on && lost >= next ? lost + 1 : next;
}

// Makes the segment, opens it and moves the link. `from`: see struct store_carry; `locked`: another
// process has locked it.
static int make(struct new_segment *made, struct store **store, const char *from, bool ids_only,
                bool locked) {
    char newest[PATH_MAX];
    struct store_carry *carry = &made->carry;
    *carry = (struct store_carry){.started_ns = nvtxt_realtime_ns(),
                                  .ids_only = ids_only,
                                  .after_loss = made->lost || made->options->aside};
    int r = next_number(made->path, &carry->number, newest);
    carry->number = number_after(carry->number, made);
    r = r
            ?: store_segments_name(made->path, carry->started_ns, carry->number, made->segment,
                                   sizeof(made->segment));
    int len = snprintf(made->unfinished, sizeof(made->unfinished), "%s" STORE_SEGMENT_UNFINISHED,
                       made->segment);
    r = r == 0 && len >= (int)sizeof(made->unfinished) ? nvtxt_origin(-ENAMETOOLONG) : r;
    if (r < 0) {
        return store_result_say_errno(r, "make a new segment of", made->path, made->error,
                                      made->size);
    }
    carry->name = nvtxt_base_name(made->segment);
    carry->from = from;
    carry->rows = made->options->carry_rows ?: CARRY_ROWS;
    r = locked ? copy_beside(made, from) : STORE_DONE;
    r = r ?: ids_only ? build_after_loss(made) : build(made);
    if (*made->copy) {
        store_segments_remove(made->copy);
    }
    r = r ?: finish(made);
    r = r ?: store_open(store, made->segment, made->options, made->error, made->size);
    if (r == STORE_DONE) { // we have its locks: now others may read it
        store_file_set_mode(made->segment, made->options->file_mode ?: 0640);
        r = store_segments_set_link(made->path, made->segment);
        r = r < 0 ? store_result_say_errno(r, "let the link point to the new segment of",
                                           made->path, made->error, made->size)
                  : STORE_DONE;
    }
    if (r != STORE_DONE) {
        store_abandon(*store);
        *store = NULL;
        store_segments_remove(made->unfinished);
        store_segments_remove(made->segment);
    }
    return r;
}

// ---- Locks of others ---------------------------------------------------------------------------

// SQLite would find this too, but try for ten seconds.
static bool is_locked(const char *file, const char *path, char *error, size_t size) {
    struct store_locks locks;
    char whose[160];
    store_locks_find(file, &locks);
    store_locks_say(&locks, whose, sizeof(whose));
    snprintf(error, size, "the store %s is locked by %s", path, whose);
    return locks.blocks;
}

// Nobody waits for locks that only recovery needs when the log is empty.
static bool is_segment_locked(const char *file, const char *path, char *error, size_t size) {
    struct store_locks locks;
    store_locks_find(file, &locks);
    bool renewed = locks.recovery && store_shm_renew(file) == 0;
    return !renewed && locks.blocks && is_locked(file, path, error, size);
}

static bool is_plain_locked(const char *path, char *error, size_t size) {
    enum store_file_kind kind;
    return store_file_look(path, STORE_SCHEMA_VERSION, &kind, NULL) == 0 &&
           kind == STORE_FILE_STORE && is_locked(path, path, error, size);
}

// ---- A plain store becomes a segment ------------------------------------------------------------

static int link_as(const char *path, const char *segment, const char *ending) {
    char from[PATH_MAX], to[PATH_MAX];
    int r = store_file_name(from, path, ending);
    r = r ?: store_file_name(to, segment, ending);
    if (r < 0) {
        return r;
    }
    return link(from, to) < 0 && (*ending == '\0' || errno != ENOENT) ? nvtxt_origin(-errno) : 0;
}

static void remove_logs(const char *path) {
    char name[PATH_MAX];
    for (size_t i = 1; i < STORE_FILE_ENDINGS; i++) {
        if (store_file_name(name, path, store_file_endings[i]) == 0) {
            unlink(name);
        }
    }
}

// Removes second names of the file, which a daemon that was killed in the middle left.
static int remove_second_names(const char *path) {
    struct store_segments list;
    struct stat file, other;
    int r = stat(path, &file) < 0 ? nvtxt_origin(-errno) : store_segments_scan(path, &list);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < list.count && r == 0; i++) {
        const char *name = list.rows[i].path;
        if (stat(name, &other) == 0 && other.st_ino == file.st_ino && other.st_dev == file.st_dev) {
            r = store_segments_remove(name);
        }
    }
    store_segments_deinit(&list);
    return r;
}

static int link_files(sqlite3 *db, const char *path) {
    char segment[PATH_MAX], newest[PATH_MAX];
    struct store_carry carry = {.started_ns = nvtxt_realtime_ns()};
    int r = remove_second_names(path);
    r = r ?: next_number(path, &carry.number, newest);
    r = r ?: store_segments_name(path, carry.started_ns, carry.number, segment, sizeof(segment));
    carry.name = nvtxt_base_name(segment);
    r = r ?: store_result_of(db, store_carry_begin(db, &carry));
    r = r ?: link_as(path, segment, "-wal");
    r = r ?: link_as(path, segment, "-shm");
    r = r ?: link_as(path, segment, "");
    return r ?: store_segments_set_link(path, segment);
}

// STORE_CORRUPT, for which the daemon puts the file aside, only if it was a store: it may be
// somebody's notes, and the configured name a typing error.
static int check_broken(const char *path, char *error, size_t size) {
    enum store_file_kind kind;
    if (store_file_look(path, STORE_SCHEMA_VERSION, &kind, NULL) == 0 && kind == STORE_FILE_STORE) {
        return STORE_CORRUPT;
    }
    snprintf(error, size,
             "the store %s is another application's file or database, it was left alone: name "
             "another store",
             path);
    return STORE_FOREIGN;
}

static int take_over(const char *path, const struct store_options *options, char *error,
                     size_t size) {
    sqlite3 *db = NULL;
    if (options->keeps_lock && is_plain_locked(path, error, size)) {
        return STORE_BUSY;
    }
    int r = store_connection_open(&db, path, options, error, size);
    if (r == STORE_DONE) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        store_file_set_mode(path, options->file_mode ?: 0640);
        r = link_files(db, path); // while it is open, so that its logs exist
        if (r > 0) {
            snprintf(error, size, "cannot make a segment of the store %s: %s", path,
                     r == STORE_BUSY ? "another process holds a lock" : sqlite3_errmsg(db));
        } else if (r < 0) {
            r = store_result_say_errno(r, "make a segment of", path, error, size);
        }
    }
    sqlite3_close(db);
    if (r == STORE_DONE) {
        remove_logs(path);
    }
    return r == STORE_CORRUPT ? check_broken(path, error, size) : r;
}

// ---- Opening ------------------------------------------------------------------------------------

static int refuse_link(const char *path, const char *target, char *error, size_t size) {
    enum store_file_kind kind;
    int r = store_file_look(path, STORE_SCHEMA_VERSION, &kind, NULL);
    if (r == 0 && (kind == STORE_FILE_DANGLING || kind == STORE_FILE_MISSING)) {
        snprintf(error, size,
                 "the store %s is a link to nowhere (%s): remove the link, or name another store",
                 path, target);
        return nvtxt_origin(-ENOLINK);
    }
    bool ours = r == 0 && (kind == STORE_FILE_STORE || kind == STORE_FILE_NEWER);
    snprintf(error, size, "the store %s is a link to %s, which is %s: %s", path, target,
             ours ? "a store, but not a segment of this one" : "not a store of ours",
             ours ? "remove the link, or name that file itself as the store"
                  : "both were left alone; remove the link, or name another store");
    return STORE_FOREIGN;
}

static bool holds_events(const char *segment) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    bool holds = true; // unless SQLite says that it does not
    if (sqlite3_open_v2(segment, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
            SQLITE_OK &&
        sqlite3_prepare_v2(db, "SELECT 1 FROM NVTXT_BATCHES LIMIT 1", -1, &stmt, NULL) ==
            SQLITE_OK) {
        holds = sqlite3_step(stmt) != SQLITE_DONE;
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return holds;
}

// Removes segments that were made but that the link never pointed to.
static void remove_unlinked(const char *path, const char *active) {
    struct store_segments list;
    if (store_segments_scan(path, &list) < 0) {
        return;
    }
    for (size_t i = list.count; i-- > 0 && strcmp(list.rows[i].path, active) != 0;) {
        if (!holds_events(list.rows[i].path)) {
            store_segments_remove(list.rows[i].path);
        }
    }
    store_segments_deinit(&list);
}

// A segment is complete before the link points to it. SQLite would treat an empty one as new, and
// remove the log beside it.
static bool is_cut(const char *active) {
    struct stat status;
    return stat(active, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

// A new -shm has mode 0600. Now that we have its locks others may open it.
static void allow_shm(const char *segment) {
    char shm[PATH_MAX];
    struct stat file, status;
    if (store_file_name(shm, segment, "-shm") == 0 && stat(segment, &file) == 0 &&
        stat(shm, &status) == 0 && (status.st_mode & 0777) != (file.st_mode & 0777)) {
        (void)!chmod(shm, file.st_mode & 0777);
    }
}

static int open_active(struct store **store, const char *path, const char *active,
                       const struct store_options *options, char *error, size_t size) {
    if (is_cut(active)) {
        snprintf(error, size, "the store %s is broken: %s is empty", path, nvtxt_base_name(active));
        return STORE_CORRUPT;
    }
    if (options->keeps_lock && is_segment_locked(active, path, error, size)) {
        return STORE_BUSY;
    }
    remove_logs(path); // of a plain store that became a segment
    store_segments_tidy(path);
    remove_unlinked(path, active);
    int r = store_open(store, active, options, error, size);
    if (r == STORE_DONE && options->keeps_lock) {
        allow_shm(active);
    }
    return r;
}

// A segment that was made but never linked, because the daemon was killed, still has mode 0600.
static void allow_unlinked(const char *segment, const struct store_options *options) {
    struct stat status;
    if (stat(segment, &status) == 0 && (status.st_mode & 0777) == 0600) {
        store_file_set_mode(segment, options->file_mode ?: 0640);
    }
}

// The link is missing, or points to nothing.
static int open_new(struct store **store, const char *path, const struct store_options *options,
                    bool lost, const char *target, char *error, size_t size) {
    struct new_segment made = {
        .path = path, .options = options, .lost = target, .error = error, .size = size};
    char newest[PATH_MAX];
    uint64_t number;
    store_segments_tidy(path);
    int r = next_number(path, &number, newest);
    if (r < 0) {
        return store_result_say_errno(r, "open", path, error, size);
    }
    if (lost || !*newest) {
        return make(&made, store, NULL, true, false);
    }
    r = store_segments_set_link(path, newest); // somebody removed the link, but no segment
    if (r < 0) {
        return store_result_say_errno(r, "make the link of", path, error, size);
    }
    r = open_active(store, path, newest, options, error, size);
    if (r == STORE_DONE) {
        allow_unlinked(newest, options);
    }
    return r;
}

int store_rotation_open(struct store **store, const char *path, const struct store_options *options,
                        enum store_opening how, bool *vanished, char *error, size_t size) {
    struct store_options called = *options;
    enum store_link link;
    char target[PATH_MAX];
    called.name = path;
    *store = NULL;
    *vanished = false;
    int r = store_segments_link(path, &link, target);
    if (r == 0 && link == STORE_LINK_FILE) {
        r = take_over(path, &called, error, size);
        if (r != STORE_DONE) {
            return r;
        }
        r = store_segments_link(path, &link, target);
    }
    if (r < 0) {
        return store_result_say_errno(r, "open", path, error, size);
    }
    switch (link) {
    case STORE_LINK_SEGMENT:
        if (how == STORE_OPEN_BESIDE) {
            struct new_segment made = {
                .path = path, .options = &called, .error = error, .size = size};
            return make(&made, store, target, false, true);
        }
        return open_active(store, path, target, &called, error, size);
    case STORE_LINK_VANISHED:
        *vanished = true;
        return open_new(store, path, &called, true, target, error, size);
    case STORE_LINK_NONE:
        return open_new(store, path, &called, how == STORE_OPEN_FRESH, NULL, error, size);
    case STORE_LINK_FOREIGN:
        return refuse_link(path, target, error, size);
    case STORE_LINK_FILE:
    case STORE_LINK_OTHER:
        break;
    }
    return store_open(store, path, &called, error, size); // refuses it with a sentence
}

int store_rotation_next(struct store **next, struct store *old, const char *path,
                        const struct store_options *options, char *error, size_t size) {
    struct store_options called = *options;
    called.name = path;
    struct new_segment made = {.path = path, .options = &called, .error = error, .size = size};
    *next = NULL;
    return make(&made, next, store_file_path(old), false, false);
}

void store_rotation_active(const char *path, char *active, size_t size) {
    enum store_link link;
    char target[PATH_MAX];
    bool there = store_segments_link(path, &link, target) == 0 && link == STORE_LINK_SEGMENT;
    snprintf(active, size, "%s", there ? target : "");
}

// ---- Leaving ------------------------------------------------------------------------------------

int store_rotation_leave(const char *segment) {
    sqlite3 *db = NULL;
    int left = 0, on = 1;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sqlite3_open_v2(segment, &db, flags, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_busy_timeout(db, LEAVE_BUSY_MS);
        sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
        rc = store_writelock_is_free(db) ? SQLITE_OK : SQLITE_BUSY;
        rc = rc ?: store_carry_leave(db, nvtxt_realtime_ns());
        rc = rc ?: sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, &left, NULL);
    }
    int r = store_result_of(db, rc);
    sqlite3_close(db);
    return r;
}
