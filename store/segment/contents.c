// SPDX-License-Identifier: Apache-2.0
//
// NVTXT_BATCHES counts the events of each commit, so NVTX_EVENTS need not be read. The bytes that a
// segment took over are noted in NVTXT_SEGMENT; as much of them as its free pages hold is gone.
#include "store/segment/contents.h"

#include "store/db/connection.h"
#include "store/db/header.h"
#include "store/db/sql.h"
#include "store/segment/carry_over.h"

#define BUSY_MS 20

int store_contents_empty(sqlite3 *db, bool *empty) {
    int64_t holds = 1;
    int rc = store_sql_int(db,
                           "SELECT EXISTS (SELECT 1 FROM NVTXT_BATCHES) OR EXISTS "
                           "(SELECT 1 FROM NVTXT_DIAGNOSTICS) OR EXISTS "
                           "(SELECT 1 FROM NVTXT_LOSSES)",
                           &holds);
    *empty = rc == SQLITE_OK && !holds;
    return rc;
}

// If events have used some of the free pages since, those belong to the events.
static int read_carried(sqlite3 *db, int64_t *bytes) {
    int64_t page = 0, spare = 0;
    int rc = store_carry_fact(db, "carriedBytes", bytes);
    if (rc == SQLITE_ERROR) { // an older segment has no such column
        *bytes = 0;
        return SQLITE_OK;
    }
    rc = rc ?: store_sql_int(db, "PRAGMA freelist_count", &spare);
    rc = rc ?: store_sql_int(db, "PRAGMA page_size", &page);
    *bytes = *bytes < spare * page ? *bytes : spare * page;
    return rc;
}

int store_contents_read(const char *segment, struct store_contents *contents) {
    sqlite3 *db = NULL;
    *contents = (struct store_contents){0};
    int rc = store_connection_read_left(&db, segment);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(db, BUSY_MS);
        rc = store_contents_empty(db, &contents->empty);
        rc = rc ?: store_sql_int(db, "SELECT total(events) FROM NVTXT_BATCHES", &contents->events);
        rc = rc ?: read_carried(db, &contents->carried);
    }
    int r = store_result_of(db, rc);
    sqlite3_close(db);
    return r;
}

// ---- Ids ----------------------------------------------------------------------------------------

// A million events a second reach it after 146,000 years.
#define ID_MAX (INT64_C(1) << 62)

static bool is_far(int64_t id) {
    return id > ID_MAX || id < -ID_MAX;
}

int store_contents_sound(sqlite3 *db, bool *sound) {
    static const char *const ends[] = {
        "SELECT max(rowid) FROM NVTX_EVENTS",   "SELECT min(rowid) FROM NVTX_EVENTS",
        "SELECT max(id) FROM StringIds",        "SELECT min(id) FROM StringIds",
        "SELECT max(id) FROM NVTXT_SOURCES",    "SELECT min(id) FROM NVTXT_SOURCES",
        "SELECT max(id) FROM NVTXT_DOMAINS",    "SELECT min(id) FROM NVTXT_DOMAINS",
        "SELECT max(rowid) FROM NVTXT_BATCHES", "SELECT min(rowid) FROM NVTXT_BATCHES",
    };
    static const char *const bases[] = {"rangeBase", "sourceBase", "domainBase"};
    int64_t id = 0;
    bool odd = false;
    int rc = store_stranger_is_odd(db, &odd);
    *sound = !odd;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && rc == SQLITE_OK && *sound; i++) {
        rc = store_sql_int(db, ends[i], &id);
        *sound = !is_far(id);
    }
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]) && rc == SQLITE_OK && *sound; i++) {
        rc = store_carry_fact(db, bases[i], &id);
        *sound = !is_far(id);
    }
    return rc;
}
