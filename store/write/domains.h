// SPDX-License-Identifier: Apache-2.0
//
// Domains of the store: each distinct display name has an id (1, 2, …) in NVTXT_DOMAINS. A batch
// names its domains by index; the id is looked up, or given, when the first row needs it. And what
// is named in a domain without a row of NVTX_EVENTS: NVTXT_RESOURCES and NVTXT_COUNTERS.
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "store/db/sql.h"
#include "store/value/record.h"

#define STORE_DOMAINS_STMTS 5

struct store_domains {
    struct store_txn *txn;
    sqlite3_stmt *stmts[STORE_DOMAINS_STMTS];
};

void store_domains_init(struct store_domains *domains, struct store_txn *txn);
void store_domains_deinit(struct store_domains *domains);

// Forgets the ids that an earlier write gave to the batch's domains. Call it before you write a
// batch.
void store_domains_begin(const struct store_batch *batch);

// The id of the batch's domain `index`; 0 for index 0. It stands in the domain's store_id as well.
int store_domains_id(struct store_domains *domains, const struct store_batch *batch, uint32_t index,
                     int64_t *id);

// Makes or changes the row of a resource or of a counter, in the domain with this id.
int store_domains_name(struct store_domains *domains, const struct store_name *name,
                       int64_t domain_id, int64_t source_id);
