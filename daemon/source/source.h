// SPDX-License-Identifier: Apache-2.0
//
// A source that is read: its interpreter, its row, and its share of the open batch. It is between
// the connection or file, which gives it lines, and the batcher, which decides when the batch is
// pushed. A source joins the open batch before a line of it is taken. When the batch is pushed the
// source is settled: its counters, the ranges that are still open and, for a session or a followed
// file, the state to resume from are written into its share. Loop thread only.
#pragma once

#include "daemon/source/batcher.h"
#include "daemon/source/claims.h"
#include "protocol/interp/interp.h"
#include "protocol/table/hash.h"

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
    struct nvtxt_counters reported; // what the totals already include
    uint64_t bytes;                 // of its lines, on this connection
    size_t held;                    // what it adds to user->held
    size_t unsaved;                 // of its state, as it counts in its share and in the batcher
    uint64_t state_bytes;           // of its state that were saved, since somebody took the number
    bool failed;                    // memory ran out in a line: its interpreter is of no use
    bool over;                      // source_end() was called

    struct batcher *batcher; // borrowed
    struct claims claims;    // the processes that it used and named
    struct quota_user *user; // borrowed: whose quota its lines count in; NULL: nobody's
    struct batch_member member;
    struct nvtxt_sink sink; // into its share of the batch

    // FILE: says how far it was read; `path` lives until the next call. NULL for other kinds.
    void (*where)(const struct source *source, struct store_followed *where);

    struct nvtxt_hash_node by_id;
    void *owner; // the connection or the followed file
    // Set by the owner. Memory ran out while the source was settled, so what it had in this batch
    // does not count. May free the source. NULL: nobody has to know.
    void (*on_failed)(struct source *source);
};

// Takes `interp`. Returns NULL when memory is short (`interp` is freed).
struct source *source_new(struct batcher *batcher, int64_t id, enum store_source_kind kind,
                          struct nvtxt_interp *interp_take);
void source_free(struct source *source); // must be settled

// The source with this id in a table (hub.sources); NULL: none.
struct source *source_find(const struct nvtxt_hash *sources, int64_t id);

int source_set_name(struct source *source, const char *name); // "" and NULL: none

// Makes sure that it has a share of the open batch. Returns 0 or -ENOMEM.
int source_join_batch(struct source *source);

// Counts for its user what it keeps open; before it is freed, that it keeps nothing open any more.
void source_count_held(struct source *source);
void source_release_held(struct source *source);

// Interprets one line. Returns 0, or -errno: the source has failed.
int source_line(struct source *source, struct nvtxt_slice line);
int source_overlong(struct source *source, struct nvtxt_slice start);

// Warns, once, that a parent which its client gave cannot be read. Returns 0 or -errno, as a line.
int source_warn_parent(struct source *source, const char *token);

// The store has nothing of its state any more: all of it goes into the open batch.
void source_save_anew(struct source *source);

// The source ends; `how` as in store_batch_end_source(). Returns 0 or -errno, as for a line.
int source_end(struct source *source, const char *how);

// An interpreter that goes on where the stored source was. Returns an nvtxt_restore_result or
// -ENOMEM. `*interp` is set only when the result is NVTXT_RESTORED.
int source_restore(const struct store_session *stored, const struct nvtxt_source_config *config,
                   struct nvtxt_interp **interp);

// What is said of NVTXT_RESTORE_NEWER. `what`: a literal; the argument is NVTXT_STATE_VERSION. Who
// uses it includes config.h.
#define SOURCE_NEWER(what)                                                                         \
    "a daemon of a newer version has saved " what "; this one (" PACKAGE_VERSION ") reads states " \
    "up to version %d: install a newer package nvtxtd"

// Ends a stored source whose saved state cannot be read, from its rows alone, and notes a loss with
// the `uid` and `reason` of `loss`. Returns 0 or -ENOMEM (nothing was done).
int source_give_up(struct batcher *batcher, const struct store_source *row,
                   const struct store_session *stored, const char *how, const struct loss *loss);

// Memory ran out in a line: discards the share, nothing of it counts.
void source_fail(struct source *source);
