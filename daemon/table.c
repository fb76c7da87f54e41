// SPDX-License-Identifier: Apache-2.0
//
// Chained hashing with slots that double when there are more nodes than slots. When memory for
// more slots is short the chains only grow longer; nothing fails but the very first add.
#include "daemon/table.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 64

void table_deinit(struct table *table) {
    free(table->slots);
    *table = (struct table){0};
}

static void link_node(struct table *table, struct table_node *node) {
    struct table_node **slot = &table->slots[node->hash & (table->slot_count - 1)];
    node->next = *slot;
    *slot = node;
}

static int grow(struct table *table) {
    struct table old = *table;
    size_t wanted = old.slot_count ? old.slot_count * 2 : FIRST_SLOTS;
    struct table_node **slots = calloc(wanted, sizeof(struct table_node *));
    if (!slots)
        return -ENOMEM;
    table->slots = slots;
    table->slot_count = wanted;
    for (size_t i = 0; i < old.slot_count; i++) {
        struct table_node *next;
        for (struct table_node *node = old.slots[i]; node; node = next) {
            next = node->next;
            link_node(table, node);
        }
    }
    free(old.slots);
    return 0;
}

int table_add(struct table *table, struct table_node *node, uint64_t hash) {
    if (table->count >= table->slot_count && grow(table) < 0 && !table->slots)
        return -ENOMEM;
    node->hash = hash;
    link_node(table, node);
    table->count++;
    return 0;
}

void table_remove(struct table *table, struct table_node *node) {
    if (!table->slots)
        return;
    struct table_node **at = &table->slots[node->hash & (table->slot_count - 1)];
    while (*at && *at != node)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = node->next;
    node->next = NULL;
    table->count--;
}

static struct table_node *first_of(struct table_node *node, uint64_t hash) {
    while (node && node->hash != hash)
        node = node->next;
    return node;
}

struct table_node *table_find(const struct table *table, uint64_t hash) {
    if (!table->slots)
        return NULL;
    return first_of(table->slots[hash & (table->slot_count - 1)], hash);
}

struct table_node *table_find_next(const struct table_node *node) {
    return first_of(node->next, node->hash);
}

uint64_t table_hash_int(uint64_t value) {
    // The finalizer of SplitMix64: neighbours land in different slots.
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

uint64_t table_hash_string(const char *string) {
    uint64_t hash = 0xCBF29CE484222325u; // FNV-1a
    for (; *string; string++)
        hash = (hash ^ (unsigned char)*string) * 0x100000001B3u;
    return table_hash_int(hash);
}
