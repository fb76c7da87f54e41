// SPDX-License-Identifier: Apache-2.0
//
// The row goes the way of all others: a batch with nothing else in it, in a transaction of its own.
#include "daemon/writer/revive.h"

#include "protocol/base/origin.h"

int loss_row_write(struct store *store, int64_t at_ns, const char *reason, uint64_t count) {
    struct store_batch *batch = store_batch_new();
    int r = batch ? store_batch_loss(batch, at_ns, 0, -1, 0, reason, count) : nvtxt_origin(-ENOMEM);
    r = r ?: store_begin(store);
    r = r ?: store_write(store, batch);
    r = r ?: store_commit(store);
    if (r) {
        store_rollback(store);
    }
    store_batch_free(batch);
    return r;
}
