// SPDX-License-Identifier: Apache-2.0
//
// One transaction, without a journal to speak of: nobody looks at the file before it is complete.
// Events of one time of commit are a batch, and those of one source in a row a range of rows of
// that source. Rows of names stand after all events, so none is among those of a source.
#include "store/follow/rebuild.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/connection.h"
#include "store/db/result.h"
#include "store/db/sql.h"
#include "store/read/event_members.h"
#include "store/segment/store_id.h"
#include "store/value/codes.h"
#include "store/value/intern.h"
#include "store/value/record.h"
#include "store/write/name_rows.h"

enum statement {
    ADD_EVENT,
    ADD_STRING,
    ADD_BATCH,
    ADD_RUN,
    ADD_UNCLOSED,
    ADD_SOURCE,
    ADD_DIAGNOSTIC,
    ADD_LOSS,
    ADD_DOMAIN,
    ADD_PROCESS,
    ADD_THREAD,
    ADD_NAME,
    ADD_NAME_ROW,
    FIND_THREAD,
    STATEMENTS
};

static const char *const texts[STATEMENTS] = {
    [ADD_EVENT] =
        "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, "
        "globalTid, domainId, endGlobalTid, textId, uint64Value, int64Value, doubleValue, "
        "uint32Value, int32Value, floatValue, jsonText) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
        "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    [ADD_STRING] = "INSERT INTO StringIds (id, value) VALUES (?, ?)",
    [ADD_BATCH] = "INSERT INTO NVTXT_BATCHES (firstRow, lastRow, minStart, maxEnd, committedNs, "
                  "events) VALUES (?, ?, ?, ?, ?, ?)",
    [ADD_RUN] = "INSERT INTO NVTXT_EVENT_SOURCES (firstRow, lastRow, sourceId) VALUES (?, ?, ?)",
    [ADD_UNCLOSED] = "INSERT INTO NVTXT_UNCLOSED (eventRow) VALUES (?)",
    [ADD_SOURCE] =
        "INSERT OR REPLACE INTO NVTXT_SOURCES (id, kind, sessionId, name, displayName, peerComm, "
        "ended, peerPid, peerUid, peerGid, openedNs, closedNs, lines, events, warnings, errors, "
        "firstNs, lastNs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_DIAGNOSTIC] = "INSERT INTO NVTXT_DIAGNOSTICS (sourceId, line, \"column\", atNs, severity, "
                       "stage, code, message, excerpt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_LOSS] = "INSERT INTO NVTXT_LOSSES (atNs, sourceId, uid, pid, reason, count) "
                 "VALUES (?, ?, ?, ?, ?, ?)",
    [ADD_DOMAIN] = "INSERT OR IGNORE INTO NVTXT_DOMAINS (id, name) VALUES (?, ?)",
    [ADD_PROCESS] = "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?, ?, ?)",
    [ADD_THREAD] = "INSERT INTO ThreadNames (nameId, globalTid) VALUES (?, ?)",
    [ADD_NAME] =
        "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, "
        "globalTid, domainId, textId) VALUES (?1, ?2, ?2, ?3, 0, ?4, ?5, 0, ?6, ?7, ?8)",
    [ADD_NAME_ROW] =
        "INSERT OR IGNORE INTO NVTXT_NAME_ROWS (kind, domainId, key, row) VALUES (?, ?, ?, ?)",
    [FIND_THREAD] = "SELECT ifnull(min(key), 0) FROM NVTXT_NAME_ROWS WHERE kind = 2 AND "
                    "domainId = 0 AND key BETWEEN ?1 AND ?2",
};

struct batch { // events 0: none
    int64_t first, last, min_start, max_end, committed_ns, events;
};

struct run { // last 0: none
    int64_t first, last, source_id;
};

struct store_rebuild {
    sqlite3 *db;
    char *path; // owned
    sqlite3_stmt *stmts[STATEMENTS];
    struct store_intern intern;
    int64_t next_row, next_string;
    int64_t last_start; // of the last event: where names stand
    struct batch batch;
    struct run run;
    bool has_nvtx; // payloads or JSON that need the extension
    char error[512];
};

static int result_of(struct store_rebuild *rebuild, int rc) {
    return store_result_say(rebuild->db, rc, "write", rebuild->path, rebuild->error,
                            sizeof(rebuild->error));
}

static sqlite3_stmt *prepare(struct store_rebuild *rebuild, enum statement which, int *rc) {
    *rc = *rc ?: store_sql_prepare(rebuild->db, &rebuild->stmts[which], texts[which]);
    return rebuild->stmts[which];
}

#define RUN(rebuild, which, types, ...)                                                            \
    (store_sql_prepare((rebuild)->db, &(rebuild)->stmts[which], texts[which])                      \
         ?: store_sql_bind((rebuild)->stmts[which], types, __VA_ARGS__)                            \
         ?: store_sql_run((rebuild)->stmts[which]))

// ---- Opening ------------------------------------------------------------------------------------

static int begin(struct store_rebuild *rebuild) {
    int rc = store_id_renew(rebuild->db);
    rc = rc ?: store_intern_init(&rebuild->intern) < 0 ? SQLITE_NOMEM : SQLITE_OK;
    rebuild->next_row = rebuild->next_string = 1;
    return rc ?: store_sql_exec(rebuild->db, "BEGIN");
}

int store_rebuild_open(struct store_rebuild **out, const char *path, uint32_t mode, char *error,
                       size_t size) {
    const struct store_options options = {.plain = true, .file_mode = mode};
    struct store_rebuild *rebuild = calloc(1, sizeof(*rebuild));
    *out = NULL;
    if (!rebuild || !(rebuild->path = strdup(path))) {
        free(rebuild);
        snprintf(error, size, "cannot write %s: out of memory", path);
        return -ENOMEM;
    }
    int result = store_connection_open(&rebuild->db, path, &options, error, size);
    if (result == STORE_DONE) {
        result = result_of(rebuild, begin(rebuild));
        snprintf(error, size, "%s", rebuild->error);
    }
    if (result != STORE_DONE) {
        store_rebuild_close(rebuild);
        return result;
    }
    *out = rebuild;
    return STORE_DONE;
}

void store_rebuild_close(struct store_rebuild *rebuild) {
    if (!rebuild) {
        return;
    }
    store_sql_finalize(rebuild->stmts, STATEMENTS);
    sqlite3_close(rebuild->db);
    store_intern_deinit(&rebuild->intern);
    free(rebuild->path);
    free(rebuild);
}

const char *store_rebuild_error(const struct store_rebuild *rebuild) {
    return rebuild->error;
}

// ---- Events -------------------------------------------------------------------------------------

static int add_string(struct store_rebuild *rebuild, struct nvtxt_slice text, int64_t *id) {
    *id = rebuild->next_string++;
    return RUN(rebuild, ADD_STRING, "is", *id, text.data, text.len);
}

static int intern(struct store_rebuild *rebuild, struct nvtxt_slice text, int64_t *id) {
    uint32_t hash = store_text_hash(text.data, text.len);
    *id = store_intern_find(&rebuild->intern, hash, text.data, text.len);
    if (*id >= 0) {
        return SQLITE_OK;
    }
    int rc = add_string(rebuild, text, id);
    if (rc == SQLITE_OK) {
        store_intern_add(&rebuild->intern, hash, text.data, text.len, *id);
    }
    return rc;
}

static int end_run(struct store_rebuild *rebuild) {
    const struct run *run = &rebuild->run;
    int rc =
        run->last ? RUN(rebuild, ADD_RUN, "iii", run->first, run->last, run->source_id) : SQLITE_OK;
    rebuild->run = (struct run){0};
    return rc;
}

static int end_batch(struct store_rebuild *rebuild) {
    const struct batch *batch = &rebuild->batch;
    int rc = end_run(rebuild);
    if (batch->events > 0) {
        rc = rc
                 ?: RUN(rebuild, ADD_BATCH, "iiiiii", batch->first, batch->last, batch->min_start,
                        batch->max_end, batch->committed_ns, batch->events);
    }
    rebuild->batch = (struct batch){0};
    return rc;
}

static int bind_payload(sqlite3_stmt *stmt, const struct nvtxt_payload *payload) {
    const int first = 13; // of the columns of payloads
    int rc = SQLITE_OK;
    for (int i = 0; i < STORE_EVENT_PAYLOAD_COLUMNS; i++) {
        rc = rc ?: sqlite3_bind_null(stmt, first + i);
    }
    if (payload->kind == NVTXT_PAYLOAD_NONE) {
        return rc;
    }
    int column = first + (int)store_event_payload_column(payload->kind) - 1;
    bool real = payload->kind == NVTXT_PAYLOAD_DOUBLE || payload->kind == NVTXT_PAYLOAD_FLOAT;
    return rc
               ?: real ? sqlite3_bind_double(stmt, column, payload->real)
                       : sqlite3_bind_int64(stmt, column, payload->int64);
}

static int insert_event(struct store_rebuild *rebuild, const struct store_read_event *event,
                        int64_t row) {
    int64_t text_id;
    int rc = intern(rebuild, event->text, &text_id);
    sqlite3_stmt *stmt = prepare(rebuild, ADD_EVENT, &rc);
    rc = rc
             ?: store_sql_bind(stmt, "iiiiisiiii", row, event->start, event->end,
                               (int64_t)event->type, event->type == NVTXT_EVENT_START_END ? row : 0,
                               event->text.data, event->text.len, (int64_t)event->category,
                               (int64_t)event->color, (int64_t)event->global_tid, event->domain_id);
    rc = rc
             ?: event->ended_elsewhere
                ? sqlite3_bind_int64(stmt, 11, (int64_t)event->end_global_tid)
                : sqlite3_bind_null(stmt, 11);
    rc = rc ?: sqlite3_bind_int64(stmt, 12, text_id);
    rc = rc ?: bind_payload(stmt, &event->payload);
    rc = rc
             ?: event->json.len > 0
                ? sqlite3_bind_text(stmt, 19, event->json.data, (int)event->json.len, SQLITE_STATIC)
                : sqlite3_bind_null(stmt, 19);
    return rc ?: store_sql_run(stmt);
}

static void count_in(struct batch *batch, const struct store_follow_event *event, int64_t row) {
    if (batch->events++ == 0) {
        *batch = (struct batch){.first = row,
                                .min_start = event->event.start,
                                .max_end = event->event.end,
                                .committed_ns = event->committed_ns,
                                .events = 1};
    }
    batch->last = row;
    batch->min_start =
        event->event.start < batch->min_start ? event->event.start : batch->min_start;
    batch->max_end = event->event.end > batch->max_end ? event->event.end : batch->max_end;
}

static int add_event(struct store_rebuild *rebuild, const struct store_follow_event *event) {
    int rc = SQLITE_OK;
    int64_t row = rebuild->next_row;
    if (rebuild->batch.events > 0 && rebuild->batch.committed_ns != event->committed_ns) {
        rc = end_batch(rebuild);
    } else if (rebuild->run.last > 0 && rebuild->run.source_id != event->source_id) {
        rc = end_run(rebuild);
    }
    rc = rc ?: insert_event(rebuild, &event->event, row);
    if (event->unclosed) {
        rc = rc ?: RUN(rebuild, ADD_UNCLOSED, "i", row);
    }
    if (rc == SQLITE_OK) {
        count_in(&rebuild->batch, event, row);
        rebuild->run =
            (struct run){rebuild->run.last ? rebuild->run.first : row, row, event->source_id};
        rebuild->last_start = event->event.start;
        rebuild->has_nvtx |=
            event->event.json.len > 0 || event->event.payload.kind > NVTXT_PAYLOAD_DOUBLE;
        rebuild->next_row++;
    }
    return rc;
}

int store_rebuild_event(struct store_rebuild *rebuild, const struct store_follow_event *event) {
    return result_of(rebuild, add_event(rebuild, event));
}

// ---- Rows that nothing else needs ---------------------------------------------------------------

static int bind_maybe(sqlite3_stmt *stmt, int index, const struct store_maybe *value) {
    return value->is_set ? sqlite3_bind_int64(stmt, index, value->value)
                         : sqlite3_bind_null(stmt, index);
}

static int bind_text(sqlite3_stmt *stmt, int index, struct nvtxt_slice text) {
    return text.data ? sqlite3_bind_text(stmt, index, text.data, (int)text.len, SQLITE_STATIC)
                     : sqlite3_bind_null(stmt, index);
}

int store_rebuild_source(struct store_rebuild *rebuild, const struct store_follow_source *source) {
    const struct nvtxt_slice words[] = {source->kind,         source->session,   source->name,
                                        source->display_name, source->peer_comm, source->ended};
    const struct store_maybe numbers[] = {source->peer_pid,  source->peer_uid,  source->peer_gid,
                                          source->opened_ns, source->closed_ns, source->lines,
                                          source->events,    source->warnings,  source->errors,
                                          source->first_ns,  source->last_ns};
    int rc = SQLITE_OK;
    int index = 2;
    sqlite3_stmt *stmt = prepare(rebuild, ADD_SOURCE, &rc);
    rc = rc ?: sqlite3_bind_int64(stmt, 1, source->id);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        rc = rc ?: bind_text(stmt, index++, words[i]);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        rc = rc ?: bind_maybe(stmt, index++, &numbers[i]);
    }
    return result_of(rebuild, rc ?: store_sql_run(stmt));
}

int store_rebuild_diagnostic(struct store_rebuild *rebuild,
                             const struct store_follow_diagnostic *row) {
    const struct store_maybe numbers[] = {row->source_id, row->line, row->column, row->at_ns};
    const struct nvtxt_slice words[] = {row->severity, row->stage, row->code, row->message,
                                        row->excerpt};
    int rc = SQLITE_OK;
    int index = 1;
    sqlite3_stmt *stmt = prepare(rebuild, ADD_DIAGNOSTIC, &rc);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        rc = rc ?: bind_maybe(stmt, index++, &numbers[i]);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        rc = rc ?: bind_text(stmt, index++, words[i]);
    }
    return result_of(rebuild, rc ?: store_sql_run(stmt));
}

int store_rebuild_loss(struct store_rebuild *rebuild, const struct store_follow_loss *row) {
    const struct store_maybe numbers[] = {row->at_ns, row->source_id, row->uid, row->pid};
    int rc = SQLITE_OK;
    int index = 1;
    sqlite3_stmt *stmt = prepare(rebuild, ADD_LOSS, &rc);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        rc = rc ?: bind_maybe(stmt, index++, &numbers[i]);
    }
    rc = rc ?: bind_text(stmt, index++, row->reason);
    rc = rc ?: sqlite3_bind_int64(stmt, index, row->count);
    return result_of(rebuild, rc ?: store_sql_run(stmt));
}

int store_rebuild_domain(struct store_rebuild *rebuild, const struct store_follow_domain *row) {
    return result_of(rebuild,
                     RUN(rebuild, ADD_DOMAIN, "is", row->id, row->name.data, row->name.len));
}

// ---- Names --------------------------------------------------------------------------------------

struct name_row {
    int64_t type, domain, category, global_tid;
    struct nvtxt_slice text;
    int64_t text_id;
};

static int add_name_row(struct store_rebuild *rebuild, const struct name_row *name, int64_t kind,
                        int64_t key) {
    int64_t row = rebuild->next_row++;
    int rc = end_batch(rebuild);
    rc = rc
             ?: RUN(rebuild, ADD_NAME, "iiisiiii", row, rebuild->last_start, name->type,
                    name->text.data, name->text.len, name->category, name->global_tid, name->domain,
                    name->text_id);
    return rc
               ?: RUN(rebuild, ADD_NAME_ROW, "iiii", kind,
                      name->type == NVTXT_EVENT_THREAD ? 0 : name->domain, key, row);
}

static int add_process(struct store_rebuild *rebuild, int64_t pid, struct nvtxt_slice name) {
    int rc = RUN(rebuild, ADD_PROCESS, "iis", pid << 24, pid, name.data, name.len);
    return rc
               ?: RUN(rebuild, ADD_NAME_ROW, "iiii", (int64_t)STORE_ROW_PROCESS, (int64_t)0, pid,
                      (int64_t)sqlite3_last_insert_rowid(rebuild->db));
}

int store_rebuild_process(struct store_rebuild *rebuild, const struct store_follow_name *row) {
    return result_of(rebuild, add_process(rebuild, row->id, row->name));
}

static struct nvtxt_slice default_name(char *text, size_t size, const char *what, int64_t number) {
    snprintf(text, size, "%s %" PRId64, what, number);
    return nvtxt_slice_of(text);
}

// A name that is not the default one was given, and stands among the events, too.
static int add_thread(struct store_rebuild *rebuild, int64_t global_tid, struct nvtxt_slice name) {
    char text[48];
    struct name_row row = {.type = NVTXT_EVENT_THREAD, .global_tid = global_tid, .text = name};
    bool is_default = nvtxt_slice_equal(
        name, default_name(text, sizeof(text), "Thread", global_tid & NVTXT_ID_MAX));
    int rc = add_string(rebuild, name, &row.text_id);
    rc = rc ?: RUN(rebuild, ADD_THREAD, "ii", row.text_id, global_tid);
    rc = rc
             ?: RUN(rebuild, ADD_NAME_ROW, "iiii", (int64_t)STORE_ROW_THREAD, (int64_t)0,
                    global_tid, row.text_id);
    return rc != SQLITE_OK || is_default ? rc : add_name_row(rebuild, &row, row.type, global_tid);
}

int store_rebuild_thread(struct store_rebuild *rebuild, const struct store_follow_name *row) {
    return result_of(rebuild, add_thread(rebuild, row->id, row->name));
}

_Static_assert(STORE_ROW_THREAD == 2, "the kind in the statement");

// A thread of the process; its main thread, if none is known.
static int find_thread(struct store_rebuild *rebuild, int64_t pid, int64_t *global_tid) {
    int rc = SQLITE_OK;
    sqlite3_stmt *stmt = prepare(rebuild, FIND_THREAD, &rc);
    rc = rc ?: store_sql_bind(stmt, "ii", pid << 24, pid << 24 | NVTXT_ID_MAX);
    rc = rc ?: store_sql_run_int(stmt, global_tid);
    *global_tid = *global_tid ? *global_tid : pid << 24 | pid;
    return rc;
}

// A category without a process is of an older version; see name_rows.h.
static int add_category(struct store_rebuild *rebuild, const struct store_follow_category *row) {
    struct name_row name = {.type = NVTXT_EVENT_CATEGORY,
                            .domain = row->domain_id,
                            .category = row->category,
                            .text = row->name};
    int64_t key = (int64_t)((uint64_t)row->pid << 32 | (uint64_t)row->category);
    int rc = find_thread(rebuild, row->pid, &name.global_tid);
    rc = rc ?: intern(rebuild, row->name, &name.text_id);
    return rc ?: add_name_row(rebuild, &name, row->pid ? STORE_ROW_CATEGORY : name.type, key);
}

int store_rebuild_category(struct store_rebuild *rebuild, const struct store_follow_category *row) {
    return result_of(rebuild, add_category(rebuild, row));
}

// ---- The end ------------------------------------------------------------------------------------

// Calls `add` for each row of a query.
static int for_each(struct store_rebuild *rebuild, const char *query,
                    int (*add)(struct store_rebuild *rebuild, sqlite3_stmt *stmt)) {
    sqlite3_stmt *stmt = NULL;
    int rc = store_sql_prepare(rebuild->db, &stmt, query);
    while (store_sql_next(stmt, &rc)) {
        rc = add(rebuild, stmt);
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int add_missing_thread(struct store_rebuild *rebuild, sqlite3_stmt *stmt) {
    char text[48];
    int64_t global_tid = sqlite3_column_int64(stmt, 0);
    return add_thread(rebuild, global_tid,
                      default_name(text, sizeof(text), "Thread", global_tid & NVTXT_ID_MAX));
}

static int add_missing_process(struct store_rebuild *rebuild, sqlite3_stmt *stmt) {
    char text[48];
    int64_t pid = sqlite3_column_int64(stmt, 0);
    return add_process(rebuild, pid, default_name(text, sizeof(text), "Process", pid));
}

static int add_used_domain(struct store_rebuild *rebuild, sqlite3_stmt *stmt) {
    const char *text = (const char *)sqlite3_column_text(stmt, 2);
    struct name_row name = {.type = NVTXT_EVENT_DOMAIN,
                            .domain = sqlite3_column_int64(stmt, 0),
                            .global_tid = sqlite3_column_int64(stmt, 1),
                            .text = {text, (size_t)sqlite3_column_bytes(stmt, 2)}};
    int rc = text ? intern(rebuild, name.text, &name.text_id) : SQLITE_NOMEM;
    return rc ?: add_name_row(rebuild, &name, name.type, name.global_tid >> 24);
}

// Materialized first, because rows are added to the same tables meanwhile.
static const char missing_threads[] =
    "SELECT * FROM (SELECT DISTINCT globalTid FROM NVTX_EVENTS WHERE globalTid NOT IN "
    "(SELECT globalTid FROM ThreadNames) ORDER BY globalTid)";
static const char missing_processes[] =
    "SELECT * FROM (SELECT DISTINCT globalTid / 0x1000000 AS pid FROM ThreadNames WHERE "
    "globalTid / 0x1000000 NOT IN (SELECT pid FROM PROCESSES) ORDER BY pid)";
static const char used_domains[] =
    "SELECT u.domainId, u.tid, d.name FROM (SELECT domainId, min(globalTid) AS tid FROM "
    "NVTX_EVENTS WHERE domainId <> 0 GROUP BY domainId, globalTid / 0x1000000 ORDER BY domainId, "
    "tid) u JOIN NVTXT_DOMAINS d ON d.id = u.domainId ORDER BY u.domainId, u.tid";

static const char count_events[] =
    "CREATE TEMP TABLE stored AS SELECT sourceId, sum(lastRow - firstRow + 1) AS events FROM "
    "NVTXT_EVENT_SOURCES GROUP BY sourceId;"
    "CREATE UNIQUE INDEX temp.stored_id ON stored (sourceId);"
    "UPDATE NVTXT_SOURCES SET events = ifnull(events, 0);"
    "UPDATE NVTXT_SOURCES SET priorEvents = nullif(events - ifnull((SELECT s.events FROM stored s "
    "WHERE s.sourceId = NVTXT_SOURCES.id), 0), 0)";
static const char drop_unused[] =
    "DELETE FROM NVTXT_SOURCES WHERE id NOT IN (SELECT sourceId FROM stored) AND id NOT IN "
    "(SELECT sourceId FROM NVTXT_DIAGNOSTICS WHERE sourceId IS NOT NULL) AND id NOT IN "
    "(SELECT sourceId FROM NVTXT_LOSSES WHERE sourceId IS NOT NULL)";
static const char note_nvtx[] =
    "UPDATE NVTXT_SOURCES SET nvtx = 1 WHERE id IN (SELECT x.sourceId FROM NVTXT_EVENT_SOURCES x "
    "WHERE EXISTS (SELECT 1 FROM NVTX_EVENTS e WHERE e.rowid BETWEEN x.firstRow AND x.lastRow AND "
    "coalesce(e.uint64Value, e.uint32Value, e.int32Value, e.floatValue, e.jsonText) IS NOT NULL))";

static int finish(struct store_rebuild *rebuild, bool only_used) {
    int rc = end_batch(rebuild);
    rc = rc ?: for_each(rebuild, used_domains, add_used_domain);
    rc = rc ?: for_each(rebuild, missing_threads, add_missing_thread);
    rc = rc ?: for_each(rebuild, missing_processes, add_missing_process);
    rc = rc ?: store_sql_exec(rebuild->db, count_events);
    rc = rc ?: only_used ? store_sql_exec(rebuild->db, drop_unused) : SQLITE_OK;
    rc = rc ?: rebuild->has_nvtx ? store_sql_exec(rebuild->db, note_nvtx) : SQLITE_OK;
    rc = rc ?: store_sql_exec(rebuild->db, "DROP TABLE stored");
    return rc ?: store_sql_exec(rebuild->db, "COMMIT");
}

int store_rebuild_finish(struct store_rebuild *rebuild, bool only_used) {
    return result_of(rebuild, finish(rebuild, only_used));
}
