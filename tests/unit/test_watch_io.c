// SPDX-License-Identifier: Apache-2.0
//
// Listing folders, opening and reading files, and telling one file from another.
#include "daemon/follow/watch_io.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/lang/timebase.h"
#include "protocol/table/hash_value.h"

struct kit {
    char folder[64];
    char path[PATH_MAX];
};

static const char *path_of(struct kit *kit, const char *name) {
    snprintf(kit->path, sizeof(kit->path), "%s/%s", kit->folder, name);
    return kit->path;
}

static void make(struct kit *kit) {
    snprintf(kit->folder, sizeof(kit->folder), "/tmp/nvtxt-watch-XXXXXX");
    cr_assert_not_null(mkdtemp(kit->folder));
}

static void put(struct kit *kit, const char *name, const char *text) {
    FILE *file = fopen(path_of(kit, name), "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

static void take(struct kit *kit, const char *const *names) {
    for (; *names; names++) {
        cr_assert_eq(remove(path_of(kit, *names)), 0);
    }
    cr_assert_eq(rmdir(kit->folder), 0);
}

// What is known of a file with `text` after `len` bytes of it were read.
static struct store_followed known(struct kit *kit, const char *name, const char *text,
                                   size_t len) {
    struct stat stat;
    size_t tail = len < WATCH_IO_TAIL_BYTES ? len : (size_t)WATCH_IO_TAIL_BYTES;
    size_t head = len < WATCH_IO_HEAD_BYTES ? len : (size_t)WATCH_IO_HEAD_BYTES;
    cr_assert_eq(lstat(path_of(kit, name), &stat), 0);
    return (struct store_followed){
        .device = (int64_t)stat.st_dev,
        .inode = (int64_t)stat.st_ino,
        .offset = len,
        .head_bytes = (uint32_t)head,
        .head_hash = nvtxt_hash_stored(0, (struct nvtxt_slice){text, head}),
        .tail_bytes = (uint32_t)tail,
        .tail_hash = nvtxt_hash_stored(0, (struct nvtxt_slice){text + len - tail, tail}),
    };
}

static int error_of(struct kit *kit, const char *name, const struct store_followed *wanted) {
    struct watch_opened opened;
    watch_io_open(path_of(kit, name), wanted, &opened);
    if (opened.fd >= 0) {
        close(opened.fd);
    }
    return opened.stat.error;
}

Test(watch_io, follows_names_that_end_in_nvtxt_and_are_not_hidden) {
    static const char *const ours[] = {"a.nvtxt", "a b.nvtxt", "a.nvtxt.nvtxt"};
    static const char *const others[] = {".nvtxt", ".a.nvtxt", "a.nvtxt.1", "a.NVTXT", "nvtxt", ""};
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        cr_assert(nvtxt_is_file_name(ours[i]), "%s", ours[i]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_assert(!nvtxt_is_file_name(others[i]), "%s", others[i]);
    }
}

Test(watch_io, lists_what_is_followed_or_what_is_asked_for) {
    struct kit kit;
    struct watch_list list;
    char *const asked[] = {"a.nvtxt", "gone.nvtxt"};
    make(&kit);
    put(&kit, "a.nvtxt", "abc");
    put(&kit, "b.txt", "");
    cr_assert_eq(watch_io_list(kit.folder, 0, NULL, 0, &list), 0);
    cr_assert_eq(list.error, 0);
    cr_assert(list.all);
    cr_assert_eq(list.count, 1);
    cr_assert_str_eq(list.entries[0].name, "a.nvtxt");
    cr_assert(list.entries[0].stat.is_file);
    cr_assert_eq(list.entries[0].stat.size, 3);
    watch_io_list_deinit(&list);
    cr_assert_eq(watch_io_list(kit.folder, 0, asked, 2, &list), 0);
    cr_assert_eq(list.count, 2);
    cr_assert_eq(list.entries[0].stat.error, 0);
    cr_assert_eq(list.entries[1].stat.error, WATCH_IO_ABSENT);
    watch_io_list_deinit(&list);
    take(&kit, (const char *const[]){"a.nvtxt", "b.txt", NULL});
}

Test(watch_io, lists_capture_folders_where_they_are_wanted) {
    struct kit kit;
    struct watch_list list;
    make(&kit);
    put(&kit, "a.nvtxt", "");
    put(&kit, ".capture", "");
    cr_assert_eq(mkdir(path_of(&kit, "p_CAPTURE_1"), 0700), 0);
    cr_assert_eq(watch_io_list(kit.folder, 0, NULL, 0, &list), 0);
    cr_assert_eq(list.count, 1);
    watch_io_list_deinit(&list);
    cr_assert_eq(watch_io_list(kit.folder, WATCH_IO_CAPTURES, NULL, 0, &list), 0);
    cr_assert_eq(list.count, 2);
    size_t at = list.entries[0].stat.is_folder ? 0 : 1;
    cr_assert_str_eq(list.entries[at].name, "p_CAPTURE_1");
    cr_assert(list.entries[at].stat.is_folder && !list.entries[1 - at].stat.is_folder);
    watch_io_list_deinit(&list);
    cr_assert_eq(symlink("p_CAPTURE_1", path_of(&kit, "link")), 0);
    cr_assert_eq(watch_io_list(path_of(&kit, "link"), WATCH_IO_NO_LINK, NULL, 0, &list), 0);
    cr_assert(list.error == -ENOTDIR || list.error == -ELOOP, "%d", list.error);
    watch_io_list_deinit(&list);
    cr_assert_eq(rmdir(path_of(&kit, "p_CAPTURE_1")), 0);
    take(&kit, (const char *const[]){"a.nvtxt", ".capture", "link", NULL});
}

// Where the file system keeps such dates.
Test(watch_io, takes_a_file_of_any_date) {
    struct kit kit;
    struct stat stat;
    struct watch_list list;
    make(&kit);
    put(&kit, "a.nvtxt", "");
    for (int64_t second = -11676096000; second < 20000000000; second += 25245561600) {
        const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
        cr_assert_eq(utimensat(AT_FDCWD, path_of(&kit, "a.nvtxt"), times, 0), 0);
        cr_assert_eq(lstat(kit.path, &stat), 0);
        cr_assert_eq(watch_io_list(kit.folder, 0, NULL, 0, &list), 0);
        cr_expect_eq(list.entries[0].stat.changed_ns, nvtxt_time_ns(stat.st_mtim.tv_sec, 0));
        watch_io_list_deinit(&list);
    }
    take(&kit, (const char *const[]){"a.nvtxt", NULL});
}

Test(watch_io, distinguishes_a_missing_folder_from_a_link_to_nowhere_and_a_file) {
    struct kit kit;
    struct watch_list list;
    make(&kit);
    cr_assert_eq(watch_io_list(path_of(&kit, "none"), 0, NULL, 0, &list), 0);
    cr_assert_eq(list.error, WATCH_IO_ABSENT);
    cr_assert_eq(symlink("none", path_of(&kit, "link")), 0);
    cr_assert_eq(watch_io_list(path_of(&kit, "link"), 0, NULL, 0, &list), 0);
    cr_assert_eq(list.error, -ELOOP);
    put(&kit, "file", "");
    cr_assert_eq(watch_io_list(path_of(&kit, "file"), 0, NULL, 0, &list), 0);
    cr_assert_eq(list.error, -ENOTDIR);
    watch_io_list_deinit(&list);
    take(&kit, (const char *const[]){"link", "file", NULL});
}

Test(watch_io, opens_regular_files_only_and_only_the_one_that_is_meant) {
    struct kit kit;
    make(&kit);
    put(&kit, "a.nvtxt", "abc");
    put(&kit, "b.nvtxt", "abc");
    struct store_followed wanted = known(&kit, "a.nvtxt", "abc", 3);
    cr_assert_eq(mkfifo(path_of(&kit, "pipe"), 0600), 0);
    cr_assert_eq(symlink("a.nvtxt", path_of(&kit, "link")), 0);
    cr_assert_eq(error_of(&kit, "a.nvtxt", &wanted), 0);
    cr_assert_eq(error_of(&kit, "b.nvtxt", &wanted), WATCH_IO_ABSENT);
    cr_assert_eq(error_of(&kit, "pipe", &wanted), WATCH_IO_ABSENT);
    cr_assert_eq(error_of(&kit, "link", &wanted), WATCH_IO_ABSENT);
    cr_assert_eq(error_of(&kit, "none", &wanted), WATCH_IO_ABSENT);
    take(&kit, (const char *const[]){"a.nvtxt", "b.nvtxt", "pipe", "link", NULL});
}

static bool is_same(struct kit *kit, const struct store_followed *wanted, const char *text) {
    struct watch_opened opened;
    put(kit, "a.nvtxt", text);
    watch_io_open(path_of(kit, "a.nvtxt"), wanted, &opened);
    cr_assert_geq(opened.fd, 0);
    close(opened.fd);
    return opened.same;
}

Test(watch_io, knows_a_file_again_by_its_start_and_by_what_is_before_its_place) {
    struct kit kit;
    char text[3001];
    make(&kit);
    memset(text, 'x', 3000);
    text[3000] = '\0';
    put(&kit, "a.nvtxt", text);
    struct store_followed wanted = known(&kit, "a.nvtxt", text, 2000);
    cr_assert(is_same(&kit, &wanted, text));
    text[2500] = 'y'; // not read yet
    cr_assert(is_same(&kit, &wanted, text));
    text[1999] = 'y';
    cr_assert(!is_same(&kit, &wanted, text));
    text[1999] = 'x';
    text[1023] = 'y';
    cr_assert(!is_same(&kit, &wanted, text));
    text[1023] = 'x';
    text[1999] = '\0'; // a byte too short
    cr_assert(!is_same(&kit, &wanted, text));
    wanted.tail_bytes = WATCH_IO_TAIL_BYTES + 1; // of a broken store
    cr_assert(!is_same(&kit, &wanted, text));
    take(&kit, (const char *const[]){"a.nvtxt", NULL});
}

Test(watch_io, reads_less_than_asked_for_only_at_the_end) {
    struct kit kit;
    struct watch_read result;
    char buffer[8];
    make(&kit);
    put(&kit, "a.nvtxt", "0123456789");
    int fd = open(path_of(&kit, "a.nvtxt"), O_RDONLY);
    watch_io_read(fd, buffer, 8, 0, &result);
    cr_assert_eq(result.n, 8);
    watch_io_read(fd, buffer, 8, 8, &result);
    cr_assert_eq(result.n, 2);
    cr_assert_eq(memcmp(buffer, "89", 2), 0);
    cr_assert_eq(result.stat.size, 10);
    cr_assert_eq(result.stat.links, 1);
    watch_io_read(fd, buffer, 8, 100, &result);
    cr_assert_eq(result.n, 0);
    close(fd);
    watch_io_read(-1, buffer, 8, 0, &result);
    cr_assert_eq(result.stat.error, -EBADF);
    take(&kit, (const char *const[]){"a.nvtxt", NULL});
}
