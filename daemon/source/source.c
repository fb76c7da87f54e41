// SPDX-License-Identifier: Apache-2.0
//
// What a line makes goes from the interpreter through the sink into the share. What it costs in
// bytes is counted for its user at once. Before each line the interpreter is allowed as much to
// keep open as the other sources of the user leave. What it may do with processes is in claims.c.
#include "daemon/source/source.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/source/quota.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/interp/state.h"
#include "store/store.h"

#define STATE_KEPT 65536 // a longer buffer is freed after use

static int settle(struct batch_member *member);
static void on_failed(struct batch_member *member);

// ---- Life ---------------------------------------------------------------------------------------

struct source *source_new(struct batcher *batcher, int64_t id, enum store_source_kind kind,
                          struct nvtxt_interp *interp_take) {
    struct source *source = calloc(1, sizeof(*source));
    if (!source) {
        nvtxt_interp_free(interp_take);
        return NULL;
    }
    source->batcher = batcher;
    source->id = id;
    source->kind = kind;
    source->interp = interp_take;
    source->reported = *nvtxt_interp_counters(interp_take);
    source->member = (struct batch_member){.settle = settle, .on_failed = on_failed};
    source->claims = (struct claims){
        .batcher = batcher, .peer = &source->peer, .is_file = kind == STORE_SOURCE_FILE};
    claims_guard(&source->claims, interp_take);
    return source;
}

void source_free(struct source *source) {
    if (!source) {
        return;
    }
    nvtxt_interp_free(source->interp);
    claims_deinit(&source->claims);
    free(source->name);
    free(source);
}

struct source *source_find(const struct nvtxt_hash *sources, int64_t id) {
    struct source *source;
    NVTXT_HASH_FIND(source, by_id, sources, nvtxt_hash_number((uint64_t)id), source->id == id);
    return source;
}

int source_set_name(struct source *source, const char *name) {
    char *copy = NULL;
    if (name && *name) {
        copy = strdup(name);
        if (!copy) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    free(source->name);
    source->name = copy;
    return 0;
}

int source_join_batch(struct source *source) {
    if (source->failed) {
        return nvtxt_origin(-ENOMEM);
    }
    if (source->member.share) {
        return 0;
    }
    struct store_source row = {
        .id = source->id,
        .kind = source->kind,
        .session_id = source->session_id,
        .name = source->name,
        .has_peer = source->peer.uid >= 0,
        .peer_pid = source->peer.pid,
        .peer_uid = source->peer.uid,
        .peer_gid = source->peer.gid,
        .peer_comm = source->peer.comm[0] ? source->peer.comm : NULL,
        .peer_start = source->peer.start,
        .opened_ns = source->opened_ns,
        .levels = nvtxt_interp_has_levels(source->interp),
        .nvtx = nvtxt_interp_has_nvtx(source->interp),
        .parent = nvtxt_interp_parent(source->interp),
    };
    int r = batcher_add(source->batcher, &source->member, &row);
    if (r == 0) {
        store_batch_sink(source->member.share, &source->sink);
    }
    return r;
}

void source_count_held(struct source *source) {
    if (!source->user) {
        return;
    }
    size_t held = nvtxt_interp_held(source->interp) + claims_bytes(&source->claims);
    source->user->held += held - source->held;
    source->held = held;
}

void source_release_held(struct source *source) {
    if (source->user) {
        source->user->held -= source->held;
    }
    source->held = 0;
}

// What the other sources of its user leave.
static void allow(struct source *source) {
    if (!source->user) {
        return;
    }
    size_t others = source->user->held - source->held;
    size_t most = source->user->held_max;
    nvtxt_interp_allow(source->interp, others < most ? most - others : 0);
}

static int checked(struct source *source, int r) {
    if (r < 0) {
        source_fail(source);
    }
    return r;
}

static bool is_saved(const struct source *source) {
    return source->kind == STORE_SOURCE_SESSION || source->where;
}

static void charge(struct source *source, size_t bytes) {
    if (source->user) {
        source->member.share->cost += bytes;
        source->user->bytes += bytes;
    }
}

// Settling will copy into the batch what has changed of the state. Counts it as if it were there:
// else the lines of many sources could make a batch of any size.
static void count_unsaved(struct source *source) {
    size_t unsaved = is_saved(source) ? nvtxt_state_unsaved(source->interp) : 0;
    size_t more = unsaved - source->unsaved; // may be "negative"
    source->batcher->reserved += more;
    charge(source, more);
    source->unsaved = unsaved;
}

int source_line(struct source *source, struct nvtxt_slice line) {
    int r = source_join_batch(source);
    if (r < 0) {
        return r;
    }
    struct store_batch *batch = source->member.share->batch;
    size_t before = store_batch_bytes(batch);
    source->bytes += line.len + 1;
    allow(source);
    r = nvtxt_interp_line(source->interp, line, &source->sink);
    source_count_held(source);
    charge(source, store_batch_bytes(batch) - before);
    count_unsaved(source);
    return checked(source, r);
}

int source_overlong(struct source *source, struct nvtxt_slice start) {
    int r = source_join_batch(source);
    if (r < 0) {
        return r;
    }
    return checked(source, nvtxt_interp_overlong(source->interp, start, &source->sink));
}

int source_warn_parent(struct source *source, const char *token) {
    int r = source_join_batch(source);
    if (r < 0) {
        return r;
    }
    return checked(source,
                   nvtxt_interp_warn_parent(source->interp, nvtxt_slice_of(token), &source->sink));
}

// A whole state is written when there is none to add changes to. When the changes have become as
// long as it, it is written in place of them, if not too many others were in this batch: no commit
// should take long because many sources fold at the same time.
static bool folds(const struct source *source) {
    const struct batcher *batcher = source->batcher;
    return !nvtxt_state_is_begun(source->interp) ||
           (nvtxt_state_is_long(source->interp) && batcher->folded < batcher->batch_bytes);
}

// What has changed of that which changes seldom.
static int save_part(struct source *source) {
    struct batcher *batcher = source->batcher;
    struct nvtxt_buf *buf = &batcher->state;
    bool whole = folds(source);
    uint64_t part;
    nvtxt_buf_clear(buf);
    int r = nvtxt_state_save_part(source->interp, whole, buf, &part);
    if (r == 0 && buf->len > 0) {
        r = store_batch_state(source->member.share, part,
                              (struct nvtxt_slice){buf->data, buf->len});
    }
    batcher->folded += whole ? buf->len : 0;
    source->state_bytes += buf->len;
    nvtxt_buf_trim(buf, STATE_KEPT);
    return r;
}

// Saves the state of a session or of a followed file.
static int save_state(struct source *source) {
    struct store_batch_source *share = source->member.share;
    struct nvtxt_buf *buf = &source->batcher->state;
    int r = save_part(source);
    nvtxt_buf_clear(buf);
    r = r ?: nvtxt_state_save(source->interp, buf);
    if (r < 0) {
        return r;
    }
    struct nvtxt_slice state = {buf->data, buf->len};
    source->member.state_bytes = state.len;
    if (source->where) {
        struct store_followed where = {0};
        source->where(source, &where);
        return store_batch_file(share, &where, state);
    }
    share->open_bytes = nvtxt_interp_held(source->interp);
    return store_batch_session(share, nvtxt_interp_counters(source->interp)->lines, state);
}

int source_end(struct source *source, const char *how) {
    int r = source_join_batch(source);
    if (r < 0) {
        return r;
    }
    // Copy the display name in force before the end: it does not live longer.
    struct nvtxt_buf *name = &source->batcher->state;
    struct nvtxt_slice in_force = nvtxt_interp_display_name(source->interp);
    nvtxt_buf_clear(name);
    nvtxt_buf_add(name, in_force.data, in_force.len);
    r = nvtxt_buf_failed(name) ? nvtxt_origin(-ENOMEM)
                               : nvtxt_interp_end(source->interp, &source->sink);
    if (r >= 0) {
        r = store_batch_progress(source->member.share, nvtxt_interp_counters(source->interp),
                                 (struct nvtxt_slice){name->data, name->len});
    }
    if (r >= 0) {
        r = store_batch_end_source(source->member.share, how, nvtxt_realtime_ns());
    }
    if (r >= 0 && source->where) {
        r = save_state(source);
    }
    source_count_held(source);
    source->over = true;
    return checked(source, r);
}

int source_restore(const struct store_session *stored, const struct nvtxt_source_config *config,
                   struct nvtxt_interp **interp) {
    int r = nvtxt_state_restore(interp, config, nvtxt_slice_of(stored->state), stored->parts,
                                stored->part_count);
    if (r != 0) {
        return r;
    }
    for (size_t i = 0; r == 0 && i < stored->range_count; i++) {
        r = nvtxt_interp_restore_open(*interp, &stored->ranges[i]);
    }
    if (r != 0) {
        nvtxt_interp_free(*interp);
        *interp = NULL;
    } else if (stored->elsewhere) {
        nvtxt_state_begin_anew(*interp);
    }
    return r;
}

int source_give_up(struct batcher *batcher, const struct store_source *row,
                   const struct store_session *stored, const char *how, const struct loss *loss) {
    struct store_batch *batch = batcher_open_batch(batcher);
    struct store_batch_source *share = batch ? store_batch_source(batch, row) : NULL;
    if (!share) {
        return nvtxt_origin(-ENOMEM);
    }
    struct loss whole = *loss;
    whole.at_ns = nvtxt_realtime_ns();
    whole.source_id = row->id;
    whole.count = 1;
    if (store_session_end(share, stored, how, whole.at_ns) < 0) {
        store_batch_discard(share);
        return nvtxt_origin(-ENOMEM);
    }
    batcher_lose(batcher, &whole);
    return 0;
}

static int write_rest(struct source *source) {
    int r = store_batch_progress(source->member.share, nvtxt_interp_counters(source->interp),
                                 nvtxt_interp_display_name(source->interp));
    if (r >= 0 && is_saved(source)) {
        r = save_state(source);
    }
    if (r < 0) {
        return r;
    }
    struct nvtxt_open_range range;
    while (nvtxt_interp_take_opened(source->interp, &range) == 1) {
        r = store_batch_open_range(source->member.share, &range);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int write_share(struct source *source) {
    if (source->over) {
        return 0; // source_end() wrote everything
    }
    struct store_batch *batch = source->member.share->batch;
    size_t before = store_batch_bytes(batch);
    int r = write_rest(source);
    charge(source, store_batch_bytes(batch) - before - source->unsaved);
    source->unsaved = 0;
    return r;
}

static void report(struct source *source) {
    const struct nvtxt_counters *now = nvtxt_interp_counters(source->interp);
    struct stats *stats = source->batcher->stats;
    stats->lines += now->lines - source->reported.lines;
    stats->events += now->events - source->reported.events;
    stats->warnings += now->warnings - source->reported.warnings;
    stats->errors += now->errors - source->reported.errors;
    source->reported = *now;
}

// Memory ran out for its share: a session sends the lines again, a plain source cannot.
static void lose_share(const struct source *source) {
    uint64_t lines = nvtxt_interp_counters(source->interp)->lines - source->reported.lines;
    if (source->kind != STORE_SOURCE_PLAIN) {
        return;
    }
    batcher_lose(source->batcher, &(struct loss){.at_ns = nvtxt_realtime_ns(),
                                                 .source_id = source->id,
                                                 .uid = source->peer.uid,
                                                 .pid = source->peer.pid,
                                                 .reason = LOSS_MEMORY,
                                                 .count = lines ?: 1});
}

void source_save_anew(struct source *source) {
    if (is_saved(source) && !source->over && !source->failed) {
        nvtxt_state_begin_anew(source->interp);
        source_join_batch(source); // without memory, with its next line
    }
}

static int settle(struct batch_member *member) {
    struct source *source = NVTXT_CONTAINER_OF(member, struct source, member);
    int r = source->failed ? nvtxt_origin(-ENOMEM) : write_share(source);
    if (r < 0) {
        source_fail(source);
        lose_share(source);
    } else {
        report(source);
    }
    member->share = NULL;
    return r;
}

static void on_failed(struct batch_member *member) {
    struct source *source = NVTXT_CONTAINER_OF(member, struct source, member);
    if (source->on_failed) {
        source->on_failed(source);
    }
}

void source_fail(struct source *source) {
    source->failed = true;
    if (source->member.share) {
        store_batch_discard(source->member.share);
    }
}
