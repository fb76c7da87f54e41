// SPDX-License-Identifier: Apache-2.0
//
// A hash table whose nodes are embedded in the things it finds (container.h): variables, open
// ranges, sources, sessions. It owns only its buckets. Hash values are the keyed ones of
// hash_value.h; nodes of one hash value are told apart by the caller while walking.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/hash_value.h"

struct nvtxt_hash_node {
    struct nvtxt_hash_node *next;
    uint64_t hash;
};

struct nvtxt_hash {
    struct nvtxt_hash_node **buckets; // owned; NULL while empty
    size_t bucket_count;              // a power of two
    size_t count;
};

// Both forget the nodes, which are not freed; reset keeps few buckets.
void nvtxt_hash_deinit(struct nvtxt_hash *table);
void nvtxt_hash_reset(struct nvtxt_hash *table);

// Adds a node that is in no table; its `hash` is set here. Returns 0 or -ENOMEM, which only the
// first one can meet: later ones make the chains longer when there is no memory for more buckets.
int nvtxt_hash_add(struct nvtxt_hash *table, struct nvtxt_hash_node *node, uint64_t hash);

// Takes a node out; one that is not in the table is fine.
void nvtxt_hash_remove(struct nvtxt_hash *table, struct nvtxt_hash_node *node);

// The first node of that hash value, and the next one after a node; NULL at the end.
struct nvtxt_hash_node *nvtxt_hash_find(const struct nvtxt_hash *table, uint64_t hash);
struct nvtxt_hash_node *nvtxt_hash_next(const struct nvtxt_hash_node *node);
