// SPDX-License-Identifier: Apache-2.0
//
// Each table is one COPY TO STDOUT in the binary format; events have one for each segment, so that
// the engine sorts no more than that. Names are those of the segments that the rows are of; of
// several the newest counts.
#include "ship/tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ship/tools/binary.h"
#include "store/follow/rebuild.h"
#include "store/read/event_members.h"

#define SQL_SIZE 1024

struct pull {
    struct pg *pg;
    int64_t store_id;
    const struct pull_span *span;
    bool has_logs, has_parents;
    struct store_rebuild *rebuild;
    struct failure *failure;
    int64_t rows;        // so far, of all tables
    int64_t first, last; // segments that have events of the span
};

static enum failure_class pg_failed(struct pull *pull, enum failure_class class) {
    if (class) {
        *pull->failure = *pg_failure(pull->pg);
    }
    return class;
}

// ---- Finding ------------------------------------------------------------------------------------

static enum failure_class refuse_several(const struct pg_rows *rows, const char *host,
                                         struct failure *failure) {
    struct nvtxt_buf list = {0};
    for (size_t i = 0; i < pg_rows_count(rows); i++) {
        nvtxt_buf_add_string(&list, i ? ", " : "");
        nvtxt_buf_add_string(&list, pg_text(rows, i, 1) ?: "?");
    }
    nvtxt_buf_add(&list, "", 1);
    enum failure_class class =
        nvtxt_buf_failed(&list)
            ? failure_set(failure, FAILURE_MEMORY, "out of memory")
            : failure_set(failure, FAILURE_TARGET,
                          "%zu stores have the host %s: say which one with --store-id: %s",
                          pg_rows_count(rows), host, list.data);
    nvtxt_buf_deinit(&list);
    return class;
}

enum failure_class pull_find(struct pg *pg, const char *host, const char *store, int64_t *store_id,
                             struct failure *failure) {
    static const char sql[] = "SELECT store_id, store FROM @.stores WHERE ($1 = '' OR host = $1) "
                              "AND ($2 = '' OR store::text = lower($2)) ORDER BY store";
    const char *values[] = {host, store};
    struct pg_rows *rows = NULL;
    // Whoever may not read has stores hidden, which is not that there are none.
    enum failure_class class = pg_run(pg, "SELECT FROM @.events LIMIT 0");
    class = class ?: pg_ask(pg, sql, values, 2, &rows);
    if (class) {
        *failure = *pg_failure(pg);
        return class;
    }
    *store_id = pg_rows_count(rows) == 1 ? pg_int(rows, 0, 0) : 0;
    if (pg_rows_count(rows) == 0) {
        class = failure_set(failure, FAILURE_NO_STORE, "there is no store%s%s%s%s",
                            *store ? " " : "", store, *host ? " of the host " : "", host);
    } else if (pg_rows_count(rows) > 1) {
        class = refuse_several(rows, host, failure);
    }
    pg_rows_free(rows);
    return class;
}

// ---- Rows ---------------------------------------------------------------------------------------

static struct store_maybe maybe(struct binary_row *row) {
    bool is_null;
    int64_t value = binary_int(row, &is_null);
    return (struct store_maybe){!is_null, value};
}

static struct store_maybe maybe_time(struct binary_row *row) {
    bool is_null;
    int64_t ns = binary_time(row, &is_null);
    return (struct store_maybe){!is_null, ns};
}

// Of a column that is never NULL, but an engine may say what it likes.
static struct nvtxt_slice text_of(struct binary_row *row) {
    struct nvtxt_slice text = binary_text(row);
    return text.data ? text : nvtxt_slice_of("");
}

static struct nvtxt_payload payload_of(int64_t type, int64_t integer, double real) {
    struct nvtxt_payload payload = {.kind = NVTXT_PAYLOAD_NONE};
    for (int kind = NVTXT_PAYLOAD_NONE + 1; kind <= NVTXT_PAYLOAD_FLOAT; kind++) {
        if (type == store_event_payload_column((enum nvtxt_payload_kind)kind)) {
            payload.kind = (enum nvtxt_payload_kind)kind;
        }
    }
    if (nvtxt_payload_is_real(payload.kind)) {
        payload.real = real;
    } else {
        payload.int64 = integer;
    }
    return payload;
}

static const char event_columns[] =
    "e.committed, e.start_ns, e.end_ns, e.global_tid, e.source_id, e.domain_id, e.category, "
    "e.color, e.end_global_tid, e.int64_value, e.double_value, e.json_text, e.event_type, "
    "e.payload_type, e.unclosed, e.text";

// With the key that an event may have.
#define KEY_COLUMNS ", k.key, k.parent"

static int take_event_without_key(struct store_rebuild *rebuild, struct binary_row *row,
                                  int64_t *source_id) {
    struct store_follow_event event = {.committed_ns = binary_time(row, NULL)};
    bool here;
    event.event.start = binary_int(row, NULL);
    event.event.end = binary_int(row, NULL);
    event.event.global_tid = (uint64_t)binary_int(row, NULL);
    event.source_id = binary_int(row, NULL);
    event.event.domain_id = binary_int(row, NULL);
    event.event.category = (uint32_t)binary_int(row, NULL);
    event.event.color = (uint32_t)binary_int(row, NULL);
    event.event.end_global_tid = (uint64_t)binary_int(row, &here);
    event.event.ended_elsewhere = !here;
    int64_t integer = binary_int(row, NULL);
    double real = binary_double(row, NULL);
    event.event.json = binary_text(row);
    event.event.type = (enum nvtxt_event_type)binary_int(row, NULL);
    event.event.payload = payload_of(binary_int(row, NULL), integer, real);
    event.unclosed = binary_bool(row);
    event.event.text = text_of(row);
    *source_id = event.source_id;
    return store_rebuild_event(rebuild, &event);
}

static int take_event_of_version_2(struct store_rebuild *rebuild, struct binary_row *row) {
    int64_t source_id;
    return take_event_without_key(rebuild, row, &source_id);
}

static int take_event(struct store_rebuild *rebuild, struct binary_row *row) {
    struct store_follow_key key;
    int r = take_event_without_key(rebuild, row, &key.source_id);
    key.key = binary_text(row);
    key.parent = binary_text(row);
    return r || !key.key.data ? r : store_rebuild_key(rebuild, &key);
}

static int take_domain(struct store_rebuild *rebuild, struct binary_row *row) {
    struct store_follow_domain domain = {.id = binary_int(row, NULL)};
    domain.name = text_of(row);
    return store_rebuild_domain(rebuild, &domain);
}

static int take_process(struct store_rebuild *rebuild, struct binary_row *row) {
    struct store_follow_name process = {.id = binary_int(row, NULL)};
    process.name = text_of(row);
    return store_rebuild_process(rebuild, &process);
}

static int take_thread(struct store_rebuild *rebuild, struct binary_row *row) {
    struct store_follow_name thread = {.id = binary_int(row, NULL)};
    thread.name = text_of(row);
    return store_rebuild_thread(rebuild, &thread);
}

static int take_category(struct store_rebuild *rebuild, struct binary_row *row) {
    struct store_follow_category category = {.domain_id = binary_int(row, NULL)};
    category.pid = binary_int(row, NULL);
    category.category = binary_int(row, NULL);
    category.name = text_of(row);
    return store_rebuild_category(rebuild, &category);
}

static int take_source(struct store_rebuild *rebuild, struct binary_row *row) {
    struct store_follow_source source = {.id = binary_int(row, NULL)};
    source.kind = binary_text(row);
    source.session = binary_text(row);
    source.name = binary_text(row);
    source.display_name = binary_text(row);
    source.peer_comm = binary_text(row);
    source.ended = binary_text(row);
    source.peer_pid = maybe(row);
    source.peer_uid = maybe(row);
    source.peer_gid = maybe(row);
    source.opened_ns = maybe_time(row);
    source.closed_ns = maybe_time(row);
    source.lines = maybe(row);
    source.events = maybe(row);
    source.warnings = maybe(row);
    source.errors = maybe(row);
    source.first_ns = maybe(row);
    source.last_ns = maybe(row);
    source.levels = binary_bool(row);
    source.parent = binary_text(row);
    return store_rebuild_source(rebuild, &source);
}

static int take_diagnostic(struct store_rebuild *rebuild, struct binary_row *row) {
    struct store_follow_diagnostic diagnostic = {.source_id = maybe(row)};
    diagnostic.line = maybe(row);
    diagnostic.column = maybe(row);
    diagnostic.at_ns = maybe_time(row);
    diagnostic.severity = binary_text(row);
    diagnostic.stage = binary_text(row);
    diagnostic.code = binary_text(row);
    diagnostic.message = binary_text(row);
    diagnostic.excerpt = binary_text(row);
    return store_rebuild_diagnostic(rebuild, &diagnostic);
}

static int take_loss(struct store_rebuild *rebuild, struct binary_row *row) {
    struct store_follow_loss loss = {.at_ns = maybe_time(row)};
    loss.source_id = maybe(row);
    loss.uid = maybe(row);
    loss.pid = maybe(row);
    loss.reason = binary_text(row);
    loss.count = binary_int(row, NULL);
    return store_rebuild_loss(rebuild, &loss);
}

// ---- Tables -------------------------------------------------------------------------------------

// Copies what a query gives, row by row.
static enum failure_class copy(struct pull *pull, const char *query,
                               int (*take)(struct store_rebuild *rebuild, struct binary_row *row)) {
    char sql[SQL_SIZE + 64];
    const char *data;
    size_t len;
    snprintf(sql, sizeof(sql), "COPY (%s) TO STDOUT (FORMAT binary)", query);
    enum failure_class class = pg_copy_out_begin(pull->pg, sql);
    while (class == FAILURE_NONE && (class = pg_copy_get(pull->pg, &data, &len)) == FAILURE_NONE &&
           len > 0) {
        struct binary_row row;
        if (!binary_begin(&row, data, len)) {
            continue;
        }
        pull->rows++;
        if (take(pull->rebuild, &row) != 0) {
            return failure_set(pull->failure, FAILURE_STORE, "%s",
                               store_rebuild_error(pull->rebuild));
        }
        if (!binary_end(&row)) {
            return failure_set(pull->failure, FAILURE_ENGINE,
                               "the engine gave a row that is not one of this schema");
        }
    }
    return pg_failed(pull, class);
}

static bool is_span(const struct pull *pull) {
    return pull->span->has_since || pull->span->has_until;
}

// Appends the conditions of the span on a column.
static void add_span(const struct pull *pull, char *sql, size_t size, const char *column) {
    size_t at = strlen(sql);
    if (pull->span->has_since) {
        at += (size_t)snprintf(sql + at, size - at, " AND %s >= @.at(%" PRId64 ")", column,
                               pull->span->since_ns);
    }
    if (pull->span->has_until && at < size) {
        snprintf(sql + at, size - at, " AND %s <= @.at(%" PRId64 ")", column, pull->span->until_ns);
    }
}

#define JOIN_KEYS                                                                                  \
    " LEFT JOIN @.range_keys AS k ON k.store_id = e.store_id AND k.segment = e.segment AND "       \
    "k.row_id = e.row_id"

static enum failure_class copy_events(struct pull *pull, const char *segment) {
    char sql[SQL_SIZE];
    bool keys = pull->has_parents;
    snprintf(sql, sizeof(sql),
             "SELECT %s%s FROM @.events AS e%s WHERE e.store_id = %" PRId64 " AND e.segment = %s",
             event_columns, keys ? KEY_COLUMNS : "", keys ? JOIN_KEYS : "", pull->store_id,
             segment);
    add_span(pull, sql, sizeof(sql), "e.committed");
    strncat(sql, " ORDER BY e.row_id", sizeof(sql) - strlen(sql) - 1);
    return copy(pull, sql, keys ? take_event : take_event_of_version_2);
}

static enum failure_class copy_all_events(struct pull *pull) {
    struct pg_rows *rows;
    char id[PG_NUMBER_SIZE];
    const char *values[] = {pg_number(id, pull->store_id)};
    enum failure_class class = pg_failed(
        pull, pg_ask(pull->pg,
                     "SELECT segment FROM @.segments WHERE store_id = $1::integer ORDER BY segment",
                     values, 1, &rows));
    for (size_t i = 0; class == FAILURE_NONE && i < pg_rows_count(rows); i++) {
        int64_t before = pull->rows;
        class = copy_events(pull, pg_text(rows, i, 0) ?: "NULL");
        if (pull->rows > before) {
            pull->last = pg_int(rows, i, 0);
            pull->first = before ? pull->first : pull->last;
        }
    }
    pg_rows_free(rows);
    return class;
}

#define SOURCE_COLUMNS                                                                             \
    "source_id, kind, session, name, display_name, peer_comm, ended, peer_pid, peer_uid, "         \
    "peer_gid, opened, closed, lines, events, warnings, errors, first_ns, last_ns"

#define IS_LOG                                                                                     \
    ", EXISTS (SELECT FROM @.logs AS l WHERE l.store_id = s.store_id AND l.source_id = "           \
    "s.source_id)"

// `%s` of a query is the condition on the store; `time` is the column that the span is about.
static const struct table {
    const char *columns, *tail, *time;
    int (*take)(struct store_rebuild *rebuild, struct binary_row *row);
    bool is_of_segments; // of a span, only those that have events of it
} tables[] = {
    {"domain_id, name FROM @.domains", " ORDER BY domain_id", NULL, take_domain, false},
    {"DISTINCT ON (pid) pid, name FROM @.processes", " ORDER BY pid, segment DESC", NULL,
     take_process, true},
    {"DISTINCT ON (global_tid) global_tid, name FROM @.threads",
     " ORDER BY global_tid, segment DESC", NULL, take_thread, true},
    {"DISTINCT ON (domain_id, pid, category) domain_id, pid, category, name FROM @.categories",
     " ORDER BY domain_id, pid, category, segment DESC", NULL, take_category, true},
    {SOURCE_COLUMNS IS_LOG ", (SELECT parent FROM @.source_parents AS p WHERE p.store_id = "
                           "s.store_id AND p.source_id = s.source_id) FROM @.sources AS s",
     " ORDER BY source_id", NULL, take_source, false},
    {"source_id, line, col, at, severity, stage, code, message, excerpt FROM @.diagnostics",
     " ORDER BY segment, row_id", "at", take_diagnostic, false},
    {"at, source_id, uid, pid, reason, count FROM @.losses", " ORDER BY segment, row_id", "at",
     take_loss, false},
};

// Of older schemas.
static const struct table sources_without_logs = {SOURCE_COLUMNS
                                                  ", false, NULL::text FROM @.sources",
                                                  " ORDER BY source_id", NULL, take_source, false};
static const struct table sources_without_parents = {
    SOURCE_COLUMNS IS_LOG ", NULL::text FROM @.sources AS s", " ORDER BY source_id", NULL,
    take_source, false};

static const struct table *table_of(const struct pull *pull, size_t index) {
    const struct table *table = &tables[index];
    return table->take != take_source ? table
           : !pull->has_logs          ? &sources_without_logs
           : !pull->has_parents       ? &sources_without_parents
                                      : table;
}

static enum failure_class copy_table(struct pull *pull, const struct table *table) {
    char sql[SQL_SIZE];
    snprintf(sql, sizeof(sql), "SELECT %s WHERE store_id = %" PRId64, table->columns,
             pull->store_id);
    if (table->time) {
        add_span(pull, sql, sizeof(sql), table->time);
    }
    if (table->is_of_segments && is_span(pull)) {
        size_t at = strlen(sql);
        snprintf(sql + at, sizeof(sql) - at, " AND segment BETWEEN %" PRId64 " AND %" PRId64,
                 pull->first, pull->last);
    }
    strncat(sql, table->tail, sizeof(sql) - strlen(sql) - 1);
    return copy(pull, sql, table->take);
}

static enum failure_class copy_all(struct pull *pull) {
    enum failure_class class =
        pg_failed(pull, pg_run(pull->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                                         "SET LOCAL statement_timeout = 0"));
    class = class ?: copy_all_events(pull);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && class == FAILURE_NONE; i++) {
        class = copy_table(pull, table_of(pull, i));
    }
    return class ?: pg_failed(pull, pg_run(pull->pg, "COMMIT"));
}

enum failure_class pull_store(struct pg *pg, const struct schema_facts *facts, int64_t store_id,
                              const struct pull_span *span, const char *path, uint32_t mode,
                              struct failure *failure) {
    struct pull pull = {.pg = pg,
                        .store_id = store_id,
                        .span = span,
                        .has_logs = facts->may_read_logs,
                        .has_parents = facts->version > 2,
                        .last = -1, // before any segment
                        .failure = failure};
    char error[FAILURE_SENTENCE];
    if (store_rebuild_open(&pull.rebuild, path, mode, error, sizeof(error)) != 0) {
        return failure_set(failure, FAILURE_STORE, "%s", error);
    }
    enum failure_class class = copy_all(&pull);
    if (class == FAILURE_NONE && store_rebuild_finish(pull.rebuild, is_span(&pull)) != 0) {
        class = failure_set(failure, FAILURE_STORE, "%s", store_rebuild_error(pull.rebuild));
    }
    store_rebuild_close(pull.rebuild);
    return class;
}
