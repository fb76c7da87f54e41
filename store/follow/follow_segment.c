// SPDX-License-Identifier: Apache-2.0
//
// Opens the segment that is read, and asks it what it says of itself. The connection stays open for
// as long as the segment is read, so that a segment that retention removes can be read to its end.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "protocol/base/origin.h"
#include "store/db/header.h"
#include "store/db/sql.h"
#include "store/follow/follow.h"
#include "store/follow/follow_state.h"
#include "store/read/reader.h"
#include "store/segment/carry_over.h"
#include "store/value/codes.h"

#define NS_PER_S INT64_C(1000000000)

int store_follow_translate(struct store_follow *follow, int rc) {
    int r = store_read_result(follow->reader, rc);
    if (r != STORE_DONE) {
        snprintf(follow->error, sizeof(follow->error), "%s", store_read_error(follow->reader));
    }
    return r;
}

// A store of the first version has no NVTXT_SEGMENT, and a plain file has no row in it.
static int read_previous(sqlite3 *db, uint64_t *previous) {
    sqlite3_stmt *stmt = NULL;
    char name[NAME_MAX + 1];
    int64_t rows = 0;
    *previous = 0;
    int rc = store_carry_fact(db, "count(*)", &rows);
    if (rc != SQLITE_OK || rows == 0) {
        return rc;
    }
    rc = store_sql_prepare(db, &stmt, "SELECT previous FROM NVTXT_SEGMENT");
    if (store_sql_next(stmt, &rc)) {
        store_sql_text(stmt, 0, name, sizeof(name));
        *previous = store_segments_number(name);
    }
    sqlite3_finalize(stmt);
    return rc;
}

static const char has_levels[] =
    "SELECT count(*) FROM pragma_table_info('NVTXT_SOURCES') WHERE name = 'levels'";
static const char has_parents[] =
    "SELECT count(*) FROM pragma_table_info('NVTXT_RANGE_KEYS') WHERE name = 'parent'";

static int read_facts(sqlite3 *db, struct store_follow_facts *facts) {
    int64_t number = 0, levels = 0, parents = 0;
    int rc = store_sql_exec(db, "BEGIN");
    if (rc != SQLITE_OK) {
        return rc;
    }
    rc = store_carry_fact(db, "number", &number);
    rc = rc ?: store_carry_fact(db, "rangeBase", &facts->base);
    rc = rc ?: store_carry_fact(db, "startedNs", &facts->started_ns);
    rc = rc ?: read_previous(db, &facts->previous);
    rc = rc ?: store_id_read(db, facts->id);
    rc = rc ?: store_sql_int(db, has_levels, &levels);
    rc = rc ?: store_sql_int(db, has_parents, &parents);
    facts->number = (uint64_t)number;
    facts->has_levels = levels > 0;
    facts->has_parents = parents > 0;
    return store_sql_commit(db, rc);
}

struct opened {
    struct store_reader *reader;
    sqlite3 *db;
    struct store_follow_facts facts;
    struct stat status;
    bool had_shm;
};

static int open_segment(struct store_follow *follow, const char *file, struct opened *opened) {
    bool ours = false;
    *opened = (struct opened){.had_shm = store_file_size(file, "-shm") >= 0};
    int r = store_read_connect(&opened->reader, file, follow->error, sizeof(follow->error));
    if (r != STORE_DONE) { // an export can be read, but not followed
        char *advice = strstr(follow->error, ", or an SQLite export");
        if (advice) {
            *advice = '\0';
        }
        return r;
    }
    opened->db = store_read_database(opened->reader, &ours);
    if (!ours) {
        snprintf(follow->error, sizeof(follow->error),
                 "%s is an export of another program: name a store", file);
        r = STORE_FOREIGN;
    } else if (stat(file, &opened->status) < 0) {
        r = nvtxt_origin(-errno);
        snprintf(follow->error, sizeof(follow->error), "cannot read %s: %s", file, strerror(-r));
    } else {
        r = store_read_result(opened->reader, read_facts(opened->db, &opened->facts));
        if (r != STORE_DONE) {
            snprintf(follow->error, sizeof(follow->error), "%s", store_read_error(opened->reader));
        }
    }
    if (r != STORE_DONE) {
        store_read_close(opened->reader);
    }
    return r;
}

void store_follow_leave(struct store_follow *follow) {
    store_sql_finalize(follow->stmts, STORE_FOLLOW_STMTS);
    store_read_close(follow->reader);
    follow->ahead.is_there = false;
    follow->reader = NULL;
    follow->db = NULL;
}

int store_follow_enter(struct store_follow *follow, const char *file, uint64_t number) {
    struct opened opened;
    int r = open_segment(follow, file, &opened);
    if (r != STORE_DONE) {
        return r;
    }
    store_follow_leave(follow);
    follow->reader = opened.reader;
    follow->db = opened.db;
    follow->facts = opened.facts;
    follow->had_shm = opened.had_shm;
    follow->device = opened.status.st_dev;
    follow->inode = opened.status.st_ino;
    if (number > 0) {
        follow->facts.number = number;
    }
    if (follow->facts.started_ns == 0) {
        follow->facts.started_ns = (int64_t)opened.status.st_mtim.tv_sec * NS_PER_S;
    }
    snprintf(follow->file, sizeof(follow->file), "%s", file);
    return STORE_DONE;
}

static int ask(sqlite3 *db, const char *const *queries, size_t count, int64_t *values) {
    int rc = store_sql_exec(db, "BEGIN");
    if (rc != SQLITE_OK) {
        return rc;
    }
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        rc = store_sql_int(db, queries[i], &values[i]);
    }
    return store_sql_commit(db, rc);
}

int store_follow_ask(struct store_follow *follow, const struct store_segment *segment,
                     const char *const *queries, size_t count, int64_t *values,
                     struct store_follow_facts *facts) {
    struct opened opened;
    if (follow->reader && strcmp(follow->file, segment->path) == 0) {
        *facts = follow->facts;
        return store_follow_translate(follow, ask(follow->db, queries, count, values));
    }
    int r = open_segment(follow, segment->path, &opened);
    if (r != STORE_DONE) {
        return r;
    }
    *facts = opened.facts;
    facts->number = segment->number ?: facts->number;
    r = store_read_result(opened.reader, ask(opened.db, queries, count, values));
    if (r != STORE_DONE) {
        snprintf(follow->error, sizeof(follow->error), "%s", store_read_error(opened.reader));
    }
    store_read_close(opened.reader);
    return r;
}
