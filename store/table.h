// SPDX-License-Identifier: Apache-2.0
//
// A small hash table of nodes that live inside what they index. It owns its buckets only. It
// grows with its content; when growing fails it works on with longer chains.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct store_node {
    struct store_node *next; // in the same bucket
    uint32_t hash;
};

struct store_table {
    struct store_node **buckets;
    size_t size; // buckets, a power of two; 0 before the first insert
    size_t count;
};

void store_table_deinit(struct store_table *table);
void store_table_reset(struct store_table *table); // forgets the nodes, keeps few buckets

// The first node of the bucket of `hash`; the caller walks `next` and compares. NULL for none.
static inline struct store_node *store_table_first(const struct store_table *table, uint32_t hash) {
    return table->size ? table->buckets[hash & (table->size - 1)] : NULL;
}

// Adds a node whose hash is set. Returns 0 or -ENOMEM.
int store_table_add(struct store_table *table, struct store_node *node);
