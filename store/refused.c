// SPDX-License-Identifier: Apache-2.0
//
// A batch that SQLite refuses as a whole is written share by share, each in a transaction of its
// own, so that one source's rows do not keep the others' out. If a share is refused even so, its
// rows are left out and counted as lost. What lets its source go on stays: counters, the session's
// line and state, the end. A share remembers that it is in the store, so that the whole can be
// tried again when the disk was full in the middle of it.

#include "store/store.h"
#include "store/value/record.h"

static bool is_refusal(int r) {
    return r == STORE_REFUSED || r == STORE_FAILED;
}

static int write_batch(struct store *store, struct store_batch *batch) {
    int r = store_begin(store);
    r = r ?: store_write(store, batch);
    r = r ?: store_commit(store);
    if (r != STORE_DONE) {
        store_rollback(store);
    }
    return r;
}

// Writes a copy of the batch with this one share in it, or with none.
static int write_alone(struct store *store, const struct store_batch *batch,
                       struct store_share *share) {
    struct store_batch alone = *batch;
    alone.first = share;
    alone.live = share != NULL;
    alone.events = share ? share->events : 0;
    if (!share) {
        return write_batch(store, &alone);
    }
    alone.clocks = NULL;
    alone.losses = NULL;
    alone.owners = NULL;
    struct store_batch_source *next = share->pub.next;
    share->pub.next = NULL;
    int r = write_batch(store, &alone);
    share->pub.next = next;
    return r;
}

static uint64_t rows_of(const struct store_share *share) {
    uint64_t rows = share->events;
    for (const struct store_name *name = share->names; name; name = name->next) {
        rows++;
    }
    for (const struct store_diag *diag = share->pub.diags; diag; diag = diag->next) {
        rows++;
    }
    return rows;
}

static void strip(struct store_batch *batch, struct store_share *share) {
    batch->events -= share->events;
    share->runs = share->last_run = NULL;
    share->events = 0;
    share->flags = 0;
    share->names = NULL;
    share->pub.diags = NULL;
    share->opened = NULL;
    share->extras = NULL;
}

static int write_share(struct store *store, struct store_batch *batch, struct store_share *share,
                       int64_t now_ns) {
    int r = write_alone(store, batch, share);
    if (is_refusal(r)) {
        const struct store_source *source = &share->pub.source;
        r = store_batch_loss(batch, now_ns, source->id, source->has_peer ? source->peer_uid : -1,
                             source->has_peer ? source->peer_pid : 0, STORE_LOSS_REFUSED,
                             rows_of(share));
        if (r < 0) {
            return r;
        }
        strip(batch, share);
        r = write_alone(store, batch, share);
    }
    if (is_refusal(r) && share->losses) {
        share->losses = NULL; // it is NVTXT_LOSSES that refuses
        r = write_alone(store, batch, share);
    }
    if (is_refusal(r)) {
        store_batch_discard(&share->pub);
        r = STORE_DONE;
    }
    share->written = r == STORE_DONE;
    return r;
}

// Writes what belongs to no share. If it is refused, clock measurements are left out first, then
// all of it: what NVTXT_LOSSES refuses can be noted nowhere, and must not stop the store.
static int write_rest(struct store *store, struct store_batch *batch, int64_t now_ns) {
    int r = write_alone(store, batch, NULL);
    if (is_refusal(r) && batch->clocks) {
        uint64_t rows = 0;
        for (const struct store_clock *clock = batch->clocks; clock; clock = clock->next) {
            rows++;
        }
        r = store_batch_loss(batch, now_ns, 0, -1, 0, STORE_LOSS_REFUSED, rows);
        if (r < 0) {
            return r;
        }
        batch->clocks = NULL;
        r = write_alone(store, batch, NULL);
    }
    if (is_refusal(r)) {
        batch->losses = NULL;
        r = STORE_DONE;
    }
    return r;
}

// Owners come first: which names have an effect depends on them.
static int write_owners(struct store *store, struct store_batch *batch) {
    struct store_batch alone = *batch;
    alone.first = NULL;
    alone.live = alone.events = 0;
    alone.clocks = NULL;
    alone.losses = NULL;
    int r = batch->owners ? write_batch(store, &alone) : STORE_DONE;
    if (r == STORE_DONE) {
        batch->owners = NULL;
    }
    return is_refusal(r) ? STORE_DONE : r;
}

int store_write_refused(struct store *store, struct store_batch *batch, int64_t now_ns) {
    int r = write_owners(store, batch);
    for (struct store_share *share = batch->first; share && r == STORE_DONE;
         share = (struct store_share *)share->pub.next) {
        if (!share->written && !share->pub.discarded) {
            r = write_share(store, batch, share, now_ns);
        }
    }
    return r != STORE_DONE ? r : write_rest(store, batch, now_ns);
}
