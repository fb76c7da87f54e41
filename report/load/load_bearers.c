// SPDX-License-Identifier: Apache-2.0
//
// Names of processes, threads and categories. All rows of names are read, and those that no event
// of the capture bears are left out. A later file of a store replaces the names of an earlier one.
// In an export, a category belongs to a process and a domain; in a store of an older version it may
// belong to all processes (kind 33).
#include <stdio.h>

#include "report/load/load_state.h"
#include "store/db/sql.h"

static struct nvtxt_slice text_at(sqlite3_stmt *row, int column, int *rc) {
    const char *data = (const char *)sqlite3_column_text(row, column);
    struct nvtxt_slice text = {data, (size_t)sqlite3_column_bytes(row, column)};
    if (!data && sqlite3_column_type(row, column) != SQLITE_NULL) {
        *rc = SQLITE_NOMEM;
    }
    return text;
}

static int name_process(struct report_load_state *load, const struct report_load_file *file,
                        sqlite3_stmt *row) {
    int rc = SQLITE_OK;
    uint32_t index;
    struct nvtxt_slice name = text_at(row, 1, &rc);
    uint64_t key = (uint64_t)sqlite3_column_int64(row, 0);
    uint64_t pid = file->ours ? key : (key & REPORT_TID_BITS) >> 24;
    if (rc == SQLITE_OK && name.data && nvtxt_map_get(&load->processes, pid, &index)) {
        rc = report_load_word(load, name, &load->capture->processes[index].name);
    }
    return rc;
}

static int name_thread(struct report_load_state *load, const struct report_load_file *file,
                       sqlite3_stmt *row) {
    (void)file;
    int rc = SQLITE_OK;
    uint32_t index;
    struct nvtxt_slice name = text_at(row, 1, &rc);
    uint64_t tid = (uint64_t)sqlite3_column_int64(row, 0) & REPORT_TID_BITS;
    if (rc == SQLITE_OK && name.data && nvtxt_map_get(&load->threads, tid, &index)) {
        rc = report_load_word(load, name, &load->capture->threads[index].name);
    }
    return rc;
}

static int add_category(struct report_load_state *load, uint32_t scope, uint32_t id,
                        struct nvtxt_slice name) {
    struct report_capture *capture = load->capture;
    struct nvtxt_slice word;
    int rc = report_load_word(load, name, &word);
    rc = rc ?: REPORT_GROW(load, categories, category_count);
    if (rc == SQLITE_OK) {
        capture->categories[capture->category_count++] =
            (struct report_category){.scope = scope, .id = id, .name = word};
    }
    return rc;
}

// Columns: PID, domain id, category, name.
static int name_category(struct report_load_state *load, const struct report_load_file *file,
                         sqlite3_stmt *row) {
    (void)file;
    int rc = SQLITE_OK;
    uint32_t scope;
    struct nvtxt_slice name = text_at(row, 3, &rc);
    if (rc == SQLITE_OK && name.data &&
        report_load_find_scope(load, (uint64_t)sqlite3_column_int64(row, 0),
                               sqlite3_column_int64(row, 1), &scope)) {
        rc = add_category(load, scope, (uint32_t)sqlite3_column_int64(row, 2), name);
    }
    return rc;
}

static int name_category_of_all(struct report_load_state *load, const struct report_load_file *file,
                                sqlite3_stmt *row) {
    const struct report_capture *capture = load->capture;
    int rc = SQLITE_OK;
    struct nvtxt_slice name = text_at(row, 3, &rc);
    for (uint32_t i = 0; i < capture->scope_count && rc == SQLITE_OK && name.data; i++) {
        if (capture->processes[capture->scopes[i].process].store == file->store &&
            capture->scopes[i].id == sqlite3_column_int64(row, 1)) {
            rc = add_category(load, i, (uint32_t)sqlite3_column_int64(row, 2), name);
        }
    }
    return rc;
}

static int each(struct report_load_state *load, const struct report_load_file *file,
                const char *sql,
                int (*take)(struct report_load_state *load, const struct report_load_file *file,
                            sqlite3_stmt *row)) {
    sqlite3_stmt *row = NULL;
    int rc = store_sql_prepare(file->db, &row, sql);
    while (store_sql_next(row, &rc)) {
        rc = take(load, file, row);
    }
    sqlite3_finalize(row);
    return rc;
}

// ---- Of a store ---------------------------------------------------------------------------------

#define CATEGORY_ROWS                                                                              \
    "FROM NVTXT_NAME_ROWS r CROSS JOIN NVTX_EVENTS c ON c.rowid = r.row WHERE r.kind = "

static int names_of_store(struct report_load_state *load, const struct report_load_file *file) {
    int r = each(load, file,
                 "SELECT r.key, p.name FROM NVTXT_NAME_ROWS r CROSS JOIN PROCESSES p ON "
                 "p.rowid = r.row WHERE r.kind = 1 AND r.domainId = 0",
                 name_process);
    if (r == 0) {
        r = each(load, file,
                 "SELECT r.key, t.value FROM NVTXT_NAME_ROWS r CROSS JOIN StringIds t ON "
                 "t.id = r.row WHERE r.kind = 2 AND r.domainId = 0",
                 name_thread);
    }
    if (r == 0) {
        r = each(load, file, "SELECT 0, r.domainId, r.key, c.text " CATEGORY_ROWS "33",
                 name_category_of_all);
    }
    if (r != 0) {
        return r;
    }
    return each(load, file,
                "SELECT r.key / 0x100000000, r.domainId, r.key % 0x100000000, "
                "c.text " CATEGORY_ROWS "3",
                name_category);
}

// ---- Of an export -------------------------------------------------------------------------------

// NVTX_EVENTS' column, or what stands for it.
static const char *column(const struct report_load_file *file, const char *name,
                          const char *lacking, int *rc) {
    return store_read_has_column(file->reader, "NVTX_EVENTS", name, rc) ? name : lacking;
}

static int names_in_events(struct report_load_state *load, const struct report_load_file *file) {
    char sql[512];
    int rc = SQLITE_OK;
    bool strings = store_read_has_column(file->reader, "StringIds", "value", &rc);
    const char *text_id = column(file, "textId", "NULL", &rc);
    const char *text = column(file, "text", "NULL", &rc);
    char name[128];
    snprintf(name, sizeof(name),
             strings ? "coalesce(%s, (SELECT value FROM StringIds WHERE id = %s))" : "%s", text,
             text_id);
    snprintf(sql, sizeof(sql), "SELECT globalTid, %s FROM NVTX_EVENTS WHERE eventType = 39", name);
    rc = rc ?: each(load, file, sql, name_thread);
    snprintf(sql, sizeof(sql),
             "SELECT (globalTid & 0xFFFFFFFFFFFF) >> 24, ifnull(%s, 0), ifnull(%s, 0), %s "
             "FROM NVTX_EVENTS WHERE eventType = 33",
             column(file, "domainId", "0", &rc), column(file, "category", "0", &rc), name);
    return rc ?: each(load, file, sql, name_category);
}

static int names_of_export(struct report_load_state *load, const struct report_load_file *file) {
    int rc = SQLITE_OK;
    if (store_read_has_column(file->reader, "PROCESSES", "globalPid", &rc)) {
        rc = each(load, file, "SELECT globalPid, name FROM PROCESSES", name_process);
    }
    if (store_read_has_column(file->reader, "NVTX_EVENTS", "globalTid", &rc)) {
        rc = rc ?: names_in_events(load, file);
    }
    if (store_read_has_column(file->reader, "ThreadNames", "nameId", &rc) &&
        store_read_has_column(file->reader, "StringIds", "value", &rc)) {
        if (rc == 0) {
            rc = each(load, file,
                      "SELECT globalTid, value FROM ThreadNames JOIN StringIds ON id = nameId",
                      name_thread);
        }
    }
    return rc;
}

int report_load_bearers(struct report_load_state *load, const struct report_load_file *file) {
    return file->ours ? names_of_store(load, file) : names_of_export(load, file);
}
