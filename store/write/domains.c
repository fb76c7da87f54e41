// SPDX-License-Identifier: Apache-2.0
//
// One look-up by name for each domain and batch; the id stands in the batch, so nothing is kept
// after it.
#include "store/write/domains.h"

#include "store/db/sql.h"

enum statement { FIND_DOMAIN, ADD_DOMAIN };

static const char *const texts[STORE_DOMAINS_STMTS] = {
    [FIND_DOMAIN] = "SELECT id FROM NVTXT_DOMAINS WHERE name = ?",
    [ADD_DOMAIN] = "INSERT INTO NVTXT_DOMAINS (id, name) SELECT max(ifnull((SELECT max(id) FROM "
                   "NVTXT_DOMAINS), 0), ifnull((SELECT domainBase FROM NVTXT_SEGMENT), 0)) + 1, ?",
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

static int find(struct store_domains *domains, struct store_domain *domain) {
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
        rc = find(domains, domain);
    }
    if (rc == SQLITE_OK && domain->store_id == 0) {
        rc = STORE_SQL_RUN(domains, ADD_DOMAIN, "s", domain->name, (size_t)domain->len);
        domain->store_id = rc == SQLITE_OK ? sqlite3_last_insert_rowid(domains->txn->db) : 0;
    }
    *id = domain->store_id;
    return rc;
}
