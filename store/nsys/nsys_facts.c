// SPDX-License-Identifier: Apache-2.0
//
// Every table with a column globalTid, globalPid or globalVid is read for targets: an export of
// several machines may have them in any of these. Names of tables come from the file, so SQLite
// quotes them (%w). The profiler's own messages (DIAGNOSTIC_EVENT) are left out: their ids may
// belong to no target.
//
// ANALYSIS_DETAILS has the session's window. In some exports its times count from the same moment
// as the events', in others from the boot of the machine. They count from the boot when the start
// of the session is the value of the system's clock. Otherwise there are two candidates: the window
// as it stands, and one of the same length from time 0 on. The one that holds more of the time of
// the events is right; when both hold all of it, the one from time 0.
#include "store/nsys/nsys_facts.h"

#include <sqlite3.h>

#include "store/db/sql.h"

// Tables that no other application's database has.
#define OF_EXPORTS                                                                                 \
    "name IN ('NVTX_EVENTS', 'ThreadNames', 'ANALYSIS_DETAILS', 'ENUM_NSYS_EVENT_TYPE', "          \
    "'META_DATA_EXPORT', 'META_DATA_CAPTURE', 'TARGET_INFO_SESSION_START_TIME', 'OSRT_API', "      \
    "'PROFILER_OVERHEAD', 'OPENGL_API') OR name GLOB 'CUPTI_ACTIVITY_KIND_*'"

#define TABLES_WITH                                                                                \
    "SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p "                 \
    "WHERE m.type = 'table' AND m.name <> 'DIAGNOSTIC_EVENT' AND p.name IN "

// ---- Tables and columns
// ----------------------------------------------------------------------------

int store_export_has(sqlite3 *db, const char *table, const char *column, bool *has) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db,
                                "SELECT 1 FROM sqlite_master m WHERE type = 'table' AND name = ?1 "
                                "AND (?2 IS NULL OR EXISTS "
                                "(SELECT 1 FROM pragma_table_info(m.name) p WHERE p.name = ?2))",
                                -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, "tt", table, column);
    *has = store_sql_next(stmt, &rc);
    sqlite3_finalize(stmt);
    return rc;
}

int store_export_recognize(sqlite3 *db, bool *is_export) {
    int64_t tables = 0;
    int rc = store_export_has(db, "StringIds", "value", is_export);
    if (rc == SQLITE_OK && *is_export) {
        rc = store_sql_int(
            db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND (" OF_EXPORTS ")",
            &tables);
        *is_export = tables > 0;
    }
    return rc;
}

// Runs `format` (with %w for table and column) for each pair that `pairs` selects; `on_row` gets
// every row of it.
static int each_table(sqlite3 *db, const char *pairs, const char *format,
                      void (*on_row)(void *context, sqlite3_stmt *row), void *context) {
    sqlite3_stmt *tables = NULL;
    int rc = sqlite3_prepare_v2(db, pairs, -1, &tables, NULL);
    while (store_sql_next(tables, &rc)) {
        sqlite3_stmt *rows = NULL;
        const char *table = (const char *)sqlite3_column_text(tables, 0);
        const char *column = (const char *)sqlite3_column_text(tables, 1);
        char *text = sqlite3_mprintf(format, column, table, column, column);
        rc = text ? sqlite3_prepare_v2(db, text, -1, &rows, NULL) : SQLITE_NOMEM;
        while (store_sql_next(rows, &rc)) {
            on_row(context, rows);
        }
        sqlite3_finalize(rows);
        sqlite3_free(text);
    }
    sqlite3_finalize(tables);
    return rc;
}

// ---- Targets ----------------------------------------------------------------------------------

static void on_target(void *context, sqlite3_stmt *row) {
    struct store_export_facts *facts = context;
    uint16_t target = (uint16_t)sqlite3_column_int64(row, 0);
    for (size_t i = 0; i < facts->target_count; i++) {
        if (facts->targets[i] == target) {
            return;
        }
    }
    if (facts->target_count < STORE_TARGETS_MAX) {
        facts->targets[facts->target_count++] = target;
    }
}

static int read_targets(sqlite3 *db, struct store_export_facts *facts) {
    static const char distinct[] = "SELECT DISTINCT (\"%w\" >> 48) & 65535 FROM \"%w\" "
                                   "WHERE \"%w\" <> 0 AND \"%w\" IS NOT NULL LIMIT 32";
    int rc = each_table(db, TABLES_WITH "('globalTid', 'globalPid')", distinct, on_target, facts);
    if (rc == SQLITE_OK && facts->target_count == 0) {
        rc = each_table(db, TABLES_WITH "('globalVid')", distinct, on_target, facts);
    }
    return rc;
}

// ---- The session ------------------------------------------------------------------------------

struct extent {
    bool any;
    int64_t first, last;
};

static void on_extent(void *context, sqlite3_stmt *row) {
    struct extent *extent = context;
    if (sqlite3_column_type(row, 0) == SQLITE_NULL) {
        return;
    }
    int64_t first = sqlite3_column_int64(row, 0);
    int64_t last = sqlite3_column_int64(row, 1);
    last = last > first ? last : first; // the end may be NULL or 0
    extent->first = extent->any && extent->first < first ? extent->first : first;
    extent->last = extent->any && extent->last > last ? extent->last : last;
    extent->any = true;
}

int store_export_extent(sqlite3 *db, bool *any, int64_t *first_ns, int64_t *last_ns) {
    static const char pairs[] =
        "SELECT m.name, 'end' FROM sqlite_master m WHERE m.type = 'table' AND (SELECT count(*) "
        "FROM "
        "pragma_table_info(m.name) p WHERE p.name IN ('start', 'end')) = 2 AND EXISTS (SELECT 1 "
        "FROM pragma_table_info(m.name) p WHERE p.name IN ('globalTid', 'globalPid'))";
    struct extent extent = {0};
    int rc =
        each_table(db, pairs, "SELECT min(start), max(\"%w\") FROM \"%w\"", on_extent, &extent);
    *any = extent.any;
    *first_ns = extent.first;
    *last_ns = extent.last;
    return rc;
}

static int read_session(sqlite3 *db, struct store_export_facts *facts) {
    static const char table[] = "TARGET_INFO_SESSION_START_TIME";
    int rc = store_export_has(db, table, "utcEpochNs", &facts->has_session);
    if (rc != SQLITE_OK || !facts->has_session) {
        return rc;
    }
    int64_t rows = 0;
    rc = store_sql_int(db, "SELECT count(utcEpochNs) FROM TARGET_INFO_SESSION_START_TIME", &rows);
    facts->has_session = rows > 0;
    if (rc != 0) {
        return rc;
    }
    return store_sql_int(db, "SELECT min(utcEpochNs) FROM TARGET_INFO_SESSION_START_TIME",
                         &facts->session_ns);
}

// How much of the window the events span; 0 when they do not reach into it.
static uint64_t overlap(const struct extent *extent, int64_t first, int64_t last) {
    first = extent->first > first ? extent->first : first;
    last = extent->last < last ? extent->last : last;
    uint64_t span = (uint64_t)last - (uint64_t)first;
    return last < first ? 0 : span < UINT64_MAX ? span + 1 : span;
}

// Whether ANALYSIS_DETAILS counts from the boot of the machine, as the system's clock does.
static int counts_from_boot(sqlite3 *db, int64_t first_ns, bool *does) {
    int64_t clock_ns = 0;
    int rc = store_export_has(db, "TARGET_INFO_SESSION_START_TIME", "systemClockNs", does);
    if (rc == SQLITE_OK && *does) {
        rc = store_sql_int(db, "SELECT min(systemClockNs) FROM TARGET_INFO_SESSION_START_TIME",
                           &clock_ns);
        *does = clock_ns == first_ns;
    }
    return rc;
}

static int read_window(sqlite3 *db, struct store_export_facts *facts) {
    bool has_start = false;
    int64_t rows = 0;
    int rc = store_export_has(db, "ANALYSIS_DETAILS", "startTime", &has_start);
    rc = rc ?: store_export_has(db, "ANALYSIS_DETAILS", "stopTime", &facts->has_window);
    facts->has_window = facts->has_window && has_start;
    if (rc != SQLITE_OK || !facts->has_window) {
        return rc;
    }
    rc = store_sql_int(db, "SELECT count(startTime + stopTime) FROM ANALYSIS_DETAILS", &rows);
    rc = rc ?: store_sql_int(db, "SELECT min(startTime) FROM ANALYSIS_DETAILS", &facts->first_ns);
    rc = rc ?: store_sql_int(db, "SELECT max(stopTime) FROM ANALYSIS_DETAILS", &facts->last_ns);
    facts->has_window = rows > 0;
    facts->details_first_ns = facts->first_ns;
    if (rc != SQLITE_OK || !facts->has_window || facts->first_ns == 0) {
        return rc;
    }
    struct extent extent;
    int64_t length;
    bool from_boot;
    rc = store_export_extent(db, &extent.any, &extent.first, &extent.last);
    rc = rc ?: counts_from_boot(db, facts->first_ns, &from_boot);
    if (rc != SQLITE_OK || __builtin_sub_overflow(facts->last_ns, facts->first_ns, &length)) {
        return rc;
    }
    uint64_t fits = extent.any ? overlap(&extent, 0, length) : 0;
    if (from_boot || (fits > 0 && fits >= overlap(&extent, facts->first_ns, facts->last_ns))) {
        facts->first_ns = 0;
        facts->last_ns = length;
    }
    return rc;
}

static int read_maker(sqlite3 *db, struct store_export_facts *facts) {
    int64_t rows = 0;
    int rc = store_export_has(db, "META_DATA_EXPORT", "value", &facts->is_copy);
    if (rc == SQLITE_OK && facts->is_copy) {
        rc = store_sql_int(db,
                           "SELECT count(*) FROM META_DATA_EXPORT WHERE name = 'PRODUCT_NAME' AND "
                           "value = 'nvtxtd'",
                           &rows);
    }
    facts->is_copy = rows > 0;
    return rc;
}

int store_export_facts_read(sqlite3 *db, struct store_export_facts *facts) {
    *facts = (struct store_export_facts){0};
    int rc = read_maker(db, facts);
    rc = rc ?: read_targets(db, facts);
    rc = rc ?: read_session(db, facts);
    return rc ?: read_window(db, facts);
}
