// SPDX-License-Identifier: Apache-2.0
//
// What the modules of store/write share during a transaction: the connection, the ids that come
// next, and the numbers of the transaction's NVTXT_BATCHES row. Owned by the store. It reads the
// ids from the file when it is opened, after a rollback, and when another process wrote.
#pragma once

#include <sqlite3.h>
#include <stdint.h>

struct store_txn {
    sqlite3 *db;
    int64_t now_ns;      // Unix time at which the transaction began
    int64_t next_row;    // of NVTX_EVENTS
    int64_t range_base;  // rangeId minus rowid: rows of earlier segments
    int64_t next_string; // of StringIds
    uint64_t events;     // rows of type 34, 59, 60 that it added
    int64_t first_row, last_row;
    int64_t min_start, max_end;
};
