// SPDX-License-Identifier: Apache-2.0
//
// The SQL is that of the installed files, with the name of the schema put in for "nvtxt". Wishes
// leave passages out: the partitions are one clause, and comments stand around the trigger.
//
// Who brings a schema up holds the row of meta, which only the owner can lock. Where there is none
// yet, of two that make one at once the second finds names taken, and looks again.
#include "ship/engine/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PARTITIONED "\n  PARTITION BY RANGE (committed)"
#define TRIGGER_BEGINS "-- own_rows begins\n"
#define TRIGGER_ENDS "-- own_rows ends\n"
#define CUT_BEGINS "-- cut begins\n"
#define LOGS_BEGINS "-- logs begins\n"
#define LOGS_ENDS "-- logs ends\n"
#define TIMELINE_BEGINS "-- timeline begins\n"
#define TIMELINE_ENDS "-- timeline ends\n"

bool schema_name_is_good(const char *name) {
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    bool is_of_engine = strncmp(name, "pg_", 3) == 0 || strcmp(name, "information_schema") == 0;
    return len > 0 && !name[len] && len <= SCHEMA_NAME_MAX && (*name < '0' || *name > '9') &&
           !is_of_engine;
}

// ---- The text -----------------------------------------------------------------------------------

// Text of a file, up to `end` or its own end, with the name of the schema.
static void add_named(struct nvtxt_buf *sql, const char *text, const char *end, const char *name) {
    while (text < end) {
        const char *at = strstr(text, "nvtxt");
        // In comments the programs keep their names.
        bool is_name = at && at < end && at[5] != '-' && at[5] != 't';
        const char *stop = at && at < end ? at : end;
        nvtxt_buf_add(sql, text, (size_t)(stop - text));
        text = stop;
        if (stop < end) {
            nvtxt_buf_add_string(sql, is_name ? name : "nvtxt");
            text += 5;
        }
    }
}

static const char *without(struct nvtxt_buf *sql, const char *text, const char *name,
                           const char *from, const char *to) {
    const char *begin = strstr(text, from);
    const char *end = begin ? strstr(begin, to) : NULL;
    if (!end) {
        return text;
    }
    add_named(sql, text, begin, name);
    return end + strlen(to);
}

static void add_tables(struct nvtxt_buf *sql, const char *name,
                       const struct schema_wishes *wishes) {
    const char *text = schema_text_1;
    if (wishes->plain_events) {
        text = without(sql, text, name, PARTITIONED, PARTITIONED);
    }
    if (wishes->plain_events || wishes->no_own_rows) {
        text = without(sql, text, name, TRIGGER_BEGINS, TRIGGER_ENDS);
    }
    add_named(sql, text, text + strlen(text), name);
}

// The steps from a version on; 0: all of it.
static void add_steps(struct nvtxt_buf *sql, const char *name, const struct schema_wishes *wishes,
                      int64_t version) {
    if (version < 1) {
        add_tables(sql, name, wishes);
    }
    if (version < 2) {
        add_named(sql, schema_text_2, schema_text_2 + strlen(schema_text_2), name);
    }
    if (version < 3) {
        add_named(sql, schema_text_3, schema_text_3 + strlen(schema_text_3), name);
    }
    if (version < 4) {
        add_named(sql, schema_text_4, schema_text_4 + strlen(schema_text_4), name);
    }
}

// What is between two comments.
static void add_passage(struct nvtxt_buf *sql, const char *name, const char *from, const char *to) {
    const char *begin = strstr(schema_text_1, from);
    const char *end = begin ? strstr(begin, to) : NULL;
    if (end) {
        add_named(sql, begin, end, name);
    }
}

static void add_keep_days(struct nvtxt_buf *sql, const char *name, int64_t days) {
    if (days > 0) {
        nvtxt_buf_add_string(sql, "UPDATE \"");
        nvtxt_buf_add_string(sql, name);
        nvtxt_buf_add_pair_int(sql, "\".meta SET changed = now(), keep_days = ", days);
        nvtxt_buf_add_pair_int(sql, " WHERE keep_days <> ", days);
        nvtxt_buf_add_string(sql, ";\n");
    }
}

static void add_literal(struct nvtxt_buf *sql, const char *text) {
    nvtxt_buf_add_string(sql, "E'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') {
            nvtxt_buf_add(sql, text, 1);
        }
        nvtxt_buf_add(sql, text, 1);
    }
    nvtxt_buf_add_string(sql, "'");
}

static void add_hosts(struct nvtxt_buf *sql, const char *name, const struct nvtxt_buf *hosts) {
    for (size_t at = 0; at < hosts->len;) {
        const char *host = hosts->data + at, *role = host + strlen(host) + 1;
        nvtxt_buf_add_string(sql, "INSERT INTO \"");
        nvtxt_buf_add_string(sql, name);
        nvtxt_buf_add_string(sql, "\".hosts (host, owner) VALUES (");
        add_literal(sql, host);
        nvtxt_buf_add_string(sql, ", ");
        add_literal(sql, role);
        nvtxt_buf_add_string(sql, ") ON CONFLICT (host) DO UPDATE SET owner = excluded.owner;\n");
        at += strlen(host) + strlen(role) + 2;
    }
}

static void add_rest(struct nvtxt_buf *sql, const char *name, const struct schema_wishes *wishes) {
    if (!wishes->no_roles) {
        add_named(sql, schema_text_roles, schema_text_roles + strlen(schema_text_roles), name);
    }
    add_keep_days(sql, name, wishes->keep_days);
    add_hosts(sql, name, &wishes->hosts);
}

static void add_partitions(struct nvtxt_buf *sql, const char *name) {
    nvtxt_buf_add_string(sql, "SELECT \"");
    nvtxt_buf_add_string(sql, name);
    nvtxt_buf_add_string(sql, "\".make_partitions((now() AT TIME ZONE 'UTC')::date, "
                              "(now() AT TIME ZONE 'UTC')::date + 7);\nCOMMIT;\n");
}

static void add_shards(struct nvtxt_buf *sql, int64_t shards) {
    if (shards > 0) {
        nvtxt_buf_add_pair_int(sql, "SET citus.shard_count = ", shards);
        nvtxt_buf_add_string(sql, ";\n");
    }
}

void schema_write_cut(struct nvtxt_buf *sql, const char *name, int64_t shards) {
    const char *end = strstr(schema_text_distributed, CUT_BEGINS);
    add_shards(sql, shards);
    nvtxt_buf_add_string(sql, "SET statement_timeout = 0; SET lock_timeout = '60s';\nBEGIN;\n");
    add_named(sql, schema_text_distributed,
              end ?: schema_text_distributed + strlen(schema_text_distributed), name);
    nvtxt_buf_add_string(sql, "COMMIT;\n");
    nvtxt_buf_add(sql, "", 1);
}

void schema_write(struct nvtxt_buf *sql, const char *name, const struct schema_wishes *wishes) {
    nvtxt_buf_add_string(sql, "BEGIN;\n");
    add_steps(sql, name, wishes, 0);
    if (wishes->distributed) {
        add_shards(sql, wishes->shards);
        add_named(sql, schema_text_distributed,
                  schema_text_distributed + strlen(schema_text_distributed), name);
    }
    add_rest(sql, name, wishes);
    add_partitions(sql, name);
}

// ---- What is there ------------------------------------------------------------------------------

static enum failure_class too_new(struct failure *failure, const char *name, int64_t version,
                                  int64_t compatible) {
    return failure_set(failure, FAILURE_NEWER_SCHEMA,
                       "the schema %s has version %" PRId64 ", which needs a program of version "
                       "%" PRId64 " or later; this one speaks version %d: install a newer package "
                       "nvtxt-ship",
                       name, version, compatible, SCHEMA_VERSION);
}

static enum failure_class failed(struct pg *pg, struct failure *failure) {
    *failure = *pg_failure(pg);
    return failure->class;
}

enum failure_class schema_check(struct pg *pg, const char *name, struct schema_facts *facts,
                                struct failure *failure) {
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg,
               "SELECT version, compatible, keep_days, (SELECT relkind <> 'p' FROM pg_class WHERE "
               "oid = '@.events'::regclass)::integer, (SELECT NOT relrowsecurity FROM pg_class "
               "WHERE oid = '@.stores'::regclass)::integer, "
               "has_table_privilege(to_regclass('@.logs'), 'INSERT')::integer, "
               "has_table_privilege(to_regclass('@.logs'), 'SELECT')::integer, EXISTS (SELECT FROM "
               "pg_trigger WHERE tgname = 'own_rows' AND tgrelid = '@.events'::regclass)::integer "
               "FROM @.meta",
               NULL, 0, &rows);
    if (class == FAILURE_NO_SCHEMA || (class == FAILURE_NONE && pg_rows_count(rows) == 0)) {
        class = failure_set(failure, FAILURE_NO_SCHEMA,
                            "there is no schema %s in the database: run nvtxt-ship init", name);
    } else if (class) {
        class = failed(pg, failure);
    } else if (pg_int(rows, 0, 1) > SCHEMA_VERSION) {
        class = too_new(failure, name, pg_int(rows, 0, 0), pg_int(rows, 0, 1));
    } else {
        facts->version = pg_int(rows, 0, 0);
        facts->keep_days = pg_int(rows, 0, 2);
        facts->plain_events = pg_int(rows, 0, 3) != 0;
        facts->no_roles = pg_int(rows, 0, 4) != 0;
        facts->may_add_logs = pg_int(rows, 0, 5) != 0;
        facts->may_read_logs = pg_int(rows, 0, 6) != 0;
        facts->keeps_owners = !facts->no_roles || pg_int(rows, 0, 7) != 0;
    }
    pg_rows_free(rows);
    return class;
}

static enum failure_class check_encoding(struct pg *pg, struct failure *failure) {
    struct pg_rows *rows;
    enum failure_class class = pg_ask(pg, "SHOW server_encoding", NULL, 0, &rows);
    if (class) {
        return failed(pg, failure);
    }
    const char *encoding = pg_text(rows, 0, 0);
    if (!encoding || strcmp(encoding, "UTF8") != 0) {
        class = failure_set(failure, FAILURE_ENCODING,
                            "the encoding of the database is %s: only UTF8 holds every text",
                            encoding ?: "unknown");
    }
    pg_rows_free(rows);
    return class;
}

// Whether there is a schema already, in `*is_there`, and what it is; one that is too new is a
// failure.
static enum failure_class look(struct pg *pg, const char *name, bool *is_there,
                               struct schema_facts *facts, struct failure *failure) {
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg, "SELECT (to_regclass('@.meta') IS NOT NULL)::integer", NULL, 0, &rows);
    if (class) {
        return failed(pg, failure);
    }
    *is_there = pg_int(rows, 0, 0) != 0;
    pg_rows_free(rows);
    class = *is_there ? schema_check(pg, name, facts, failure) : FAILURE_NONE;
    return class == FAILURE_NO_SCHEMA
               ? failure_set(failure, class,
                             "the schema %s is there, but lacks tables, or the row of meta", name)
               : class;
}

// ---- What a role lacks --------------------------------------------------------------------------

void schema_add_grant(struct pg *pg, const char *name, struct failure *failure) {
    struct pg_rows *rows = NULL;
    size_t len = strlen(failure->sentence);
    if (strstr(failure->sentence, "must be superuser")) {
        snprintf(failure->sentence + len, sizeof(failure->sentence) - len,
                 ": run it as a superuser");
        return;
    }
    if (strcmp(failure->state, "42501") != 0 || pg_rollback(pg) ||
        pg_ask(pg,
               "SELECT coalesce((SELECT format('run it as %1$I, the owner of the schema' || CASE "
               "WHEN r.rolsuper THEN ' (GRANT %1$I TO %2$I would give all rights)' ELSE ', or "
               "GRANT %1$I TO %2$I' END, r.rolname, current_user) FROM pg_namespace AS n JOIN "
               "pg_roles AS r ON r.oid = n.nspowner WHERE n.nspname = $1 AND NOT "
               "pg_has_role(n.nspowner, 'USAGE')), CASE WHEN "
               "has_database_privilege(current_database(), 'CREATE') THEN format('ALTER ROLE %I "
               "CREATEROLE', current_user) ELSE format('GRANT CREATE ON DATABASE %I TO %I', "
               "current_database(), current_user) END)",
               &name, 1, &rows)) {
        return;
    }
    snprintf(failure->sentence + len, sizeof(failure->sentence) - len, ": %s", pg_text(rows, 0, 0));
    pg_rows_free(rows);
}

// ---- Making it ----------------------------------------------------------------------------------

// What came to the schema later, for one that may lack it. A view that knows it is left alone:
// somebody may have added columns to it.
static enum failure_class add_missing(struct pg *pg, struct nvtxt_buf *sql, const char *name,
                                      struct failure *failure) {
    struct pg_rows *rows;
    enum failure_class class = pg_ask(
        pg, "SELECT (strpos(pg_get_viewdef(to_regclass('@.timeline')), 'ca.name') = 0)::integer",
        NULL, 0, &rows);
    if (class) {
        return failed(pg, failure);
    }
    add_passage(sql, name, LOGS_BEGINS, LOGS_ENDS);
    if (pg_int(rows, 0, 0)) {
        nvtxt_buf_add_string(sql, "SET LOCAL search_path = \"");
        nvtxt_buf_add_string(sql, name);
        nvtxt_buf_add_string(sql, "\", pg_temp;\n");
        add_passage(sql, name, TIMELINE_BEGINS, TIMELINE_ENDS);
    }
    pg_rows_free(rows);
    return FAILURE_NONE;
}

// What waits here holds nothing that rounds or readers need.
#define TRIES 5 // of making what others make at the same time
#define LOCK_LIMIT "SET LOCAL lock_timeout = '60s';\n"

// The text that makes the schema, or brings up what there is.
static enum failure_class write_work(struct pg *pg, struct nvtxt_buf *sql, const char *name,
                                     const struct schema_wishes *wishes,
                                     const struct schema_facts *facts, struct failure *failure) {
    struct schema_wishes kept = *wishes;
    kept.no_roles |= facts->no_roles; // whoever ships there has rights that were given by hand
    if (facts->version > 0) {
        enum failure_class class = add_missing(pg, sql, name, failure);
        if (class) {
            return class;
        }
    }
    add_steps(sql, name, wishes, facts->version);
    nvtxt_buf_add_string(sql, LOCK_LIMIT);
    add_rest(sql, name, &kept);
    if (facts->version > 0) { // a day may have to be waited for, views must not
        nvtxt_buf_add_string(sql, "COMMIT;\nBEGIN;\n" LOCK_LIMIT);
    }
    add_partitions(sql, name);
    nvtxt_buf_add(sql, "", 1);
    return nvtxt_buf_failed(sql) ? failure_set(failure, FAILURE_MEMORY, "out of memory")
                                 : FAILURE_NONE;
}

// `facts->version` 0: there is no schema. Else its row of meta is locked.
static enum failure_class begin(struct pg *pg, const char *name, struct schema_facts *facts,
                                struct failure *failure) {
    bool is_there = false;
    *facts = (struct schema_facts){0};
    if (pg_run(pg, "BEGIN; " LOCK_LIMIT)) {
        return failed(pg, failure);
    }
    enum failure_class class = look(pg, name, &is_there, facts, failure);
    if (class || !is_there) {
        return class;
    }
    return pg_run(pg, "SELECT FROM @.meta FOR UPDATE")
               ? failed(pg, failure)
               : look(pg, name, &is_there, facts, failure); // as who had the lock left it
}

static enum failure_class make(struct pg *pg, const char *name, const struct schema_wishes *wishes,
                               struct schema_facts *before, struct failure *failure) {
    struct nvtxt_buf sql = {0};
    enum failure_class class = begin(pg, name, before, failure);
    class = class ?: write_work(pg, &sql, name, wishes, before, failure);
    if (class == FAILURE_NONE && pg_run(pg, sql.data)) {
        class = failed(pg, failure);
    }
    nvtxt_buf_deinit(&sql);
    return class;
}

// Another one made the same name in the meantime: it exists, or the catalogue's row does.
static bool was_faster(const struct failure *failure) {
    static const char *const states[] = {"23505", "42P06", "42P07", "42710"};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (strcmp(failure->state, states[i]) == 0) {
            return true;
        }
    }
    return false;
}

enum failure_class schema_init(struct pg *pg, const char *name, const struct schema_wishes *wishes,
                               bool *brought_up, struct failure *failure) {
    struct schema_facts before;
    pg_say_what(pg, "to make the schema %s", name);
    enum failure_class class = check_encoding(pg, failure);
    if (class) {
        return class;
    }
    class = make(pg, name, wishes, &before, failure);
    for (int i = 0; i < TRIES && class && before.version == 0 && was_faster(failure) &&
                    pg_rollback(pg) == FAILURE_NONE;
         i++) {
        class = make(pg, name, wishes, &before, failure);
    }
    *brought_up = class == FAILURE_NONE && before.version > 0 && before.version < SCHEMA_VERSION;
    if (class) {
        schema_add_grant(pg, name, failure);
        pg_rollback(pg);
    }
    return class;
}
