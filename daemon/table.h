// SPDX-License-Identifier: Apache-2.0
//
// An intrusive hash table: what is in it embeds a node, so adding never allocates per element and
// removing never fails. Keys are hashes; the caller compares what a node belongs to. Used for
// sources by id, sessions by id and peers by uid. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct table_node {
    struct table_node *next;
    uint64_t hash;
};

struct table {
    struct table_node **slots; // owned; a power of two of them
    size_t slot_count;
    size_t count;
};

#define table_entry(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

void table_deinit(struct table *table); // frees the slots, not what is linked in them

// Returns 0 or -ENOMEM. The node must not be in a table.
int table_add(struct table *table, struct table_node *node, uint64_t hash);
void table_remove(struct table *table, struct table_node *node); // fine for one that is not in it

// The first node of this hash, and the ones after it; NULL when there is none (left).
struct table_node *table_find(const struct table *table, uint64_t hash);
struct table_node *table_find_next(const struct table_node *node);

uint64_t table_hash_int(uint64_t value);
uint64_t table_hash_string(const char *string);
