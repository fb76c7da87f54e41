// SPDX-License-Identifier: Apache-2.0
//
// A source that is being read: its interpreter, its row, and its share of the open batch. It
// stands between the connection or file, which feeds it lines, and the batcher, which decides when
// a batch is full. A source that was touched since the last batch went out is on the batcher's
// list; when the batch goes out the source is settled: counters, ranges that are still open and,
// for a session or a followed file, the state to resume from are written into its share. Loop
// thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/socket/peer.h"
#include "daemon/source/batcher.h"
#include "protocol/base/hash.h"
#include "protocol/interp/interp.h"
#include "store/value/batch.h"

struct loss;
struct nvtxt_source_config;
struct quota_user;
struct store_session;

struct source {
    int64_t id;
    enum store_source_kind kind;
    const char *session_id; // borrowed from the session; NULL for a plain source
    char *name;             // owned; NULL when it has none
    struct peer peer;
    int64_t opened_ns; // realtime

    struct nvtxt_interp *interp;    // owned
    uint32_t clock_generation;      // of the offsets that the interpreter has
    struct nvtxt_counters reported; // what the statistics have seen of it
    uint64_t bytes;                 // of its lines, on this connection
    size_t held;                    // what of user->held is its own
    bool failed;                    // memory ran out in the middle: its interpreter is of no use
    bool over;                      // source_end() was called

    struct batcher *batcher; // borrowed
    uint32_t used_pid;       // that the owners know of; UINT32_MAX: none yet
    struct quota_user *user; // borrowed: who pays for its lines; or NULL
    struct batch_member member;
    struct nvtxt_sink sink; // into its share of the batch

    // FILE: fills in how far it was read; `path` lives until the next call. NULL for the others.
    void (*where)(const struct source *source, struct store_followed *where);

    struct nvtxt_hash_node by_id;
    // The owner's, the connection's or the followed file's: memory ran out when the open batch took
    // what it had brought in, which does not count. It may free the source.
    void (*on_failed)(struct source *source);
    void *owner; // NULL once it is gone
};

// A source of the batcher. Takes `interp`. Returns NULL when memory is short (`interp` is freed).
struct source *source_new(struct batcher *batcher, int64_t id, enum store_source_kind kind,
                          struct nvtxt_interp *interp_take);
void source_free(struct source *source); // must be settled

// The source of this id in a table of them (server.hub.sources); NULL when there is none.
struct source *source_find(const struct nvtxt_hash *sources, int64_t id);

int source_set_name(struct source *source, const char *name); // "" and NULL: none

// Before lines are handed to it: makes sure that it has a share. Returns 0 or -ENOMEM.
int source_touch(struct source *source);

// Counts what it keeps open for its user; before it is freed, that this is nothing any more.
void source_weigh(struct source *source);
void source_unweigh(struct source *source);

// Its process is its user's by the kernel's word: takes its names over, unless `in_use` says that
// their owner has a connection of this very process. Call before its first line. Returns 0 or
// -ENOMEM.
int source_arrive(struct source *source, bool (*in_use)(const struct source *source, int64_t uid));

// One line. Returns 0, or -errno after which the source has failed.
int source_line(struct source *source, struct nvtxt_slice line);
int source_overlong(struct source *source, struct nvtxt_slice start);

// The source is over; `how` as in store_batch_end_source().
int source_end(struct source *source, const char *how);

// An interpreter that goes on where the stored source was. Returns an nvtxt_restore_result or
// -ENOMEM. `*interp` is set only when the result is NVTXT_RESTORED.
int source_restore(const struct store_session *stored, const struct nvtxt_source_config *config,
                   struct nvtxt_interp **interp);

// Ends a stored source whose saved state cannot be read, with what its rows say, and notes the
// loss, of which `uid` and `reason` are given. Returns 0 or -ENOMEM (nothing was done).
int source_give_up(struct batcher *batcher, const struct store_source *row,
                   const struct store_session *stored, const char *how, const struct loss *loss);

// Memory ran out in the middle of a line: nothing of this batch counts.
void source_fail(struct source *source);
