// SPDX-License-Identifier: Apache-2.0
//
// The SQL is that of the installed files, with the name of the schema put in for "nvtxt". Wishes
// leave passages out: the partitions are one clause, and comments stand around the trigger.
#include "ship/engine/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PARTITIONED "\n  PARTITION BY RANGE (committed)"
#define TRIGGER_BEGINS "-- own_rows begins\n"
#define TRIGGER_ENDS "-- own_rows ends\n"
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

static void add_rest(struct nvtxt_buf *sql, const char *name, const struct schema_wishes *wishes) {
    if (!wishes->no_roles) {
        add_named(sql, schema_text_roles, schema_text_roles + strlen(schema_text_roles), name);
    }
    add_keep_days(sql, name, wishes->keep_days);
    nvtxt_buf_add_string(sql, "SELECT \"");
    nvtxt_buf_add_string(sql, name);
    nvtxt_buf_add_string(sql, "\".make_partitions((now() AT TIME ZONE 'UTC')::date, "
                              "(now() AT TIME ZONE 'UTC')::date + 1);\n");
}

void schema_write(struct nvtxt_buf *sql, const char *name, const struct schema_wishes *wishes) {
    nvtxt_buf_add_string(sql, "BEGIN;\n");
    add_tables(sql, name, wishes);
    add_rest(sql, name, wishes);
    nvtxt_buf_add_string(sql, "COMMIT;\n");
}

// ---- What is there ------------------------------------------------------------------------------

static enum failure_class too_new(struct failure *failure, const char *name, int64_t version,
                                  int64_t compatible) {
    return failure_set(failure, FAILURE_NEWER_SCHEMA,
                       "the schema %s has version %" PRId64 ", which needs a program of version "
                       "%" PRId64 " or later; this one speaks version %d",
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
                            encoding ? encoding : "unknown");
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
        pg_ask(pg, "SELECT to_regclass('@.meta') IS NOT NULL", NULL, 0, &rows);
    if (class) {
        return failed(pg, failure);
    }
    *is_there = strcmp(pg_text(rows, 0, 0), "t") == 0;
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

static enum failure_class make(struct pg *pg, const char *name, const struct schema_wishes *wishes,
                               struct failure *failure) {
    bool is_there = false;
    struct schema_facts facts = {0};
    struct schema_wishes kept = *wishes;
    // Two that run at once: the second one finds what the first one made.
    enum failure_class class =
        pg_run(pg, "BEGIN; SELECT pg_advisory_xact_lock(hashtext('nvtxt-ship init'))");
    if (class) {
        return failed(pg, failure);
    }
    class = look(pg, name, &is_there, &facts, failure);
    if (class) {
        return class;
    }
    struct nvtxt_buf sql = {0};
    if (is_there) {
        class = add_missing(pg, &sql, name, failure);
    } else {
        add_tables(&sql, name, wishes);
    }
    kept.no_roles |= facts.no_roles; // whoever ships there has rights that were given by hand
    add_rest(&sql, name, &kept);
    nvtxt_buf_add_string(&sql, "COMMIT");
    nvtxt_buf_add(&sql, "", 1);
    if (nvtxt_buf_failed(&sql)) {
        class = failure_set(failure, FAILURE_MEMORY, "out of memory");
    } else if (!class && pg_run(pg, sql.data)) {
        class = failed(pg, failure);
    }
    nvtxt_buf_deinit(&sql);
    return class;
}

enum failure_class schema_init(struct pg *pg, const char *name, const struct schema_wishes *wishes,
                               struct failure *failure) {
    pg_say_what(pg, "to make the schema %s", name);
    enum failure_class class = check_encoding(pg, failure);
    if (class) {
        return class;
    }
    class = make(pg, name, wishes, failure);
    if (class) {
        schema_add_grant(pg, name, failure);
        pg_rollback(pg);
    }
    return class;
}
