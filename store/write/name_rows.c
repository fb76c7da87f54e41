// SPDX-License-Identifier: Apache-2.0
//
// A set-associative cache over the table. It holds what is in the file or in the open transaction;
// a rollback empties it. The entries of a set are replaced one after the other.
#include "store/write/name_rows.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

// 8,192 names: threads, processes and their domains on a busy machine, in 320 KiB.
#define SETS 2048
#define WAYS 4

struct store_name_entry {
    uint64_t key;
    int64_t row;
    int64_t domain;
    int kind;      // 0: free
    unsigned next; // in the set's first entry: the way that is replaced next
};

enum statement { FIND_ROW, ADD_ROW };

static const char *const texts[STORE_NAME_ROWS_STMTS] = {
    [FIND_ROW] = "SELECT row FROM NVTXT_NAME_ROWS WHERE kind = ?1 AND domainId = ?2 AND key = ?3",
    [ADD_ROW] = "INSERT INTO NVTXT_NAME_ROWS (kind, domainId, key, row) VALUES (?, ?, ?, ?)",
};

int store_name_rows_init(struct store_name_rows *rows, struct store_txn *txn) {
    *rows = (struct store_name_rows){.txn = txn};
    rows->cache = calloc((size_t)SETS * WAYS, sizeof(*rows->cache));
    return rows->cache ? 0 : nvtxt_origin(-ENOMEM);
}

void store_name_rows_deinit(struct store_name_rows *rows) {
    store_sql_finalize(rows->stmts, STORE_NAME_ROWS_STMTS);
    free(rows->cache);
    rows->cache = NULL;
}

void store_name_rows_forget(struct store_name_rows *rows) {
    memset(rows->cache, 0, (size_t)SETS * WAYS * sizeof(*rows->cache));
}

static struct store_name_entry *set_of(struct store_name_rows *rows, int kind, int64_t domain,
                                       uint64_t key) {
    uint64_t hash = (key ^ (uint64_t)domain << 40 ^ (uint64_t)kind << 56) * 0x9E3779B97F4A7C15u;
    return &rows->cache[(hash >> 32) % SETS * WAYS];
}

static int64_t find_cached(struct store_name_rows *rows, int kind, int64_t domain, uint64_t key) {
    const struct store_name_entry *set = set_of(rows, kind, domain, key);
    for (int way = 0; way < WAYS; way++) {
        if (set[way].key == key && set[way].kind == kind && set[way].domain == domain) {
            return set[way].row;
        }
    }
    return 0;
}

static void cache_row(struct store_name_rows *rows, int kind, int64_t domain, uint64_t key,
                      int64_t row) {
    struct store_name_entry *set = set_of(rows, kind, domain, key);
    unsigned way = set->next++ % WAYS;
    unsigned next = set[way].next;
    set[way] = (struct store_name_entry){
        .key = key, .row = row, .domain = domain, .kind = kind, .next = next};
}

int store_name_rows_find(struct store_name_rows *rows, int kind, int64_t domain, uint64_t key,
                         int64_t *row) {
    *row = find_cached(rows, kind, domain, key);
    if (*row) {
        return SQLITE_OK;
    }
    int rc = STORE_SQL_BIND(rows, FIND_ROW, "iii", (int64_t)kind, domain, (int64_t)key);
    rc = rc ?: store_sql_run_int(rows->stmts[FIND_ROW], row);
    if (*row) {
        cache_row(rows, kind, domain, key, *row);
    }
    return rc;
}

int store_name_rows_add(struct store_name_rows *rows, int kind, int64_t domain, uint64_t key,
                        int64_t row) {
    int rc = STORE_SQL_RUN(rows, ADD_ROW, "iiii", (int64_t)kind, domain, (int64_t)key, row);
    if (rc == SQLITE_OK) {
        cache_row(rows, kind, domain, key, row);
    }
    return rc;
}
