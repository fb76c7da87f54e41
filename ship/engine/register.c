// SPDX-License-Identifier: Apache-2.0
//
// A new store is registered in a transaction of its own, before its first round. Version 2 of the
// schema has functions for it, which refuse what is another role's with a sentence; in version 1
// row security hides it, and a row that cannot be added tells.
#include "ship/engine/cursor.h"

enum failure_class cursor_refuse(struct pg *pg, const char *store, struct failure *failure) {
    return failure_set(failure, FAILURE_NOT_OURS, "the store %s belongs to another role than %s",
                       store, pg_user(pg));
}

// A store that was not added is one that was added meanwhile, or one that row security hides.
static enum failure_class look_for_other(struct pg *pg, const char *store,
                                         struct failure *failure) {
    struct cursor cursor;
    struct pg_rows *rows = NULL;
    enum failure_class class = cursor_read(pg, store, &cursor);
    if (class == FAILURE_NONE && cursor.store_id == 0) {
        class = pg_ask(pg, "SELECT FROM @.stores AS s WHERE s.store = $1::uuid", &store, 1, &rows);
    }
    if (class) {
        *failure = *pg_failure(pg);
    } else if (rows && pg_rows_count(rows) == 0) {
        class = cursor_refuse(pg, store, failure);
    } else if (rows) {
        class = failure_set(failure, FAILURE_NOT_OURS,
                            "the store %s has no row in cursors: how far it is shipped is not "
                            "known",
                            store);
    }
    pg_rows_free(rows);
    return class;
}

// ---- Version 1 ----------------------------------------------------------------------------------

// `values` as of register_store().
static enum failure_class insert(struct pg *pg, const char *const *values) {
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg,
               "INSERT INTO @.stores (store, host, labels, machine, path, product) VALUES "
               "($1::uuid, $2, $3::jsonb, $4, $5, $6) ON CONFLICT (store) DO NOTHING",
               values, 6, &rows);
    bool added = class == FAILURE_NONE && pg_rows_changed(rows) > 0;
    pg_rows_free(rows);
    if (class || !added) {
        return class;
    }
    return pg_ask(pg,
                  "INSERT INTO @.cursors (store_id, segment, event_row, diagnostic_row, loss_row, "
                  "batch, batch_ns, base) SELECT s.store_id, $2::bigint, $3::bigint, $4::bigint, "
                  "$5::bigint, $6::bigint, $7::bigint, $8::bigint FROM @.stores AS s WHERE "
                  "s.store = $1::uuid",
                  (const char *[]){values[0], values[6], values[7], values[8], values[9],
                                   values[10], values[11], values[12]},
                  8, NULL);
}

// Adds it and takes it back. With a number below 0 it takes none from those that stores get.
static enum failure_class try_insert(struct pg *pg, const char *store, struct failure *failure) {
    struct pg_rows *rows = NULL;
    enum failure_class class = cursor_begin(pg);
    if (class == 0) {
        class = pg_ask(pg,
                       "INSERT INTO @.stores (store_id, store, host) OVERRIDING SYSTEM VALUE "
                       "VALUES (-1 - floor(random() * 2147483647)::integer, $1::uuid, '') ON "
                       "CONFLICT (store) DO NOTHING",
                       &store, 1, &rows);
    }
    bool added = class == FAILURE_NONE && pg_rows_changed(rows) > 0;
    pg_rows_free(rows);
    class = class ?: pg_rollback(pg);
    if (class) {
        *failure = *pg_failure(pg);
        pg_rollback(pg);
    }
    return class || added ? class : look_for_other(pg, store, failure);
}

// ---- Any version --------------------------------------------------------------------------------

enum failure_class cursor_check_new(struct pg *pg, int64_t version, const char *store,
                                    const char *host, struct failure *failure) {
    if (version < 2) {
        return try_insert(pg, store, failure);
    }
    const char *values[] = {store, host};
    enum failure_class class = pg_ask(pg, "SELECT @.check_store($1::uuid, $2)", values, 2, NULL);
    if (class) {
        *failure = *pg_failure(pg);
    }
    return class;
}

enum failure_class cursor_add(struct pg *pg, int64_t version, const struct identity *identity,
                              const struct store_place *place, struct failure *failure) {
    char text[7][PG_NUMBER_SIZE];
    const char *values[] = {identity->store,
                            identity->host,
                            identity->labels,
                            identity->machine,
                            identity->path,
                            identity->product,
                            pg_number(text[0], (int64_t)place->segment),
                            pg_number(text[1], place->event_row),
                            pg_number(text[2], place->diagnostic_row),
                            pg_number(text[3], place->loss_row),
                            pg_number(text[4], place->batch),
                            pg_number(text[5], place->batch_ns),
                            pg_number(text[6], place->base)};
    enum failure_class class = cursor_begin(pg);
    if (class == FAILURE_NONE && version < 2) {
        class = insert(pg, values);
    } else if (class == FAILURE_NONE) {
        class = pg_ask(pg,
                       "SELECT @.register_store($1::uuid, $2, $3::jsonb, $4, $5, $6, $7::bigint, "
                       "$8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint, "
                       "$13::bigint)",
                       values, 13, NULL);
    }
    class = class ?: pg_run(pg, "COMMIT");
    if (class) {
        *failure = *pg_failure(pg);
        pg_rollback(pg);
    }
    return class ?: look_for_other(pg, identity->store, failure);
}

enum failure_class cursor_describe(struct pg *pg, int64_t version, int64_t store_id,
                                   const struct identity *identity) {
    char id[PG_NUMBER_SIZE];
    const char *values[] = {pg_number(id, store_id), identity->host, identity->labels,
                            identity->machine,       identity->path, identity->product};
    if (version < 2) {
        return pg_ask(pg,
                      "UPDATE @.stores SET host = $2, labels = $3::jsonb, machine = $4, path = $5, "
                      "product = $6 WHERE store_id = $1::integer AND (host, labels, machine, path, "
                      "product) IS DISTINCT FROM ($2, $3::jsonb, $4, $5, $6)",
                      values, 6, NULL);
    }
    return pg_ask(pg, "SELECT @.describe_store($1::integer, $2, $3::jsonb, $4, $5, $6)", values, 6,
                  NULL);
}
