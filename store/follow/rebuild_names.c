// SPDX-License-Identifier: Apache-2.0
//
// Names that were given are rows of NVTX_EVENTS, too. They stand after all events, so none is among
// those of a source. The end adds what events use and no row named.
#include <inttypes.h>
#include <stdio.h>

#include "protocol/base/limits.h"
#include "store/follow/rebuild.h"
#include "store/follow/rebuild_state.h"
#include "store/write/name_rows.h"

struct name_row {
    int64_t type, domain, category, global_tid;
    struct nvtxt_slice text;
    int64_t text_id;
};

static int add_name_row(struct store_rebuild *rebuild, const struct name_row *name, int64_t kind,
                        int64_t key) {
    int64_t row = rebuild->next_row++;
    int rc = store_rebuild_end_batch(rebuild);
    if (rc == 0) {
        rc = STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_NAME, "iiisiiii", row,
                               rebuild->last_start, name->type, name->text.data, name->text.len,
                               name->category, name->global_tid, name->domain, name->text_id);
    }
    if (rc != 0) {
        return rc;
    }
    return STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_NAME_ROW, "iiii", kind,
                             name->type == NVTXT_EVENT_THREAD ? 0 : name->domain, key, row);
}

static int add_process(struct store_rebuild *rebuild, int64_t pid, struct nvtxt_slice name) {
    int rc = STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_PROCESS, "iis", pid << 24, pid, name.data,
                               name.len);
    if (rc != 0) {
        return rc;
    }
    return STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_NAME_ROW, "iiii",
                             (int64_t)STORE_ROW_PROCESS, (int64_t)0, pid,
                             (int64_t)sqlite3_last_insert_rowid(rebuild->db));
}

int store_rebuild_process(struct store_rebuild *rebuild, const struct store_follow_name *row) {
    return store_rebuild_result(rebuild, add_process(rebuild, row->id, row->name));
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
    int rc = store_rebuild_add_string(rebuild, name, &row.text_id);
    rc = rc ?: STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_THREAD, "ii", row.text_id, global_tid);
    if (rc == 0) {
        rc = STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_NAME_ROW, "iiii",
                               (int64_t)STORE_ROW_THREAD, (int64_t)0, global_tid, row.text_id);
    }
    return rc != SQLITE_OK || is_default ? rc : add_name_row(rebuild, &row, row.type, global_tid);
}

int store_rebuild_thread(struct store_rebuild *rebuild, const struct store_follow_name *row) {
    return store_rebuild_result(rebuild, add_thread(rebuild, row->id, row->name));
}

_Static_assert(STORE_ROW_THREAD == 2, "the kind in the statement");

// A thread of the process; its main thread, if none is known.
static int find_thread(struct store_rebuild *rebuild, int64_t pid, int64_t *global_tid) {
    int rc = store_rebuild_ready(rebuild, STORE_REBUILD_FIND_THREAD);
    sqlite3_stmt *stmt = rebuild->stmts[STORE_REBUILD_FIND_THREAD];
    rc = rc ?: store_sql_bind(stmt, "ii", pid << 24, pid << 24 | NVTXT_ID_MAX);
    rc = rc ?: store_sql_run_int(stmt, global_tid);
    *global_tid = *global_tid ? *global_tid : pid << 24 | pid;
    return rc;
}

// The row of a name for all processes stands with a thread of process 0.
static int add_category(struct store_rebuild *rebuild, const struct store_follow_category *row) {
    struct name_row name = {.type = NVTXT_EVENT_CATEGORY,
                            .domain = row->domain_id,
                            .category = row->category,
                            .text = row->name};
    bool for_all = row->pid == STORE_FOLLOW_ALL_PROCESSES;
    int64_t pid = for_all ? 0 : row->pid;
    int64_t key = (int64_t)((uint64_t)pid << 32 | (uint64_t)row->category);
    int rc = find_thread(rebuild, pid, &name.global_tid);
    rc = rc ?: store_rebuild_intern(rebuild, row->name, &name.text_id);
    return rc ?: add_name_row(rebuild, &name, for_all ? name.type : STORE_ROW_CATEGORY, key);
}

int store_rebuild_category(struct store_rebuild *rebuild, const struct store_follow_category *row) {
    return store_rebuild_result(rebuild, add_category(rebuild, row));
}

// ---- What has no name ---------------------------------------------------------------------------

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
    int rc = text ? store_rebuild_intern(rebuild, name.text, &name.text_id) : SQLITE_NOMEM;
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

int store_rebuild_complete_names(struct store_rebuild *rebuild) {
    int rc = for_each(rebuild, used_domains, add_used_domain);
    rc = rc ?: for_each(rebuild, missing_threads, add_missing_thread);
    return rc ?: for_each(rebuild, missing_processes, add_missing_process);
}
