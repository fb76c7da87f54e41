// SPDX-License-Identifier: Apache-2.0
//
// The table of a source is open: a number stands in one of few places after its hash. It grows to
// SEEN_MAX numbers; after that new ones replace others, which are looked at again. Each look writes
// the owner into the open batch, because the store may not have it: it forgets the oldest ones when
// it rotates.
#include "daemon/source/claims.h"

#include <stdlib.h>

#include "daemon/base/process.h"
#include "daemon/source/batcher.h"
#include "daemon/source/owners.h"
#include "protocol/base/limits.h"
#include "protocol/base/origin.h"

// Marks of a number, which has 24 bits.
#define SEEN 0x01000000u
#define USED 0x02000000u   // by an event or an open range
#define ALIEN 0x04000000u  // it was alive, and no descendant of the peer
#define OTHERS 0x08000000u // it was gone, and proven another user's
#define GONE 0x10000000u   // at the look, or not shown: the number may be of any process

#define SEEN_FIRST 16 // places
#define SEEN_MAX 4096 // 16 KiB a source, which count for its user
#define PROBES 8

enum elsewhere { NOT_KNOWN, HERE, ELSEWHERE };

static const char why_proven[] =
    "is another user's, as the kernel says: only its user may name it, "
    "its threads and its categories";
static const char why_was_proven[] = "was another user's, as the kernel said: this user may not "
                                     "name it, its threads and its categories";
static const char why_first[] = "was used or named by another user first: this user may not name "
                                "it, its threads and its categories";
static const char why_memory[] = "cannot be named: memory is short";

// ---- The table ----------------------------------------------------------------------------------

void claims_deinit(struct claims *claims) {
    free(claims->seen);
    claims->seen = NULL;
    claims->room = claims->count = claims->last = 0;
}

size_t claims_bytes(const struct claims *claims) {
    return claims->room > SEEN_FIRST ? claims->room * sizeof(*claims->seen) : 0;
}

static uint32_t place(const struct claims *claims, uint32_t pid, uint32_t probe) {
    return ((pid * 0x9E3779B1u >> 16) + probe) & (claims->room - 1);
}

// The place of the number, or a free one for it; NULL when all are taken.
static uint32_t *find_place(struct claims *claims, uint32_t pid) {
    for (uint32_t probe = 0; claims->seen && probe < PROBES; probe++) {
        uint32_t *at = &claims->seen[place(claims, pid, probe)];
        if (!*at || (*at & NVTXT_ID_MAX) == pid) {
            return at;
        }
    }
    return NULL;
}

static void grow(struct claims *claims) {
    struct claims old = *claims;
    uint32_t room = old.room ? old.room * 2 : SEEN_FIRST;
    uint32_t *seen = room <= SEEN_MAX ? calloc(room, sizeof(*seen)) : NULL;
    if (!seen) {
        return;
    }
    claims->seen = seen;
    claims->room = room;
    for (uint32_t i = 0; i < old.room; i++) {
        uint32_t *at = old.seen[i] ? find_place(claims, old.seen[i] & NVTXT_ID_MAX) : NULL;
        if (at) {
            *at = old.seen[i];
        }
    }
    free(old.seen);
}

// Remembers a number; it may be forgotten at any time.
static void remember(struct claims *claims, uint32_t pid, uint32_t marks) {
    uint32_t *at = find_place(claims, pid);
    if (!at || !*at) {
        bool full = !at || ++claims->count > claims->room / 2;
        if (full) {
            grow(claims);
            at = find_place(claims, pid);
        }
    }
    if (!at && claims->seen) {
        at = &claims->seen[place(claims, pid, 0)];
    }
    if (at) {
        *at = pid | SEEN | marks;
    }
}

// The marks of a number; 0: it was not looked at since the store's file is in use.
static uint32_t recall(struct claims *claims, uint32_t pid) {
    uint32_t stores = bqueue_stores(claims->batcher->queue);
    if (claims->stores != stores) {
        claims_deinit(claims);
        claims->stores = stores;
    }
    const uint32_t *at = find_place(claims, pid);
    return at ? *at : 0;
}

// ---- Owners -------------------------------------------------------------------------------------

// Sets the owner, in memory and in the open batch. `comm` (may be NULL) is the name of the process
// after names are taken away.
static int set_owner(struct claims *claims, uint32_t pid, int64_t uid, bool proven,
                     const char *comm) {
    struct owners *owners = claims->batcher->owners;
    int64_t before = owners_of(owners, pid);
    struct store_batch *batch = batcher_open_batch(claims->batcher);
    struct store_owner_change change = {.pid = pid,
                                        .uid = uid,
                                        .proven = proven,
                                        .taken = before != OWNERS_NOBODY && before != uid,
                                        .comm = comm};
    if (!batch || store_batch_owner(batch, &change) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    return owners_set(owners, pid, uid, proven);
}

// The store may have forgotten it.
static int repeat_owner(struct claims *claims, uint32_t pid) {
    const struct owners *owners = claims->batcher->owners;
    int64_t uid = owners_of(owners, pid);
    return uid == OWNERS_NOBODY ? 0
                                : set_owner(claims, pid, uid, owners_is_proven(owners, pid), NULL);
}

// Whether the numbers that it says are ours.
static bool is_here(struct claims *claims) {
    int64_t peer = claims->peer->pid;
    if (claims->elsewhere == NOT_KNOWN) {
        bool elsewhere = !claims->is_file && (peer <= 0 || process_is_elsewhere(peer));
        claims->elsewhere = elsewhere ? ELSEWHERE : HERE;
    }
    return claims->elsewhere == HERE;
}

// With a claim: what speaks against using the process.
static uint32_t objection(const struct claims *claims, uint32_t pid, enum process_state state) {
    const struct owners *owners = claims->batcher->owners;
    const struct peer *peer = claims->peer;
    if (state != PROCESS_GONE) {
        return process_descends(pid, peer->pid, peer->start) ? 0 : ALIEN;
    }
    bool others = owners_is_proven(owners, pid) && owners_of(owners, pid) != peer->uid;
    return others ? OTHERS : 0;
}

// Looks at the process unless it did before. Returns 0 or -ENOMEM.
static int look(struct claims *claims, uint32_t pid, uint32_t *marks) {
    *marks = recall(claims, pid);
    if (*marks & SEEN) {
        return 0;
    }
    int64_t uid;
    enum process_state state = is_here(claims) ? process_look(pid, &uid) : PROCESS_GONE;
    int r = state == PROCESS_ALIVE ? set_owner(claims, pid, uid, true, NULL)
                                   : repeat_owner(claims, pid);
    if (r < 0) {
        return r;
    }
    *marks = SEEN | (state == PROCESS_ALIVE ? 0 : GONE) |
             (claims->claimed ? objection(claims, pid, state) : 0);
    remember(claims, pid, *marks);
    return 0;
}

int claims_take_peer(struct claims *claims, uint32_t accepted) {
    const struct owners *owners = claims->batcher->owners;
    const struct peer *peer = claims->peer;
    if (peer->pid <= 0) {
        return 0;
    }
    uint32_t pid = (uint32_t)peer->pid & NVTXT_ID_MAX;
    int64_t owner = owners_of(owners, pid);
    int64_t uid = peer->uid;
    enum process_state state = process_look(peer->pid, &uid);
    bool proven = state == PROCESS_ALIVE || owner == uid || owner == OWNERS_NOBODY ||
                  !owners_changed_since(owners, pid, accepted);
    const char *comm = uid == peer->uid && peer->comm[0] ? peer->comm : NULL;
    int r = proven ? set_owner(claims, pid, uid, true, comm) : repeat_owner(claims, pid);
    if (r == 0) {
        recall(claims, pid);
        remember(claims, pid, proven ? 0 : GONE);
    }
    return r;
}

// ---- The guard ----------------------------------------------------------------------------------

// Whether the names that the process has may be another user's work: it was never proven, or it is
// gone, and its number proves nothing of the one that is spoken of.
static bool is_doubtful(const struct claims *claims, uint32_t pid, uint32_t marks) {
    const struct owners *owners = claims->batcher->owners;
    int64_t owner = owners_of(owners, pid);
    bool anothers = owner != claims->peer->uid && owner != OWNERS_SHARED;
    return anothers && (marks & GONE || !owners_is_proven(owners, pid));
}

// One that was gone when it was named may be alive now that it is used: it is looked at again.
static int look_to_use(struct claims *claims, uint32_t pid, uint32_t *marks) {
    *marks = recall(claims, pid);
    if (*marks & GONE && !(*marks & USED)) {
        *find_place(claims, pid) = pid; // no mark: it was not looked at
    }
    return look(claims, pid, marks);
}

static int on_use(void *context, uint32_t pid) {
    struct claims *claims = context;
    uint32_t marks;
    pid &= NVTXT_ID_MAX;
    if (claims->last == (pid | USED) && claims->stores == bqueue_stores(claims->batcher->queue)) {
        return 0;
    }
    int r = look_to_use(claims, pid, &marks);
    if (r < 0) {
        return r;
    }
    if (!(marks & USED) && is_doubtful(claims, pid, marks)) {
        bool first = owners_of(claims->batcher->owners, pid) == OWNERS_NOBODY;
        r = set_owner(claims, pid, first ? claims->peer->uid : OWNERS_SHARED, false, NULL);
        r = r < 0 ? r : !first;
    }
    if (r >= 0) {
        remember(claims, pid, (marks & ~NVTXT_ID_MAX) | USED);
        claims->last = pid | USED;
    }
    return r;
}

static const char *why_not_named(void *context, uint32_t pid) {
    struct claims *claims = context;
    const struct owners *owners = claims->batcher->owners;
    uint32_t marks;
    pid &= NVTXT_ID_MAX;
    if (look(claims, pid, &marks) < 0) {
        return why_memory;
    }
    int64_t owner = owners_of(owners, pid);
    if (owner == OWNERS_NOBODY) {
        return set_owner(claims, pid, claims->peer->uid, false, NULL) < 0 ? why_memory : NULL;
    }
    bool may = owner == claims->peer->uid || claims->peer->uid == 0; // root takes nothing away
    return may                              ? NULL
           : owner == OWNERS_SHARED         ? NVTXT_WHY_SHARED
           : !owners_is_proven(owners, pid) ? why_first
           : marks & GONE                   ? why_was_proven
                                            : why_proven;
}

static const char *why_not_claimed(void *context, uint32_t pid) {
    struct claims *claims = context;
    uint32_t marks;
    if (!is_here(claims)) {
        return "the sender has a pid namespace of its own";
    }
    if (look(claims, pid & NVTXT_ID_MAX, &marks) < 0) {
        return "memory is short";
    }
    return marks & ALIEN    ? "it is alive, and the sender has not started it"
           : marks & OTHERS ? "it was another user's"
                            : NULL;
}

void claims_guard(struct claims *claims, struct nvtxt_interp *interp) {
    struct nvtxt_guard guard = {.on_use = on_use,
                                .why_not_named = why_not_named,
                                .why_not_claimed = why_not_claimed,
                                .context = claims};
    nvtxt_interp_set_guard(interp, &guard);
}
