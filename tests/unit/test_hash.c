// SPDX-License-Identifier: Apache-2.0
//
// The hash table of embedded nodes: what was added is found until it is removed, also when hash
// values are the same. The map of numbers: what was set last is found, 0 like any other.
#include "protocol/table/hash.h"

#include <criterion/criterion.h>
#include <stdlib.h>

struct thing {
    int number;
    struct nvtxt_hash_node node;
};

static struct thing *entry(struct nvtxt_hash_node *node) {
    return NVTXT_CONTAINER_OF(node, struct thing, node);
}

static bool holds(const struct nvtxt_hash *table, const struct thing *thing, uint64_t hash) {
    struct nvtxt_hash_node *node = nvtxt_hash_find(table, hash);
    while (node && entry(node) != thing) {
        node = nvtxt_hash_next(node);
    }
    return node != NULL;
}

Test(hash, finds_nothing_while_it_is_empty) {
    struct nvtxt_hash table = {0};
    cr_assert_null(nvtxt_hash_find(&table, 0));
    nvtxt_hash_deinit(&table);
    nvtxt_hash_deinit(&table);
}

Test(hash, finds_what_was_added_until_it_is_removed) {
    enum { COUNT = 5000 };
    static struct thing things[COUNT];
    struct nvtxt_hash table = {0};
    for (unsigned i = 0; i < COUNT; i++) {
        cr_assert_eq(nvtxt_hash_add(&table, &things[i].node, nvtxt_hash_number(i)), 0);
    }
    cr_assert_eq(table.count, COUNT);
    cr_assert_eq(table.bucket_count & (table.bucket_count - 1), 0);
    cr_assert_geq(table.bucket_count, COUNT);
    for (unsigned i = 0; i < COUNT; i += 2) {
        nvtxt_hash_remove(&table, &things[i].node);
    }
    cr_assert_eq(table.count, COUNT / 2);
    for (unsigned i = 0; i < COUNT; i++) {
        cr_assert_eq(holds(&table, &things[i], nvtxt_hash_number(i)), i % 2 == 1, "%u", i);
    }
    nvtxt_hash_deinit(&table);
    cr_assert_eq(table.count, 0);
}

Test(hash, is_empty_after_a_reset_and_can_be_filled_again) {
    enum { COUNT = 5000 };
    static struct thing things[COUNT];
    struct nvtxt_hash table = {0};
    for (unsigned few = 10; few <= COUNT; few *= 500) { // buckets are kept; are given back
        for (unsigned i = 0; i < few; i++) {
            cr_assert_eq(nvtxt_hash_add(&table, &things[i].node, i), 0);
        }
        nvtxt_hash_reset(&table);
        cr_assert_eq(table.count, 0);
        cr_assert_eq(table.bucket_count > 0, few == 10);
        cr_assert_null(nvtxt_hash_find(&table, 3));
    }
    cr_assert_eq(nvtxt_hash_add(&table, &things[3].node, 3), 0);
    cr_assert(holds(&table, &things[3], 3));
    nvtxt_hash_deinit(&table);
}

Test(hash, removing_what_is_not_in_it_does_nothing) {
    struct thing in = {0}, out = {0};
    struct nvtxt_hash table = {0};
    nvtxt_hash_remove(&table, &out.node);
    cr_assert_eq(nvtxt_hash_add(&table, &in.node, 0), 0);
    nvtxt_hash_remove(&table, &out.node);
    cr_assert_eq(table.count, 1);
    nvtxt_hash_remove(&table, &in.node);
    nvtxt_hash_remove(&table, &in.node);
    cr_assert_eq(table.count, 0);
    nvtxt_hash_deinit(&table);
}

Test(hash, keeps_nodes_of_one_hash_value_apart) {
    enum { COUNT = 100 };
    struct thing things[COUNT] = {{0}};
    struct thing neighbour = {0}; // the same bucket, another hash value
    struct nvtxt_hash table = {0};
    cr_assert_eq(nvtxt_hash_add(&table, &neighbour.node, 7 + (1u << 20)), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        cr_assert_eq(nvtxt_hash_add(&table, &things[i].node, 7), 0);
    }
    unsigned found = 0;
    struct nvtxt_hash_node *node = nvtxt_hash_find(&table, 7);
    for (; node; node = nvtxt_hash_next(node)) {
        cr_assert_neq(entry(node), &neighbour);
        cr_assert_eq(entry(node)->number++, 0, "each is visited once");
        found++;
    }
    cr_assert_eq(found, COUNT);
    nvtxt_hash_remove(&table, &things[50].node);
    cr_assert_not(holds(&table, &things[50], 7));
    cr_assert(holds(&table, &things[49], 7) && holds(&table, &things[51], 7));
    cr_assert(holds(&table, &neighbour, 7 + (1u << 20)));
    nvtxt_hash_deinit(&table);
}

static uint64_t key_of(uint64_t i) {
    return i * 0x9E3779B97F4A7C15u; // 0 first, then any; all different
}

Test(map, finds_the_index_that_was_set_last) {
    enum { COUNT = 20000 };
    struct nvtxt_map map = {0};
    uint32_t index = 7;
    cr_assert_not(nvtxt_map_get(&map, 0, &index));
    for (uint32_t i = 0; i < COUNT; i++) {
        cr_assert_eq(nvtxt_map_set(&map, key_of(i), i), 0);
    }
    cr_assert_eq(nvtxt_map_set(&map, key_of(5), UINT32_MAX), 0);
    cr_assert_eq(map.count, COUNT);
    cr_assert_geq(map.room, 2 * COUNT, "at most half full");
    for (uint32_t i = 0; i < COUNT; i++) {
        cr_assert(nvtxt_map_get(&map, key_of(i), &index));
        cr_assert_eq(index, i == 5 ? UINT32_MAX : i);
    }
    cr_assert_not(nvtxt_map_get(&map, key_of(COUNT), &index));
    nvtxt_map_deinit(&map);
    cr_assert_not(nvtxt_map_get(&map, 0, &index));
    nvtxt_map_deinit(&map);
}

Test(map, is_empty_after_it_was_cleared_and_keeps_a_small_room_only) {
    struct nvtxt_map map = {0};
    uint32_t index;
    nvtxt_map_clear(&map);
    for (uint32_t few = 10; few <= 10000; few *= 1000) {
        for (uint32_t i = 0; i < few; i++) {
            cr_assert_eq(nvtxt_map_set(&map, i, i), 0);
        }
        nvtxt_map_clear(&map);
        cr_assert_eq(map.count, 0);
        cr_assert_eq(map.slots == NULL, few == 10000);
        for (uint32_t i = 0; i < few; i++) {
            cr_assert_not(nvtxt_map_get(&map, i, &index));
        }
    }
    nvtxt_map_deinit(&map);
}

Test(map, has_a_value_for_each_key_that_is_0_at_first) {
    struct nvtxt_map map = {0};
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 300; i++) {
            uint64_t *value = nvtxt_map_value(&map, key_of(i));
            cr_assert_not_null(value);
            cr_assert_eq(*value, round ? ~i : 0);
            *value = ~i;
        }
    }
    cr_assert_eq(map.count, 300);
    nvtxt_map_deinit(&map);
}

Test(slots, hold_as_many_entries_as_was_said_and_no_other) {
    struct nvtxt_slots slots = {0};
    for (size_t count = 3000; count > 0; count /= 5) { // with room that is left, too
        cr_assert_eq(nvtxt_slots_reset(&slots, count), 0);
        for (uint32_t round = 0; round < 2; round++) {
            for (uint32_t i = 1; i <= count; i++) {
                size_t at = nvtxt_slots_start(&slots, nvtxt_hash_numbers(7, i));
                while (slots.places[at] && slots.places[at] != i) {
                    at = nvtxt_slots_next(&slots, at);
                }
                cr_assert_eq(slots.places[at], round ? i : 0);
                slots.places[at] = i;
            }
        }
    }
    nvtxt_slots_deinit(&slots);
}
