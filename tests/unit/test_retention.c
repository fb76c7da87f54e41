// SPDX-License-Identifier: Apache-2.0
//
// Which segments go: by number, by size, by age, and when the disk is nearly full.
#include "store/segment/retention.h"

#include <criterion/criterion.h>

#include "store/segment/store_id.h"

#define SECOND INT64_C(1000000000)
#define COUNT 5

// Begun 100 s after one another, 10 bytes each.
static struct store_segment rows[COUNT];
static struct store_segments segments = {rows, COUNT};
static const struct store_disk roomy = {1000, 900};

static void begin(void) {
    for (int i = 0; i < COUNT; i++) {
        rows[i] = (struct store_segment){.number = 1, .started_ns = i * 100 * SECOND, .bytes = 10};
    }
}

static enum store_retention_key keys[COUNT];
static int64_t missing; // of the last plan

static size_t excess(struct store_retention retention, const struct store_disk *disk, int64_t now) {
    struct store_retention_plan plan = {.keys = keys};
    store_retention_make(&segments, &retention, disk, now * SECOND, &plan);
    missing = plan.missing;
    return plan.count;
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
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 70}, 0), 3);
    cr_assert(keys[0] == STORE_KEEP_FREE && keys[2] == STORE_KEEP_FREE && missing == 0);
}

Test(retention, removes_nothing_for_room_that_it_cannot_make, .init = begin) {
    struct store_retention tenth = {.free_percent = 10};
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 69}, 0), 0);
    cr_assert_eq(missing, 31);
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 0}, 0), 0);
}

Test(retention, keeps_the_newest_left_segment_whatever_is_free, .init = begin) {
    struct store_segments two = {rows + 3, 2};
    struct store_retention tenth = {.free_percent = 10};
    struct store_retention_plan plan = {.keys = keys};
    store_retention_make(&two, &tenth, &(struct store_disk){1000, 99}, 0, &plan);
    cr_assert(plan.count == 0 && plan.missing == 1);
    two.count = 1;
    store_retention_make(&two, &tenth, &(struct store_disk){1000, 99}, 0, &plan);
    cr_assert(plan.count == 0 && plan.missing == 1);
}

Test(retention, keeps_what_is_to_stay_at_least, .init = begin) {
    struct store_retention tenth = {.free_percent = 10, .at_least_bytes = 40};
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 90}, 0), 1);
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 89}, 0), 0);
    cr_assert_eq(missing, 11);
    tenth.at_least_bytes = 41;
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 90}, 0), 0);
    tenth.files = 2; // a wish is kept, and what it frees counts
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 80}, 0), 3);
    cr_assert(missing == 0 && keys[0] == STORE_KEEP_FILES && keys[2] == STORE_KEEP_FILES);
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 50}, 0), 3);
    cr_assert_eq(missing, 20);
}

Test(retention, wants_no_more_free_than_a_size, .init = begin) {
    struct store_retention both = {.free_percent = 10, .free_bytes = 50};
    cr_assert_eq(store_disk_wanted(&(struct store_disk){1000, 0}, &both), 50);
    cr_assert_eq(store_disk_wanted(&(struct store_disk){400, 0}, &both), 40);
    both.free_bytes = 0;
    cr_assert_eq(store_disk_wanted(&(struct store_disk){1000, 0}, &both), 100);
}

Test(retention, does_not_count_empty_segments, .init = begin) {
    struct store_retention two = {.files = 2};
    rows[4].empty = true;
    cr_assert_eq(excess(two, &roomy, 0), 2);
    rows[0].empty = rows[2].empty = true; // the oldest one goes too
    cr_assert_eq(excess(two, &roomy, 0), 0);
    two.files = 1;
    cr_assert_eq(excess(two, &roomy, 0), 2);
    cr_assert_str_eq(store_retention_key_name(keys[0]), "KeepFiles");
}

Test(retention, does_not_count_what_segments_only_carry, .init = begin) {
    struct store_retention size = {.bytes = 25};
    cr_assert_eq(excess(size, &roomy, 0), 3);
    for (int i = 1; i < COUNT; i++) {
        rows[i].carried = 7; // 10 + 4 * 3
    }
    cr_assert_eq(excess(size, &roomy, 0), 0);
    size.bytes = 21;
    cr_assert_eq(excess(size, &roomy, 0), 1);
    size = (struct store_retention){.bytes = 25, .active_bytes = 8}; // 10 + 3 * 3 + 8
    cr_assert_eq(excess(size, &roomy, 0), 1);
    cr_assert_eq(
        excess((struct store_retention){.free_percent = 10}, &(struct store_disk){1000, 80}, 0), 2,
        "what a file takes on the disk is all of it");
}

Test(retention, names_the_key_for_which_a_segment_goes, .init = begin) {
    struct store_retention all = {.files = 3, .bytes = 20, .age_ns = 100 * SECOND};
    cr_assert_eq(excess(all, &roomy, 200), 3);
    cr_assert(keys[0] == STORE_KEEP_AGE && keys[1] == STORE_KEEP_FILES &&
              keys[2] == STORE_KEEP_SIZE);
}

Test(retention, reads_the_disk_of_a_path) {
    struct store_disk disk;
    cr_assert_eq(store_disk_read("/tmp/nothing", &disk), 0);
    cr_assert(disk.total > 0 && disk.free >= 0 && disk.free <= disk.total);
    cr_assert_eq(store_disk_read("nothing", &disk), 0);
    cr_assert_eq(store_disk_read("/nothing", &disk), 0);
    cr_assert_lt(store_disk_read("/no/such/folder", &disk), 0);
}

Test(retention, waits_for_the_shipper_up_to_a_size, .init = begin) {
    struct store_retention two = {.files = 2, .unshipped_from = 2, .unshipped_bytes = 1000};
    for (int i = 0; i < COUNT; i++) {
        rows[i].number = (uint64_t)i + 1;
    }
    cr_assert_eq(excess(two, &roomy, 0), 1);
    two.unshipped_from = 1;
    cr_assert_eq(excess(two, &roomy, 0), 0);
    two.unshipped_from = 6; // all are shipped
    cr_assert_eq(excess(two, &roomy, 0), 3);
    two.unshipped_from = 0; // nobody ships
    cr_assert_eq(excess(two, &roomy, 0), 3);
    two.unshipped_from = 1;
    two.unshipped_bytes = 50; // all together take as much
    cr_assert_eq(excess(two, &roomy, 0), 1);
    two.unshipped_bytes = 51;
    cr_assert_eq(excess(two, &roomy, 0), 0);
    two.unshipped_bytes = 31;
    cr_assert_eq(excess(two, &roomy, 0), 2);
    two.unshipped_bytes = 0;
    cr_assert_eq(excess(two, &roomy, 0), 3);
}

Test(retention, says_that_a_segment_waits, .init = begin) {
    struct store_retention_plan plan = {.keys = keys};
    struct store_retention wish = {.age_ns = SECOND, .unshipped_from = 1, .unshipped_bytes = 1000};
    store_retention_make(&segments, &wish, &roomy, 1000 * SECOND, &plan);
    cr_assert(plan.waits && plan.count == 0);
    wish.bytes = 20;
    wish.files = 1;
    store_retention_make(&segments, &wish, &roomy, 1000 * SECOND, &plan);
    cr_assert(plan.waits && plan.count == 0);
    store_retention_make(&segments, &(struct store_retention){.unshipped_from = 1}, &roomy, 0,
                         &plan);
    cr_assert_not(plan.waits);
}

Test(retention, never_waits_when_the_disk_is_full, .init = begin) {
    struct store_retention tenth = {
        .free_percent = 10, .unshipped_from = 1, .unshipped_bytes = 1000};
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 85}, 0), 2);
    tenth.files = 1;
    cr_assert_eq(excess(tenth, &(struct store_disk){1000, 85}, 0), 2);
    cr_assert_eq(keys[0], STORE_KEEP_FREE);
}

// ---- The file of the shipper --------------------------------------------------------------------

#define ID "0a1b2c3d-0000-4000-8000-0123456789ab"

static enum store_shipped parse(const char *text, uint64_t *number) {
    return store_shipped_parse(nvtxt_slice_of(text), ID, number);
}

Test(retention, knows_what_a_shipper_says) {
    static const char *const wrong[] = {"",
                                        "\n",
                                        ID,
                                        ID "\n",
                                        ID " ",
                                        ID " \n",
                                        ID " 5",
                                        ID " 5 \n",
                                        ID " -5\n",
                                        ID " 5\n\n",
                                        ID " x\n",
                                        ID "  5\n",
                                        ID " 1234567890123456789\n",
                                        "5 " ID "\n",
                                        ID "\t5\n"};
    uint64_t number;
    cr_assert_eq(parse(ID " 17\n", &number), STORE_SHIPPED_KNOWN);
    cr_assert_eq(number, 17);
    cr_assert_eq(parse(ID " 0\n", &number), STORE_SHIPPED_KNOWN);
    cr_assert_eq(number, 0);
    cr_assert_eq(parse(ID " 999999999999999999\n", &number), STORE_SHIPPED_KNOWN);
    cr_assert_eq(parse("1a1b2c3d-0000-4000-8000-0123456789ab 17\n", &number), STORE_SHIPPED_OTHER);
    cr_assert_eq(number, 0);
    cr_assert_eq(store_shipped_parse(nvtxt_slice_of(ID " 17\n"), "", &number), STORE_SHIPPED_OTHER);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cr_assert_eq(parse(wrong[i], &number), STORE_SHIPPED_WRONG, "%s", wrong[i]);
    }
    cr_assert_lt(store_shipped_read("/nonexistent/file", ID, &number), 0);
    cr_assert_eq(store_shipped_read("/dev/null", ID, &number), STORE_SHIPPED_WRONG);
}
