// SPDX-License-Identifier: Apache-2.0
//
// Buckets of chains, doubled when there are as many nodes as buckets. A reset frees a table that
// grew large, so that one crowded batch does not hold its memory for ever.
#include "store/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 64
#define KEPT_BUCKETS 1024

void store_table_deinit(struct store_table *table) {
    free(table->buckets);
    *table = (struct store_table){0};
}

void store_table_reset(struct store_table *table) {
    if (table->size > KEPT_BUCKETS) {
        store_table_deinit(table);
    } else if (table->count) {
        memset(table->buckets, 0, table->size * sizeof(*table->buckets));
        table->count = 0;
    }
}

static int grow(struct store_table *table) {
    size_t size = table->size ? table->size * 2 : FIRST_BUCKETS;
    struct store_node **buckets = calloc(size, sizeof(*buckets));
    if (!buckets) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < table->size; i++) {
        struct store_node *node = table->buckets[i];
        while (node) {
            struct store_node *next = node->next;
            node->next = buckets[node->hash & (size - 1)];
            buckets[node->hash & (size - 1)] = node;
            node = next;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->size = size;
    return 0;
}

int store_table_add(struct store_table *table, struct store_node *node) {
    if (table->count >= table->size && grow(table) < 0 && table->size == 0) {
        return -ENOMEM;
    }
    struct store_node **bucket = &table->buckets[node->hash & (table->size - 1)];
    node->next = *bucket;
    *bucket = node;
    table->count++;
    return 0;
}
