// SPDX-License-Identifier: Apache-2.0
//
// The extension's own tables are asked for only where it is there.
#include "ship/engine/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ship/engine/schema.h"

// ---- What is there ------------------------------------------------------------------------------

static void note_version(struct cluster *cluster, const char *said) {
    int have[3] = {0}, tried[3] = {0};
    const char *begin = said + strcspn(said, "0123456789");
    snprintf(cluster->version, sizeof(cluster->version), "%.*s", (int)strspn(begin, "0123456789."),
             begin);
    sscanf(cluster->version, "%d.%d.%d", &have[0], &have[1], &have[2]);
    sscanf(CLUSTER_TRIED, "%d.%d.%d", &tried[0], &tried[1], &tried[2]);
    for (size_t i = 0; i < 3; i++) {
        if (have[i] != tried[i]) {
            cluster->is_old = have[i] < tried[i];
            return;
        }
    }
}

static enum failure_class look_closer(struct pg *pg, struct cluster *cluster) {
    struct pg_rows *rows;
    enum failure_class class = pg_ask(
        pg,
        "SELECT citus_version(), (SELECT groupid FROM pg_dist_local_group), (SELECT "
        "format('%s:%s', nodename, nodeport) FROM pg_dist_node WHERE groupid = 0 LIMIT 1), "
        "(SELECT max(1 + (c.relname = 'events')::integer) FROM pg_dist_partition AS p JOIN "
        "pg_class AS c ON c.oid = p.logicalrelid JOIN pg_namespace AS n ON n.oid = "
        "c.relnamespace WHERE format('\"%s\"', n.nspname) = '@'), EXISTS (SELECT FROM "
        "pg_namespace AS n WHERE format('\"%s\"', n.nspname) = '@')::integer, EXISTS (SELECT "
        "FROM pg_constraint AS k JOIN pg_namespace AS n ON n.oid = k.connamespace WHERE "
        "k.contype = 'f' AND format('\"%s\"', n.nspname) = '@')::integer",
        NULL, 0, &rows);
    if (class == FAILURE_NONE && pg_rows_count(rows) > 0) {
        note_version(cluster, pg_text(rows, 0, 0) ?: "");
        cluster->is_worker = pg_int(rows, 0, 1) != 0;
        snprintf(cluster->coordinator, sizeof(cluster->coordinator), "%s",
                 pg_text(rows, 0, 2) ?: "");
        cluster->is_cut = pg_int(rows, 0, 3) == 2;
        cluster->is_half = cluster->is_cut ? pg_int(rows, 0, 5) == 0 : pg_int(rows, 0, 3) == 1;
        cluster->has_schema = pg_int(rows, 0, 4) != 0;
    }
    pg_rows_free(rows);
    return class;
}

enum failure_class cluster_look(struct pg *pg, struct cluster *cluster) {
    struct pg_rows *rows;
    *cluster = (struct cluster){0};
    pg_say_what(pg, "to say which machine it is");
    enum failure_class class =
        pg_ask(pg,
               "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')::integer, EXISTS "
               "(SELECT FROM pg_available_extensions WHERE name = 'citus')::integer",
               NULL, 0, &rows);
    if (class == FAILURE_NONE && pg_rows_count(rows) > 0) {
        cluster->has_extension = pg_int(rows, 0, 0) != 0;
        cluster->can_have_it = pg_int(rows, 0, 1) != 0;
    }
    pg_rows_free(rows);
    return class || !cluster->has_extension ? class : look_closer(pg, cluster);
}

// ---- The coordinator ----------------------------------------------------------------------------

static enum failure_class open_one(struct pg **pg, const struct pg_settings *settings,
                                   struct cluster *cluster, struct failure *failure) {
    enum failure_class class = pg_open(pg, settings, failure);
    if (class == FAILURE_NONE && cluster_look(*pg, cluster)) {
        *failure = *pg_failure(*pg);
        pg_close(*pg);
        *pg = NULL;
        class = failure->class;
    }
    return class;
}

enum failure_class cluster_open(struct pg **pg, const struct pg_settings *settings,
                                struct cluster *cluster, struct failure *failure) {
    struct pg_settings one = *settings;
    enum failure_class class = open_one(pg, settings, cluster, failure);
    if (class || !cluster->is_worker) {
        return class;
    }
    struct cluster found = *cluster;
    struct target_words words;
    size_t count = target_words(&words, settings, failure) ? 0 : words.host_count;
    target_words_deinit(&words);
    for (one.only = 1; one.only <= count && cluster->is_worker; one.only++) {
        struct failure ignored;
        pg_close(*pg);
        if (open_one(pg, &one, cluster, &ignored)) {
            *cluster = found;
        }
    }
    if (!cluster->is_worker) {
        return FAILURE_NONE;
    }
    pg_close(*pg);
    *pg = NULL;
    return failure_set(failure, FAILURE_TARGET,
                       "this is done on the coordinator of the database, %s, which is not among "
                       "the hosts of the target, or cannot be reached",
                       *found.coordinator ? found.coordinator : "which no machine names");
}

// ---- Cutting ------------------------------------------------------------------------------------

enum failure_class cluster_check(const struct cluster *cluster, struct failure *failure) {
    if (cluster->has_extension) {
        return FAILURE_NONE;
    }
    return failure_set(failure, FAILURE_NO_SCHEMA, "%s",
                       cluster->can_have_it
                           ? "the database has no extension citus: run CREATE EXTENSION citus in "
                             "it, on each machine, as a superuser"
                           : "Citus is not installed in this server: nvtxt-fleet(7), SEVERAL "
                             "MACHINES, says how; then run CREATE EXTENSION citus in the database, "
                             "on each machine, as a superuser");
}

static enum failure_class cut_tables(struct pg *pg, const struct pg_rows *names,
                                     void (*hear)(const char *table, size_t number, size_t count)) {
    size_t count = pg_rows_count(names);
    enum failure_class class = FAILURE_NONE;
    for (size_t i = 0; class == FAILURE_NONE && i < count; i++) {
        const char *name = pg_text(names, i, 0) ?: "";
        pg_say_what(pg, "to bring the table %s to all machines", name);
        class = pg_ask(pg, "SELECT @.cut($1)", &name, 1, NULL);
        if (class == FAILURE_NONE && hear) {
            hear(name, i + 1, count);
        }
    }
    return class;
}

enum failure_class cluster_cut(struct pg *pg, const char *schema, int64_t shards,
                               void (*hear)(const char *table, size_t number, size_t count)) {
    struct nvtxt_buf sql = {0};
    struct pg_rows *names = NULL;
    pg_say_what(pg, "to bring the schema to all machines");
    schema_write_cut(&sql, schema, shards);
    enum failure_class class = nvtxt_buf_failed(&sql) ? pg_fail_memory(pg) : pg_run(pg, sql.data);
    nvtxt_buf_deinit(&sql);
    class = class ?: pg_run(pg, "SELECT @.begin_cut()");
    class = class ?: pg_ask(pg, "SELECT @.uncut()", NULL, 0, &names);
    class = class ?: cut_tables(pg, names, hear);
    pg_rows_free(names);
    pg_say_what(pg, "to add the keys");
    return class ?: pg_run(pg, "SELECT @.end_cut()");
}
