// SPDX-License-Identifier: Apache-2.0
//
// NVTXT_BATCHES knows every event that we wrote. Rowids are given without holes, so when its events
// and our name rows together are as many as the largest rowid, there are no other rows, and the
// event table need not be read.
#include "store/query/totals.h"

#include "store/db/sql.h"

int store_figures_read(sqlite3 *db, struct store_figures *figures) {
    int64_t number;
    int64_t named = 0;
    int64_t rows = 0;
    int rc = store_sql_int(db, "SELECT total(events) FROM NVTXT_BATCHES", &number);
    figures->events = (uint64_t)number;
    rc = rc ?: store_sql_int(db, "SELECT startTime FROM ANALYSIS_DETAILS", &figures->first_ns);
    rc = rc ?: store_sql_int(db, "SELECT stopTime FROM ANALYSIS_DETAILS", &figures->last_ns);
    rc = rc ?: store_sql_int(db, "SELECT count(*) FROM NVTXT_SOURCES", &number);
    figures->sources = (uint64_t)number;
    rc = rc ?: store_sql_int(db, "SELECT count(*) FROM NVTXT_LOSSES", &number);
    figures->losses = (uint64_t)number;
    rc = rc
             ?: store_sql_int(
                    db,
                    "SELECT count(DISTINCT row) FROM NVTXT_NAME_ROWS WHERE kind IN (3, 33, 39, 75)",
                    &named);
    rc = rc ?: store_sql_int(db, "SELECT ifnull(max(rowid), 0) FROM NVTX_EVENTS", &rows);
    if (rc != SQLITE_OK || rows == (int64_t)figures->events + named) {
        return rc;
    }
    // Rows that we did not write: only a look at all of them tells.
    rc = store_sql_int(db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)",
                       &number);
    figures->events = (uint64_t)number;
    rc = rc
             ?: store_sql_int(db,
                              "SELECT min(start) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)",
                              &figures->first_ns);
    return rc
               ?: store_sql_int(db,
                                "SELECT max(end) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)",
                                &figures->last_ns);
}
