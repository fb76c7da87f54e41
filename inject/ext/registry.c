// SPDX-License-Identifier: Apache-2.0
//
// A hash table for each kind, whose lists only grow at their heads: who reads follows pointers that
// never change.
#include "inject/ext/registry.h"

#include <stdatomic.h>

#include "inject/chain.h"
#include "lib/private.h"

#define BUCKETS 1024u
#define FIRST ABI_ID_OURS
// With a library behind us its numbers and ours must not meet: it may begin to give some late.
#define FIRST_BEFORE_ANOTHER (FIRST + (UINT64_C(1) << 31))

struct item {
    const struct item *next;
    const struct nvtxt_domain *domain;
    uint64_t number;
    const void *thing;
};

static struct {
    _Atomic(const struct item *) buckets[BUCKETS];
    _Atomic uint32_t count;
    _Atomic uint64_t given;
} kinds[REGISTRY_KINDS];

static struct pairs chained[REGISTRY_KINDS];
static _Atomic bool has_chained;

static const struct nvtxt_domain *scope_of(const struct inject_domain *domain, uint64_t number) {
    return number >= ABI_ID_OURS ? NULL : inject_domain_of(domain);
}

static _Atomic(const struct item *) *bucket_of(enum registry_kind kind,
                                               const struct nvtxt_domain *domain, uint64_t number) {
    uint64_t hash = (number ^ (uintptr_t)domain >> 3) * 0x9E3779B97F4A7C15u;
    return &kinds[kind].buckets[hash >> 32 & (BUCKETS - 1)];
}

bool registry_has_room(enum registry_kind kind) {
    bool has_room = atomic_load(&kinds[kind].count) < REGISTRY_MOST;
    if (!has_room) {
        nvtxt_private_unsupported(1);
    }
    return has_room;
}

uint64_t registry_number(enum registry_kind kind, uint64_t its) {
    if (its >= ABI_ID_OURS && !registry_find(kind, NULL, its)) {
        return its;
    }
    uint64_t first = chain_is_loaded() ? FIRST_BEFORE_ANOTHER : FIRST;
    uint64_t number = first + atomic_fetch_add(&kinds[kind].given, 1);
    if (its && pairs_put(&chained[kind], number, its)) {
        atomic_store(&has_chained, true);
    }
    return number;
}

uint64_t registry_lost(enum registry_kind kind, uint64_t its) {
    return its ? registry_number(kind, its) : REGISTRY_LOST;
}

bool registry_has_chained(void) {
    return atomic_load_explicit(&has_chained, memory_order_relaxed);
}

uint64_t registry_chained(enum registry_kind kind, uint64_t number) {
    uint64_t its;
    return registry_has_chained() && pairs_get(&chained[kind], number, &its) ? its : number;
}

bool registry_put(enum registry_kind kind, const struct inject_domain *domain, uint64_t number,
                  const void *thing) {
    if (!thing || !number || atomic_fetch_add(&kinds[kind].count, 1) >= REGISTRY_MOST) {
        return false;
    }
    struct item *item = inject_alloc(sizeof(*item));
    if (!item) {
        return false;
    }
    const struct nvtxt_domain *scope = scope_of(domain, number);
    _Atomic(const struct item *) *bucket = bucket_of(kind, scope, number);
    *item = (struct item){atomic_load(bucket), scope, number, thing};
    while (!atomic_compare_exchange_weak(bucket, &item->next, item)) {
    }
    return true;
}

uint64_t registry_content(const struct inject_domain *domain, const void *bytes, size_t len) {
    uint64_t hash = (uintptr_t)inject_domain_of(domain);
    for (const unsigned char *at = bytes; len > 0; at++, len--) {
        hash = (hash ^ *at) * 0x9E3779B97F4A7C15u + (hash >> 29);
    }
    return hash | ABI_ID_OURS;
}

const void *registry_find(enum registry_kind kind, const struct inject_domain *domain,
                          uint64_t number) {
    const struct nvtxt_domain *scope = scope_of(domain, number);
    const struct item *item =
        atomic_load_explicit(bucket_of(kind, scope, number), memory_order_acquire);
    while (item && (item->number != number || item->domain != scope)) {
        item = item->next;
    }
    return item ? item->thing : NULL;
}
