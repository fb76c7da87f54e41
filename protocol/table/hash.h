// SPDX-License-Identifier: Apache-2.0
//
// protocol/table: what is kept in memory, and found again: tables, arrays that grow, ranges that
// are open. Whoever puts things there owns them. One thread at a time.
//
// Three hash tables, and one of texts over the first. Their hash values are the keyed ones of
// hash_value.h.
//
// nvtxt_hash: its nodes are embedded in the things that it finds: variables, open ranges, sources,
// sessions. It owns only its buckets. Different things may have the same hash value: the caller
// compares them when it walks over the nodes of one value.
//
// nvtxt_map: from numbers, such as the ids of rows, to numbers, such as indexes of an array.
//
// nvtxt_slots: over a list of its owner, for 5 bytes an entry, where a file decides how many
// entries there are. It holds the numbers of entries, from 1 on, and there is room for as many as
// the owner says first. The owner compares:
//
//   size_t at = nvtxt_slots_start(&slots, hash);
//   while (slots.places[at] && list[slots.places[at] - 1].id != id) {
//       at = nvtxt_slots_next(&slots, at);
//   }
//   // places[at] is the entry, or 0: the owner may put the number of a new one there
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "protocol/table/hash_value.h"

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

struct nvtxt_map { // zeroed: empty
    struct nvtxt_map_slot {
        uint64_t key;
        uint64_t value; // 0: free
    } *slots;           // owned
    size_t room;        // a power of two
    size_t count;
};

void nvtxt_map_deinit(struct nvtxt_map *map);
void nvtxt_map_clear(struct nvtxt_map *map); // empties it, keeps a small room

// The value of a key, which the caller sets, to anything but 0; it is 0 when the key is new. NULL:
// no memory. It lives until the next call.
uint64_t *nvtxt_map_value(struct nvtxt_map *map, uint64_t key);

// True when the key is there; then `*index` is what it was set to.
bool nvtxt_map_get(const struct nvtxt_map *map, uint64_t key, uint32_t *index);

// Adds a key, or changes its index. Returns 0 or -ENOMEM.
int nvtxt_map_set(struct nvtxt_map *map, uint64_t key, uint32_t index);

struct nvtxt_slots {  // zeroed: empty, without room
    uint32_t *places; // owned
    size_t count, room;
};

void nvtxt_slots_deinit(struct nvtxt_slots *slots);

// Empties it, and makes room for `count` entries. Returns 0 or -ENOMEM.
int nvtxt_slots_reset(struct nvtxt_slots *slots, size_t count);

static inline size_t nvtxt_slots_start(const struct nvtxt_slots *slots, uint64_t hash) {
    return hash % slots->count;
}

static inline size_t nvtxt_slots_next(const struct nvtxt_slots *slots, size_t at) {
    return at + 1 < slots->count ? at + 1 : 0;
}

// ---- Numbered texts (texts.c) -------------------------------------------------------------------
//
// Different texts, numbered from 0 on in the order in which they came: what an output has once, and
// names by its number after that. The table owns copies of them.

struct nvtxt_text;

struct nvtxt_texts { // zeroed: empty
    struct nvtxt_hash by_text;
    struct nvtxt_text **list; // owned, each
    size_t count, room;
    size_t bytes; // of all texts
};

enum nvtxt_texts_result { NVTXT_TEXTS_NEW = 1 };

void nvtxt_texts_deinit(struct nvtxt_texts *texts); // empties it

// The number of a text. Returns 0, NVTXT_TEXTS_NEW when it was added, or -ENOMEM. There are fewer
// than 2^32.
int nvtxt_texts_number(struct nvtxt_texts *texts, struct nvtxt_slice text, uint32_t *number);

// A text by its number, below `count`. The view lives as long as the table.
struct nvtxt_slice nvtxt_texts_at(const struct nvtxt_texts *texts, uint32_t number);
