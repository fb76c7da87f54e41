// SPDX-License-Identifier: Apache-2.0
//
// Everything is gathered in `staging`, a database without a name: events as they come, names by
// what they name, texts by an index. At the end the names that count become rows, and all rows go
// into the file, sorted by time as an export has them, each moved to the new time 0. So the file
// has no holes, and a failure before that has written nothing.
//
// Which names events bear is found in two steps: `bearers` gets a row for each change of thread,
// domain or category from one event to the next, `used` what these are the keys of.
#include "store/nsys/nsys_copy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "protocol/base/limits.h"
#include "store/db/schema.h"
#include "store/db/sql.h"
#include "store/read/reader.h"
#include "store/value/arena.h"
#include "store/value/codes.h"
#include "store/value/record.h"

// Of the file and of `staging`; a sorter takes as much. 64 MiB made a million events no faster.
#define CACHE_KIB "16384"

enum stmt { FIND_STRING, ADD_STRING, ADD_EVENT, ADD_BEARER, ADD_NAME, STMTS };

struct store_nsys_copy {
    sqlite3 *db; // the file; NULL before the first call
    char *path, *name;
    struct store_intern intern;
    sqlite3_stmt *stmts[STMTS];
    bool is_written; // the file, no longer `staging` alone
    int64_t next_string, events;
    struct bearer {
        uint64_t global_tid;
        int64_t domain_id;
        uint32_t category;
    } last;                    // of the event before
    int64_t first_ns, last_ns; // of all events, both ends
    char error[1024];
};

// Kinds of names: an event type whose row stands in NVTX_EVENTS, or one of these.
enum { OF_PROCESS = 1, OF_THREAD = 2 }; // rows of PROCESSES and ThreadNames

// p1 to p6 are the payloads in the order of enum nvtxt_payload_kind.
static const char staging[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA cache_size = -" CACHE_KIB "; ATTACH '' AS staging;"
    "PRAGMA staging.journal_mode = OFF; PRAGMA staging.synchronous = OFF;"
    "PRAGMA staging.cache_size = -" CACHE_KIB "; BEGIN;"
    "CREATE TABLE staging.strings (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);"
    "INSERT INTO staging.strings (id, value) VALUES (0, '[Unknown]');"
    "CREATE TABLE staging.events (start, end, type, rangeId, category, color, globalTid, domainId, "
    "endGlobalTid, textId, seq, p1, p2, p3, p4, p5, p6, json TEXT);"
    "CREATE TABLE staging.bearers (globalTid, domainId, category, "
    "PRIMARY KEY (globalTid, domainId, category)) WITHOUT ROWID;"
    "CREATE TABLE staging.names (kind, who, domainId, category, at, globalTid, text TEXT, "
    "PRIMARY KEY (kind, who, domainId, category)) WITHOUT ROWID;"
    "CREATE TABLE staging.used (kind, who, domainId, category, "
    "PRIMARY KEY (kind, who, domainId, category)) WITHOUT ROWID;";

static const char *const texts[STMTS] = {
    [FIND_STRING] = "SELECT id FROM staging.strings WHERE value = ?",
    [ADD_STRING] = "INSERT INTO staging.strings (id, value) VALUES (?, ?)",
    [ADD_EVENT] = "INSERT INTO staging.events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                  "?, ?, ?)",
    [ADD_BEARER] = "INSERT OR IGNORE INTO staging.bearers VALUES (?, ?, ?)",
    [ADD_NAME] = "INSERT INTO staging.names VALUES (?, ?, ?, ?, ?, ?, ?) "
                 "ON CONFLICT (kind, who, domainId, category) DO UPDATE SET text = excluded.text",
};

static int say(struct store_nsys_copy *copy, int rc) {
    const char *what = copy->is_written ? "write" : "write temporary files for";
    return store_result_say(copy->db, rc, what, copy->name, copy->error, sizeof(copy->error));
}

#define BIND(copy, which, types, ...)                                                              \
    (store_sql_prepare((copy)->db, &(copy)->stmts[which], texts[which])                            \
         ?: store_sql_bind((copy)->stmts[which], types, __VA_ARGS__))
#define RUN(copy, which, types, ...)                                                               \
    (BIND(copy, which, types, __VA_ARGS__) ?: store_sql_run((copy)->stmts[which]))

// ---- Its life -----------------------------------------------------------------------------------

struct store_nsys_copy *store_nsys_copy_new(const char *path, const char *name) {
    struct store_nsys_copy *copy = calloc(1, sizeof(*copy));
    if (!copy) {
        return NULL;
    }
    copy->path = strdup(path);
    copy->name = strdup(name);
    copy->next_string = 1;
    if (!copy->path || !copy->name || store_intern_init(&copy->intern) < 0) {
        store_nsys_copy_free(copy);
        return NULL;
    }
    return copy;
}

void store_nsys_copy_free(struct store_nsys_copy *copy) {
    if (!copy) {
        return;
    }
    store_sql_finalize(copy->stmts, STMTS);
    sqlite3_close(copy->db);
    store_intern_deinit(&copy->intern);
    free(copy->path);
    free(copy->name);
    free(copy);
}

const char *store_nsys_copy_error(const struct store_nsys_copy *copy) {
    return copy->error;
}

static int begin_staging(struct store_nsys_copy *copy) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (copy->db) {
        return SQLITE_OK;
    }
    int rc = sqlite3_open_v2(copy->path, &copy->db, flags, NULL);
    rc = rc ?: sqlite3_extended_result_codes(copy->db, 1);
    return rc ?: store_sql_exec(copy->db, staging);
}

// ---- Events -------------------------------------------------------------------------------------

static int find_string(struct store_nsys_copy *copy, struct nvtxt_slice text, int64_t *id) {
    const char *data = text.len ? text.data : "";
    uint32_t hash = store_text_hash(data, text.len);
    *id = store_intern_find(&copy->intern, hash, data, text.len);
    if (*id >= 0) {
        return SQLITE_OK;
    }
    int rc = BIND(copy, FIND_STRING, "s", data, text.len);
    if (store_sql_next(copy->stmts[FIND_STRING], &rc)) {
        *id = sqlite3_column_int64(copy->stmts[FIND_STRING], 0);
    }
    rc = store_sql_done(copy->stmts[FIND_STRING], rc);
    if (rc == SQLITE_OK && *id < 0) {
        *id = copy->next_string++;
        rc = RUN(copy, ADD_STRING, "is", *id, data, text.len);
    }
    store_intern_add(&copy->intern, hash, data, text.len, *id);
    return rc;
}

static int add_bearer(struct store_nsys_copy *copy, const struct store_read_event *event) {
    const struct bearer *last = &copy->last;
    int rc = SQLITE_OK;
    if (copy->events == 0 || last->global_tid != event->global_tid ||
        last->domain_id != event->domain_id || last->category != event->category) {
        rc = RUN(copy, ADD_BEARER, "iii", (int64_t)event->global_tid, event->domain_id,
                 (int64_t)event->category);
        copy->last = (struct bearer){event->global_tid, event->domain_id, event->category};
    }
    if (rc != SQLITE_OK || !event->ended_elsewhere) {
        return rc;
    }
    return RUN(copy, ADD_BEARER, "iii", (int64_t)event->end_global_tid, INT64_C(0), INT64_C(0));
}

static int bind_payload(sqlite3_stmt *stmt, int first, const struct nvtxt_payload *payload) {
    int rc = SQLITE_OK;
    for (int kind = NVTXT_PAYLOAD_INT64; kind <= NVTXT_PAYLOAD_FLOAT && rc == SQLITE_OK; kind++) {
        int column = first + kind - NVTXT_PAYLOAD_INT64;
        bool is_real = nvtxt_payload_is_real((enum nvtxt_payload_kind)kind);
        if (kind != (int)payload->kind || (is_real && isnan(payload->real))) {
            rc = sqlite3_bind_null(stmt, column);
        } else {
            rc = is_real ? sqlite3_bind_double(stmt, column, payload->real)
                         : sqlite3_bind_int64(stmt, column, payload->int64);
        }
    }
    return rc;
}

#define FIRST_PAYLOAD 12 // parameter of ADD_EVENT; JSON comes after the last of them
#define JSON (FIRST_PAYLOAD + NVTXT_PAYLOAD_FLOAT)

static int add_event(struct store_nsys_copy *copy, const struct store_read_event *event,
                     int64_t seq) {
    const struct store_maybe ended = {event->ended_elsewhere, (int64_t)event->end_global_tid};
    int64_t text_id = 0;
    int rc = find_string(copy, event->text, &text_id);
    if (rc == 0) {
        rc = BIND(copy, ADD_EVENT, "iiiiiiiimii", event->start, event->end, (int64_t)event->type,
                  event->range_id, (int64_t)event->category, (int64_t)event->color,
                  (int64_t)event->global_tid, event->domain_id, ended, text_id, seq);
    }
    sqlite3_stmt *stmt = copy->stmts[ADD_EVENT];
    rc = rc ?: bind_payload(stmt, FIRST_PAYLOAD, &event->payload);
    if (rc == SQLITE_OK && event->json.len > 0) {
        rc = sqlite3_bind_text64(stmt, JSON, event->json.data, event->json.len, SQLITE_STATIC,
                                 SQLITE_UTF8);
    } else {
        rc = rc ?: sqlite3_bind_null(stmt, JSON);
    }
    return rc ?: store_sql_run(stmt);
}

int store_nsys_copy_event(struct store_nsys_copy *copy, const struct store_read_event *event,
                          bool late_first) {
    int64_t first = event->start < event->end ? event->start : event->end;
    int64_t last = event->start < event->end ? event->end : event->start;
    int rc = begin_staging(copy);
    rc = rc ?: add_bearer(copy, event);
    rc = rc ?: add_event(copy, event, late_first ? copy->events : -copy->events);
    copy->first_ns = copy->events == 0 || first < copy->first_ns ? first : copy->first_ns;
    copy->last_ns = copy->events == 0 || last > copy->last_ns ? last : copy->last_ns;
    copy->events++;
    return say(copy, rc);
}

// ---- Names --------------------------------------------------------------------------------------

static int add_name(struct store_nsys_copy *copy, const struct store_read_name *name, int kind,
                    uint64_t who) {
    bool is_category = kind == NVTXT_EVENT_CATEGORY;
    int64_t domain = is_category || kind == NVTXT_EVENT_DOMAIN ? name->domain_id : 0;
    int64_t category = is_category ? name->category : 0;
    return RUN(copy, ADD_NAME, "iiiiiis", (int64_t)kind, (int64_t)who, domain, category, name->at,
               (int64_t)name->global_tid, name->text.len ? name->text.data : "", name->text.len);
}

int store_nsys_copy_name(struct store_nsys_copy *copy, const struct store_read_name *name) {
    uint64_t pid = name->global_tid >> 24;
    int rc = begin_staging(copy);
    switch (name->kind) {
    case NVTXT_NAME_CATEGORY:
        rc = rc ?: add_name(copy, name, NVTXT_EVENT_CATEGORY, pid);
        break;
    case NVTXT_NAME_THREAD:
        rc = rc ?: add_name(copy, name, OF_THREAD, name->global_tid);
        if (name->has_row) {
            rc = rc ?: add_name(copy, name, NVTXT_EVENT_THREAD, name->global_tid);
        }
        break;
    case NVTXT_NAME_PROCESS:
        rc = rc ?: add_name(copy, name, OF_PROCESS, pid);
        break;
    case NVTXT_NAME_DOMAIN:
        rc = rc ?: add_name(copy, name, NVTXT_EVENT_DOMAIN, pid);
        break;
    case NVTXT_NAME_RESOURCE:
    case NVTXT_NAME_COUNTER:
        break;
    }
    return say(copy, rc);
}

// ---- The times ----------------------------------------------------------------------------------

// Says which event it is that does not fit between time 0 and the largest that fits after it.
static int refuse_event(struct store_nsys_copy *copy, int64_t zero_ns) {
    static const char text[] =
        "SELECT e.start, e.end, e.globalTid, CASE e.type WHEN 34 THEN 'mark' WHEN 59 THEN "
        "'push/pop range' ELSE 'start/end range' END, substr(s.value, 1, 60) FROM staging.events e "
        "JOIN staging.strings s ON s.id = e.textId WHERE min(e.start, e.end) < ?1 OR "
        "(?1 < 0 AND max(e.start, e.end) > ?1 + 9223372036854775807) ORDER BY e.rowid LIMIT 1";
    sqlite3_stmt *stmt = NULL;
    char kind[32], message[256];
    int rc = store_sql_prepare(copy->db, &stmt, text);
    rc = rc ?: store_sql_bind(stmt, "i", zero_ns);
    if (store_sql_next(stmt, &rc)) {
        int64_t start = sqlite3_column_int64(stmt, 0), end = sqlite3_column_int64(stmt, 1);
        uint64_t tid = (uint64_t)sqlite3_column_int64(stmt, 2);
        store_sql_text(stmt, 3, kind, sizeof(kind));
        store_sql_text(stmt, 4, message, sizeof(message));
        bool before = (start < end ? start : end) < zero_ns;
        snprintf(copy->error, sizeof(copy->error),
                 "the %s '%s' of process %d, thread %d, from %" PRId64 " to %" PRId64
                 ", does not fit: it lies %s time 0, which is %" PRId64
                 "; give another one with --origin, or select less",
                 kind, message, (int)(tid >> 24 & NVTXT_ID_MAX), (int)(tid & NVTXT_ID_MAX), start,
                 end, before ? "before" : "more than 292 years after", zero_ns);
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_OK ? STORE_UNFIT : say(copy, rc);
}

// What is taken from every time. With no event, any number would do.
static int find_zero(struct store_nsys_copy *copy, const struct store_nsys_copy_options *options,
                     int64_t *zero_ns) {
    int64_t length;
    *zero_ns = options->has_origin ? options->origin_ns : copy->first_ns;
    if (copy->events == 0) {
        copy->first_ns = copy->last_ns = *zero_ns;
    }
    bool fits =
        copy->first_ns >= *zero_ns && !__builtin_sub_overflow(copy->last_ns, *zero_ns, &length);
    return fits ? STORE_DONE : refuse_event(copy, *zero_ns);
}

// ---- The file -----------------------------------------------------------------------------------

static const char gpu_tables[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, "
    "deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, "
    "correlationId INT NOT NULL, globalPid INT NOT NULL, demangledName INT NOT NULL, "
    "shortName INT NOT NULL, launchType INT NOT NULL, cacheConfig INT NOT NULL, "
    "registersPerThread INT NOT NULL, gridX INT NOT NULL, gridY INT NOT NULL, "
    "gridZ INT NOT NULL, blockX INT NOT NULL, blockY INT NOT NULL, blockZ INT NOT NULL, "
    "staticSharedMemory INT NOT NULL, dynamicSharedMemory INT NOT NULL, "
    "localMemoryPerThread INT NOT NULL, localMemoryTotal INT NOT NULL, gridId INT NOT NULL, "
    "sharedMemoryExecuted INT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL, "
    "globalTid INT NOT NULL, correlationId INT NOT NULL, nameId INT NOT NULL, "
    "returnValue INT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, end INT NOT NULL, "
    "deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, "
    "correlationId INT NOT NULL, globalPid INT NOT NULL, copyKind INT NOT NULL, "
    "srcKind INT NOT NULL, bytes INT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT NOT NULL, end INT NOT NULL, "
    "deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, "
    "correlationId INT NOT NULL, globalPid INT NOT NULL, value INT NOT NULL, "
    "bytes INT NOT NULL);";

// Threads of one name share a text, so it is no key here.
static const char more_tables[] =
    "DROP TABLE ThreadNames;"
    "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, globalTid INT NOT NULL);"
    "CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, "
    "startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL);"
    "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, "
    "name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL);";

// Names that nobody bears go.
static const char drop_names[] =
    "DELETE FROM staging.names WHERE NOT EXISTS (SELECT 1 FROM staging.used u WHERE "
    "u.kind = names.kind AND u.who = names.who AND u.domainId = names.domainId AND "
    "u.category = names.category)";

static const char *const use[] = {
    "INSERT OR IGNORE INTO staging.used SELECT 33, globalTid >> 24, domainId, category FROM "
    "staging.bearers",
    "INSERT OR IGNORE INTO staging.used SELECT 75, globalTid >> 24, domainId, 0 FROM "
    "staging.bearers",
    "INSERT OR IGNORE INTO staging.used SELECT 39, globalTid, 0, 0 FROM staging.bearers",
    "INSERT OR IGNORE INTO staging.used SELECT 2, globalTid, 0, 0 FROM staging.bearers",
    "INSERT OR IGNORE INTO staging.used SELECT 1, globalTid >> 24, 0, 0 FROM staging.bearers",
};

// Parameters of all statements: ?1 what is taken from every time, ?2 and ?3 the first and the last
// time of the events.
static const char *const rest[] = {
    // Every thread and process of a row has a name.
    "INSERT OR IGNORE INTO staging.used SELECT 2, globalTid, 0, 0 FROM staging.names WHERE "
    "kind <> 1",
    "INSERT OR IGNORE INTO staging.used SELECT 1, globalTid >> 24, 0, 0 FROM staging.names",
    "INSERT OR IGNORE INTO staging.names SELECT kind, who, 0, 0, 0, who, CASE kind WHEN 1 THEN "
    "'Process ' || who ELSE 'Thread ' || (who & 16777215) END FROM staging.used WHERE kind <= 2",
    "INSERT OR IGNORE INTO staging.strings (value) SELECT text FROM staging.names WHERE kind <> 1",
    // A name stands before its event; one whose event is not there, at the end that is near.
    "INSERT INTO staging.events (start, end, type, rangeId, category, color, globalTid, domainId, "
    "textId, seq) SELECT min(max(n.at, ?2), ?3), min(max(n.at, ?2), ?3), n.kind, 0, n.category, 0, "
    "n.globalTid, n.domainId, s.id, 9223372036854775807 FROM staging.names n CROSS JOIN "
    "staging.strings s ON s.value = n.text WHERE n.kind > 2",
    "DELETE FROM main.StringIds",
    "INSERT INTO main.StringIds SELECT id, value FROM staging.strings ORDER BY id",
    "INSERT INTO main.ThreadNames SELECT s.id, n.who FROM staging.names n CROSS JOIN "
    "staging.strings s ON s.value = n.text WHERE n.kind = 2 ORDER BY n.who",
    "INSERT INTO main.PROCESSES SELECT who << 24, who, text FROM staging.names WHERE kind = 1 "
    "ORDER BY who",
    "INSERT INTO main.NVTX_EVENTS SELECT e.start - ?1, e.end - ?1, e.type, e.rangeId, s.value, "
    "e.category, e.color, e.globalTid, e.domainId, e.endGlobalTid, e.textId, e.p3, e.p1, e.p2, "
    "e.p4, e.p5, e.p6, e.json FROM staging.events e CROSS JOIN staging.strings s "
    "ON s.id = e.textId ORDER BY e.start, e.seq < 9223372036854775807, e.end DESC, e.seq DESC",
    "INSERT INTO main.ANALYSIS_DETAILS SELECT 0, ?3 - ?1, 0, ?3 - ?1",
    "UPDATE main.TARGET_INFO_SESSION_START_TIME SET utcEpochNs = ?1, "
    "utcTime = strftime('%Y-%m-%dT%H:%M:%S', ?1 / 1000000000 - (?1 % 1000000000 < 0), "
    "'unixepoch'), localTime = strftime('%Y-%m-%dT%H:%M:%S', ?1 / 1000000000 - "
    "(?1 % 1000000000 < 0), 'unixepoch', 'localtime')",
    "COMMIT",
};

// Runs one of these statements.
static int run_moved(struct store_nsys_copy *copy, const char *text, int64_t zero_ns) {
    const int64_t values[] = {zero_ns, copy->first_ns, copy->last_ns};
    sqlite3_stmt *stmt = NULL;
    int rc = store_sql_prepare(copy->db, &stmt, text);
    for (int i = 1; i <= sqlite3_bind_parameter_count(stmt) && rc == SQLITE_OK; i++) {
        rc = sqlite3_bind_int64(stmt, i, values[i - 1]);
    }
    rc = rc ?: store_sql_run(stmt);
    sqlite3_finalize(stmt);
    return rc;
}

// What readers ask of the machine. An export says which that is; a store does not, so it is the one
// that makes the copy.
static int add_machine(struct store_nsys_copy *copy, const struct store_read_identity *source) {
    struct utsname machine = {0};
    char cores[24];
    sqlite3_stmt *stmt = NULL;
    (void)uname(&machine);
    snprintf(cores, sizeof(cores), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    const char *const facts[STORE_FACTS] = {[STORE_FACT_HOST] = machine.nodename,
                                            [STORE_FACT_OS] = machine.sysname,
                                            [STORE_FACT_KERNEL] = machine.release,
                                            [STORE_FACT_CPU] = machine.machine,
                                            [STORE_FACT_CORES] = cores};
    int rc = store_sql_prepare(copy->db, &stmt,
                               "INSERT INTO main.TARGET_INFO_SYSTEM_ENV VALUES (0, '', ?, 0, ?)");
    for (size_t i = 0; i < STORE_FACTS && rc == SQLITE_OK; i++) {
        const char *fact = source ? source->facts[i] : facts[i];
        if (*fact) {
            rc = store_sql_bind(stmt, "tt", store_fact_names[i], fact);
            rc = rc ?: store_sql_run(stmt);
        }
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int write_file(struct store_nsys_copy *copy, const struct store_nsys_copy_options *options,
                      int64_t zero_ns) {
    int rc = store_schema_export(copy->db);
    rc = rc ?: store_sql_exec(copy->db, more_tables);
    rc = rc ?: options->gpu_tables ? store_sql_exec(copy->db, gpu_tables) : rc;
    rc = rc ?: add_machine(copy, options->source);
    for (size_t i = 0; i < sizeof(use) / sizeof(use[0]) && rc == SQLITE_OK; i++) {
        rc = run_moved(copy, use[i], zero_ns);
    }
    rc = rc ?: options->all_names ? rc : run_moved(copy, drop_names, zero_ns);
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]) && rc == SQLITE_OK; i++) {
        rc = run_moved(copy, rest[i], zero_ns);
    }
    return rc;
}

int store_nsys_copy_finish(struct store_nsys_copy *copy,
                           const struct store_nsys_copy_options *options) {
    int64_t zero_ns;
    int r = say(copy, begin_staging(copy));
    r = r ?: find_zero(copy, options, &zero_ns);
    if (r != STORE_DONE) {
        return r;
    }
    copy->is_written = true;
    int rc = write_file(copy, options, zero_ns);
    store_sql_finalize(copy->stmts, STMTS);
    return say(copy, rc);
}
