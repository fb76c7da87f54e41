// SPDX-License-Identifier: Apache-2.0
//
// SQLite's own means against strangers' SQL (https://sqlite.org/security.html): an authorizer that
// is asked for each table, column and function while a query is prepared, limits of sizes, a heap
// limit, and a progress handler, which stops what takes too long. A query is prepared with its
// rest: what follows must hold no second statement.
#include "report/rule/sql_guard.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "store/db/header.h"
#include "store/db/schema.h"

#define ONE_SELECT "a query is one SELECT: it only reads"
#define ASK_EVERY 100 // instructions of SQLite's machine; each may be one call of a function

// Functions of SQLite that only compute: none reads a file, tells about the process, or gives
// another value each time, and none works for long within one call, where no query can be stopped:
// printf() repeats a character as often as it is told, and instr(), replace() and trim() compare
// all of one text with all of the other. In the order of strcmp().
const char *const report_sql_functions[] = {
    "->",
    "->>",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "glob",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "json",
    "json_array",
    "json_array_length",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_object",
    "json_quote",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "pi",
    "pow",
    "power",
    "quote",
    "radians",
    "rank",
    "round",
    "row_number",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "strftime",
    "substr",
    "substring",
    "sum",
    "tan",
    "tanh",
    "time",
    "total",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "unlikely",
    "upper",
    NULL,
};

static const struct {
    int id, value;
} limits[] = {
    {SQLITE_LIMIT_LENGTH, REPORT_SQL_BYTES},
    {SQLITE_LIMIT_SQL_LENGTH, 64 * 1024},
    {SQLITE_LIMIT_COLUMN, 200},
    {SQLITE_LIMIT_EXPR_DEPTH, 100},
    {SQLITE_LIMIT_COMPOUND_SELECT, 50},
    {SQLITE_LIMIT_FUNCTION_ARG, 32},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 16},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

// ---- What may be used ---------------------------------------------------------------------------

static bool is_listed(const char *name) {
    for (size_t i = 0; report_sql_functions[i]; i++) {
        if (sqlite3_stricmp(report_sql_functions[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// Tables that SQLite makes up: of pragmas, of the file's pages, of the process.
static bool is_made_up(const char *table) {
    static const char *const starts[] = {"pragma_",  "dbstat",      "sqlite_dbpage",  "sqlite_stmt",
                                         "bytecode", "tables_used", "sqlite_memstat", "fsdir"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (sqlite3_strnicmp(table, starts[i], (int)strlen(starts[i])) == 0) {
            return true;
        }
    }
    return false;
}

static int refuse(struct report_sql_guard *guard, const char *what, const char *name) {
    snprintf(guard->refused, sizeof(guard->refused), "%s%s%.200s%s may not be used in a query",
             what, name ? " '" : "", name ?: "", name ? "'" : "");
    return SQLITE_DENY;
}

static int refuse_action(struct report_sql_guard *guard, int action) {
    switch (action) {
    case SQLITE_PRAGMA:
        return refuse(guard, "PRAGMA", NULL);
    case SQLITE_ATTACH:
        return refuse(guard, "ATTACH", NULL);
    case SQLITE_DETACH:
        return refuse(guard, "DETACH", NULL);
    default:
        snprintf(guard->refused, sizeof(guard->refused), "%s", ONE_SELECT);
        return SQLITE_DENY;
    }
}

// SQLite asks this for everything that a statement would do.
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *inside) {
    struct report_sql_guard *guard = context;
    (void)database;
    (void)inside;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        return first && is_made_up(first) ? refuse(guard, "table", first) : SQLITE_OK;
    case SQLITE_FUNCTION:
        return second && is_listed(second) ? SQLITE_OK : refuse(guard, "function", second ?: "");
    default:
        return refuse_action(guard, action);
    }
}

// ---- Limits -------------------------------------------------------------------------------------

static int on_progress(void *context) {
    struct report_sql_guard *guard = context;
    guard->was_interrupted = guard->interrupted && guard->interrupted();
    guard->timed_out = nvtxt_monotonic_ns() >= guard->deadline_ns;
    return guard->was_interrupted || guard->timed_out;
}

void report_sql_begin(struct report_sql_guard *guard, bool (*interrupted)(void)) {
    *guard = (struct report_sql_guard){
        .deadline_ns = nvtxt_monotonic_ns() + (int64_t)REPORT_SQL_SECONDS * 1000000000,
        .interrupted = interrupted,
    };
    guard->heap_before = sqlite3_hard_heap_limit64(sqlite3_memory_used() + REPORT_SQL_HEAP);
}

void report_sql_end(struct report_sql_guard *guard) {
    sqlite3_hard_heap_limit64(guard->heap_before);
}

// Makes the tables of JSON functions known: afterwards the authorizer would see CREATE TABLE.
static void know_json_tables(sqlite3 *db) {
    sqlite3_stmt *stmt = NULL;
    sqlite3_prepare_v2(db, "SELECT 1 FROM json_each('1'), json_tree('1')", -1, &stmt, NULL);
    sqlite3_finalize(stmt);
}

int report_sql_guard_connection(struct report_sql_guard *guard, sqlite3 *db) {
    int rc = store_stranger_guard(db);
    rc = rc ?: sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    rc = rc ?: sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    // Sorting and intermediate results never go to a file.
    rc = rc ?: sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        sqlite3_limit(db, limits[i].id, limits[i].value);
    }
    sqlite3_progress_handler(db, ASK_EVERY, on_progress, guard);
    know_json_tables(db);
    return rc ?: sqlite3_set_authorizer(db, authorize, guard);
}

// ---- Preparing ----------------------------------------------------------------------------------

int report_sql_why(const struct report_sql_guard *guard, sqlite3 *db, int rc, char *reason) {
    switch (rc & 0xff) {
    case SQLITE_INTERRUPT:
        if (guard->was_interrupted) {
            return nvtxt_origin(-EINTR);
        }
        snprintf(reason, REPORT_SQL_REASON, "the query was stopped after %d s", REPORT_SQL_SECONDS);
        return 0;
    case SQLITE_NOMEM:
        // The limit of the heap looks like this too.
        snprintf(reason, REPORT_SQL_REASON, "the query needs more than %d MiB of memory",
                 (int)(REPORT_SQL_HEAP >> 20));
        return 0;
    case SQLITE_TOOBIG:
        snprintf(reason, REPORT_SQL_REASON,
                 "a text of the query, or the query, is longer than it may be");
        return 0;
    case SQLITE_AUTH:
        snprintf(reason, REPORT_SQL_REASON, "%s",
                 guard->refused[0] ? guard->refused : sqlite3_errmsg(db));
        return 0;
    default:
        snprintf(reason, REPORT_SQL_REASON, "%s", sqlite3_errmsg(db));
        return 0;
    }
}

static int say(char *reason, const char *text) {
    snprintf(reason, REPORT_SQL_REASON, "%s", text);
    return NVTXT_WRONG;
}

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

// After blanks and comments. A statement about a table that is not there is not looked at further
// by SQLite.
static bool begins_as_query(struct nvtxt_slice sql) {
    static const char *const words[] = {"SELECT", "WITH", "VALUES"};
    const char *at = sql.data, *end = sql.data + sql.len;
    while (at < end) {
        const char *close = NULL;
        if (memchr(" \t\r\n\f;", *at, 6)) {
            close = at + 1;
        } else if (end - at >= 2 && memcmp(at, "--", 2) == 0) {
            close = memchr(at, '\n', (size_t)(end - at));
        } else if (end - at >= 4 && memcmp(at, "/*", 2) == 0) {
            close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
            close = close ? close + 2 : NULL;
        } else {
            break;
        }
        at = close ?: end;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(end - at) >= len && sqlite3_strnicmp(at, words[i], (int)len) == 0) {
            return true;
        }
    }
    return false;
}

static int refused(struct report_sql_guard *guard, sqlite3 *db, int rc, struct nvtxt_slice sql,
                   char *reason, size_t *at, bool *unknown) {
    const char *message = sqlite3_errmsg(db);
    int offset = sqlite3_error_offset(db);
    *at = offset >= 0 ? (size_t)offset : sql.len;
    *unknown = rc == SQLITE_ERROR && !guard->refused[0] && begins_as_query(sql) &&
               (starts_with(message, "no such table") || starts_with(message, "no such column"));
    if (guard->refused[0]) {
        return say(reason, guard->refused);
    }
    if (rc == SQLITE_NOMEM) {
        return nvtxt_origin(-ENOMEM); // no statement that is short enough comes near the limit
    }
    if (*unknown || begins_as_query(sql)) {
        return report_sql_why(guard, db, rc, reason) ?: NVTXT_WRONG;
    }
    return say(reason, ONE_SELECT);
}

// Whether all that is left of the text is blanks, comments and semicolons.
static bool is_empty_rest(sqlite3 *db, const char *rest, const char *end) {
    while (rest < end) {
        sqlite3_stmt *more = NULL;
        const char *next = rest;
        int rc = sqlite3_prepare_v2(db, rest, (int)(end - rest), &more, &next);
        sqlite3_finalize(more);
        if (rc != SQLITE_OK || more || next <= rest) {
            return rc == SQLITE_OK && !more;
        }
        rest = next;
    }
    return true;
}

static int check_parameters(sqlite3_stmt *stmt, char *reason) {
    int count = sqlite3_bind_parameter_count(stmt);
    for (int i = 1; i <= count; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt, i);
        if (!name || (strcmp(name, ":since") != 0 && strcmp(name, ":until") != 0)) {
            snprintf(reason, REPORT_SQL_REASON,
                     "parameter '%.60s' is unknown: a query has ':since' and ':until'",
                     name ?: "?");
            return NVTXT_WRONG;
        }
    }
    return 0;
}

static int check_statement(sqlite3 *db, sqlite3_stmt *stmt, const char *rest, const char *end,
                           char *reason) {
    if (!stmt) {
        return say(reason, "the query is empty");
    }
    if (!is_empty_rest(db, rest, end)) {
        return say(reason, "a query is one statement, this has more");
    }
    if (sqlite3_stmt_isexplain(stmt) || !sqlite3_stmt_readonly(stmt) ||
        sqlite3_column_count(stmt) == 0) {
        return say(reason, ONE_SELECT);
    }
    return check_parameters(stmt, reason);
}

int report_sql_prepare(struct report_sql_guard *guard, sqlite3 *db, struct nvtxt_slice sql,
                       sqlite3_stmt **stmt, char *reason, size_t *at, bool *unknown) {
    const char *rest = NULL;
    *stmt = NULL;
    *at = sql.len;
    *unknown = false;
    guard->refused[0] = '\0';
    if (sql.len == 0) {
        return say(reason, "the query is empty");
    }
    if (memchr(sql.data, '\0', sql.len)) {
        return say(reason, "the query has a NUL in it");
    }
    if (sql.len > 64 * 1024) {
        return say(reason, "the query is longer than 65,536 bytes");
    }
    int rc = sqlite3_prepare_v2(db, sql.data, (int)sql.len, stmt, &rest);
    if (rc != SQLITE_OK) {
        return refused(guard, db, rc, sql, reason, at, unknown);
    }
    int r = check_statement(db, *stmt, rest, sql.data + sql.len, reason);
    if (r == NVTXT_WRONG) {
        sqlite3_finalize(*stmt);
        *stmt = NULL;
    }
    return r;
}

int report_sql_check(struct nvtxt_slice sql, char *reason, size_t *at) {
    struct report_sql_guard guard;
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    bool unknown = false;
    *at = sql.len;
    report_sql_begin(&guard, NULL);
    int r = 0;
    int rc = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    rc = rc ?: store_schema_upgrade(db, store_schema_steps, STORE_SCHEMA_VERSION);
    rc = rc ?: report_sql_guard_connection(&guard, db);
    if (rc == SQLITE_OK) {
        r = report_sql_prepare(&guard, db, sql, &stmt, reason, at, &unknown);
    } else {
        r = nvtxt_origin(-ENOMEM); // an empty database in memory can lack nothing else
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    report_sql_end(&guard);
    return r == NVTXT_WRONG && unknown ? 0 : r;
}
