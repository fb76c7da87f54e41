// SPDX-License-Identifier: Apache-2.0
//
// Arrays that grow: what is in them stays, allocations are few, and what cannot be is refused.
#include "protocol/table/arrays.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Test(arrays, keeps_what_is_in_it_and_allocates_seldom) {
    enum { COUNT = 100000 };
    uint64_t *items = NULL;
    size_t room = 0, grown = 0;
    for (size_t i = 0; i < COUNT; i++) {
        size_t before = room;
        cr_assert_eq(nvtxt_grow(&items, &room, i + 1, sizeof(*items)), 0);
        cr_assert_gt(room, i);
        grown += room != before;
        items[i] = i * i;
    }
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert_eq(items[i], i * i);
    }
    cr_assert_lt(grown, 30);
    cr_assert_leq(room, COUNT + COUNT / 2);
    free(items);
}

Test(arrays, makes_room_for_many_at_once) {
    char *bytes = NULL;
    size_t room = 0;
    cr_assert_eq(nvtxt_grow(&bytes, &room, 1000000, 1), 0);
    cr_assert_geq(room, 1000000);
    bytes[999999] = 'x';
    size_t before = room;
    cr_assert_eq(nvtxt_grow(&bytes, &room, before, 1), 0);
    cr_assert_eq(room, before, "there was room");
    free(bytes);
}

Test(arrays, refuses_what_no_memory_can_hold_and_changes_nothing) {
    uint32_t *items = NULL;
    size_t room = 0;
    cr_assert_eq(nvtxt_grow(&items, &room, 3, sizeof(*items)), 0);
    uint32_t *before = items;
    size_t room_before = room;
    items[2] = 7;
    cr_assert_eq(nvtxt_grow(&items, &room, SIZE_MAX / 4 + 3, sizeof(*items)), -ENOMEM);
    cr_assert_eq(nvtxt_grow(&items, &room, SIZE_MAX, sizeof(*items)), -ENOMEM);
    cr_assert_eq(items, before);
    cr_assert_eq(room, room_before);
    cr_assert_eq(items[2], 7);
    free(items);
}

Test(arrays, knows_the_smaller_and_the_larger) {
    cr_assert_eq(nvtxt_min(3, 5), 3);
    cr_assert_eq(nvtxt_min(5, 3), 3);
    cr_assert_eq(nvtxt_max(3, 5), 5);
    cr_assert_eq(nvtxt_max(SIZE_MAX, 0), SIZE_MAX);
}

struct thing {
    size_t number;
    char text[20];
};

Test(arrays, adds_cleared_things_to_a_list_without_a_room) {
    struct thing *things = NULL;
    size_t count = 0;
    for (size_t i = 0; i < 1000; i++) {
        struct thing *thing = nvtxt_add(&things, &count, sizeof(*thing));
        cr_assert_eq(thing, &things[i]);
        cr_assert_eq(count, i + 1);
        cr_assert_eq(thing->number, 0);
        cr_assert_eq(thing->text[19], 0);
        thing->number = i;
        memset(thing->text, 'x', sizeof(thing->text));
    }
    for (size_t i = 0; i < 1000; i++) {
        cr_assert_eq(things[i].number, i);
    }
    count = 600; // the last ones go, and others come
    for (size_t i = 600; i < 2000; i++) {
        struct thing *thing = nvtxt_add(&things, &count, sizeof(*thing));
        cr_assert_eq(thing->text[0], 0);
        cr_assert_eq(thing, &things[i]);
        thing->text[0] = 'y';
    }
    cr_assert_eq(things[599].number, 599);
    cr_assert_null(nvtxt_add(&things, &(size_t){1}, SIZE_MAX), "no memory");
    free(things);
}
