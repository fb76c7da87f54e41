// SPDX-License-Identifier: Apache-2.0
//
// One look-up by name for each domain and batch; the id stands in the batch, so nothing is kept
// after it. SQLite takes the members of a counter apart. A \u escape of half a pair makes bytes
// there that are no UTF-8, so they are repaired on the way into their columns.
#include "store/write/domains.h"

#include <stdlib.h>

#include "protocol/base/utf8.h"

enum statement { FIND_DOMAIN, ADD_DOMAIN, SET_RESOURCE, SET_COUNTER, MEMBERS };

// The text is JSON, or empty. Not behind json_valid(): that is false when memory is short.
#define MEMBER(name)                                                                               \
    "CASE json_type(nullif(?1, ''), '$." name "') WHEN 'text' THEN "                               \
    "json_extract(?1, '$." name "') END"

static const char *const texts[STORE_DOMAINS_STMTS] = {
    [FIND_DOMAIN] = "SELECT id FROM NVTXT_DOMAINS WHERE name = ?",
    [ADD_DOMAIN] = "INSERT INTO NVTXT_DOMAINS (id, name) SELECT max(ifnull((SELECT max(id) FROM "
                   "NVTXT_DOMAINS), 0), ifnull((SELECT domainBase FROM NVTXT_SEGMENT), 0)) + 1, ?",
    [SET_RESOURCE] =
        "INSERT INTO NVTXT_RESOURCES (globalPid, domainId, kind, handle, name, sourceId) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (globalPid, domainId, kind, handle) "
        "DO UPDATE SET name = excluded.name, sourceId = excluded.sourceId",
    [SET_COUNTER] =
        "INSERT INTO NVTXT_COUNTERS (globalPid, domainId, name, description, unit, json, sourceId) "
        "VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, ''), ?7) ON CONFLICT (globalPid, domainId, name) "
        "DO UPDATE SET description = excluded.description, unit = excluded.unit, "
        "json = excluded.json, sourceId = excluded.sourceId",
    [MEMBERS] = "SELECT " MEMBER("description") ", " MEMBER("unit"),
};

void store_domains_init(struct store_domains *domains, struct store_txn *txn) {
    *domains = (struct store_domains){.txn = txn};
}

void store_domains_deinit(struct store_domains *domains) {
    store_sql_finalize(domains->stmts, STORE_DOMAINS_STMTS);
}

void store_domains_begin(const struct store_batch *batch) {
    for (uint32_t i = 1; i <= batch->domain_count; i++) {
        batch->domains[i]->store_id = 0;
    }
}

static int find_domain(struct store_domains *domains, struct store_domain *domain) {
    int rc = STORE_SQL_BIND(domains, FIND_DOMAIN, "s", domain->name, (size_t)domain->len);
    return rc ?: store_sql_run_int(domains->stmts[FIND_DOMAIN], &domain->store_id);
}

int store_domains_id(struct store_domains *domains, const struct store_batch *batch, uint32_t index,
                     int64_t *id) {
    int rc = SQLITE_OK;
    *id = 0;
    if (index == 0) {
        return SQLITE_OK;
    }
    struct store_domain *domain = batch->domains[index];
    if (domain->store_id == 0) {
        rc = find_domain(domains, domain);
    }
    if (rc == SQLITE_OK && domain->store_id == 0) {
        rc = STORE_SQL_RUN(domains, ADD_DOMAIN, "s", domain->name, (size_t)domain->len);
        domain->store_id = rc == SQLITE_OK ? sqlite3_last_insert_rowid(domains->txn->db) : 0;
    }
    *id = domain->store_id;
    return rc;
}

// ---- What stands in a domain --------------------------------------------------------------------

static int set_resource(struct store_domains *domains, const struct store_name *name,
                        int64_t domain_id, int64_t source_id) {
    return STORE_SQL_RUN(domains, SET_RESOURCE, "iisisi", (int64_t)name->global_tid, domain_id,
                         name->resource_kind.data, name->resource_kind.len, (int64_t)name->handle,
                         name->text, (size_t)name->text_len, source_id);
}

// A copy of a column's text in UTF-8, NULL for NULL; the caller frees it.
static int read_member(sqlite3_stmt *stmt, int column, char **member) {
    char *text = NULL;
    int rc = store_sql_string(stmt, column, &text);
    *member = text;
    if (!text || nvtxt_utf8_valid(nvtxt_slice_of(text))) {
        return rc;
    }
    struct nvtxt_slice broken = nvtxt_slice_of(text);
    *member = malloc(broken.len * NVTXT_UTF8_GROWTH + 1);
    if (*member) {
        (*member)[nvtxt_utf8_repair(*member, broken)] = '\0';
    }
    free(text);
    return *member ? SQLITE_OK : SQLITE_NOMEM;
}

static int read_members(struct store_domains *domains, struct nvtxt_slice json, char **description,
                        char **unit) {
    int rc = STORE_SQL_BIND(domains, MEMBERS, "s", json.data, json.len);
    sqlite3_stmt *stmt = domains->stmts[MEMBERS];
    if (store_sql_next(stmt, &rc)) {
        rc = read_member(stmt, 0, description);
        rc = rc ?: read_member(stmt, 1, unit);
    }
    return store_sql_done(stmt, rc);
}

static int set_counter(struct store_domains *domains, const struct store_name *name,
                       int64_t domain_id, int64_t source_id) {
    char *description = NULL;
    char *unit = NULL;
    int rc = name->json.len ? read_members(domains, name->json, &description, &unit) : SQLITE_OK;
    if (rc == 0) {
        rc = STORE_SQL_RUN(domains, SET_COUNTER, "iisttsi", (int64_t)name->global_tid, domain_id,
                           name->text, (size_t)name->text_len, description, unit, name->json.data,
                           name->json.len, source_id);
    }
    free(description);
    free(unit);
    return rc;
}

int store_domains_name(struct store_domains *domains, const struct store_name *name,
                       int64_t domain_id, int64_t source_id) {
    return name->kind == NVTXT_NAME_RESOURCE ? set_resource(domains, name, domain_id, source_id)
                                             : set_counter(domains, name, domain_id, source_id);
}
