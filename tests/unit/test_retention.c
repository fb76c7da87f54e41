// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include <criterion/criterion.h>

#define SECOND INT64_C(1000000000)
#define COUNT 5

// Begun 100 s after one another, 10 bytes each.
static struct store_segment rows[COUNT];
static struct store_segments segments = {rows, COUNT};
static const struct store_disk roomy = {1000, 900};

static void begin(void) {
    for (int i = 0; i < COUNT; i++)
        rows[i] = (struct store_segment){.number = 1, .started_ns = i * 100 * SECOND, .bytes = 10};
}

static size_t excess(struct store_retention retention, const struct store_disk *disk, int64_t now) {
    return store_retention_excess(&segments, &retention, disk, now * SECOND);
}

Test(retention, without_bounds_removes_nothing, .init = begin) {
    cr_assert_eq(excess((struct store_retention){0}, &(struct store_disk){1000, 0}, 1000000), 0);
    cr_assert_eq(store_retention_next_ns(&segments, &(struct store_retention){0}), 0);
}

Test(retention, keeps_a_number_with_the_active_one, .init = begin) {
    cr_assert_eq(excess((struct store_retention){.files = 5}, &roomy, 0), 0);
    cr_assert_eq(excess((struct store_retention){.files = 3}, &roomy, 0), 2);
    cr_assert_eq(excess((struct store_retention){.files = 1}, &roomy, 0), 4);
}

Test(retention, keeps_a_size_with_room_for_the_active_one, .init = begin) {
    cr_assert_eq(excess((struct store_retention){.bytes = 50}, &roomy, 0), 0);
    cr_assert_eq(excess((struct store_retention){.bytes = 49}, &roomy, 0), 1);
    cr_assert_eq(excess((struct store_retention){.bytes = 50, .active_bytes = 25}, &roomy, 0), 2);
    cr_assert_eq(excess((struct store_retention){.bytes = 50, .active_bytes = 5}, &roomy, 0), 0);
    cr_assert_eq(excess((struct store_retention){.bytes = 1}, &roomy, 0),
                 4); // never the active one
}

Test(retention, counts_an_age_from_when_a_segment_was_left, .init = begin) {
    struct store_retention age = {.age_ns = 1000 * SECOND};
    cr_assert_eq(store_retention_next_ns(&segments, &age), 1100 * SECOND);
    cr_assert_eq(excess(age, &roomy, 1099), 0);
    cr_assert_eq(excess(age, &roomy, 1100), 1);
    cr_assert_eq(excess(age, &roomy, 1300), 3);
    cr_assert_eq(excess(age, &roomy, 1000000), 4);
}

Test(retention, frees_what_is_missing_on_the_disk_and_no_more, .init = begin) {
    struct store_retention tenth = {.free_percent = 10};
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 100}, 0), 0);
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 99}, 0), 1);
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 85}, 0), 2);
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 0}, 0), 4);
}

Test(retention, reads_the_disk_of_a_path) {
    struct store_disk disk;
    cr_assert_eq(store_disk_read("/tmp/nothing", &disk), 0);
    cr_assert(disk.total > 0 && disk.free >= 0 && disk.free <= disk.total);
    cr_assert_eq(store_disk_read("nothing", &disk), 0);
    cr_assert_eq(store_disk_read("/nothing", &disk), 0);
    cr_assert_lt(store_disk_read("/no/such/folder", &disk), 0);
}
