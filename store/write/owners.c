// SPDX-License-Identifier: Apache-2.0
//
// Names that are taken away are not deleted: their rows stay and get their default text. The rows
// of one process are a range of keys in NVTXT_NAME_ROWS. Resources and counters have no default
// name: they are deleted.
#include "store/write/owners.h"

#include "store/value/record.h"

enum statement {
    SET_OWNER,
    RESET_PROCESS,
    RESET_THREADS,
    RESET_THREAD_ROWS,
    RESET_CATEGORIES,
    DROP_RESOURCES,
    DROP_COUNTERS,
    FIND_OWNER,
    ADD_UNKNOWN,
};

#define ROWS_OF(kind, shift)                                                                       \
    "SELECT row FROM NVTXT_NAME_ROWS WHERE kind = " kind " AND key BETWEEN ?1 << " shift           \
    " AND (?1 + 1 << " shift ") - 1"

static const char *const texts[STORE_OWNERS_STMTS] = {
    [SET_OWNER] =
        "INSERT INTO NVTXT_OWNERS (pid, uid, proven, sinceNs) VALUES (?, ?, ?, ?) ON CONFLICT "
        "(pid) "
        "DO UPDATE SET uid = excluded.uid, proven = excluded.proven, sinceNs = excluded.sinceNs "
        "WHERE uid IS NOT excluded.uid OR proven IS NOT excluded.proven",
    [RESET_PROCESS] =
        "UPDATE PROCESSES SET name = ifnull(?2, 'Process ' || ?1) WHERE rowid IN (SELECT row FROM "
        "NVTXT_NAME_ROWS WHERE kind = 1 AND domainId = 0 AND key = ?1)",
    [RESET_THREADS] =
        "UPDATE StringIds SET value = 'Thread ' || (SELECT t.globalTid & 0xFFFFFF FROM ThreadNames "
        "t WHERE t.nameId = StringIds.id) WHERE id IN (" ROWS_OF("2 AND domainId = 0", "24") ")",
    [RESET_THREAD_ROWS] = "UPDATE NVTX_EVENTS SET text = 'Thread ' || (globalTid & 0xFFFFFF) WHERE "
                          "rowid IN (" ROWS_OF("39 AND domainId = 0", "24") ")",
    [RESET_CATEGORIES] = "UPDATE NVTX_EVENTS SET text = '[Unknown]', textId = 0 WHERE rowid IN "
                         "(" ROWS_OF("3", "32") ")",
    [DROP_RESOURCES] = "DELETE FROM NVTXT_RESOURCES WHERE globalPid = ?1 << 24",
    [DROP_COUNTERS] = "DELETE FROM NVTXT_COUNTERS WHERE globalPid = ?1 << 24",
    [FIND_OWNER] = "SELECT uid FROM NVTXT_OWNERS WHERE pid = ?1 AND uid <> ?2",
    [ADD_UNKNOWN] = "INSERT OR IGNORE INTO NVTXT_OWNERS (pid, uid, proven, sinceNs) VALUES "
                    "(?, ?, 0, ?)",
};

void store_owners_init(struct store_owners *owners, struct store_txn *txn) {
    *owners = (struct store_owners){.txn = txn};
}

void store_owners_deinit(struct store_owners *owners) {
    store_sql_finalize(owners->stmts, STORE_OWNERS_STMTS);
}

static int write_owner(struct store_owners *owners, const struct store_owner_change *owner) {
    int rc = STORE_SQL_RUN(owners, SET_OWNER, "iiii", owner->pid, owner->uid,
                           (int64_t)owner->proven, owners->txn->now_ns);
    if (rc != SQLITE_OK || !owner->taken) {
        return rc;
    }
    rc = STORE_SQL_RUN(owners, RESET_PROCESS, "it", owner->pid, owner->comm);
    rc = rc ?: STORE_SQL_RUN(owners, RESET_THREADS, "i", owner->pid);
    rc = rc ?: STORE_SQL_RUN(owners, RESET_THREAD_ROWS, "i", owner->pid);
    rc = rc ?: STORE_SQL_RUN(owners, RESET_CATEGORIES, "i", owner->pid);
    rc = rc ?: STORE_SQL_RUN(owners, DROP_RESOURCES, "i", owner->pid);
    return rc ?: STORE_SQL_RUN(owners, DROP_COUNTERS, "i", owner->pid);
}

int store_owners_write(struct store_owners *owners, const struct store_batch *batch) {
    int rc = SQLITE_OK;
    for (const struct store_owner *owner = batch->owners; owner && rc == SQLITE_OK;
         owner = owner->next) {
        rc = write_owner(owners, &owner->change);
    }
    return rc;
}

int store_owners_is(struct store_owners *owners, uint64_t pid, int64_t uid, bool *is) {
    int rc = STORE_SQL_BIND(owners, FIND_OWNER, "ii", (int64_t)pid, uid);
    *is = rc == SQLITE_OK && !store_sql_next(owners->stmts[FIND_OWNER], &rc);
    sqlite3_reset(owners->stmts[FIND_OWNER]);
    return rc;
}

int store_owners_see(struct store_owners *owners, uint64_t pid) {
    return STORE_SQL_RUN(owners, ADD_UNKNOWN, "iii", (int64_t)pid, STORE_OWNER_SHARED,
                         owners->txn->now_ns);
}
