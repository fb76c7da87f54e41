// SPDX-License-Identifier: Apache-2.0
//
// A hash table whose nodes are embedded in the things that it finds: variables, open ranges,
// sources, sessions. It owns only its buckets. Its hash values are the keyed ones of hash_value.h.
// Different things may have the same hash value: the caller compares them when it walks over the
// nodes of one value.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/hash_value.h"

// From a member to the struct that it is embedded in.
#define NVTXT_CONTAINER_OF(pointer, type, member)                                                  \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct nvtxt_hash_node {
    struct nvtxt_hash_node *next;
    uint64_t hash;
};

struct nvtxt_hash {
    struct nvtxt_hash_node **buckets; // owned; NULL while empty
    size_t bucket_count;              // a power of two
    size_t count;
};

// Both forget the nodes and free none of them. reset keeps the buckets unless they are many.
void nvtxt_hash_deinit(struct nvtxt_hash *table);
void nvtxt_hash_reset(struct nvtxt_hash *table);

// Adds a node that is in no table and sets its `hash`. Returns 0, or -ENOMEM: only for the first
// node of a table. When there is no memory for more buckets, the chains become longer.
int nvtxt_hash_add(struct nvtxt_hash *table, struct nvtxt_hash_node *node, uint64_t hash);

// Takes a node out. Does nothing if the node is not in the table.
void nvtxt_hash_remove(struct nvtxt_hash *table, struct nvtxt_hash_node *node);

// The first node of that hash value, and the next one after a node; NULL at the end.
struct nvtxt_hash_node *nvtxt_hash_find(const struct nvtxt_hash *table, uint64_t hash);
struct nvtxt_hash_node *nvtxt_hash_next(const struct nvtxt_hash_node *node);

// Sets `found` to the thing of that hash value for which `is_it` is true, an expression about
// `found`; to NULL when there is none. `member`: the node in the thing.
#define NVTXT_HASH_FIND(found, member, table, value, is_it)                                        \
    do {                                                                                           \
        struct nvtxt_hash_node *node_ = nvtxt_hash_find(table, value);                             \
        for ((found) = NULL; node_ && !(found); node_ = nvtxt_hash_next(node_)) {                  \
            (found) = NVTXT_CONTAINER_OF(node_, __typeof__(*(found)), member);                     \
            (found) = (is_it) ? (found) : NULL;                                                    \
        }                                                                                          \
    } while (0)
