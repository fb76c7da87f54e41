// SPDX-License-Identifier: Apache-2.0
//
// A kernel and the call that started it have the same correlationId in the same process. SQLite
// joins them through an index that it makes in memory. Only tables count: a store has views of the
// same names, for old viewers.
#include <stdio.h>

#include "report/load/load_state.h"
#include "store/db/sql.h"

#define KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"
#define CALLS "CUPTI_ACTIVITY_KIND_RUNTIME"

static int has_rows(const struct report_load_file *file, bool *has) {
    int64_t tables = 0, rows = 0;
    int rc = store_sql_int(file->db,
                           "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
                           "name IN ('" KERNELS "', '" CALLS "')",
                           &tables);
    if (rc == SQLITE_OK && tables == 2) {
        rc = store_sql_int(file->db,
                           "SELECT EXISTS (SELECT 1 FROM " KERNELS ") AND "
                           "EXISTS (SELECT 1 FROM " CALLS ")",
                           &rows);
    }
    *has = rows > 0;
    return rc;
}

// A column that is needed and not there, in words; NULL: none. `*rc` as store_read_has_column().
static const char *lack(const struct report_load_file *file, int *rc) {
    static const struct {
        const char *table, *column, *text;
    } needed[] = {
        {KERNELS, "start", KERNELS " lacks column start"},
        {KERNELS, "end", KERNELS " lacks column end"},
        {KERNELS, "correlationId", KERNELS " lacks column correlationId"},
        {CALLS, "start", CALLS " lacks column start"},
        {CALLS, "globalTid", CALLS " lacks column globalTid"},
        {CALLS, "correlationId", CALLS " lacks column correlationId"},
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (!store_read_has_column(file->reader, needed[i].table, needed[i].column, rc)) {
            return needed[i].text;
        }
    }
    bool named = store_read_has_column(file->reader, KERNELS, "demangledName", rc) ||
                 store_read_has_column(file->reader, KERNELS, "shortName", rc);
    return named ? NULL : KERNELS " lacks column demangledName";
}

static int take_kernel(struct report_load_state *load, const struct report_load_file *file,
                       sqlite3_stmt *row) {
    struct report_kernel kernel = {.store = file->store,
                                   .start = sqlite3_column_int64(row, 1),
                                   .end = sqlite3_column_int64(row, 2),
                                   .call_start = sqlite3_column_int64(row, 6)};
    uint64_t tid = (uint64_t)sqlite3_column_int64(row, 5) & REPORT_TID_BITS;
    if (sqlite3_column_type(row, 5) == SQLITE_NULL ||
        !nvtxt_map_get(&load->threads, tid, &kernel.thread)) {
        kernel.thread = REPORT_NONE;
    }
    int rc = report_load_text_column(load, row, 3, &kernel.name);
    rc = rc ?: REPORT_GROW(load, kernels, kernel_count);
    if (rc == SQLITE_OK) {
        load->capture->kernels[load->capture->kernel_count++] = kernel;
    }
    return rc;
}

static int each_kernel(struct report_load_state *load, const struct report_load_file *file) {
    sqlite3_stmt *row = NULL;
    int rc = SQLITE_OK;
    char sql[512];
    bool demangled = store_read_has_column(file->reader, KERNELS, "demangledName", &rc);
    bool has_pid = store_read_has_column(file->reader, KERNELS, "globalPid", &rc);
    snprintf(sql, sizeof(sql),
             "SELECT k.rowid, k.start, k.\"end\", NULL, k.%s, c.globalTid, c.start FROM " KERNELS
             " k LEFT JOIN " CALLS " c ON c.correlationId = k.correlationId%s ORDER BY k.rowid",
             demangled ? "demangledName" : "shortName",
             has_pid ? " AND c.globalTid >> 24 = k.globalPid >> 24" : "");
    rc = rc ?: store_sql_prepare(file->db, &row, sql);
    int64_t before = 0;
    for (bool first = true; store_sql_next(row, &rc); first = false) {
        int64_t rowid = sqlite3_column_int64(row, 0);
        rc = first || rowid != before ? take_kernel(load, file, row) : SQLITE_OK;
        before = rowid;
    }
    sqlite3_finalize(row);
    return rc;
}

int report_load_kernels(struct report_load_state *load, const struct report_load_file *file) {
    bool has = false;
    int rc = file->newest ? has_rows(file, &has) : SQLITE_OK;
    const char *lacks = rc == SQLITE_OK && has ? lack(file, &rc) : NULL;
    if (lacks) {
        load->capture->stores[file->store].kernels_lack = lacks;
        return rc;
    }
    load->capture->stores[file->store].has_kernels |= has;
    return rc == SQLITE_OK && has ? each_kernel(load, file) : rc;
}
