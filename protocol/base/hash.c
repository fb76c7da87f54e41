// SPDX-License-Identifier: Apache-2.0
//
// Each bucket is a chain of nodes. The buckets double when there are more nodes than buckets. The
// key of the hash values keeps the chains short (hash_value.h).
#include "protocol/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 16
#define KEPT_BUCKETS 1024 // a reset frees more: a table that was large once does not stay so

void nvtxt_hash_deinit(struct nvtxt_hash *table) {
    free(table->buckets);
    *table = (struct nvtxt_hash){0};
}

void nvtxt_hash_reset(struct nvtxt_hash *table) {
    if (table->bucket_count > KEPT_BUCKETS) {
        nvtxt_hash_deinit(table);
    } else if (table->count > 0) {
        memset(table->buckets, 0, table->bucket_count * sizeof(table->buckets[0]));
        table->count = 0;
    }
}

static struct nvtxt_hash_node **bucket(const struct nvtxt_hash *table, uint64_t hash) {
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static int grow(struct nvtxt_hash *table) {
    struct nvtxt_hash bigger = {.bucket_count =
                                    table->bucket_count ? table->bucket_count * 2 : FIRST_BUCKETS,
                                .count = table->count};
    bigger.buckets = calloc(bigger.bucket_count, sizeof(bigger.buckets[0]));
    if (!bigger.buckets) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < table->bucket_count; i++) {
        struct nvtxt_hash_node *node = table->buckets[i], *next;
        for (; node; node = next) {
            next = node->next;
            struct nvtxt_hash_node **to = bucket(&bigger, node->hash);
            node->next = *to;
            *to = node;
        }
    }
    free(table->buckets);
    *table = bigger;
    return 0;
}

int nvtxt_hash_add(struct nvtxt_hash *table, struct nvtxt_hash_node *node, uint64_t hash) {
    if (table->count >= table->bucket_count && grow(table) < 0 && !table->buckets) {
        return -ENOMEM;
    }
    struct nvtxt_hash_node **to = bucket(table, hash);
    node->hash = hash;
    node->next = *to;
    *to = node;
    table->count++;
    return 0;
}

void nvtxt_hash_remove(struct nvtxt_hash *table, struct nvtxt_hash_node *node) {
    if (!table->buckets) {
        return;
    }
    struct nvtxt_hash_node **at = bucket(table, node->hash);
    while (*at && *at != node) {
        at = &(*at)->next;
    }
    if (!*at) {
        return;
    }
    *at = node->next;
    table->count--;
}

static struct nvtxt_hash_node *first_of(struct nvtxt_hash_node *node, uint64_t hash) {
    while (node && node->hash != hash) {
        node = node->next;
    }
    return node;
}

struct nvtxt_hash_node *nvtxt_hash_find(const struct nvtxt_hash *table, uint64_t hash) {
    return table->bucket_count ? first_of(*bucket(table, hash), hash) : NULL;
}

struct nvtxt_hash_node *nvtxt_hash_next(const struct nvtxt_hash_node *node) {
    return first_of(node->next, node->hash);
}
