// SPDX-License-Identifier: Apache-2.0
//
// One row for each followed file, replaced as a whole by each batch that has the file. Counters and
// names stand in NVTXT_SOURCES and are joined when the row is read.
#include "store/write/followed.h"

#include "protocol/table/arrays.h"
#include "store/write/sessions.h"

enum statement { SET_FILE, GO_ON, DROP_FILE, LOAD_FILE };

#define COLUMNS                                                                                    \
    "f.sourceId, ifnull(f.path, ''), f.device, f.inode, f.offset, f.headBytes, f.headHash, "       \
    "f.tailBytes, "                                                                                \
    "f.tailHash, f.changedNs, s.closedNs, s.lines, s.events, s.warnings, s.errors, s.firstNs, "    \
    "s.lastNs, s.openedNs"
#define FROM "FROM NVTXT_FILES f JOIN NVTXT_SOURCES s ON s.id = f.sourceId "

static const char *const texts[STORE_FILES_STMTS] = {
    [SET_FILE] = "INSERT OR REPLACE INTO NVTXT_FILES (sourceId, path, device, inode, offset, "
                 "headBytes, headHash, tailBytes, tailHash, changedNs, state) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [GO_ON] = "UPDATE NVTXT_SOURCES SET ended = NULL, closedNs = NULL WHERE id = ? AND closedNs "
              "IS NOT NULL",
    [DROP_FILE] = "DELETE FROM NVTXT_FILES WHERE sourceId = ?",
    [LOAD_FILE] = "SELECT " COLUMNS
                  ", ifnull(f.state, ''), ifnull(s.name, ''), ifnull(s.displayName, '') " FROM
                  "WHERE f.sourceId = ?",
};

void store_files_init(struct store_files *files, struct store_txn *txn) {
    *files = (struct store_files){.txn = txn};
}

void store_files_deinit(struct store_files *files) {
    store_sql_finalize(files->stmts, STORE_FILES_STMTS);
}

static int write_share(struct store_files *files, const struct store_share *share) {
    const struct store_followed *file = share->file;
    int64_t id = share->pub.id;
    int rc =
        STORE_SQL_RUN(files, SET_FILE, "itiiiiiiiis", id, file->path, file->device, file->inode,
                      (int64_t)file->offset, (int64_t)file->head_bytes, (int64_t)file->head_hash,
                      (int64_t)file->tail_bytes, (int64_t)file->tail_hash, file->changed_ns,
                      share->state.data, share->state.len);
    if (rc == SQLITE_OK && !share->pub.ended) {
        rc = STORE_SQL_RUN(files, GO_ON, "i", id);
    }
    return rc;
}

int store_files_write(struct store_files *files, const struct store_batch *batch) {
    int rc = SQLITE_OK;
    const struct store_share *share = batch->first;
    for (; share && rc == SQLITE_OK; share = store_share_next(share)) {
        if (share->file && !share->pub.discarded) {
            rc = write_share(files, share);
        }
    }
    const struct store_forgotten *forgotten = batch->forgotten;
    for (; forgotten && rc == SQLITE_OK; forgotten = forgotten->next) {
        rc = STORE_SQL_RUN(files, DROP_FILE, "i", forgotten->source_id);
    }
    return rc;
}

// ---- Reading ----------------------------------------------------------------------------------

static int read_file(sqlite3_stmt *stmt, struct store_file *file) {
    file->source_id = sqlite3_column_int64(stmt, 0);
    file->at = (struct store_followed){
        .device = sqlite3_column_int64(stmt, 2),
        .inode = sqlite3_column_int64(stmt, 3),
        .offset = (uint64_t)sqlite3_column_int64(stmt, 4),
        .head_bytes = (uint32_t)sqlite3_column_int64(stmt, 5),
        .head_hash = (uint64_t)sqlite3_column_int64(stmt, 6),
        .tail_bytes = (uint32_t)sqlite3_column_int64(stmt, 7),
        .tail_hash = (uint64_t)sqlite3_column_int64(stmt, 8),
        .changed_ns = sqlite3_column_int64(stmt, 9),
    };
    file->closed_ns = sqlite3_column_int64(stmt, 10);
    file->ended = sqlite3_column_type(stmt, 10) != SQLITE_NULL;
    file->counters = store_sessions_counters(stmt, 11);
    file->opened_ns = sqlite3_column_int64(stmt, 17);
    return store_sql_string(stmt, 1, &file->path);
}

int store_files_load(struct store_files *files, int64_t source_id, struct store_file *file,
                     struct store_session *session, bool *found) {
    int rc = STORE_SQL_BIND(files, LOAD_FILE, "i", source_id);
    sqlite3_stmt *stmt = files->stmts[LOAD_FILE];
    *found = store_sql_next(stmt, &rc);
    if (*found) {
        rc = read_file(stmt, file);
        session->source_id = source_id;
        session->uid = -1;
        session->counters = file->counters;
        session->ended = file->ended;
        session->opened_ns = file->opened_ns;
        rc = rc ?: store_sql_string(stmt, 18, &session->state);
        rc = rc ?: store_sql_string(stmt, 19, &session->name);
        rc = rc ?: store_sql_string(stmt, 20, &session->display_name);
    }
    return store_sql_done(stmt, rc);
}

static int append(struct store_file_list *list, sqlite3_stmt *stmt) {
    struct store_file *file = nvtxt_add(&list->files, &list->count, sizeof(*file));
    return file ? read_file(stmt, file) : SQLITE_NOMEM;
}

int store_files_read(sqlite3 *db, struct store_file_list *list) {
    sqlite3_stmt *stmt = NULL;
    int rc =
        sqlite3_prepare_v2(db, "SELECT " COLUMNS " " FROM "ORDER BY f.sourceId", -1, &stmt, NULL);
    while (store_sql_next(stmt, &rc)) {
        rc = append(list, stmt);
    }
    rc = store_sql_done(stmt, rc);
    sqlite3_finalize(stmt);
    return rc;
}
