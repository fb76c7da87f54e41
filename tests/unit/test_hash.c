// SPDX-License-Identifier: Apache-2.0
//
// The hash table of embedded nodes: what was added is found until it is removed, also when hash
// values are the same.
#include "protocol/base/hash.h"

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
