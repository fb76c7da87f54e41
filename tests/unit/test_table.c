// SPDX-License-Identifier: Apache-2.0
#include "daemon/table.h"

#include <criterion/criterion.h>

struct item {
    struct table_node node;
    uint64_t key;
};

static struct item *find(const struct table *table, uint64_t hash, uint64_t key) {
    for (struct table_node *node = table_find(table, hash); node; node = table_find_next(node)) {
        struct item *item = table_entry(node, struct item, node);
        if (item->key == key)
            return item;
    }
    return NULL;
}

Test(table, finds_what_was_added_and_not_what_was_removed) {
    enum { COUNT = 5000 };
    static struct item items[COUNT];
    struct table table = {0};
    cr_assert_null(find(&table, 1, 1));
    for (uint64_t i = 0; i < COUNT; i++) {
        items[i].key = i;
        cr_assert_eq(table_add(&table, &items[i].node, table_hash_int(i)), 0);
    }
    for (uint64_t i = 0; i < COUNT; i += 2)
        table_remove(&table, &items[i].node);
    cr_assert_eq(table.count, COUNT / 2);
    for (uint64_t i = 0; i < COUNT; i++)
        cr_assert_eq(find(&table, table_hash_int(i), i), i % 2 ? &items[i] : NULL);
    table_deinit(&table);
}

Test(table, keeps_nodes_of_one_hash_apart) {
    struct item items[3] = {{.key = 1}, {.key = 2}, {.key = 3}};
    struct table table = {0};
    for (int i = 0; i < 3; i++)
        cr_assert_eq(table_add(&table, &items[i].node, 42), 0);
    table_remove(&table, &items[1].node);
    cr_assert_eq(find(&table, 42, 1), &items[0]);
    cr_assert_null(find(&table, 42, 2));
    cr_assert_eq(find(&table, 42, 3), &items[2]);
    table_deinit(&table);
}

Test(table, removing_what_is_not_in_it_does_nothing) {
    struct item in = {.key = 1}, out = {.key = 2};
    struct table table = {0};
    table_remove(&table, &out.node);
    cr_assert_eq(table_add(&table, &in.node, 1), 0);
    table_remove(&table, &out.node);
    cr_assert_eq(table.count, 1);
    table_deinit(&table);
}

Test(table, hashes_strings_apart) {
    cr_assert_neq(table_hash_string("a"), table_hash_string("b"));
    cr_assert_eq(table_hash_string("session"), table_hash_string("session"));
}
