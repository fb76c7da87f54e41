// SPDX-License-Identifier: Apache-2.0
//
// There and back: a store whose rows a follower handed out, made again of them, says the same.
#include "store/follow/rebuild.h"

#include <limits.h>

#include "store/copy/verify.h"
#include "store/follow/follow.h"
#include "store/value/codes.h"
#include "tests/unit/store_kit.h"

static struct kit kit;
static char path[96]; // of the store that was made again
static struct store_follow *follow;
static struct store_rebuild *rebuild;

static void must(int result) {
    cr_assert_eq(result, STORE_DONE, "%d: %s", result, store_rebuild_error(rebuild));
}

static void bring_events(int from, int to) {
    const struct store_follow_event *events;
    size_t count;
    while (store_follow_events(follow, &events, &count) == STORE_DONE) {
        for (size_t i = 0; i < count; i++) {
            if (events[i].event.row >= from && events[i].event.row <= to) {
                must(store_rebuild_event(rebuild, &events[i]));
            }
        }
    }
}

// Brings all rows of a small table to a function of the new store.
#define BRING(table, row, to)                                                                      \
    do {                                                                                           \
        const void *rows_;                                                                         \
        size_t count_;                                                                             \
        while (store_follow_rows(follow, table, STORE_FOLLOW_CHANGED, &rows_, &count_) ==          \
               STORE_DONE) {                                                                       \
            for (size_t i_ = 0; i_ < count_; i_++) {                                               \
                must(to(rebuild, (const struct row *)rows_ + i_));                                 \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void bring(int from, int to) {
    struct store_place place = {0};
    struct store_gap gap;
    char error[PATH_MAX + 256];
    snprintf(path, sizeof(path), "%s/back", kit.folder);
    cr_assert_eq(store_follow_open(&follow, kit.path, error, sizeof(error)), STORE_DONE);
    cr_assert_eq(store_follow_seek(follow, &place, &gap), STORE_DONE);
    cr_assert_eq(store_rebuild_open(&rebuild, path, 0600, error, sizeof(error)), STORE_DONE, "%s",
                 error);
    bring_events(from, to);
    BRING(STORE_FOLLOW_DOMAINS, store_follow_domain, store_rebuild_domain);
    BRING(STORE_FOLLOW_PROCESSES, store_follow_name, store_rebuild_process);
    BRING(STORE_FOLLOW_THREADS, store_follow_name, store_rebuild_thread);
    BRING(STORE_FOLLOW_CATEGORIES, store_follow_category, store_rebuild_category);
    BRING(STORE_FOLLOW_SOURCES, store_follow_source, store_rebuild_source);
    BRING(STORE_FOLLOW_DIAGNOSTICS, store_follow_diagnostic, store_rebuild_diagnostic);
    BRING(STORE_FOLLOW_LOSSES, store_follow_loss, store_rebuild_loss);
    must(store_rebuild_finish(rebuild, from > 0));
    store_rebuild_close(rebuild);
    store_follow_close(follow);
}

static const char *text_of(const char *file, const char *sql) {
    char before[sizeof(kit.path)];
    snprintf(before, sizeof(before), "%s", kit.path);
    if (file == path) {
        snprintf(kit.path, sizeof(kit.path), "%s", path);
    }
    const char *text = kit_text(&kit, sql);
    snprintf(kit.path, sizeof(kit.path), "%s", before);
    return text;
}

static void same(const char *sql) {
    static char wanted[sizeof(kit.text)];
    strcpy(wanted, text_of(kit.path, sql));
    cr_assert_gt(strlen(wanted), 0, "%s", sql);
    cr_assert_str_eq(text_of(path, sql), wanted, "%s", sql);
}

static void is_sound(const char *file) {
    struct store_findings findings = {0};
    cr_assert_eq(store_verify(file, NULL, NULL, &findings), STORE_DONE);
    cr_assert_eq(findings.problems, 0, "%s",
                 findings.count > 0 ? findings.rows[0].text : "no sentence");
    store_findings_deinit(&findings);
}

static void name(const struct store_source *source, enum nvtxt_name_kind kind, const char *text) {
    struct nvtxt_name given = {.kind = kind,
                               .category = 7,
                               .pid = PID,
                               .tid = TID,
                               .at_pid = PID,
                               .at_tid = TID,
                               .at = 10,
                               .text = nvtxt_slice_of(text)};
    kit_add_name(&kit, source, &given);
}

static void add(struct store_source *source, struct nvtxt_event event) {
    struct nvtxt_sink sink = kit_sink(&kit, source);
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
}

// Two sources in turns, names, payloads of each type, JSON, a domain, an open end, another
// thread's.
static void fill(void) {
    struct store_source first = kit_source(3), second = kit_source(5);
    first.name = "first";
    name(&first, NVTXT_NAME_CATEGORY, "storage");
    name(&first, NVTXT_NAME_THREAD, "main");
    name(&first, NVTXT_NAME_PROCESS, "the service");
    for (int i = 0; i < 20; i++) {
        struct nvtxt_event event =
            i % 3 ? kit_mark(10 + i, "mark") : kit_range(i, 30 + i, "a\t\\N");
        event.category = i % 2 ? 7 : 0;
        event.color = i % 5 ? 0 : 0xFF00FF00;
        event.tid = TID + (uint32_t)(i % 4);
        event.unclosed = i == 6;
        event.domain = i % 4 == 1 ? nvtxt_slice_of("io") : (struct nvtxt_slice){0};
        event.payload.kind = (enum nvtxt_payload_kind)(i % 7);
        event.payload.int64 = 0;
        if (event.payload.kind == NVTXT_PAYLOAD_DOUBLE ||
            event.payload.kind == NVTXT_PAYLOAD_FLOAT) {
            event.payload.real = 0.5;
        } else {
            event.payload.int64 = event.payload.kind == NVTXT_PAYLOAD_UINT64 ? -1 : 3;
        }
        event.json = i == 9 ? nvtxt_slice_of("{\"a\":1}") : (struct nvtxt_slice){0};
        event.ended_elsewhere = i == 12;
        event.end_pid = PID;
        event.end_tid = TID + 9;
        add(i % 2 ? &first : &second, event);
        if (i % 6 == 5) {
            kit_commit(&kit);
        }
    }
    kit_commit(&kit);
    kit_exec(&kit,
             "UPDATE NVTXT_SOURCES SET nvtx = 1, levels = (id = 3), warnings = 1, events = (SELECT "
             "sum(lastRow - firstRow + 1) FROM NVTXT_EVENT_SOURCES WHERE sourceId = id)");
    kit_exec(&kit, "INSERT INTO NVTXT_DIAGNOSTICS VALUES (3, 2, 3, 'warning', 'parse', 'code', "
                   "'message', 'excerpt', 4)");
    kit_exec(&kit, "INSERT INTO NVTXT_LOSSES VALUES (5, 3, 1000, 77, 'quota', 9)");
}

Test(rebuild, makes_a_store_that_says_the_same) {
    kit_open(&kit);
    fill();
    is_sound(kit.path);
    bring(0, INT_MAX);
    is_sound(path);
    same("SELECT utcTime, duration, kind, message, category, color, process, thread, source, "
         "domain, payload, pid, tid, start, \"end\", globalTid, domainId, categoryId, sourceId, "
         "level FROM NVTXT_TIMELINE WHERE start < 15");
    same("SELECT utcTime, duration, kind, message, category, color, process, thread, source, "
         "domain, payload, pid, tid, start, \"end\", globalTid, domainId, categoryId, sourceId, "
         "level FROM NVTXT_TIMELINE WHERE start >= 15");
    same("SELECT endGlobalTid, uint64Value, int64Value, doubleValue, uint32Value, int32Value, "
         "floatValue, jsonText FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)");
    same("SELECT id, kind, name, openedNs, lines, events, warnings, errors, levels FROM "
         "NVTXT_SOURCES");
    same("SELECT * FROM NVTXT_DIAGNOSTICS");
    same("SELECT * FROM NVTXT_LOSSES");
    same("SELECT committedNs, events, minStart, maxEnd FROM NVTXT_BATCHES");
    same("SELECT eventType, text, category, domainId FROM NVTX_EVENTS WHERE eventType IN "
         "(33, 39, 75) ORDER BY eventType, text");
    same("SELECT p.pid, p.name FROM PROCESSES p ORDER BY pid");
    same("SELECT t.globalTid, s.value FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId "
         "ORDER BY 1");
    char id[64];
    strcpy(id, text_of(kit.path, "SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'"));
    cr_assert_str_neq(text_of(path, "SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'"),
                      id);
    cr_assert_str_eq(text_of(path, "PRAGMA journal_mode"), "delete");
    unlink(path);
    kit_close(&kit);
}

Test(rebuild, of_a_store_of_an_older_version_has_no_levels_and_no_parents) {
    kit_open(&kit);
    fill();
    kit_exec(&kit, "DROP VIEW NVTXT_RECENT");
    kit_exec(&kit, "DROP VIEW NVTXT_TIMELINE");
    kit_exec(&kit, "DROP VIEW NVTXT_TREE");
    kit_exec(&kit, "DROP TABLE NVTXT_RANGE_KEYS");
    kit_exec(&kit, "ALTER TABLE NVTXT_SOURCES DROP COLUMN parent");
    kit_exec(&kit, "ALTER TABLE NVTXT_SOURCES DROP COLUMN levels");
    bring(0, INT_MAX);
    same("SELECT id, kind, name, events FROM NVTXT_SOURCES");
    cr_assert_str_eq(text_of(path, "SELECT DISTINCT levels FROM NVTXT_SOURCES"), "0");
    unlink(path);
    kit_close(&kit);
}

Test(rebuild, of_a_span_counts_what_is_there) {
    kit_open(&kit);
    fill();
    bring(8, 10);
    is_sound(path);
    cr_assert_str_eq(text_of(path, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN "
                                   "(34, 59, 60)"),
                     "3");
    cr_assert_str_eq(text_of(path, "SELECT sum(events - ifnull(priorEvents, 0)) FROM "
                                   "NVTXT_SOURCES"),
                     "3");
    unlink(path);
    kit_close(&kit);
}

Test(rebuild, of_nothing_is_a_store) {
    kit_open(&kit);
    bring(0, INT_MAX);
    is_sound(path);
    unlink(path);
    kit_close(&kit);
}

Test(rebuild, needs_no_more_memory_for_more_sources) {
    static char name[1000];
    char error[PATH_MAX + 256];
    struct store_follow_source source = {.kind = NVTXT_SLICE("session"),
                                         .name = {memset(name, 'n', sizeof(name)), sizeof(name)},
                                         .events = {true, 1}};
    kit_folder(&kit);
    snprintf(path, sizeof(path), "%s/back", kit.folder);
    cr_assert_eq(store_rebuild_open(&rebuild, path, 0600, error, sizeof(error)), STORE_DONE, "%s",
                 error);
    for (source.id = 1; source.id <= 20000; source.id++) {
        must(store_rebuild_source(rebuild, &source));
    }
    must(store_rebuild_finish(rebuild, false));
    store_rebuild_close(rebuild);
    cr_assert_lt(sqlite3_memory_highwater(0), 16 << 20); // the rows have 20 MB
    unlink(path);
    kit_close(&kit);
}

Test(rebuild, says_why_it_cannot_write) {
    char error[PATH_MAX + 256];
    cr_assert_neq(store_rebuild_open(&rebuild, "/nonexistent/back", 0600, error, sizeof(error)),
                  STORE_DONE);
    cr_assert_null(rebuild);
    cr_assert(strstr(error, "/nonexistent/back"), "%s", error);
}
