// SPDX-License-Identifier: Apache-2.0
//
// The note of what a stop has lost: added up, moved into the store once, and readable when broken.
#include "daemon/writer/revive.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/stat.h>

#include "tests/unit/store_kit.h"

#define AT 1795000000000000000

static void open_kit(struct kit *kit, char *lost, size_t size) {
    kit_open(kit);
    snprintf(lost, size, "%s.lost", kit->path);
}

static const char *rows(struct kit *kit) {
    return kit_text(kit, "SELECT ifnull(group_concat(reason || ' ' || count || ' ' || "
                         "(atNs > 1000000000000000000)), '') FROM NVTXT_LOSSES");
}

static void write_file(const char *path, const char *bytes, size_t len) {
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, len, file), len);
    cr_assert_eq(fclose(file), 0);
}

Test(stop_note, adds_up_stops_and_moves_them_once) {
    struct kit kit;
    char lost[128], target[64] = "";
    open_kit(&kit, lost, sizeof(lost));
    cr_assert_eq(stop_note_move(kit.path, kit.store), 0);
    cr_assert_eq(stop_note_add(kit.path, AT, 100), 0);
    cr_assert_eq(stop_note_add(kit.path, AT + 1, 17), 0);
    cr_assert_geq(readlink(lost, target, sizeof(target) - 1), 0);
    cr_assert_str_eq(target, "1795000000000000001 117");
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(stop_note_move(kit.path, kit.store), 0);
        cr_assert_str_eq(rows(&kit), "unwritten 117 1");
        cr_assert_lt(access(lost, F_OK), 0);
    }
    kit_close(&kit);
}

Test(stop_note, is_not_moved_twice_when_killed_before_the_note_went) {
    struct kit kit;
    char lost[128];
    open_kit(&kit, lost, sizeof(lost));
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(stop_note_add(kit.path, AT, 117), 0); // the second time: it is still there
        cr_assert_eq(stop_note_move(kit.path, kit.store), 0);
        cr_assert_str_eq(rows(&kit), "unwritten 117 1");
        cr_assert_lt(access(lost, F_OK), 0);
    }
    cr_assert_eq(stop_note_add(kit.path, AT + 1, 117), 0); // another stop
    cr_assert_eq(stop_note_move(kit.path, kit.store), 0);
    cr_assert_str_eq(rows(&kit), "unwritten 117 1,unwritten 117 1");
    kit_close(&kit);
}

Test(stop_note, needs_no_more_than_an_inode_holds) {
    struct kit kit;
    char lost[128], target[64];
    open_kit(&kit, lost, sizeof(lost));
    cr_assert_eq(stop_note_add(kit.path, INT64_MIN, INT64_MAX), 0);
    cr_assert_lt(readlink(lost, target, sizeof(target)), 60);
    cr_assert_eq(stop_note_move(kit.path, kit.store), 0);
    cr_assert_str_eq(rows(&kit), "unwritten 9223372036854775807 0");
    kit_close(&kit);
}

Test(stop_note, counts_what_is_no_note_as_one_and_removes_it) {
    static const struct {
        const char *bytes;
        size_t len;
    } files[] = {{"", 0}, {"\0\0\0\0", 4}, {"garbage\n", 8}};
    static const char *const links[] = {"garbage", "5 0", "5 -1", "5 7 ", "5"};
    struct kit kit;
    char lost[128];
    open_kit(&kit, lost, sizeof(lost));
    for (size_t i = 0; i < 8; i++) {
        if (i < 3) {
            write_file(lost, files[i].bytes, files[i].len);
        } else {
            cr_assert_eq(symlink(links[i - 3], lost), 0);
        }
        cr_assert_eq(stop_note_move(kit.path, kit.store), 0);
        cr_assert_str_eq(rows(&kit), "unwritten 1 1", "%zu", i);
        struct stat stat;
        cr_assert_lt(lstat(lost, &stat), 0);
        kit_text(&kit, "DELETE FROM NVTXT_LOSSES");
    }
    kit_close(&kit);
}

Test(stop_note, adds_to_what_is_no_note) {
    struct kit kit;
    char lost[128];
    open_kit(&kit, lost, sizeof(lost));
    write_file(lost, "", 0);
    cr_assert_eq(stop_note_add(kit.path, AT, 3), 0);
    cr_assert_eq(stop_note_move(kit.path, kit.store), 0);
    cr_assert_str_eq(rows(&kit), "unwritten 4 1");
    kit_close(&kit);
}

Test(stop_note, says_that_a_folder_is_in_the_way) {
    struct kit kit;
    char lost[128];
    open_kit(&kit, lost, sizeof(lost));
    cr_assert_eq(mkdir(lost, 0700), 0);
    cr_assert_eq(stop_note_add(kit.path, AT, 3), -EISDIR);
    cr_assert_eq(stop_note_move(kit.path, kit.store), -EISDIR);
    cr_assert_str_eq(rows(&kit), "");
    cr_assert_eq(rmdir(lost), 0);
    kit_close(&kit);
}
