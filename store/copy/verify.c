// SPDX-License-Identifier: Apache-2.0
//
// A rule is a query that counts what breaks it, and a sentence. All rules of a segment run in one
// read transaction, so they see the same moment.
#include "store/copy/verify.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "protocol/table/arrays.h"
#include "store/db/connection.h"
#include "store/db/schema.h"
#include "store/db/sql.h"
#include "store/segment/carry_over.h"
#include "store/segment/segments.h"
#include "store/value/codes.h"
#include "store/value/rows.h"

#define OPCODES 100000        // of SQLite's machine between two calls of `may_stop`
#define FREE_BYTES (16 << 20) // fewer are not reported
#define EVENTS "eventType IN (34, 59, 60)"

static const struct rule {
    const char *sql;
    const char *sentence; // follows a number
} rules[] = {
    {"SELECT count(*) FROM (SELECT b.id FROM NVTXT_BATCHES b LEFT JOIN NVTX_EVENTS e ON e.rowid "
     "BETWEEN b.firstRow AND b.lastRow AND e." EVENTS " GROUP BY b.id HAVING count(e.rowid) <> "
     "b.events OR ifnull(min(e.start), 0) <> b.minStart OR ifnull(max(e.end), 0) <> b.maxEnd)",
     "commits whose row of NVTXT_BATCHES does not fit their events"},
    {"SELECT count(*) FROM (SELECT firstRow, lag(lastRow) OVER (ORDER BY id) AS before FROM "
     "NVTXT_BATCHES) WHERE firstRow <= before",
     "commits whose rows overlap"},
    {"SELECT abs((SELECT count(*) FROM NVTX_EVENTS WHERE " EVENTS ") - "
     "(SELECT CAST(total(events) AS INTEGER) FROM NVTXT_BATCHES))",
     "events more or less than NVTXT_BATCHES counts"},
    {"SELECT count(*) FROM (SELECT firstRow, lastRow, lag(lastRow) OVER (ORDER BY firstRow) AS "
     "before FROM NVTXT_EVENT_SOURCES) WHERE firstRow <= before OR lastRow < firstRow",
     "ranges of NVTXT_EVENT_SOURCES that overlap"},
    {"SELECT abs((SELECT count(*) FROM NVTX_EVENTS WHERE " EVENTS ") - (SELECT "
     "ifnull(sum(lastRow - firstRow + 1), 0) FROM NVTXT_EVENT_SOURCES))",
     "events more or less than NVTXT_EVENT_SOURCES covers"},
    {"SELECT count(*) FROM NVTXT_NAME_ROWS r WHERE kind IN (3, 33, 39, 75) AND (SELECT x.lastRow "
     "FROM "
     "NVTXT_EVENT_SOURCES x WHERE x.firstRow <= r.row ORDER BY x.firstRow DESC LIMIT 1) >= r.row",
     "names that stand among the events of a source"},
    {"SELECT count(*) FROM NVTXT_NAME_ROWS r LEFT JOIN NVTX_EVENTS e ON e.rowid = r.row WHERE "
     "r.kind IN (3, 33, 39, 75) AND e.eventType IS NOT iif(r.kind = 3, 33, r.kind)",
     "rows of NVTXT_NAME_ROWS that lead nowhere"},
    {"SELECT count(*) FROM NVTXT_EVENT_SOURCES x LEFT JOIN NVTXT_SOURCES s ON s.id = x.sourceId "
     "WHERE s.id IS NULL",
     "ranges of rows whose source is not known"},
    {"SELECT count(*) FROM NVTXT_SOURCES s LEFT JOIN (SELECT sourceId, sum(lastRow - firstRow + 1) "
     "AS stored FROM NVTXT_EVENT_SOURCES GROUP BY sourceId) x ON x.sourceId = s.id WHERE "
     "s.events - ifnull(s.priorEvents, 0) <> ifnull(x.stored, 0) AND s.id NOT IN (SELECT sourceId "
     "FROM NVTXT_LOSSES WHERE reason = '" STORE_LOSS_REFUSED "' AND sourceId IS NOT NULL)",
     "sources that counted more or fewer events than they have"},
    {"SELECT count(*) FROM NVTXT_SOURCES s JOIN (SELECT sourceId, count(*) AS stored FROM "
     "NVTXT_DIAGNOSTICS GROUP BY sourceId) d ON d.sourceId = s.id "
     "WHERE d.stored > s.warnings + s.errors",
     "sources with more diagnostics than they counted"},
    {"SELECT count(*) FROM NVTXT_SESSIONS n LEFT JOIN NVTXT_SOURCES s ON s.id = n.sourceId WHERE "
     "s.sessionId IS NOT n.sessionId OR s.closedNs IS NOT NULL OR s.lines IS NOT n.line",
     "sessions whose state does not fit their source"},
    {"SELECT count(*) FROM NVTXT_FILES f LEFT JOIN NVTXT_SOURCES s ON s.id = f.sourceId WHERE "
     "s.kind IS NOT 'file'",
     "followed files without a source"},
    {"SELECT count(*) FROM NVTXT_STATE p WHERE NOT EXISTS (SELECT 1 FROM NVTXT_SESSIONS n WHERE "
     "n.sourceId = p.sourceId) AND NOT EXISTS (SELECT 1 FROM NVTXT_FILES f WHERE f.sourceId = "
     "p.sourceId)",
     "parts of states that belong to nothing"},
    {"SELECT count(*) FROM NVTXT_OPEN_RANGES o LEFT JOIN NVTXT_SOURCES s ON s.id = o.sourceId "
     "WHERE s.id IS NULL OR s.closedNs IS NOT NULL",
     "open ranges of sources that are not open"},
    {"SELECT count(*) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
     "WHERE s.value IS NOT e.text",
     "rows whose text is not that of their textId"},
    {"SELECT count(*) FROM NVTX_EVENTS WHERE rangeId <> iif(eventType = 60, rowid + "
     "ifnull((SELECT rangeBase FROM NVTXT_SEGMENT), 0), 0)",
     "rows with a wrong rangeId"},
    {"SELECT count(*) FROM (SELECT globalTid FROM ThreadNames GROUP BY globalTid "
     "HAVING count(*) > 1)",
     "threads with more than one name"},
    {"SELECT count(*) FROM (SELECT DISTINCT globalTid FROM NVTX_EVENTS WHERE " EVENTS ") e "
     "WHERE e.globalTid NOT IN (SELECT globalTid FROM ThreadNames)",
     "threads with events and without a name"},
    {"SELECT count(*) FROM NVTXT_UNCLOSED u LEFT JOIN NVTX_EVENTS e ON e.rowid = u.eventRow "
     "WHERE e.rowid IS NULL",
     "rows of NVTXT_UNCLOSED that lead nowhere"},
    {"SELECT count(*) FROM NVTXT_RANGE_KEYS k LEFT JOIN NVTX_EVENTS e ON e.rowid = k.eventRow "
     "LEFT JOIN NVTXT_SOURCES s ON s.id = k.sourceId WHERE e.eventType IS NOT 60 OR s.id IS NULL",
     "rows of NVTXT_RANGE_KEYS that lead nowhere"},
};

// ---- Findings -----------------------------------------------------------------------------------

void store_findings_deinit(struct store_findings *findings) {
    free(findings->rows);
    *findings = (struct store_findings){0};
}

static void add_finding(struct store_findings *findings, bool is_problem, const char *path,
                        const char *text) {
    struct store_finding *row = findings->count < STORE_VERIFY_MAX
                                    ? nvtxt_add(&findings->rows, &findings->count, sizeof(*row))
                                    : NULL;
    findings->problems += is_problem;
    findings->advices += !is_problem;
    if (!row) {
        findings->more += is_problem;
        return;
    }
    row->is_problem = is_problem;
    snprintf(row->text, sizeof(row->text), "%s: %s", nvtxt_base_name(path), text);
}

// ---- One segment --------------------------------------------------------------------------------

static int check_integrity(sqlite3 *db, const char *path, struct store_findings *findings) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "PRAGMA integrity_check(10)", -1, &stmt, NULL);
    while (store_sql_next(stmt, &rc)) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        if (text && strcmp(text, "ok") != 0) {
            add_finding(findings, true, path, text);
        }
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int check_rules(sqlite3 *db, const char *path, struct store_findings *findings) {
    char text[256];
    int64_t broken;
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && rc == SQLITE_OK; i++) {
        rc = store_sql_int(db, rules[i].sql, &broken);
        if (rc == SQLITE_OK && broken != 0) {
            snprintf(text, sizeof(text), "%lld %s", (long long)broken, rules[i].sentence);
            add_finding(findings, true, path, text);
        }
    }
    return rc;
}

static int advise(sqlite3 *db, const char *path, bool active, struct store_findings *findings) {
    int64_t empty = 0, bytes = 0;
    char text[256];
    int rc = store_sql_int(db,
                           "SELECT freelist_count * page_size FROM pragma_freelist_count, "
                           "pragma_page_size",
                           &empty);
    if (rc == 0) {
        rc = store_sql_int(db,
                           "SELECT page_count * page_size FROM pragma_page_count, "
                           "pragma_page_size",
                           &bytes);
    }
    if (rc == SQLITE_OK && empty >= FREE_BYTES && empty > bytes / 4) {
        snprintf(text, sizeof(text), "%lld MiB of %lld are free pages; %s",
                 (long long)(empty >> 20), (long long)(bytes >> 20),
                 active ? "new events use them again, and 'nvtxt-ctl rotate' leaves them behind"
                        : "'sqlite3 FILE VACUUM' gives them back, if nobody reads it");
        add_finding(findings, false, path, text);
    }
    return rc;
}

// Where the ids of one segment must go on after the one before.
struct chain {
    int64_t number, ranges, sources; // of the one before; number 0: there is none
    int64_t next_ranges, next_sources;
};

static int check_chain(sqlite3 *db, const char *path, struct chain *chain,
                       struct store_findings *findings) {
    int64_t number = 0, ranges = 0, sources = 0, rows = 0, last = 0;
    int rc = store_carry_fact(db, "number", &number);
    rc = rc ?: store_carry_fact(db, "rangeBase", &ranges);
    rc = rc ?: store_carry_fact(db, "sourceBase", &sources);
    rc = rc ?: store_sql_int(db, "SELECT ifnull(max(rowid), 0) FROM NVTX_EVENTS", &rows);
    rc = rc ?: store_sql_int(db, "SELECT ifnull(max(id), 0) FROM NVTXT_SOURCES", &last);
    if (rc == SQLITE_OK && chain->number &&
        (number <= chain->number || ranges < chain->next_ranges || sources < chain->next_sources)) {
        add_finding(findings, true, path,
                    "its ids do not go on where those of the segment before end");
    }
    *chain = (struct chain){.number = number,
                            .ranges = ranges,
                            .sources = sources,
                            .next_ranges = ranges + rows,
                            .next_sources = last > sources ? last : sources};
    return rc;
}

struct asking {
    int (*may_stop)(void *context);
    void *context;
    bool stopped;
};

static int on_progress(void *context) {
    struct asking *asking = context;
    asking->stopped = asking->stopped || asking->may_stop(asking->context) != 0;
    return asking->stopped;
}

// A segment that was left gets no log and no index beside it: it may be of a newer version, and
// stays as it is.
static int open_one(sqlite3 **db, const char *path, bool active, struct asking *asking) {
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = active ? sqlite3_open_v2(path, db, flags, NULL) : store_connection_read_left(db, path);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(*db, STORE_BUSY_MS);
        sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_progress_handler(*db, OPCODES, on_progress, asking);
        rc = store_sql_exec(*db, "BEGIN; SELECT count(*) FROM sqlite_master");
    }
    return rc;
}

static int check_segment(sqlite3 *db, const char *path, bool active, struct chain *chain,
                         struct store_findings *findings) {
    enum store_schema_state state;
    int version;
    int64_t events = 0;
    int rc = store_schema_inspect(db, &state, &version);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (state == STORE_SCHEMA_OURS && version > STORE_SCHEMA_VERSION) {
        char why[STORE_SCHEMA_CLAUSE];
        store_schema_newer(version, why, sizeof(why));
        add_finding(findings, true, path, why);
        return SQLITE_OK;
    }
    if (state != STORE_SCHEMA_OURS || version < 1) {
        add_finding(findings, true, path, "it is no store of this version");
        return SQLITE_OK;
    }
    rc = check_integrity(db, path, findings);
    if (version < STORE_SCHEMA_VERSION) {
        add_finding(findings, false, path,
                    "an older version wrote it; only its integrity was looked at");
        return rc;
    }
    rc = rc ?: check_rules(db, path, findings);
    rc = rc ?: check_chain(db, path, chain, findings);
    rc = rc ?: advise(db, path, active, findings);
    if (rc == 0) {
        rc = store_sql_int(db, "SELECT CAST(total(events) AS INTEGER) FROM NVTXT_BATCHES", &events);
    }
    findings->events += (uint64_t)events;
    return rc;
}

// True when it was removed for its age or size after it was listed.
static bool is_gone(const char *segment) {
    return access(segment, F_OK) < 0 && errno == ENOENT;
}

int store_verify(const char *path, int (*may_stop)(void *context), void *context,
                 struct store_findings *findings) {
    struct store_segments list;
    struct asking asking = {may_stop, context, false};
    struct chain chain = {0};
    *findings = (struct store_findings){0};
    int r = store_segments_list(path, &list);
    for (size_t i = 0; r == 0 && i < list.count && !asking.stopped; i++) {
        const char *segment = list.rows[i].path;
        bool active = i + 1 == list.count;
        sqlite3 *db = NULL;
        int rc = open_one(&db, segment, active, &asking);
        rc = rc ?: check_segment(db, segment, active, &chain, findings);
        bool removed = rc == SQLITE_CANTOPEN && !active && is_gone(segment);
        if (rc != SQLITE_OK && !removed && !asking.stopped) {
            add_finding(findings, true, segment, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
        }
        findings->segments += !removed;
        sqlite3_close(db);
    }
    store_segments_deinit(&list);
    return r < 0 ? r : asking.stopped ? STORE_STOPPED : STORE_DONE;
}
