// SPDX-License-Identifier: Apache-2.0
//
// The inside of a batch: the records that the filling side appends (batch.c, sink.c) and that the
// writing side turns into rows (store/write). Private to store/.
//
// Everything is in the batch's arenas until its reset. The writing side changes two fields only,
// the ids that it gives: text_id of an event and store_id of a domain. It gives both again each
// time it writes the batch, so a batch can be written again after a rollback.
#pragma once

#include "protocol/base/origin.h"
#include "protocol/interp/event.h"
#include "protocol/table/hash.h"
#include "store/value/arena.h"
#include "store/value/source.h"

enum store_event_flag {
    STORE_EVENT_UNCLOSED = 1,  // the end was filled in
    STORE_EVENT_EXTRA = 2,     // payload and more stand in `extra`
    STORE_EVENT_ELSEWHERE = 4, // ended by another thread; this and the rest fill a column each
    STORE_EVENT_UINT64 = 8,    // the kind of its payload
    STORE_EVENT_INT64 = 16,
    STORE_EVENT_DOUBLE = 32,
    STORE_EVENT_UINT32 = 64,
    STORE_EVENT_INT32 = 128,
    STORE_EVENT_FLOAT = 256,
    STORE_EVENT_JSON = 512, // has a JSON text, in `extra`
    STORE_EVENT_KEY = 1024, // has a row of NVTXT_RANGE_KEYS, from `extra`
};

union store_payload {
    int64_t int64;
    double real;
    struct store_event_extra *extra;
};

// An event. 72 bytes: ten thousand of them stay in a core's cache.
struct store_event {
    int64_t start;
    int64_t end;
    uint64_t global_tid;
    const char *text; // in the batch's arena, not terminated
    union store_payload payload;
    int64_t text_id; // StringIds.id, given by the writing side
    uint32_t text_len;
    uint32_t text_hash; // store_text_hash() of text
    uint32_t category;
    uint32_t color;
    uint32_t domain; // 0 for none, else index into the batch's domains
    uint8_t type;    // enum nvtxt_event_type
    uint16_t flags;  // enum store_event_flag
};

// What only few events have.
struct store_event_extra {
    struct store_event_extra *next; // of the same share
    bool elsewhere;                 // end_global_tid means something
    uint64_t open_seq;              // 0: was not announced as open
    uint64_t end_global_tid;
    union store_payload payload;
    struct nvtxt_slice json;        // in the arena; empty: none
    struct nvtxt_slice key, parent; // likewise
};

// Events of one source that stand side by side. A source's runs are linked in order. In the arena
// the runs of several sources alternate, as their lines came.
struct store_run {
    struct store_run *next;
    struct store_event *events;
    size_t count;
};

struct store_name {
    struct store_name *next;
    enum nvtxt_name_kind kind;
    uint32_t domain; // index, see store_event
    uint32_t category;
    uint32_t text_hash;
    uint32_t text_len;
    const char *text;
    struct nvtxt_slice resource_kind, json; // RESOURCE and COUNTER, as in struct nvtxt_name
    uint64_t handle;                        // RESOURCE
    uint64_t global_tid;                    // THREAD: the thread; else the process, TID 0
    uint64_t at_global_tid;                 // the thread of the event that it is anchored at
    int64_t at;
    uint64_t events_before; // of its share, when it was given
};

struct store_opened {
    struct store_opened *next;
    uint32_t domain;               // index, see store_event
    struct nvtxt_open_range range; // slices point into the arena; that of the domain is not set
};

struct store_domain {
    struct nvtxt_hash_node node;
    uint32_t index;
    uint32_t len;
    const char *name;
    uint32_t name_hash; // store_text_hash() of it
    int64_t store_id;   // NVTXT_DOMAINS.id, given by the writing side
};

struct store_clock {
    struct store_clock *next;
    const char *clock;
    int64_t clock_ns, realtime_ns, uncertainty_ns;
};

struct store_loss {
    struct store_loss *next; // of the same batch, or of the same share
    int64_t at_ns, source_id, uid, pid;
    const char *reason;
    uint64_t count;
};

struct store_owner {
    struct store_owner *next;
    struct store_owner_change change;
};

// A part of the state of a source; see store_batch_state().
struct store_state_part {
    struct store_state_part *next;
    uint64_t part;
    struct nvtxt_slice state;
};

struct store_forgotten {
    struct store_forgotten *next;
    int64_t source_id;
};

struct store_share {
    struct store_batch_source pub; // first, so that one pointer is both
    struct nvtxt_hash_node node;
    struct store_run *runs, *last_run;
    size_t events;
    struct store_diag *last_diag;
    struct store_name *names, *last_name;
    struct store_opened *opened, *last_opened;
    struct store_event_extra *extras; // newest first
    struct store_loss *losses;        // that the source reported, newest first
    uint32_t last_domain;
    unsigned flags; // of all its events together
    bool has_progress;
    bool written; // store_write_refused() has committed it
    bool has_session;
    struct nvtxt_slice display_name;
    struct nvtxt_slice state; // no data: as stored before
    struct store_state_part *parts, *last_part;
    const struct store_followed *file; // NULL unless a file's; its state is `state`
    const char *how;
    int64_t closed_ns;
};

struct store_batch {
    struct store_arena records; // struct store_event only
    struct store_arena data;
    struct nvtxt_hash by_id;
    struct nvtxt_hash by_name;     // domains
    struct store_domain **domains; // [1 … domain_count]
    uint32_t domain_count;
    size_t domain_room;
    struct store_share *first, **end;
    struct store_share *last;       // what store_batch_source() returned last
    struct store_share *tail_share; // its last run ends where the records end
    size_t live;                    // shares that are not discarded
    size_t events;
    struct store_clock *clocks, *last_clock;
    struct store_loss *losses, *last_loss; // those that are of no share
    bool has_source_losses;                // a share has some
    struct store_forgotten *forgotten;     // files, newest first
    struct store_owner *owners, *last_owner;
    bool names_taken; // of a process, by one of the owners
};

static inline const struct store_share *store_share_of(const struct store_batch_source *source) {
    return (const struct store_share *)source;
}

static inline const struct store_share *store_share_next(const struct store_share *share) {
    return (const struct store_share *)share->pub.next;
}

// The index of a domain in the batch of `share`, made on first use; 0 for the empty name. Returns 0
// or -ENOMEM.
int store_share_domain(struct store_share *share, struct nvtxt_slice name, uint32_t *index);

// A copy of the bytes in the batch, with a NUL after them. Returns 0 or -ENOMEM.
static inline int store_batch_copy(struct store_batch *batch, struct nvtxt_slice from,
                                   struct nvtxt_slice *to) {
    const char *copy = store_arena_copy(&batch->data, from.data, from.len);
    *to = (struct nvtxt_slice){copy, from.len};
    return copy ? 0 : nvtxt_origin(-ENOMEM);
}

// The key of a text in the caches (intern.c): the keyed hash, cut to 32 bits.
static inline uint32_t store_text_hash(const char *data, size_t len) {
    return (uint32_t)nvtxt_hash_bytes((struct nvtxt_slice){data, len});
}
