// SPDX-License-Identifier: Apache-2.0
#include "store/segment/ids.h"

#include <sqlite3.h>

#include "store/db/sql.h"
#include "store/db/stranger.h"
#include "store/segment/carry_over.h"

// A million events a second reach it after 146,000 years.
#define ID_MAX (INT64_C(1) << 62)

static bool is_far(int64_t id) {
    return id > ID_MAX || id < -ID_MAX;
}

int store_ids_check(sqlite3 *db, bool *sound) {
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
