// SPDX-License-Identifier: Apache-2.0
//
// The list of segments that the index lacks is made again only when somebody has written to the
// index (PRAGMA data_version); else each look-up would read the folder. The keeper writes to it
// when it removed a segment, or added one.
#include "store/segment/ended.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/sql.h"
#include "store/segment/ended_index.h"

#define NEVER (-1)

static const char find_text[] = "SELECT s.name FROM ended e JOIN segments s ON s.number = e.number "
                                "WHERE e.id = ?1 AND e.uid IN (?2, -1) ORDER BY e.uid DESC "
                                "LIMIT 1";

static void close_index(struct store_ended *ended) {
    sqlite3_finalize(ended->find);
    sqlite3_finalize(ended->version);
    sqlite3_close(ended->db);
    ended->find = ended->version = NULL;
    ended->db = NULL;
}

void store_ended_deinit(struct store_ended *ended) {
    close_index(ended);
    store_segments_deinit(&ended->rest);
    *ended = (struct store_ended){0};
}

void store_ended_list(const char *path, const char *active, struct store_segments *list) {
    *list = (struct store_segments){0};
    if (!path || store_segments_list(path, list) < 0) {
        return;
    }
    const char *name = strrchr(active, '/');
    const char *last = list->count ? strrchr(list->rows[list->count - 1].path, '/') : NULL;
    if (name && last && strcmp(name, last) == 0) {
        free(list->rows[--list->count].path);
    }
}

static int open_index(struct store_ended *ended, const char *path) {
    int rc = store_ended_index_open(&ended->db, path);
    rc = rc ?: store_sql_prepare(ended->db, &ended->find, find_text);
    rc = rc ?: store_sql_prepare(ended->db, &ended->version, "PRAGMA data_version");
    ended->seen = NEVER;
    return rc;
}

// Takes the segments that the index has out of the list.
static int leave_rest(struct store_ended *ended) {
    sqlite3_stmt *stmt = NULL;
    struct store_segments *rest = &ended->rest;
    int rc = sqlite3_prepare_v2(ended->db, "SELECT name FROM segments WHERE number = ?", -1, &stmt,
                                NULL);
    size_t kept = 0;
    for (size_t i = 0; i < rest->count; i++) {
        rc = rc ?: store_sql_bind(stmt, "i", (int64_t)rest->rows[i].number);
        bool found = store_sql_next(stmt, &rc);
        const char *name = found ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
        bool known = name && strcmp(name, store_ended_index_name(&rest->rows[i])) == 0;
        if (known) {
            free(rest->rows[i].path);
        } else {
            rest->rows[kept++] = rest->rows[i];
        }
        rc = store_sql_done(stmt, rc);
    }
    rest->count = kept;
    sqlite3_finalize(stmt);
    return rc;
}

static int refresh(struct store_ended *ended, const char *path, const char *active) {
    int64_t version = 0;
    int rc = ended->db ? SQLITE_OK : open_index(ended, path);
    rc = rc ?: store_sql_run_int(ended->version, &version);
    if (rc == SQLITE_OK && version == ended->seen) {
        return SQLITE_OK;
    }
    store_segments_deinit(&ended->rest);
    store_ended_list(path, active, &ended->rest);
    rc = rc ?: leave_rest(ended);
    ended->seen = version;
    return rc;
}

static int look_up(struct store_ended *ended, const char *path, const char *session_id, int64_t uid,
                   char *segment, size_t size) {
    int rc = store_sql_bind(ended->find, "ti", session_id, uid);
    if (store_sql_next(ended->find, &rc)) {
        const char *slash = strrchr(path, '/');
        snprintf(segment, size, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path,
                 (const char *)sqlite3_column_text(ended->find, 0));
    }
    return store_sql_done(ended->find, rc);
}

int store_ended_find(struct store_ended *ended, const char *path, const char *active,
                     const char *session_id, int64_t uid, char *segment, size_t size) {
    *segment = '\0';
    int rc = refresh(ended, path, active);
    rc = rc ?: look_up(ended, path, session_id, uid, segment, size);
    if (rc == SQLITE_OK || rc == SQLITE_NOMEM) {
        return rc;
    }
    // Without the index the caller asks all segments. A damaged index is the keeper's to repair,
    // which may be doing it at this moment.
    close_index(ended);
    *segment = '\0';
    store_segments_deinit(&ended->rest);
    store_ended_list(path, active, &ended->rest);
    return SQLITE_OK;
}
