// SPDX-License-Identifier: Apache-2.0
//
// Each bucket is a chain of nodes. The buckets double when there are more nodes than buckets. The
// key of the hash values keeps the chains short (hash_value.h).
//
// A map is one array with open addressing, at most half full. An index is kept plus one, so that a
// slot of zeroes is free. Of the places of nvtxt_slots at most four in five are taken, so there is
// always a free one.
#include "protocol/table/hash.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

#define FIRST_BUCKETS 16
#define KEPT_BUCKETS 1024 // a reset frees more: a table that was large once does not stay so
#define FIRST_SLOTS 64
#define KEPT_SLOTS 4096

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

static int add_buckets(struct nvtxt_hash *table) {
    struct nvtxt_hash bigger = {.bucket_count =
                                    table->bucket_count ? table->bucket_count * 2 : FIRST_BUCKETS,
                                .count = table->count};
    bigger.buckets = calloc(bigger.bucket_count, sizeof(bigger.buckets[0]));
    if (!bigger.buckets) {
        return nvtxt_origin(-ENOMEM);
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
    if (table->count >= table->bucket_count && add_buckets(table) < 0 && !table->buckets) {
        return nvtxt_origin(-ENOMEM);
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

// ---- Numbers ------------------------------------------------------------------------------------

void nvtxt_map_deinit(struct nvtxt_map *map) {
    free(map->slots);
    *map = (struct nvtxt_map){0};
}

void nvtxt_map_clear(struct nvtxt_map *map) {
    if (map->room > KEPT_SLOTS) {
        nvtxt_map_deinit(map);
    } else if (map->count > 0) {
        memset(map->slots, 0, map->room * sizeof(*map->slots));
        map->count = 0;
    }
}

// The slot of the key, or the free one where it belongs.
static struct nvtxt_map_slot *slot_of(const struct nvtxt_map *map, uint64_t key) {
    size_t at = (size_t)nvtxt_hash_number(key) & (map->room - 1);
    while (map->slots[at].value && map->slots[at].key != key) {
        at = (at + 1) & (map->room - 1);
    }
    return &map->slots[at];
}

static int add_slots(struct nvtxt_map *map) {
    struct nvtxt_map bigger = {.room = map->room ? map->room * 2 : FIRST_SLOTS,
                               .count = map->count};
    bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
    if (!bigger.slots) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < map->room; i++) {
        if (map->slots[i].value) {
            *slot_of(&bigger, map->slots[i].key) = map->slots[i];
        }
    }
    free(map->slots);
    *map = bigger;
    return 0;
}

uint64_t *nvtxt_map_value(struct nvtxt_map *map, uint64_t key) {
    if (2 * (map->count + 1) > map->room && add_slots(map) < 0) {
        return NULL;
    }
    struct nvtxt_map_slot *slot = slot_of(map, key);
    map->count += slot->value == 0;
    slot->key = key;
    return &slot->value;
}

bool nvtxt_map_get(const struct nvtxt_map *map, uint64_t key, uint32_t *index) {
    if (map->count == 0) {
        return false;
    }
    const struct nvtxt_map_slot *slot = slot_of(map, key);
    *index = (uint32_t)(slot->value - 1);
    return slot->value > 0;
}

int nvtxt_map_set(struct nvtxt_map *map, uint64_t key, uint32_t index) {
    uint64_t *value = nvtxt_map_value(map, key);
    if (!value) {
        return nvtxt_origin(-ENOMEM);
    }
    *value = (uint64_t)index + 1;
    return 0;
}

// ---- Slots --------------------------------------------------------------------------------------

void nvtxt_slots_deinit(struct nvtxt_slots *slots) {
    free(slots->places);
    *slots = (struct nvtxt_slots){.places = NULL};
}

int nvtxt_slots_reset(struct nvtxt_slots *slots, size_t count) {
    size_t wanted = count + count / 4 + 1;
    if (wanted > slots->room) {
        nvtxt_slots_deinit(slots);
        slots->places = calloc(wanted, sizeof(*slots->places));
        if (!slots->places) {
            return nvtxt_origin(-ENOMEM);
        }
        slots->room = wanted;
    } else {
        memset(slots->places, 0, wanted * sizeof(*slots->places));
    }
    slots->count = wanted;
    return 0;
}
