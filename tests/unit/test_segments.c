// SPDX-License-Identifier: Apache-2.0
//
// Names, order and links of segments, also when calls of the file system fail in between.
#include "store/segment/segments.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/failing_calls.h"

#define BEGUN_NS INT64_C(1795242240000000000) // 2026-11-21T06:24:00Z
#define FIRST "nvtxt-20261121T062400Z-1.sqlite"

static char folder[64];
static char path[128]; // the configured one

FAILING(struct dirent *, NULL, readdir, (DIR * list), (list))
FAILING(int, -1, fsync, (int fd), (fd))

static void begin(void) {
    snprintf(folder, sizeof(folder), "/tmp/nvtxt-segments-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/nvtxt.sqlite", folder);
}

static void end(void) {
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

static const char *in_folder(const char *name) {
    static char full[256];
    snprintf(full, sizeof(full), "%s/%s", folder, name);
    return full;
}

static void put(const char *name, int bytes) {
    int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert(fd >= 0 && ftruncate(fd, bytes) == 0);
    close(fd);
}

static bool is_there(const char *name) {
    return access(in_folder(name), F_OK) == 0;
}

static enum store_link link_of(char *target) {
    enum store_link link;
    cr_assert_eq(store_segments_link(path, &link, target), 0);
    return link;
}

Test(segments, are_named_after_the_store_the_time_and_their_number) {
    char name[256];
    cr_assert_eq(store_segments_name("/d/nvtxt.sqlite", BEGUN_NS, 1, name, sizeof(name)), 0);
    cr_assert_str_eq(name, "/d/" FIRST);
    cr_assert_eq(store_segments_name("nvtxt.sqlite", BEGUN_NS + 999999999, 12, name, sizeof(name)),
                 0);
    cr_assert_str_eq(name, "nvtxt-20261121T062400Z-12.sqlite");
    cr_assert_eq(store_segments_name("x/store.db", BEGUN_NS, 3, name, sizeof(name)), 0);
    cr_assert_str_eq(name, "x/store.db-20261121T062400Z-3.sqlite");
    cr_assert_eq(store_segments_name("nvtxt.sqlite", BEGUN_NS, 1, name, 10), -ENAMETOOLONG);
}

Test(segments, name_the_store_that_they_are_of) {
    char stem[PATH_MAX];
    cr_assert(store_segments_stem("/d/" FIRST, stem));
    cr_assert_str_eq(stem, "/d/nvtxt");
    cr_assert(store_segments_stem("x-20261121T062400Z-1-20261121T062400Z-12.sqlite", stem));
    cr_assert_str_eq(stem, "x-20261121T062400Z-1");
    cr_assert_not(store_segments_stem("/d-20261121T062400Z-1.sqlite/nvtxt.sqlite", stem));
    cr_assert_not(store_segments_stem("/d/" FIRST "-wal", stem));
    cr_assert_not(store_segments_stem("/d/nvtxt-20261121T062400Z-01.sqlite", stem));
    cr_assert_not(store_segments_stem("", stem));
}

Test(segments, are_listed_by_number_up_to_the_active_one) {
    struct store_segments list;
    begin();
    cr_assert_eq(store_segments_list(path, &list), -ENOENT);
    put("nvtxt-20261121T062400Z-10.sqlite", 10);
    put("nvtxt-20261121T062401Z-9.sqlite", 5); // the clock went back in between
    put("nvtxt-20261121T062401Z-9.sqlite-wal", 2);
    put("nvtxt-20261121T062401Z-9.sqlite-shm", 1);
    put("nvtxt-20261121T062402Z-11.sqlite", 20); // not part of it yet
    static const char *const others[] = {"nvtxt-20261121T062400Z-0.sqlite",
                                         "nvtxt-20261121T062400Z-01.sqlite",
                                         "nvtxt-20261131T062400Z-1.sqlite",
                                         "nvtxt-20261121T062400Z-.sqlite",
                                         "nvtxt-20261121T062400-1.sqlite",
                                         "nvtxt-20261121T062400Z-1.sqlite.bak",
                                         "nvtxt2-20261121T062400Z-1.sqlite",
                                         "nvtxt-20261121T062400Z-1.sqlit",
                                         "nvtxt-",
                                         "other.sqlite"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        put(others[i], 1);
    }
    cr_assert_eq(symlink("nvtxt-20261121T062400Z-10.sqlite", path), 0);
    cr_assert_eq(store_segments_list(path, &list), 0);
    cr_assert_eq(list.count, 2);
    cr_assert_str_eq(list.rows[0].path, in_folder("nvtxt-20261121T062401Z-9.sqlite"));
    cr_assert(list.rows[0].number == 9 && list.rows[0].bytes == 8);
    cr_assert_eq(list.rows[0].started_ns, BEGUN_NS + 1000000000);
    cr_assert(list.rows[1].number == 10 && list.rows[1].bytes == 10);
    store_segments_deinit(&list);
    cr_assert_eq(store_segments_scan(path, &list), 0);
    cr_assert_eq(list.count, 3);
    store_segments_deinit(&list);
    end();
}

Test(segments, of_a_plain_file_are_that_file) {
    struct store_segments list;
    begin();
    put("nvtxt.sqlite", 7);
    put(FIRST, 1);
    cr_assert_eq(store_segments_list(path, &list), 0);
    cr_assert_eq(list.count, 1);
    cr_assert_str_eq(list.rows[0].path, path);
    cr_assert(list.rows[0].number == 0 && list.rows[0].bytes == 7);
    store_segments_deinit(&list);
    end();
}

Test(segments, a_link_is_known_for_what_it_is) {
    char target[PATH_MAX];
    begin();
    cr_assert_eq(link_of(target), STORE_LINK_NONE);
    static const char *const foreign[] = {"nowhere", "/nowhere/" FIRST, "./" FIRST, "nvtxt.sqlite",
                                          FIRST "-wal"};
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        cr_assert_eq(symlink(foreign[i], path), 0);
        cr_assert_eq(link_of(target), STORE_LINK_FOREIGN);
        cr_assert_str_eq(target, foreign[i]);
        unlink(path);
    }
    cr_assert_eq(store_segments_set_link(path, in_folder(FIRST)), 0);
    cr_assert_eq(link_of(target), STORE_LINK_VANISHED);
    put(FIRST, 1);
    cr_assert_eq(link_of(target), STORE_LINK_SEGMENT);
    cr_assert_str_eq(target, in_folder(FIRST));
    cr_assert_eq(store_segments_set_link(path, in_folder("nvtxt-20261121T062400Z-2.sqlite")), 0);
    cr_assert_eq(link_of(target), STORE_LINK_VANISHED);
    unlink(path);
    put("nvtxt.sqlite", 1);
    cr_assert_eq(link_of(target), STORE_LINK_FILE);
    cr_assert_eq(store_segments_set_link(path, in_folder(FIRST)), 0);
    cr_assert_eq(link_of(target), STORE_LINK_SEGMENT);
    unlink(path);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert_eq(link_of(target), STORE_LINK_OTHER);
    cr_assert(store_segments_set_link(path, in_folder(FIRST)) < 0);
    cr_assert_not(is_there("nvtxt.sqlite.link.new"));
    end();
}

// Both fsyncs count: that of the segment's name before the link is replaced, and that of the link
// after it.
Test(segments, a_link_that_cannot_be_made_lasting_stays_as_it_was) {
    static const char second[] = "nvtxt-20261121T062400Z-2.sqlite";
    char target[PATH_MAX];
    begin();
    put(FIRST, 1);
    put(second, 1);
    for (int good = 0; good < 2; good++) {
        good_fsync = good;
        cr_assert_eq(store_segments_set_link(path, in_folder(FIRST)), -EIO);
        cr_assert_eq(link_of(target), STORE_LINK_NONE, "%d", good);
    }
    good_fsync = -1;
    cr_assert_eq(store_segments_set_link(path, in_folder(FIRST)), 0);
    for (int good = 0; good < 2; good++) {
        good_fsync = good;
        cr_assert_eq(store_segments_set_link(path, in_folder(second)), -EIO);
        cr_assert_eq(link_of(target), STORE_LINK_SEGMENT);
        cr_assert_str_eq(target, in_folder(FIRST));
    }
    unlink(path);
    cr_assert_eq(link(in_folder(second), path), 0); // a plain store that becomes a segment
    good_fsync = 1;
    cr_assert_eq(store_segments_set_link(path, in_folder(second)), -EIO);
    cr_assert_eq(link_of(target), STORE_LINK_FILE);
    good_fsync = -1;
    cr_assert_not(is_there("nvtxt.sqlite.link.new"));
    end();
}

Test(segments, a_folder_that_cannot_be_read_to_its_end_is_no_short_one) {
    struct store_segments list;
    begin();
    put(FIRST, 1);
    cr_assert_eq(store_segments_set_link(path, in_folder(FIRST)), 0);
    for (int good = 0; good < 4; good++) { // ".", "..", the link and the segment
        good_readdir = good;
        cr_assert_eq(store_segments_scan(path, &list), -EIO, "%d", good);
        cr_assert(!list.rows && list.count == 0);
        good_readdir = good;
        cr_assert_eq(store_segments_list(path, &list), -EIO);
        good_readdir = good;
        cr_assert_eq(store_segments_tidy(path), -EIO);
    }
    good_readdir = -1;
    cr_assert_eq(store_segments_scan(path, &list), 0);
    cr_assert_eq(list.count, 1);
    store_segments_deinit(&list);
    end();
}

Test(segments, that_were_not_finished_are_removed) {
    begin();
    static const char *const kept[] = {FIRST,          FIRST "-wal",       FIRST "-shm",
                                       FIRST ".newer", "nvtxt.sqlite-wal", "other-wal"};
    static const char *const removed[] = {
        "nvtxt-20261121T062400Z-2.sqlite.new",     "nvtxt-20261121T062400Z-2.sqlite.new-wal",
        "nvtxt-20261121T062400Z-2.sqlite.new-shm", "nvtxt-20261121T062400Z-2.sqlite-wal",
        "nvtxt-20261121T062400Z-2.sqlite-shm",     "nvtxt-20261121T062400Z-3.sqlite-shm"};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        put(kept[i], 1);
    }
    for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++) {
        put(removed[i], 1);
    }
    cr_assert_eq(store_segments_tidy(path), 0);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        cr_assert(is_there(kept[i]), "%s", kept[i]);
    }
    for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++) {
        cr_assert_not(is_there(removed[i]), "%s", removed[i]);
    }
    end();
}

Test(segments, are_renamed_and_removed_with_their_logs) {
    begin();
    char from[256];
    put(FIRST ".new", 1);
    put(FIRST ".new-wal", 1);
    snprintf(from, sizeof(from), "%s", in_folder(FIRST ".new"));
    cr_assert_eq(store_segments_rename(from, in_folder(FIRST)), 0);
    cr_assert(is_there(FIRST) && is_there(FIRST "-wal") && !is_there(FIRST ".new"));
    cr_assert_eq(store_segments_remove(in_folder(FIRST)), 0);
    cr_assert_not(is_there(FIRST) || is_there(FIRST "-wal"));
    cr_assert_eq(store_segments_remove(in_folder(FIRST)), 0);
    end();
}
