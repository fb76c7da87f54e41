// SPDX-License-Identifier: Apache-2.0
//
// daemon/source: from lines to batches; what connections and followed files share. A source reads
// lines into its share of the open batch (source.h), the batcher decides when the batch goes to the
// writer (batcher.h), and users are held to their bounds (quota.h, owners.h). The hub connects
// these with the loop: it owns the queue to the writer and the doorbell that says that jobs are
// back, the table of all sources, the clocks and the totals. It knows neither sockets nor files:
// connections and followed files give it their lines. Loop thread only; the writer sees nothing of
// it but the queue.
#pragma once

#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "daemon/conf/conf.h"
#include "daemon/source/batcher.h"
#include "daemon/source/owners.h"
#include "protocol/base/limits.h"
#include "protocol/table/hash.h"

#define HUB_CHECKS_PER_EXPIRY 24 // of sessions and of files
#define HUB_SHORTEST_CHECK_MS 500

struct source;

// Is called when reading must stop, because too much is on its way to the store, and when it may go
// on.
struct hub_listener {
    void (*on_pressure)(struct hub_listener *listener, bool pressed);
    struct hub_listener *next;
};

struct hub {
    uv_loop_t *loop;           // borrowed
    const struct conf *config; // borrowed
    struct nvtxt_limits limits;
    struct bqueue queue;
    uv_async_t doorbell;
    struct batcher batcher; // the owner sets on_committed
    struct clocks clocks;
    struct stats stats;
    struct owners owners;      // of processes' names
    struct nvtxt_hash sources; // by id
    int64_t next_source_id;
    int64_t started_ns; // CLOCK_BOOTTIME
    uv_prepare_t loop_counter;
    uint64_t loop_count; // iterations of the loop
    struct log_limit log_memory;
    struct hub_listener *listeners;

    // Set by the owner: all jobs that were back have been taken.
    void (*on_drained)(struct hub *hub);
};

// Returns 0 or -errno; hub_close() and hub_deinit() in any case. The owner sets the callbacks after
// it.
int hub_init(struct hub *hub, uv_loop_t *loop, const struct conf *config, int64_t next_source_id);
void hub_close(struct hub *hub);  // its handles
void hub_deinit(struct hub *hub); // after the loop has run out

// For any module: closes a handle of libuv, unless it is closing, or was never opened: then its
// `data` is NULL.
void hub_close_handle(void *handle);

// Listeners are called in the order in which they were added, as long as the hub lives.
void hub_listen(struct hub *hub, struct hub_listener *listener);

// The configuration has changed: applies it to batches, new sources and the writer.
void hub_configure(struct hub *hub);

// How often to look for what expires after `expiry_ms`.
static inline uint64_t hub_check_period_ms(int64_t expiry_ms) {
    uint64_t ms = (uint64_t)expiry_ms / HUB_CHECKS_PER_EXPIRY;
    return ms < HUB_SHORTEST_CHECK_MS ? HUB_SHORTEST_CHECK_MS : ms;
}

// Pushes a job that is not a batch. Its on_done is called when it is done.
void hub_push(struct hub *hub, struct job *job);

// Makes sure that the clocks are fresh and that the source's interpreter has their offsets.
void hub_refresh_clocks(struct hub *hub, struct source *source);
