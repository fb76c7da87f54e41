// SPDX-License-Identifier: Apache-2.0
//
// One transaction, without a journal to speak of: nobody looks at the file before it is complete.
// Its end counts the events of each source.
#include "store/follow/rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "store/db/connection.h"
#include "store/follow/rebuild_state.h"
#include "store/segment/store_id.h"
#include "store/value/codes.h"

// ---- Opening ------------------------------------------------------------------------------------

// What SQLite keeps for itself while it counts the events of the sources is as large as the
// sources: so it is in temporary files.
static int begin(struct store_rebuild *rebuild) {
    int rc = store_id_renew(rebuild->db);
    rc = rc ?: store_intern_init(&rebuild->intern) < 0 ? SQLITE_NOMEM : SQLITE_OK;
    rebuild->next_row = rebuild->next_string = 1;
    return rc ?: store_sql_exec(rebuild->db, "PRAGMA temp_store = FILE; BEGIN");
}

int store_rebuild_open(struct store_rebuild **out, const char *path, uint32_t mode, char *error,
                       size_t size) {
    const struct store_options options = {.plain = true, .file_mode = mode};
    struct store_rebuild *rebuild = calloc(1, sizeof(*rebuild));
    *out = NULL;
    if (!rebuild || !(rebuild->path = strdup(path))) {
        free(rebuild);
        snprintf(error, size, "cannot write %s: out of memory", path);
        return nvtxt_origin(-ENOMEM);
    }
    int r = store_connection_open(&rebuild->db, path, &options, error, size);
    if (r == STORE_DONE) {
        r = store_rebuild_result(rebuild, begin(rebuild));
        snprintf(error, size, "%s", rebuild->error);
    }
    if (r != STORE_DONE) {
        store_rebuild_close(rebuild);
        return r;
    }
    *out = rebuild;
    return STORE_DONE;
}

void store_rebuild_close(struct store_rebuild *rebuild) {
    if (!rebuild) {
        return;
    }
    store_sql_finalize(rebuild->stmts, STORE_REBUILD_STATEMENTS);
    sqlite3_close(rebuild->db);
    store_intern_deinit(&rebuild->intern);
    free(rebuild->path);
    free(rebuild);
}

const char *store_rebuild_error(const struct store_rebuild *rebuild) {
    return rebuild->error;
}

// ---- Rows that nothing else needs ---------------------------------------------------------------

int store_rebuild_source(struct store_rebuild *rebuild, const struct store_follow_source *source) {
    int rc = STORE_REBUILD_RUN(
        rebuild, STORE_REBUILD_ADD_SOURCE, "ioooooommmmmmmmmmmio", source->id, source->kind,
        source->session, source->name, source->display_name, source->peer_comm, source->ended,
        source->peer_pid, source->peer_uid, source->peer_gid, source->opened_ns, source->closed_ns,
        source->lines, source->events, source->warnings, source->errors, source->first_ns,
        source->last_ns, (int64_t)source->levels, source->parent);
    return store_rebuild_result(rebuild, rc);
}

int store_rebuild_diagnostic(struct store_rebuild *rebuild,
                             const struct store_follow_diagnostic *row) {
    int rc = STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_DIAGNOSTIC, "mmmmooooo", row->source_id,
                               row->line, row->column, row->at_ns, row->severity, row->stage,
                               row->code, row->message, row->excerpt);
    return store_rebuild_result(rebuild, rc);
}

int store_rebuild_key(struct store_rebuild *rebuild, const struct store_follow_key *key) {
    int64_t row = rebuild->next_row - 1;
    int rc = STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_KEY, "iioo", row, key->source_id,
                               key->key, key->parent);
    return store_rebuild_result(rebuild, rc);
}

int store_rebuild_loss(struct store_rebuild *rebuild, const struct store_follow_loss *row) {
    int rc = STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_LOSS, "mmmmoi", row->at_ns,
                               row->source_id, row->uid, row->pid, row->reason, row->count);
    return store_rebuild_result(rebuild, rc);
}

int store_rebuild_domain(struct store_rebuild *rebuild, const struct store_follow_domain *row) {
    return store_rebuild_result(rebuild, STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_DOMAIN, "is",
                                                           row->id, row->name.data, row->name.len));
}

// ---- The end ------------------------------------------------------------------------------------

static const char count_events[] =
    "CREATE TEMP TABLE stored AS SELECT sourceId, sum(lastRow - firstRow + 1) AS events FROM "
    "NVTXT_EVENT_SOURCES GROUP BY sourceId;"
    "CREATE UNIQUE INDEX temp.stored_id ON stored (sourceId);"
    "UPDATE NVTXT_SOURCES SET events = ifnull(events, 0);"
    "UPDATE NVTXT_SOURCES SET priorEvents = nullif(events - ifnull((SELECT s.events FROM stored s "
    "WHERE s.sourceId = NVTXT_SOURCES.id), 0), 0)";
static const char drop_unused[] =
    "DELETE FROM NVTXT_SOURCES WHERE id NOT IN (SELECT sourceId FROM stored) AND id NOT IN "
    "(SELECT sourceId FROM NVTXT_DIAGNOSTICS WHERE sourceId IS NOT NULL) AND id NOT IN "
    "(SELECT sourceId FROM NVTXT_LOSSES WHERE sourceId IS NOT NULL)";
static const char note_nvtx[] =
    "UPDATE NVTXT_SOURCES SET nvtx = 1 WHERE id IN (SELECT x.sourceId FROM NVTXT_EVENT_SOURCES x "
    "WHERE EXISTS (SELECT 1 FROM NVTX_EVENTS e WHERE e.rowid BETWEEN x.firstRow AND x.lastRow AND "
    "coalesce(e.uint64Value, e.uint32Value, e.int32Value, e.floatValue, e.jsonText) IS NOT NULL))";

static int finish(struct store_rebuild *rebuild, bool only_used) {
    int rc = store_rebuild_end_batch(rebuild);
    rc = rc ?: store_rebuild_complete_names(rebuild);
    rc = rc ?: store_sql_exec(rebuild->db, count_events);
    rc = rc ?: only_used ? store_sql_exec(rebuild->db, drop_unused) : SQLITE_OK;
    rc = rc ?: rebuild->has_nvtx ? store_sql_exec(rebuild->db, note_nvtx) : SQLITE_OK;
    rc = rc ?: store_sql_exec(rebuild->db, "DROP TABLE stored");
    return rc ?: store_sql_exec(rebuild->db, "COMMIT");
}

int store_rebuild_finish(struct store_rebuild *rebuild, bool only_used) {
    return store_rebuild_result(rebuild, finish(rebuild, only_used));
}
