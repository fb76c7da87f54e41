// SPDX-License-Identifier: Apache-2.0
//
// Opening, transactions, locks, the WAL, totals.
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/store_kit.h"

static mode_t mode_of(const struct kit *kit, const char *suffix) {
    char path[128];
    struct stat status;
    snprintf(path, sizeof(path), "%s%s", kit->path, suffix);
    return stat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

static void add_some(struct kit *kit, int count) {
    for (int i = 0; i < count; i++) {
        struct nvtxt_event event = kit_mark(1000 + i, "text");
        kit_add(kit, 1, &event);
    }
}

Test(store, has_its_wal_and_its_mode_once_it_is_open) {
    struct kit kit;
    kit_folder(&kit);
    kit.options.file_mode = 0640;
    mode_t old = umask(0077);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    umask(old);
    cr_assert_eq(mode_of(&kit, ""), 0640);
    cr_assert_eq(mode_of(&kit, "-wal"), 0640);
    cr_assert_eq(mode_of(&kit, "-shm"), 0640);
    assert_rows(&kit, "PRAGMA journal_mode", "wal");
    kit_close(&kit);
}

Test(store, is_complete_in_its_main_file_after_a_close) {
    struct kit kit;
    kit_open(&kit);
    add_some(&kit, 100);
    kit_commit(&kit);
    cr_assert_gt(store_wal_bytes(kit.store), 0);
    store_close(kit.store);
    kit.store = NULL;
    cr_assert_eq(mode_of(&kit, "-wal"), 0640); // stays, for readers without the right to make it
    cr_assert_eq(mode_of(&kit, "-shm"), 0640);
    char uri[128];
    sqlite3 *db;
    sqlite3_stmt *stmt;
    snprintf(uri, sizeof(uri), "file:%s?immutable=1", kit.path);
    cr_assert_eq(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
                 SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT count(*) FROM NVTX_EVENTS", -1, &stmt, NULL);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    cr_assert_eq(sqlite3_column_int(stmt, 0), 100);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    kit_close(&kit);
}

Test(store, is_one_plain_file_on_request) {
    struct kit kit;
    kit_folder(&kit);
    kit.options.plain = true;
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    add_some(&kit, 10);
    kit_commit(&kit);
    store_close(kit.store);
    kit.store = NULL;
    cr_assert_eq(mode_of(&kit, "-wal"), 0);
    cr_assert_eq(mode_of(&kit, "-journal"), 0);
    assert_rows(&kit, "PRAGMA journal_mode", "delete");
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "10");
    kit_close(&kit);
}

Test(store, says_what_is_wrong_with_a_path) {
    struct kit kit;
    kit_folder(&kit);
    kit.options.read_only = true;
    cr_assert_eq(kit_reopen(&kit), -ENOENT);
    cr_assert_not_null(strstr(kit.error, "does not exist"), "%s", kit.error);
    kit.options.read_only = false;
    cr_assert_eq(symlink("/nonexistent/target", kit.path), 0);
    cr_assert_eq(kit_reopen(&kit), -ENOLINK);
    cr_assert_not_null(strstr(kit.error, "link to nowhere"), "%s", kit.error);
    unlink(kit.path);
    cr_assert_eq(mkdir(kit.path, 0700), 0);
    cr_assert_eq(kit_reopen(&kit), -EISDIR);
    cr_assert_not_null(strstr(kit.error, "is a folder"), "%s", kit.error);
    rmdir(kit.path);
    struct store *store;
    cr_assert_eq(store_open(&store, "/nonexistent/s.sqlite", &kit.options, NULL, 0), -ENOENT);
    kit_close(&kit);
}

// A name in the folder that one is in: SQLite would take it as a URI.
Test(store, has_the_name_that_was_given_whatever_it_begins_with) {
    struct kit kit;
    kit_folder(&kit);
    cr_assert_eq(chdir(kit.folder), 0);
    snprintf(kit.path, sizeof(kit.path), "file:%%41?mode=memory");
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    struct nvtxt_event event = kit_mark(1, "one");
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    snprintf(kit.path, sizeof(kit.path), "%s/file:%%41?mode=memory", kit.folder);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "1");
    kit_close(&kit);
}

// As somebody may make it of a dump; a program of ours makes none.
Test(store, in_utf16_is_only_read) {
    struct kit kit;
    kit_open(&kit);
    store_close(kit.store);
    kit.store = NULL;
    unlink(kit.path);
    kit_exec(&kit, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a); DROP TABLE t");
    cr_assert_eq(kit_reopen(&kit), STORE_REFUSED, "%s", kit.error);
    cr_assert_not_null(strstr(kit.error, "in UTF-16 and can only be read"), "%s", kit.error);
    assert_rows(&kit, "SELECT count(*) FROM sqlite_master", "0");
    kit_close(&kit);
}

Test(store, reads_without_writing_when_asked_to) {
    struct kit kit;
    kit_open(&kit);
    add_some(&kit, 3);
    kit_commit(&kit);
    kit.options.read_only = true;
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    struct store_totals totals;
    cr_assert_eq(store_totals_load(kit.store, &totals), STORE_DONE);
    cr_assert_eq(totals.events, 3);
    cr_assert_neq(store_begin(kit.store), STORE_DONE);
    kit_close(&kit);
}

static int64_t main_bytes(const struct kit *kit) {
    return store_file_bytes(kit->store);
}

static void fill_main_file(struct kit *kit) {
    struct store_checkpointed done;
    kit_open(kit);
    add_some(kit, 3000);
    kit_commit(kit);
    cr_assert_eq(store_checkpoint(kit->store, &done), STORE_DONE);
}

static void assert_broken(struct kit *kit) {
    cr_assert_eq(store_begin(kit->store), STORE_CORRUPT);
    cr_assert_not_null(strstr(store_error(kit->store), "was cut or written over"));
    store_abandon(kit->store);
    kit->store = NULL;
    kit_close(kit);
}

Test(store, finds_that_its_file_was_cut) {
    for (int part = 0; part < 4; part++) {
        struct kit kit;
        fill_main_file(&kit);
        cr_assert_eq(truncate(kit.path, main_bytes(&kit) * part / 4), 0);
        assert_broken(&kit);
    }
    struct kit kit;
    fill_main_file(&kit);
    cr_assert_eq(truncate(kit.path, main_bytes(&kit) - 1), 0);
    assert_broken(&kit);
}

Test(store, finds_that_its_file_was_written_over) {
    struct kit kit;
    fill_main_file(&kit);
    FILE *file = fopen(kit.path, "r+b");
    fputs("no database", file);
    fclose(file);
    assert_broken(&kit);
}

Test(store, finds_at_the_commit_that_its_file_was_cut) {
    struct kit kit;
    fill_main_file(&kit);
    add_some(&kit, 1);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
    cr_assert_eq(truncate(kit.path, 0), 0);
    cr_assert_eq(store_commit(kit.store), STORE_CORRUPT);
    store_rollback(kit.store);
    assert_broken(&kit);
}

Test(store, goes_on_in_a_file_that_somebody_else_made_smaller) {
    struct kit kit;
    fill_main_file(&kit);
    int64_t before = main_bytes(&kit);
    kit_exec(&kit, "DELETE FROM NVTX_EVENTS; DELETE FROM NVTXT_EVENT_SOURCES;"
                   "DELETE FROM NVTXT_BATCHES; VACUUM");
    for (int i = 0; i < 2; i++) {
        add_some(&kit, 10);
        kit_commit(&kit);
        kit_exec(&kit, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    cr_assert_lt(main_bytes(&kit), before);
    add_some(&kit, 10);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "30");
    kit_close(&kit);
}

Test(store, writes_one_batch_row_per_transaction_that_has_events) {
    struct kit kit;
    kit_open(&kit);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    struct nvtxt_event event = kit_range(500, 900, "a");
    kit_add(&kit, 1, &event);
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
    store_batch_reset(kit.batch);
    event = kit_range(100, 400, "b");
    kit_add(&kit, 2, &event);
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
    store_batch_reset(kit.batch);
    cr_assert_eq(store_commit(kit.store), STORE_DONE);
    assert_rows(&kit, "SELECT firstRow, lastRow, minStart, maxEnd, events FROM NVTXT_BATCHES",
                "1|2|100|900|2");
    assert_rows(&kit, "SELECT duration, startTime, stopTime FROM ANALYSIS_DETAILS", "800|100|900");
    store_batch_source(kit.batch, &(struct store_source){.id = 3});
    kit_commit(&kit); // a source alone
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_BATCHES", "1");
    event = kit_mark(300, "c");
    kit_add(&kit, 2, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT firstRow, lastRow, minStart, maxEnd, events FROM NVTXT_BATCHES",
                "1|2|100|900|2 3|3|300|300|1");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_SOURCES", "3");
    kit_close(&kit);
}

Test(store, keeps_nothing_of_a_transaction_that_was_rolled_back) {
    struct kit kit;
    kit_open(&kit);
    add_some(&kit, 2);
    kit_commit(&kit);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    struct nvtxt_event event = kit_mark(1, "new text");
    event.domain = NVTXT_SLICE("domain");
    event.tid = 77;
    kit_add(&kit, 2, &event);
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
    store_rollback(kit.store);
    store_rollback(kit.store); // fine without one
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "2");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_DOMAINS", "0");
    kit_commit(&kit); // the same batch again
    assert_rows(&kit,
                "SELECT e.rowid, text, value, domainId FROM NVTX_EVENTS e JOIN StringIds s ON "
                "s.id = e.textId WHERE globalTid & 0xFFFFFF = 77 ORDER BY eventType",
                "4|new text|new text|1 3|domain|domain|1");
    assert_rows(&kit, "SELECT count(*) FROM ThreadNames", "2");
    assert_rows(&kit, "SELECT firstRow, lastRow, sourceId FROM NVTXT_EVENT_SOURCES", "1|2|1 4|4|2");
    kit_close(&kit);
}

Test(store, makes_up_for_a_rollback_that_found_no_memory) {
    struct kit kit;
    cr_assert_eq(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
    kit_open(&kit);
    add_some(&kit, 2);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    sqlite3_hard_heap_limit64(1);
    store_rollback(kit.store);
    sqlite3_hard_heap_limit64(0);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*), max(rowid) FROM NVTX_EVENTS", "2|2");
    kit_close(&kit);
}

Test(store, refuses_to_commit_what_failed_to_be_written) {
    struct kit kit;
    kit_open(&kit);
    kit_exec(&kit, "CREATE TRIGGER bad BEFORE INSERT ON NVTX_EVENTS BEGIN SELECT "
                   "RAISE(ABORT, 'no'); END");
    add_some(&kit, 5);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    int rc = store_write(kit.store, kit.batch);
    cr_assert_eq(rc, STORE_REFUSED);
    cr_assert_not_null(strstr(store_error(kit.store), kit.path));
    cr_assert_eq(store_write(kit.store, kit.batch), rc);
    cr_assert_eq(store_commit(kit.store), rc);
    store_rollback(kit.store);
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_SOURCES", "0");
    kit_exec(&kit, "DROP TRIGGER bad");
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*), max(rowid) FROM NVTX_EVENTS", "5|5");
    kit_close(&kit);
}

Test(store, notices_what_others_wrote_in_between) {
    struct kit kit;
    kit_open(&kit);
    add_some(&kit, 1);
    kit_commit(&kit);
    kit_exec(&kit, "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category,"
                   " color, globalTid, domainId) VALUES (50, 1, 2, 34, 0, 'foreign', 0, 0, 0, 0);"
                   "INSERT INTO StringIds VALUES (90, 'foreign'); DELETE FROM StringIds WHERE "
                   "value = 'text'");
    add_some(&kit, 2);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT rowid FROM NVTX_EVENTS", "1 50 51 52");
    assert_rows(&kit, "SELECT DISTINCT textId FROM NVTX_EVENTS WHERE rowid > 50", "91");
    assert_rows(&kit, "SELECT value FROM StringIds WHERE id = 91", "text");
    kit_close(&kit);
}

Test(store, answers_busy_to_a_foreign_lock_and_goes_on_after_it) {
    struct kit kit;
    kit_open(&kit);
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(store_begin(kit.store), STORE_BUSY);
    cr_assert_not_null(strstr(store_error(kit.store), "lock"));
    cr_assert_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    add_some(&kit, 1);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "1");
    kit_close(&kit);
}

// The file may not grow past `bytes`; RLIM_INFINITY takes that back.
static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(store, says_that_there_is_no_room_and_goes_on_when_there_is) {
    struct kit kit;
    kit_open(&kit);
    add_some(&kit, 20000);
    limit_files(256 * 1024);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    int rc = store_write(kit.store, kit.batch);
    rc = rc ? rc : store_commit(kit.store);
    limit_files(RLIM_INFINITY);
    cr_assert_eq(rc, STORE_NO_SPACE, "%d %s", rc, store_error(kit.store));
    cr_assert_not_null(strstr(store_error(kit.store), "no room"), "%s", store_error(kit.store));
    store_rollback(kit.store);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "0");
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*), max(rowid) FROM NVTX_EVENTS", "20000|20000");
    assert_rows(&kit, "PRAGMA integrity_check", "ok");
    kit_close(&kit);
}

Test(store, moves_the_wal_at_its_cap) {
    struct kit kit;
    kit_folder(&kit);
    kit.options.wal_cap_pages = 50;
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    for (int i = 0; i < 100; i++) {
        add_some(&kit, 100);
        kit_commit(&kit);
    }
    cr_assert_lt(store_wal_bytes(kit.store), 100 * 4120);
    cr_assert_gt(store_file_bytes(kit.store), 100 * 4096);
    kit_close(&kit);
}

Test(store, goes_on_while_a_reader_holds_its_snapshot) {
    struct kit kit;
    kit_folder(&kit);
    kit.options.wal_cap_pages = 50;
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    add_some(&kit, 100);
    kit_commit(&kit);
    sqlite3 *db;
    sqlite3_open(kit.path, &db);
    cr_assert_eq(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM NVTX_EVENTS", NULL, NULL, NULL),
                 SQLITE_OK);
    for (int i = 0; i < 50; i++) {
        add_some(&kit, 100);
        kit_commit(&kit);
    }
    struct store_checkpointed done;
    cr_assert_eq(store_checkpoint(kit.store, &done), STORE_DONE);
    cr_assert(done.pinned);
    sqlite3_close(db);
    cr_assert_eq(store_checkpoint(kit.store, &done), STORE_DONE);
    cr_assert(!done.pinned);
    cr_assert_eq(store_wal_bytes(kit.store), 0);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "5100");
    kit_close(&kit);
}

Test(store, gives_totals_of_events_alone) {
    struct kit kit;
    struct store_totals totals;
    kit_open(&kit);
    cr_assert_eq(store_totals_load(kit.store, &totals), STORE_DONE);
    cr_assert_eq(totals.events, 0);
    cr_assert_eq(totals.first_ns, 0);
    struct nvtxt_event event = kit_range(-5, 900, "a");
    kit_add(&kit, 1, &event);
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY,
                              .text = NVTXT_SLICE("n"),
                              .category = 1,
                              .at = -100,
                              .at_pid = PID,
                              .at_tid = TID};
    kit_add_name(&kit, &source, &name);
    cr_assert_eq(store_batch_loss(kit.batch, 1, 0, 2, 3, "dropped", 4), 0);
    kit_commit(&kit);
    cr_assert_eq(store_totals_load(kit.store, &totals), STORE_DONE);
    cr_assert_eq(totals.events, 1);
    cr_assert_eq(totals.first_ns, -5);
    cr_assert_eq(totals.last_ns, 900);
    cr_assert_eq(totals.sources, 1);
    cr_assert_eq(totals.losses, 1);
    kit_close(&kit);
}

Test(store, counts_rows_that_others_wrote_too) {
    struct kit kit;
    struct store_totals totals;
    kit_open(&kit);
    add_some(&kit, 3);
    kit_commit(&kit);
    kit_exec(&kit, "INSERT INTO NVTX_EVENTS (start, end, eventType, rangeId, text, category, "
                   "color, globalTid, domainId) VALUES (1, 99999, 34, 0, 'foreign', 0, 0, 0, 0)");
    cr_assert_eq(store_totals_load(kit.store, &totals), STORE_DONE);
    cr_assert_eq(totals.events, 4);
    cr_assert_eq(totals.first_ns, 1);
    cr_assert_eq(totals.last_ns, 99999);
    kit_close(&kit);
}

Test(store, counts_source_ids_on_from_the_largest) {
    struct kit kit;
    kit_open(&kit);
    cr_assert_eq(store_next_source_id(kit.store), 1);
    store_batch_source(kit.batch, &(struct store_source){.id = 41});
    kit_commit(&kit);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    cr_assert_eq(store_next_source_id(kit.store), 42);
    kit_close(&kit);
}
