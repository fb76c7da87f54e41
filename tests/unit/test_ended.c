// SPDX-License-Identifier: Apache-2.0
//
// Sessions that ended in earlier segments: they are known as long as their segment is kept,
// whatever happens to the index, and the cost does not grow with the number of segments.
#include "store/segment/ended.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/rotation.h"
#include "store/segment/ended_index.h"
#include "tests/unit/store_kit.h"

#define CARRIED 2 // ended sessions that the next segment takes over
#define ENDED 3   // in each segment

// Counts what a search for a session must not do for each segment.
static int opened;

int sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs) {
    int (*real)(const char *, sqlite3 **, int, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_open_v2");
    opened++;
    return real(path, db, flags, vfs);
}

static struct kit kit;
static char error[512];

static const char *id_of(int segment, int number) {
    static char id[64];
    snprintf(id, sizeof(id), "00000000-0000-4000-8000-%06d%06d", segment, number);
    return id;
}

static void begin(void) {
    bool vanished;
    kit_folder(&kit);
    kit.options = (struct store_options){.name = kit.path, .carry_rows = CARRIED};
    cr_assert_eq(store_rotation_open(&kit.store, kit.path, &kit.options, STORE_OPEN_ACTIVE,
                                     &vanished, error, sizeof(error)),
                 STORE_DONE, "%s", error);
}

static void end(void) {
    char command[128];
    store_batch_free(kit.batch);
    store_close(kit.store);
    snprintf(command, sizeof(command), "rm -r '%s'", kit.folder);
    cr_assert_eq(system(command), 0);
}

// Sessions that ended in the segment in use; each has `segment` lines.
static void end_sessions(int segment) {
    for (int i = 0; i < ENDED; i++) {
        struct nvtxt_counters counters = {.lines = (uint64_t)segment};
        struct store_source source = {.id = segment * ENDED + i,
                                      .kind = STORE_SOURCE_SESSION,
                                      .session_id = id_of(segment, i)};
        struct store_batch_source *share = store_batch_source(kit.batch, &source);
        cr_assert_eq(store_batch_progress(share, &counters, NVTXT_SLICE("")), 0);
        cr_assert_eq(store_batch_end_source(share, "end", 1000), 0);
    }
    kit_commit(&kit);
}

static void rotate(void) {
    char left[PATH_MAX];
    struct store *next = NULL;
    snprintf(left, sizeof(left), "%s", store_file_path(kit.store));
    cr_assert_eq(
        store_rotation_next(&next, kit.store, kit.path, &kit.options, error, sizeof(error)),
        STORE_DONE, "%s", error);
    store_leave(kit.store);
    cr_assert_eq(store_rotation_leave(left), STORE_DONE);
    kit.store = next;
}

static void make_segments(int count) {
    for (int i = 1; i <= count; i++) {
        end_sessions(i);
        rotate();
    }
}

// As the keeper does.
static void follow(bool check) {
    struct store_segments left;
    store_ended_list(kit.path, store_file_path(kit.store), &left);
    cr_assert_eq(store_ended_index_follow(kit.path, &left, check), SQLITE_OK);
    store_segments_deinit(&left);
}

static bool knows(int segment, int number) {
    struct store_session session;
    int r = store_session_load(kit.store, id_of(segment, number), -1, false, 0, &session);
    if (r == STORE_DONE) {
        cr_assert(session.ended);
        cr_assert_eq(session.counters.lines, (uint64_t)segment);
        store_session_deinit(&session);
    }
    cr_assert(r == STORE_DONE || r == STORE_NOT_FOUND, "%d", r);
    return r == STORE_DONE;
}

static void knows_all(int first, int last) {
    for (int i = first; i <= last; i++) {
        for (int j = 0; j < ENDED; j++) {
            cr_assert(knows(i, j), "session %d of segment %d", j, i);
        }
    }
    cr_assert_not(knows(first - 1, 7), "one that never was");
}

static const char *index_path(void) {
    static char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s" STORE_ENDED_SUFFIX, kit.path);
    return path;
}

static int64_t index_int(const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    cr_assert_eq(sqlite3_open(index_path(), &db), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return value;
}

static bool knows_of(int64_t uid) {
    struct store_session session;
    int r = store_session_load(kit.store, id_of(9, 9), uid, false, 0, &session);
    bool right = r == STORE_DONE && session.counters.lines == (uint64_t)uid;
    store_session_deinit(&session);
    return right;
}

// Ends the session in the segment in use; its lines are as many as the number of its user.
static void end_session_of(int64_t source_id, int64_t uid) {
    struct nvtxt_counters counters = {.lines = (uint64_t)uid};
    struct store_source source = {.id = source_id,
                                  .kind = STORE_SOURCE_SESSION,
                                  .session_id = id_of(9, 9),
                                  .has_peer = true,
                                  .peer_uid = uid};
    struct store_batch_source *share = store_batch_source(kit.batch, &source);
    cr_assert_eq(store_batch_progress(share, &counters, NVTXT_SLICE("")), 0);
    cr_assert_eq(store_batch_end_source(share, "end", 1000), 0);
}

Test(ended, of_several_users_are_several_under_one_id) {
    begin();
    end_session_of(1001, 1000);
    end_session_of(1002, 2000);
    kit_commit(&kit);
    cr_assert(knows_of(1000) && knows_of(2000) && !knows_of(3000));
    rotate();
    end_session_of(1003, 3000);
    kit_commit(&kit);
    rotate();
    make_segments(2);
    for (int indexed = 0; indexed < 2; indexed++) {
        cr_assert(knows_of(1000) && knows_of(2000) && knows_of(3000) && !knows_of(4000));
        follow(false);
    }
    cr_assert_eq(index_int("SELECT count(*) FROM ended WHERE id = '00000000-0000-4000-8000-"
                           "000009000009' AND uid IN (1000, 2000, 3000)"),
                 3);
    end();
}

Test(ended, are_known_whatever_is_in_the_index) {
    begin();
    make_segments(6);
    knows_all(1, 6); // there is none
    follow(false);
    cr_assert_eq(index_int("SELECT count(*) FROM ended"), 6 * ENDED);
    knows_all(1, 6);
    end_sessions(7);
    rotate(); // one that it lacks
    knows_all(1, 7);
    follow(false);
    knows_all(1, 7);
    end();
}

// ---- Segments that cannot be read ---------------------------------------------------------------

static int load(int segment, int number) {
    struct store_session session;
    int r = store_session_load(kit.store, id_of(segment, number), -1, false, 0, &session);
    if (r == STORE_DONE) {
        store_session_deinit(&session);
    }
    return r;
}

static void path_of(int number, char *path) {
    struct store_segments left;
    store_ended_list(kit.path, store_file_path(kit.store), &left);
    snprintf(path, PATH_MAX, "%s", left.rows[number - 1].path);
    store_segments_deinit(&left);
}

// Leaves a log that is not in the main file.
static void fill_log(const char *segment) {
    int on = 1;
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(segment, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    cr_assert_eq(sqlite3_exec(db, "CREATE TABLE theirs (a)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

// A process that has locked a byte of its -shm for reading, as every reader may.
static pid_t lock_for_recovery(const char *segment) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 121, .l_len = 1};
    char shm[PATH_MAX + 8], said;
    int ends[2];
    snprintf(shm, sizeof(shm), "%s-shm", segment);
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(shm, O_RDONLY);
        said = fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
        if (write(ends[1], &said, 1) == 1) {
            pause();
        }
        _exit(1);
    }
    cr_assert(child > 0 && read(ends[0], &said, 1) == 1 && said == 'y');
    close(ends[0]);
    close(ends[1]);
    return child;
}

Test(ended, a_session_that_may_be_in_a_locked_segment_is_not_taken_for_a_new_one) {
    char segment[PATH_MAX];
    begin();
    make_segments(4);
    path_of(2, segment);
    fill_log(segment);
    pid_t stranger = lock_for_recovery(segment);
    cr_assert_eq(load(2, 0), STORE_BUSY);
    cr_assert_eq(load(8, 0), STORE_BUSY, "one that nobody knows may be there");
    cr_assert_eq(load(1, 0), STORE_DONE);
    follow(false); // reads a copy
    cr_assert_eq(index_int("SELECT count(*) FROM segments"), 4);
    cr_assert_eq(load(2, 0), STORE_BUSY);
    cr_assert_eq(load(8, 0), STORE_NOT_FOUND, "the index says that it is not there");
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
    knows_all(1, 4);
    end();
}

Test(ended, a_session_that_may_be_in_a_damaged_segment_is_not_surely_new) {
    char segment[PATH_MAX], noise[8192];
    begin();
    make_segments(4);
    path_of(2, segment);
    memset(noise, 'x', sizeof(noise));
    int fd = open(segment, O_WRONLY);
    cr_assert(fd >= 0 && pwrite(fd, noise, sizeof(noise), 0) == (ssize_t)sizeof(noise));
    close(fd);
    cr_assert_eq(load(2, 0), STORE_UNSURE);
    cr_assert_eq(load(3, 0), STORE_DONE);
    follow(false);
    cr_assert_eq(load(2, 0), STORE_UNSURE);
    cr_assert_eq(store_segments_remove(segment), 0);
    follow(false);
    cr_assert_eq(load(2, 0), STORE_NOT_FOUND);
    end();
}

static double look_up_ms(int times) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < times; i++) {
        cr_assert_not(knows(0, i));
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6) /
           times;
}

Test(ended, an_id_that_nobody_knows_opens_no_segment) {
    const char *long_form = getenv("NVTXT_TEST_LONG");
    const int count = long_form && *long_form == '1' ? 1000 : 20;
    begin();
    make_segments(count);
    opened = 0;
    double without = look_up_ms(1);
    cr_assert_geq(opened, count, "without an index all are asked");
    follow(false);
    cr_assert_not(knows(0, 0)); // opens the index
    opened = 0;
    double with = look_up_ms(100);
    cr_assert_eq(opened, 0);
    printf("# %d segments: %.3f ms a look-up, %.3f ms without the index\n", count, with, without);
    cr_assert(knows(1, 0));
    cr_assert_eq(opened, 1, "one that is known: its segment");
    end();
}

Test(ended, an_id_is_forgotten_with_the_segment_in_which_it_ended) {
    struct store_segments left;
    begin();
    make_segments(6);
    follow(false);
    store_ended_list(kit.path, store_file_path(kit.store), &left);
    cr_assert_eq(store_segments_remove(left.rows[0].path), 0);
    store_segments_deinit(&left);
    knows_all(2, 6);
    cr_assert_not(knows(1, 0));
    follow(false);
    knows_all(2, 6);
    cr_assert_not(knows(1, 0));
    cr_assert_eq(index_int("SELECT count(*) FROM ended"), 5 * ENDED);
    cr_assert_eq(index_int("SELECT count(*) FROM segments"), 5);
    end();
}

static void damage(int how) {
    struct stat status;
    int fd = open(index_path(), O_RDWR);
    char noise[4096];
    memset(noise, how == 0 ? 'x' : 0, sizeof(noise));
    cr_assert(fd >= 0 && fstat(fd, &status) == 0);
    if (how == 0) {
        cr_assert_eq(pwrite(fd, noise, sizeof(noise), 0), (ssize_t)sizeof(noise));
    }
    for (off_t at = 4096; how == 1 && at < status.st_size; at += 4096) {
        cr_assert_eq(pwrite(fd, noise, sizeof(noise), at), (ssize_t)sizeof(noise));
    }
    if (how == 2) {
        cr_assert_eq(ftruncate(fd, status.st_size / 2), 0);
    }
    if (how == 3) {
        cr_assert_eq(ftruncate(fd, 0), 0);
    }
    close(fd);
}

Test(ended, a_lost_or_damaged_index_is_made_anew_and_nothing_is_forgotten) {
    begin();
    make_segments(6);
    for (int how = 0; how <= 4; how++) {
        follow(true);
        knows_all(1, 6);
        cr_assert_eq(index_int("SELECT count(*) FROM segments"), 6 + how, "%d", how);
        rotate(); // nobody has it open
        if (how < 4) {
            damage(how);
        } else {
            cr_assert_eq(unlink(index_path()), 0);
        }
        knows_all(1, 6);
    }
    end();
}

// The index of one store with the segments of another: the names do not fit.
Test(ended, a_foreign_index_is_not_believed) {
    begin();
    make_segments(6);
    follow(false);
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(index_path(), &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db,
                              "UPDATE segments SET name = 'other-' || number; "
                              "UPDATE ended SET id = 'other' || id",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    sqlite3_close(db);
    knows_all(1, 6);
    follow(false);
    knows_all(1, 6);
    cr_assert_eq(index_int("SELECT count(*) FROM ended WHERE id LIKE 'other%'"), 0);
    end();
}

Test(ended, nobody_else_may_read_the_index) {
    struct stat status;
    begin();
    make_segments(4);
    umask(0);
    follow(false);
    cr_assert_eq(stat(index_path(), &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0600);
    end();
}
