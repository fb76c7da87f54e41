// SPDX-License-Identifier: Apache-2.0
//
// $1 is the store in every statement, and mostly $2 the segment; the arrays follow. A function
// fills the arrays with the values of a row; run_statement() does the rest.
#include "ship/rows/small.h"

void small_deinit(struct small *small) {
    arrays_deinit(&small->arrays);
}

// A statement for rows of the store.
static struct arrays *for_store(struct small *small) {
    arrays_clear(&small->arrays);
    arrays_set_int(&small->arrays, small->store_id);
    return &small->arrays;
}

// A statement for rows of the segment.
static struct arrays *for_segment(struct small *small) {
    for_store(small);
    arrays_set_int(&small->arrays, small->segment);
    return &small->arrays;
}

static enum failure_class run_statement(struct small *small, const char *sql) {
    const char *values[ARRAYS_MAX];
    if (arrays_finish(&small->arrays, values) < 0) {
        return pg_fail_memory(small->pg);
    }
    enum failure_class class = pg_ask(small->pg, sql, values, small->arrays.count, NULL);
    arrays_clear(&small->arrays);
    return class;
}

// ---- Single rows --------------------------------------------------------------------------------

enum failure_class small_segment(struct small *small, const struct store_follow_segment *segment,
                                 int64_t events, int64_t last_ns, bool complete) {
    struct arrays *arrays = for_store(small);
    arrays_set_int(arrays, (int64_t)segment->number);
    arrays_set_text(arrays, nvtxt_slice_of(segment->name ?: ""));
    arrays_set_int(arrays, segment->started_ns);
    arrays_set_int(arrays, events);
    arrays_set_int(arrays, last_ns);
    arrays_set_int(arrays, complete);
    return run_statement(
        small, "INSERT INTO @.segments AS s (store_id, segment, name, started, events, last, "
               "complete) VALUES ($1::integer, $2::bigint, $3, @.at(nullif($4::bigint, 0)), "
               "$5::bigint, @.at(nullif($6::bigint, 0)), $7::integer <> 0) "
               "ON CONFLICT (store_id, segment) DO UPDATE SET events = s.events + "
               "excluded.events, last = greatest(s.last, excluded.last), "
               "complete = s.complete OR excluded.complete");
}

enum failure_class small_own_loss(struct small *small, int64_t segment, int64_t row,
                                  const char *reason, int64_t count) {
    struct arrays *arrays = for_store(small);
    arrays_set_int(arrays, segment);
    arrays_set_int(arrays, row);
    arrays_set_text(arrays, nvtxt_slice_of(reason));
    arrays_set_int(arrays, count);
    return run_statement(
        small, "INSERT INTO @.losses (store_id, segment, row_id, at, reason, count) VALUES "
               "($1::integer, $2::bigint, $3::bigint, statement_timestamp(), $4, $5::bigint) "
               "ON CONFLICT DO NOTHING");
}

// ---- Tables -------------------------------------------------------------------------------------

static void add_diagnostic(struct arrays *arrays, const void *at) {
    const struct store_follow_diagnostic *row = at;
    arrays_int(arrays, row->row);
    arrays_maybe(arrays, row->source_id);
    arrays_maybe(arrays, row->line);
    arrays_maybe(arrays, row->column);
    arrays_text(arrays, row->severity);
    arrays_text(arrays, row->stage);
    arrays_text(arrays, row->code);
    arrays_text(arrays, row->message);
    arrays_text(arrays, row->excerpt);
    arrays_maybe(arrays, row->at_ns);
}

static void add_loss(struct arrays *arrays, const void *at) {
    const struct store_follow_loss *row = at;
    arrays_int(arrays, row->row);
    arrays_maybe(arrays, row->at_ns);
    arrays_maybe(arrays, row->source_id);
    arrays_maybe(arrays, row->uid);
    arrays_maybe(arrays, row->pid);
    arrays_text_or_empty(arrays, row->reason);
    arrays_int(arrays, row->count);
}

static void add_range(struct arrays *arrays, const void *at) {
    const struct store_follow_key *row = at;
    arrays_int(arrays, row->row);
    arrays_int(arrays, row->source_id);
    arrays_text_or_empty(arrays, row->key);
    arrays_text(arrays, row->parent);
}

static void add_source(struct arrays *arrays, const void *at) {
    const struct store_follow_source *row = at;
    const struct nvtxt_slice texts[] = {row->kind,         row->session,   row->name,
                                        row->display_name, row->peer_comm, row->ended};
    const struct store_maybe numbers[] = {
        row->peer_pid, row->peer_uid, row->peer_gid, row->opened_ns, row->closed_ns, row->lines,
        row->events,   row->warnings, row->errors,   row->first_ns,  row->last_ns};
    arrays_int(arrays, row->id);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        arrays_text(arrays, texts[i]);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        arrays_maybe(arrays, numbers[i]);
    }
}

static void add_domain(struct arrays *arrays, const void *at) {
    const struct store_follow_domain *row = at;
    arrays_int(arrays, row->id);
    arrays_text_or_empty(arrays, row->name);
}

static void add_name(struct arrays *arrays, const void *at) {
    const struct store_follow_name *row = at;
    arrays_int(arrays, row->id);
    arrays_text_or_empty(arrays, row->name);
}

static void add_category(struct arrays *arrays, const void *at) {
    const struct store_follow_category *row = at;
    arrays_int(arrays, row->domain_id);
    arrays_int(arrays, row->pid);
    arrays_int(arrays, row->category);
    arrays_text_or_empty(arrays, row->name);
}

// That the rows are of the store is taken from its cursor, a row of the same machine: where tables
// are cut by the store, the statement stays on that machine.
#define OF_STORE ", @.cursors AS c WHERE c.store_id = $1::integer "

// Of sources, a row of an older segment never replaces that of a newer one.
static const struct {
    struct arrays *(*begin)(struct small *small);
    void (*add)(struct arrays *arrays, const void *row);
    size_t row_size;
    const char *sql;
} tables[] = {
    [STORE_FOLLOW_DIAGNOSTICS] =
        {for_segment, add_diagnostic, sizeof(struct store_follow_diagnostic),
         "INSERT INTO @.diagnostics (store_id, segment, row_id, source_id, line, col, "
         "severity, stage, code, message, excerpt, at) SELECT c.store_id, $2::bigint, "
         "r.row_id, r.source_id, r.line, r.col, r.severity, r.stage, r.code, r.message, "
         "r.excerpt, @.at(r.ns) FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], "
         "$6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], "
         "$12::bigint[]) AS r (row_id, source_id, line, col, severity, stage, code, "
         "message, excerpt, ns)" OF_STORE "ON CONFLICT DO NOTHING"},
    [STORE_FOLLOW_LOSSES] =
        {for_segment, add_loss, sizeof(struct store_follow_loss),
         "INSERT INTO @.losses (store_id, segment, row_id, at, source_id, uid, pid, "
         "reason, count) SELECT c.store_id, $2::bigint, r.row_id, @.at(r.ns), "
         "r.source_id, r.uid, r.pid, r.reason, r.count FROM unnest($3::bigint[], "
         "$4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[], "
         "$9::bigint[]) AS r (row_id, ns, source_id, uid, pid, reason, count) " OF_STORE
         "ON CONFLICT DO NOTHING"},
    [STORE_FOLLOW_KEYS] =
        {for_segment, add_range, sizeof(struct store_follow_key),
         "INSERT INTO @.range_keys (store_id, segment, row_id, source_id, key, parent) SELECT "
         "c.store_id, $2::bigint, r.row_id, r.source_id, r.key, r.parent FROM "
         "unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[]) AS r (row_id, source_id, "
         "key, parent)" OF_STORE "ON CONFLICT DO NOTHING"},
    [STORE_FOLLOW_SOURCES] =
        {for_segment, add_source, sizeof(struct store_follow_source),
         "INSERT INTO @.sources AS s (store_id, segment, source_id, kind, session, name, "
         "display_name, peer_comm, ended, peer_pid, peer_uid, peer_gid, opened, closed, lines, "
         "events, warnings, errors, first_ns, last_ns) SELECT c.store_id, $2::bigint, "
         "r.source_id, r.kind, r.session, r.name, r.display_name, r.peer_comm, r.ended, "
         "r.peer_pid, r.peer_uid, r.peer_gid, @.at(r.opened), @.at(r.closed), r.lines, r.events, "
         "r.warnings, r.errors, r.first_ns, r.last_ns FROM unnest($3::bigint[], $4::text[], "
         "$5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], "
         "$11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], "
         "$16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[]) AS r "
         "(source_id, kind, session, name, display_name, peer_comm, ended, peer_pid, peer_uid, "
         "peer_gid, opened, closed, lines, events, warnings, errors, first_ns, last_ns) " OF_STORE
         "ON CONFLICT (store_id, source_id) DO UPDATE SET segment = excluded.segment, "
         "kind = excluded.kind, session = excluded.session, name = excluded.name, "
         "display_name = excluded.display_name, peer_comm = excluded.peer_comm, "
         "ended = excluded.ended, peer_pid = excluded.peer_pid, peer_uid = excluded.peer_uid, "
         "peer_gid = excluded.peer_gid, opened = excluded.opened, closed = excluded.closed, "
         "lines = excluded.lines, events = excluded.events, warnings = excluded.warnings, "
         "errors = excluded.errors, first_ns = excluded.first_ns, last_ns = excluded.last_ns "
         "WHERE s.segment <= excluded.segment"},
    [STORE_FOLLOW_DOMAINS] =
        {for_store, add_domain, sizeof(struct store_follow_domain),
         "INSERT INTO @.domains (store_id, domain_id, name) SELECT c.store_id, r.id, "
         "r.name FROM unnest($2::bigint[], $3::text[]) AS r (id, name) " OF_STORE
         "ON CONFLICT (store_id, domain_id) DO UPDATE SET name = excluded.name"},
    [STORE_FOLLOW_PROCESSES] =
        {for_segment, add_name, sizeof(struct store_follow_name),
         "INSERT INTO @.processes (store_id, segment, pid, name) SELECT c.store_id, "
         "$2::bigint, r.id, r.name FROM unnest($3::bigint[], $4::text[]) AS r (id, name) " OF_STORE
         "ON CONFLICT (store_id, segment, pid) DO UPDATE SET name = excluded.name"},
    [STORE_FOLLOW_THREADS] =
        {for_segment, add_name, sizeof(struct store_follow_name),
         "INSERT INTO @.threads (store_id, segment, global_tid, name) SELECT "
         "c.store_id, $2::bigint, r.id, r.name FROM unnest($3::bigint[], $4::text[]) AS "
         "r (id, name)" OF_STORE "ON CONFLICT (store_id, segment, global_tid) DO UPDATE SET "
         "name = excluded.name"},
    [STORE_FOLLOW_CATEGORIES] =
        {for_segment, add_category, sizeof(struct store_follow_category),
         "INSERT INTO @.categories (store_id, segment, domain_id, pid, category, name) "
         "SELECT c.store_id, $2::bigint, r.domain_id, r.pid, r.category, r.name FROM "
         "unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::text[]) AS r (domain_id, "
         "pid, category, name)" OF_STORE
         "ON CONFLICT (store_id, segment, domain_id, pid, category) "
         "DO UPDATE SET name = excluded.name"},
};

static enum failure_class add_logs(struct small *small, const struct store_follow_source *rows,
                                   size_t count) {
    struct arrays *arrays = for_store(small);
    bool has_some = false;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].levels) {
            has_some = true;
            arrays_int(arrays, rows[i].id);
            arrays_next_row(arrays);
        }
    }
    return has_some
               ? run_statement(small, "INSERT INTO @.logs (store_id, source_id) SELECT c.store_id, "
                                      "r.id FROM unnest($2::bigint[]) AS r (id)" OF_STORE
                                      "ON CONFLICT DO NOTHING")
               : FAILURE_NONE;
}

// What a source began under never changes.
static enum failure_class add_parents(struct small *small, const struct store_follow_source *rows,
                                      size_t count) {
    struct arrays *arrays = for_store(small);
    bool has_some = false;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].parent.data) {
            has_some = true;
            arrays_int(arrays, rows[i].id);
            arrays_text(arrays, rows[i].parent);
            arrays_next_row(arrays);
        }
    }
    return has_some
               ? run_statement(small, "INSERT INTO @.source_parents (store_id, source_id, "
                                      "parent) SELECT c.store_id, r.id, r.parent FROM "
                                      "unnest($2::bigint[], $3::text[]) AS r (id, parent) " OF_STORE
                                      "ON CONFLICT DO NOTHING")
               : FAILURE_NONE;
}

// What stands in tables of its own.
static enum failure_class
add_more_of_sources(struct small *small, const struct store_follow_source *rows, size_t count) {
    enum failure_class class = small->adds_logs ? add_logs(small, rows, count) : FAILURE_NONE;
    return class || !small->adds_parents ? class : add_parents(small, rows, count);
}

enum failure_class small_rows(struct small *small, enum store_follow_table table, const void *rows,
                              size_t count) {
    enum failure_class class =
        table == STORE_FOLLOW_SOURCES ? add_more_of_sources(small, rows, count) : FAILURE_NONE;
    if (class) {
        return class;
    }
    struct arrays *arrays = tables[table].begin(small);
    for (size_t i = 0; i < count; i++) {
        tables[table].add(arrays, (const char *)rows + i * tables[table].row_size);
        arrays_next_row(arrays);
    }
    return run_statement(small, tables[table].sql);
}

// ---- Open ranges --------------------------------------------------------------------------------

// A row that is free has no beginning. Whoever may delete rows may lock the table, so the role that
// ships may not: its rows are used again.
#define FREE                                                                                       \
    "UPDATE @.open_ranges AS o SET global_tid = NULL, event_type = NULL, start_ns = NULL, "        \
    "domain_id = NULL, category = NULL, color = NULL, text = NULL"
#define KEYS "unnest($2::bigint[], $3::bigint[]) AS r (source_id, seq)"
#define OF_KEYS " WHERE o.store_id = $1::integer AND o.source_id = r.source_id AND o.seq = r.seq"

enum failure_class small_free_ranges(struct small *small) {
    for_store(small);
    return run_statement(
        small, small->frees ? FREE " WHERE o.store_id = $1::integer AND o.start_ns IS NOT NULL"
                            : "DELETE FROM @.open_ranges WHERE store_id = $1::integer");
}

static void add_key(struct arrays *arrays, const struct store_follow_range_key *key) {
    arrays_int(arrays, key->source_id);
    arrays_int(arrays, key->seq);
    arrays_next_row(arrays);
}

static enum failure_class free_some(struct small *small, const struct store_follow_opens *open) {
    struct arrays *arrays = for_store(small);
    for (size_t i = 0; i < open->went_count; i++) {
        add_key(arrays, &open->went[i]);
    }
    return run_statement(small, small->frees
                                    ? FREE " FROM " KEYS OF_KEYS
                                    : "DELETE FROM @.open_ranges AS o USING " KEYS OF_KEYS);
}

// Gives free rows the keys of ranges that have none yet.
static enum failure_class take_free(struct small *small, const struct store_follow_opens *open) {
    struct arrays *arrays = for_store(small);
    for (size_t i = 0; i < open->came_count; i++) {
        add_key(arrays, &open->came[i].key);
    }
    return run_statement(
        small, "UPDATE @.open_ranges AS o SET source_id = c.source_id, seq = c.seq FROM (SELECT "
               "o.source_id AS old_source, o.seq AS old_seq, row_number() OVER () AS n FROM "
               "@.open_ranges AS o WHERE o.store_id = $1::integer AND o.start_ns IS NULL AND NOT "
               "EXISTS (SELECT FROM " KEYS OF_KEYS ") LIMIT cardinality($2::bigint[])) AS f JOIN "
               "(SELECT r.source_id, r.seq, row_number() OVER "
               "() AS n FROM " KEYS " WHERE NOT EXISTS (SELECT FROM @.open_ranges AS o" OF_KEYS
               ")) AS c ON c.n = f.n WHERE o.store_id = $1::integer AND o.source_id = "
               "f.old_source AND o.seq = f.old_seq");
}

enum failure_class small_open_ranges(struct small *small, const struct store_follow_opens *open) {
    enum failure_class class = open->all          ? small_free_ranges(small)
                               : open->went_count ? free_some(small, open)
                                                  : FAILURE_NONE;
    if (class == FAILURE_NONE && open->came_count && small->frees) {
        class = take_free(small, open);
    }
    if (class || open->came_count == 0) {
        return class;
    }
    struct arrays *arrays = for_store(small);
    for (size_t i = 0; i < open->came_count; i++) {
        const struct store_follow_range *row = &open->came[i];
        arrays_int(arrays, row->key.source_id);
        arrays_int(arrays, row->key.seq);
        arrays_maybe(arrays, row->global_tid);
        arrays_maybe(arrays, row->event_type);
        arrays_maybe(arrays, row->start_ns);
        arrays_maybe(arrays, row->domain_id);
        arrays_maybe(arrays, row->category);
        arrays_maybe(arrays, row->color);
        arrays_text(arrays, row->text);
        arrays_next_row(arrays);
    }
    return run_statement(
        small, "INSERT INTO @.open_ranges (store_id, source_id, seq, global_tid, event_type, "
               "start_ns, domain_id, category, color, text) SELECT c.store_id, r.* FROM "
               "unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[], "
               "$7::bigint[], $8::bigint[], $9::bigint[], $10::text[]) AS r" OF_STORE "ON CONFLICT "
               "(store_id, source_id, seq) DO UPDATE SET global_tid = excluded.global_tid, "
               "event_type = excluded.event_type, start_ns = excluded.start_ns, "
               "domain_id = excluded.domain_id, category = excluded.category, "
               "color = excluded.color, text = excluded.text");
}
