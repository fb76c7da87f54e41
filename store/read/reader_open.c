// SPDX-License-Identifier: Apache-2.0
//
// Opens a file that somebody else owns, without leaving a trace (store/db/connection.h), and finds
// out what it is. When something prevents that, a sentence says what to do.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "store/db/connection.h"
#include "store/db/header.h"
#include "store/db/schema.h"
#include "store/read/reader.h"
#include "store/read/reader_state.h"
#include "store/segment/carry_over.h"
#include "store/segment/contents.h"
#include "store/segment/store_id.h"
#include "store/value/codes.h"

static const char *sentence_of(int r) {
    switch (r) {
    case STORE_FOREIGN:
        return "is a database without a table of NVTX events: name a store, or an SQLite export of "
               "Nsight Systems";
    case STORE_CORRUPT:
        return "is not a database, or is broken or cut off: name a store, or a copy that is whole";
    case STORE_BUSY:
        return "is locked by another process: try again when that is done";
    case STORE_EMPTY:
        return "is empty: name a store";
    default:
        return NULL;
    }
}

static const char *sentence_of_kind(enum store_file_kind kind) {
    switch (kind) {
    case STORE_FILE_MISSING:
        return "does not exist: name a store";
    case STORE_FILE_DANGLING:
        return "is a link to nowhere: name a store that exists";
    case STORE_FILE_FOLDER:
        return "is a folder: name the store in it";
    case STORE_FILE_DEVICE:
        return "is not a regular file: name a store";
    default: // STORE_FILE_DENIED
        return "may not be read by you: ask its owner, or join the group that it belongs to";
    }
}

static int refuse(struct store_reader *reader, const char *sentence, int r) {
    snprintf(reader->error, sizeof(reader->error), "%s %s", reader->path, sentence);
    return r;
}

static int refuse_newer(struct store_reader *reader, int64_t version) {
    return store_schema_refuse_newer(version, "", reader->path, "", reader->error,
                                     sizeof(reader->error));
}

static int refuse_errno(struct store_reader *reader, int r) {
    snprintf(reader->error, sizeof(reader->error), "cannot read %s: %s", reader->path,
             strerror(-r));
    return r;
}

int store_reader_result(struct store_reader *reader, int rc) {
    if (rc == SQLITE_OK) {
        return STORE_DONE;
    }
    int r = store_result_of(reader->db, rc);
    if (sentence_of(r)) {
        return refuse(reader, sentence_of(r), r);
    }
    return store_result_say(reader->db, rc, "read", reader->path, reader->error,
                            sizeof(reader->error));
}

// ---- Whose file it is ---------------------------------------------------------------------------

bool store_reader_has_column(struct store_reader *reader, const char *table, const char *column,
                             int *rc) {
    static const char text[] = "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE";
    sqlite3_stmt *stmt = NULL;
    *rc = *rc ?: store_sql_prepare(reader->db, &stmt, text);
    *rc = *rc ?: store_sql_bind(stmt, "tt", table, column);
    bool found = store_sql_next(stmt, rc);
    sqlite3_finalize(stmt);
    return found;
}

// A store of ours has sound ids; of an export only its table of events matters.
static int look_at_rows(struct store_reader *reader, int *result) {
    bool odd = false;
    bool sound = true;
    int rc = store_stranger_is_odd(reader->db, &odd);
    if (rc == SQLITE_OK && reader->ours && !odd) {
        rc = store_contents_sound(reader->db, &sound);
    }
    if (rc == SQLITE_OK && *result == STORE_DONE) {
        *result = odd ? STORE_FOREIGN : sound ? STORE_DONE : STORE_CORRUPT;
    }
    return rc;
}

static int inspect(struct store_reader *reader, int *version, int *result) {
    enum store_schema_state state;
    int rc = store_schema_inspect(reader->db, &state, version);
    int64_t things = 0;
    rc = rc ?: store_sql_int(reader->db, "SELECT count(*) FROM sqlite_master", &things);
    reader->ours = rc == SQLITE_OK && state == STORE_SCHEMA_OURS && things > 0;
    bool has_events = store_reader_has_column(reader, "NVTX_EVENTS", "eventType", &rc);
    if (rc == SQLITE_OK) {
        *result = reader->ours && *version > STORE_SCHEMA_VERSION ? STORE_NEWER
                  : !has_events                                   ? STORE_FOREIGN
                                                                  : STORE_DONE;
    }
    return rc ?: look_at_rows(reader, result);
}

int store_reader_connect(struct store_reader *reader) {
    enum store_file_kind kind;
    char real[PATH_MAX];
    int version = 0;
    int result = STORE_DONE;
    int r = store_file_look(reader->path, STORE_SCHEMA_VERSION, &kind, &version);
    if (r == 0 && store_file_errno(kind) < 0) {
        return refuse(reader, sentence_of_kind(kind), store_file_errno(kind));
    }
    if (r < 0 || !realpath(reader->path, real)) {
        return refuse_errno(reader, r < 0 ? r : nvtxt_origin(-errno));
    }
    if (kind == STORE_FILE_NEWER) {
        return refuse_newer(reader, version);
    }
    result = kind == STORE_FILE_NONE  ? STORE_CORRUPT
             : kind == STORE_FILE_NEW ? STORE_EMPTY
                                      : STORE_DONE;
    if (result != STORE_DONE) {
        return refuse(reader, sentence_of(result), result);
    }
    int rc = store_connection_read(&reader->db, real);
    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(reader->db, 1);
        sqlite3_busy_timeout(reader->db, STORE_BUSY_MS);
        rc = store_sql_exec(reader->db, "PRAGMA cache_size = -" STORE_READ_CACHE_KIB);
        rc = rc ?: inspect(reader, &version, &result);
    }
    return rc != SQLITE_OK         ? store_reader_result(reader, rc)
           : result == STORE_NEWER ? refuse_newer(reader, version)
           : result != STORE_DONE  ? refuse(reader, sentence_of(result), result)
                                   : STORE_DONE;
}

// ---- Which file it is ---------------------------------------------------------------------------

const char *const store_fact_names[] = {[STORE_FACT_HOST] = "Hostname",
                                        [STORE_FACT_OS] = "OsName",
                                        [STORE_FACT_KERNEL] = "KernelVersion",
                                        [STORE_FACT_CPU] = "CpuArchitecture",
                                        [STORE_FACT_CORES] = "CpuCores"};

static int read_facts(struct store_reader *reader, struct store_read_identity *identity) {
    sqlite3_stmt *stmt = NULL;
    int rc = SQLITE_OK;
    if (!store_reader_has_column(reader, "TARGET_INFO_SYSTEM_ENV", "value", &rc) ||
        !store_reader_has_column(reader, "TARGET_INFO_SYSTEM_ENV", "name", &rc)) {
        return rc;
    }
    rc = store_sql_prepare(reader->db, &stmt,
                           "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = ? "
                           "COLLATE NOCASE");
    for (size_t i = 0; i < STORE_FACTS && rc == SQLITE_OK; i++) {
        rc = store_sql_bind(stmt, "t", store_fact_names[i]);
        if (rc == SQLITE_OK && store_sql_next(stmt, &rc)) {
            store_sql_text(stmt, 0, identity->facts[i], sizeof(identity->facts[i]));
        }
        sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
    return rc;
}

int store_read_identity(struct store_reader *reader, struct store_read_identity *identity) {
    *identity = (struct store_read_identity){.is_store = reader->ours};
    if (!reader->ours) {
        return store_reader_result(reader, read_facts(reader, identity));
    }
    int rc = store_id_read(reader->db, identity->store_id);
    rc = rc ?: store_carry_fact(reader->db, "number", &identity->segment);
    return store_reader_result(reader, rc);
}
