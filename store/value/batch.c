// SPDX-License-Identifier: Apache-2.0
//
// A batch and its shares, filled on the loop thread. Shares are found by a hash of the source's id;
// the last one is tried first, since lines of one source come in groups. Everything stands in two
// arenas, so that a reset forgets it at once and keeps the memory. Events, names and diagnostics
// are appended in sink.c.
#include "store/value/batch.h"

#include <stdlib.h>

#include "protocol/base/utf8.h"
#include "protocol/table/arrays.h"
#include "store/value/record.h"

// What a reset keeps, of records and of the rest each: a batch of some ten thousand events.
#define KEEP_BYTES ((size_t)2 * 1024 * 1024)

static struct store_share *own(struct store_batch_source *source) {
    return (struct store_share *)source;
}

static void clear_lists(struct store_batch *batch) {
    batch->domain_count = 0;
    batch->first = NULL;
    batch->end = &batch->first;
    batch->last = NULL;
    batch->tail_share = NULL;
    batch->live = 0;
    batch->events = 0;
    batch->clocks = batch->last_clock = NULL;
    batch->losses = batch->last_loss = NULL;
    batch->has_source_losses = false;
    batch->forgotten = NULL;
    batch->owners = batch->last_owner = NULL;
    batch->names_taken = false;
}

struct store_batch *store_batch_new(void) {
    struct store_batch *batch = calloc(1, sizeof(*batch));
    if (batch) {
        clear_lists(batch);
    }
    return batch;
}

void store_batch_free(struct store_batch *batch) {
    if (!batch) {
        return;
    }
    store_arena_deinit(&batch->records);
    store_arena_deinit(&batch->data);
    nvtxt_hash_deinit(&batch->by_id);
    nvtxt_hash_deinit(&batch->by_name);
    free(batch->domains);
    free(batch);
}

void store_batch_reset(struct store_batch *batch) {
    store_arena_reset(&batch->records, KEEP_BYTES);
    store_arena_reset(&batch->data, KEEP_BYTES);
    nvtxt_hash_reset(&batch->by_id);
    nvtxt_hash_reset(&batch->by_name);
    clear_lists(batch);
}

bool store_batch_is_empty(const struct store_batch *batch) {
    return batch->live == 0 && !batch->clocks && !batch->losses && !batch->forgotten &&
           !batch->owners;
}

size_t store_batch_bytes(const struct store_batch *batch) {
    return store_arena_used(&batch->records) + store_arena_used(&batch->data);
}

// ---- Pieces in the arena ----------------------------------------------------------------------

// Copies `string` to `*copy`; NULL stays NULL. File names and command names are any bytes, but a
// TEXT column holds UTF-8.
static int copy_string(struct store_batch *batch, const char *string, const char **copy) {
    struct nvtxt_slice text = nvtxt_slice_of(string);
    *copy = NULL;
    if (!string) {
        return 0;
    }
    if (nvtxt_utf8_valid(text)) {
        *copy = store_arena_copy(&batch->data, text.data, text.len);
        return *copy ? 0 : nvtxt_origin(-ENOMEM);
    }
    char *repaired = store_arena_take(&batch->data, text.len * NVTXT_UTF8_GROWTH + 1, 1);
    if (!repaired) {
        return nvtxt_origin(-ENOMEM);
    }
    repaired[nvtxt_utf8_repair(repaired, text)] = '\0';
    *copy = repaired;
    return 0;
}

// ---- Shares -----------------------------------------------------------------------------------

static void empty_share(struct store_share *share) {
    share->runs = share->last_run = NULL;
    share->events = 0;
    share->pub.diags = share->last_diag = NULL;
    share->names = share->last_name = NULL;
    share->opened = share->last_opened = NULL;
    share->extras = NULL;
    share->losses = NULL;
    share->last_domain = 0;
    share->flags = 0;
    share->has_progress = share->has_session = false;
    share->display_name = share->state = (struct nvtxt_slice){0};
    share->parts = share->last_part = NULL;
    share->how = NULL;
    share->file = NULL;
    share->pub.ended = false;
    share->pub.line = 0;
    share->pub.open_bytes = 0;
    memset(&share->pub.counters, 0, sizeof(share->pub.counters));
}

static struct store_share *new_share(struct store_batch *batch, const struct store_source *source) {
    struct store_share *share = store_arena_make(&batch->data, sizeof(*share));
    if (!share) {
        return NULL;
    }
    share->pub.batch = batch;
    share->pub.id = source->id;
    share->pub.source = *source;
    empty_share(share);
    struct store_source *copy = &share->pub.source;
    if (copy_string(batch, source->session_id, &copy->session_id) < 0 ||
        copy_string(batch, source->name, &copy->name) < 0 ||
        copy_string(batch, source->peer_comm, &copy->peer_comm) < 0 ||
        copy_string(batch, source->parent, &copy->parent) < 0 ||
        nvtxt_hash_add(&batch->by_id, &share->node, nvtxt_hash_number((uint64_t)source->id)) < 0) {
        return NULL;
    }
    *batch->end = share;
    batch->end = (struct store_share **)&share->pub.next;
    batch->live++;
    return share;
}

static struct store_share *find_share(struct store_batch *batch, int64_t id) {
    struct store_share *share;
    NVTXT_HASH_FIND(share, node, &batch->by_id, nvtxt_hash_number((uint64_t)id),
                    share->pub.id == id);
    return share;
}

struct store_batch_source *store_batch_source(struct store_batch *batch,
                                              const struct store_source *source) {
    struct store_share *share = batch->last;
    if (!share || share->pub.id != source->id) {
        share = find_share(batch, source->id);
        if (!share) {
            share = new_share(batch, source);
        }
        if (!share) {
            return NULL;
        }
        batch->last = share;
    }
    if (share->pub.discarded) {
        share->pub.discarded = false;
        batch->live++;
    }
    return &share->pub;
}

struct store_batch_source *store_batch_first(const struct store_batch *batch) {
    return batch->first ? &batch->first->pub : NULL;
}

size_t store_batch_source_events(const struct store_batch_source *share) {
    return store_share_of(share)->events;
}

void store_batch_discard(struct store_batch_source *source) {
    struct store_share *share = own(source);
    struct store_batch *batch = source->batch;
    if (source->discarded) {
        return;
    }
    source->discarded = true;
    batch->live--;
    batch->events -= share->events;
    if (batch->tail_share == share) {
        batch->tail_share = NULL;
    }
    empty_share(share);
}

// ---- What stands beside the events ------------------------------------------------------------

void store_batch_nvtx(struct store_batch_source *source) {
    source->source.nvtx = true;
}

int store_batch_progress(struct store_batch_source *source, const struct nvtxt_counters *counters,
                         struct nvtxt_slice display_name) {
    struct store_share *share = own(source);
    bool same = nvtxt_slice_equal(share->display_name, display_name);
    int r = same ? 0 : store_batch_copy(source->batch, display_name, &share->display_name);
    if (r == 0) {
        share->has_progress = true;
        source->counters = *counters;
    }
    return r;
}

int store_batch_open_range(struct store_batch_source *source,
                           const struct nvtxt_open_range *range) {
    struct store_share *share = own(source);
    struct store_opened *opened = store_arena_make(&source->batch->data, sizeof(*opened));
    if (!opened) {
        return nvtxt_origin(-ENOMEM);
    }
    opened->range = *range;
    opened->range.domain = (struct nvtxt_slice){0};
    int r = store_batch_copy(source->batch, range->text, &opened->range.text);
    r = r ?: store_share_domain(share, range->domain, &opened->domain);
    r = r ?: store_batch_copy(source->batch, range->excerpt, &opened->range.excerpt);
    r = r ?: store_batch_copy(source->batch, range->json, &opened->range.json);
    if (r == 0) {
        NVTXT_APPEND(share->opened, share->last_opened, next, opened);
    }
    return r;
}

int store_batch_session(struct store_batch_source *source, uint64_t line,
                        struct nvtxt_slice state) {
    struct store_share *share = own(source);
    int r = state.data ? store_batch_copy(source->batch, state, &share->state) : 0;
    if (r == 0) {
        share->has_session = true;
        source->line = line;
    }
    return r;
}

int store_batch_state(struct store_batch_source *source, uint64_t part, struct nvtxt_slice state) {
    struct store_share *share = own(source);
    struct store_state_part *entry = store_arena_make(&source->batch->data, sizeof(*entry));
    if (!entry || store_batch_copy(source->batch, state, &entry->state) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    entry->part = part;
    NVTXT_APPEND(share->parts, share->last_part, next, entry);
    return 0;
}

int store_batch_file(struct store_batch_source *source, const struct store_followed *file,
                     struct nvtxt_slice state) {
    struct store_share *share = own(source);
    struct store_batch *batch = source->batch;
    struct store_followed *copy = store_arena_make(&batch->data, sizeof(*copy));
    if (!copy || store_batch_copy(batch, state, &share->state) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    *copy = *file;
    int r = copy_string(batch, file->path, &copy->path);
    share->file = r == 0 ? copy : share->file;
    return r;
}

int store_batch_forget_file(struct store_batch *batch, int64_t source_id) {
    struct store_forgotten *entry = store_arena_make(&batch->data, sizeof(*entry));
    if (!entry) {
        return nvtxt_origin(-ENOMEM);
    }
    entry->source_id = source_id;
    entry->next = batch->forgotten;
    batch->forgotten = entry;
    return 0;
}

int store_batch_end_source(struct store_batch_source *source, const char *how, int64_t closed_ns) {
    struct store_share *share = own(source);
    int r = copy_string(source->batch, how, &share->how);
    if (r == 0) {
        source->ended = true;
        share->closed_ns = closed_ns;
    }
    return r;
}

int store_batch_clock(struct store_batch *batch, const char *clock, int64_t clock_ns,
                      int64_t realtime_ns, int64_t uncertainty_ns) {
    struct store_clock *entry = store_arena_make(&batch->data, sizeof(*entry));
    if (!entry || copy_string(batch, clock, &entry->clock) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    entry->clock_ns = clock_ns;
    entry->realtime_ns = realtime_ns;
    entry->uncertainty_ns = uncertainty_ns;
    NVTXT_APPEND(batch->clocks, batch->last_clock, next, entry);
    return 0;
}

int store_batch_owner(struct store_batch *batch, const struct store_owner_change *change) {
    struct store_owner *entry = store_arena_make(&batch->data, sizeof(*entry));
    const char *comm = NULL;
    if (!entry || copy_string(batch, change->comm, &comm) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    entry->change = *change;
    entry->change.comm = comm;
    batch->names_taken = batch->names_taken || change->taken;
    NVTXT_APPEND(batch->owners, batch->last_owner, next, entry);
    return 0;
}

static struct store_loss *make_loss(struct store_batch *batch, int64_t at_ns, const char *reason,
                                    uint64_t count) {
    struct store_loss *entry = store_arena_make(&batch->data, sizeof(*entry));
    if (!entry || copy_string(batch, reason, &entry->reason) < 0) {
        return NULL;
    }
    entry->at_ns = at_ns;
    entry->count = count;
    return entry;
}

int store_batch_loss(struct store_batch *batch, int64_t at_ns, int64_t source_id, int64_t uid,
                     int64_t pid, const char *reason, uint64_t count) {
    struct store_loss *entry = make_loss(batch, at_ns, reason, count);
    if (!entry) {
        return nvtxt_origin(-ENOMEM);
    }
    entry->source_id = source_id;
    entry->uid = uid;
    entry->pid = pid;
    NVTXT_APPEND(batch->losses, batch->last_loss, next, entry);
    return 0;
}

// The row that takes the count: the one with this reason, or the newest when there are enough.
// NULL: a new one is made.
static struct store_loss *find_source_loss(const struct store_share *share, const char *reason) {
    size_t count = 0;
    for (struct store_loss *loss = share->losses; loss; loss = loss->next) {
        if (strcmp(loss->reason, reason) == 0) {
            return loss;
        }
        count++;
    }
    return count < STORE_SOURCE_LOSSES_MAX ? NULL : share->losses;
}

int store_batch_source_loss(struct store_batch_source *source, int64_t at_ns, const char *reason,
                            uint64_t count) {
    struct store_share *share = own(source);
    struct store_batch *batch = source->batch;
    struct store_loss *loss = find_source_loss(share, reason);
    if (loss) {
        uint64_t room = INT64_MAX - loss->count;
        loss->count += count < room ? count : room;
        return 0;
    }
    loss = make_loss(batch, at_ns, reason, count);
    if (!loss) {
        return nvtxt_origin(-ENOMEM);
    }
    loss->source_id = source->id;
    loss->uid = source->source.peer_uid;
    loss->pid = source->source.peer_pid;
    loss->next = share->losses;
    share->losses = loss;
    batch->has_source_losses = true;
    return 0;
}
