// SPDX-License-Identifier: Apache-2.0
//
// An output file is there whole or not at all.
#include "client/common/out_file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/outcome.h"
#include "client/common/term.h"

static struct term term;
static char folder[] = "/tmp/test_out_file.XXXXXX";
static char path[64];

static void set_up(void) {
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    close(null);
    term_init(&term, "test");
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/out", folder);
}

static void put(const char *name, const char *content) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    size_t len = strlen(content) + 1; // with its NUL, which a database's first bytes have
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, content, len), (ssize_t)len);
    close(fd);
}

static bool holds(const char *name, const char *content) {
    char text[64] = "";
    int fd = open(name, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    return n >= 0 && strcmp(text, content) == 0;
}

static int files_in_folder(void) {
    int count = 0;
    DIR *dir = opendir(folder);
    cr_assert(dir);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static void clean_up(void) {
    DIR *dir = opendir(folder);
    char name[512];
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
        unlink(name);
    }
    if (dir) {
        closedir(dir);
    }
    rmdir(folder);
}

TestSuite(out_file, .init = set_up, .fini = clean_up);

Test(out_file, appears_when_it_is_published) {
    struct out_file out;
    cr_assert_eq(out_file_init(&out, &term, path, false), 0);
    cr_assert_eq(files_in_folder(), 0, "nothing is created before");
    put(out.temp, "content");
    cr_assert_neq(access(path, F_OK), 0);
    cr_assert_eq(out_file_publish(&out, &term), 0);
    cr_assert(holds(path, "content"));
    cr_assert_eq(files_in_folder(), 1);
    out_file_discard(&out);
    cr_assert(holds(path, "content"), "published is published");
}

Test(out_file, leaves_nothing_when_it_is_discarded) {
    struct out_file out;
    char journal[PATH_MAX + 16];
    cr_assert_eq(out_file_init(&out, &term, path, false), 0);
    put(out.temp, "half");
    snprintf(journal, sizeof(journal), "%s-journal", out.temp);
    put(journal, "half");
    out_file_discard(&out);
    cr_assert_eq(files_in_folder(), 0);
}

Test(out_file, does_not_replace_what_is_there) {
    struct out_file out;
    put(path, "old");
    cr_assert_eq(out_file_init(&out, &term, path, false), OUTCOME_NO_OUTPUT);
    cr_assert_eq(out_file_init(&out, &term, path, true), OUTCOME_NO_OUTPUT, "it is no database");
    put(path, "SQLite format 3");
    cr_assert_eq(out_file_init(&out, &term, path, true), 0);
    put(out.temp, "new");
    cr_assert_eq(out_file_publish(&out, &term), 0);
    cr_assert(holds(path, "new"));
}

Test(out_file, takes_the_place_of_an_empty_file) {
    struct out_file out;
    put(path, "");
    cr_assert_eq(truncate(path, 0), 0);
    cr_assert_eq(out_file_init(&out, &term, path, false), 0);
    put(out.temp, "new");
    cr_assert_eq(out_file_publish(&out, &term), 0);
    cr_assert(holds(path, "new"));
}

Test(out_file, does_not_replace_what_came_meanwhile) {
    struct out_file out;
    cr_assert_eq(out_file_init(&out, &term, path, false), 0);
    put(out.temp, "new");
    put(path, "somebody else's");
    cr_assert_eq(out_file_publish(&out, &term), OUTCOME_NO_OUTPUT);
    cr_assert(holds(path, "somebody else's"));
    cr_assert_eq(files_in_folder(), 1);
}

Test(out_file, stays_away_from_foreign_journals) {
    struct out_file out;
    char wal[80];
    snprintf(wal, sizeof(wal), "%s-wal", path);
    put(wal, "frames");
    cr_assert_eq(out_file_init(&out, &term, path, false), OUTCOME_NO_OUTPUT);
    put(path, "SQLite format 3");
    cr_assert_eq(out_file_init(&out, &term, path, true), OUTCOME_NO_OUTPUT);
}

static void age(const char *name) {
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    cr_assert_eq(utimensat(AT_FDCWD, name, old, 0), 0);
}

Test(out_file, sweeps_what_killed_programs_left_and_nothing_else) {
    static const char *const kept[] = {"part-00000001", ".part-0000000", ".part-000000012",
                                       ".part-0000000g", "x.part-00000001"};
    struct out_file out, young, held;
    char name[128];
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", path, kept[i]);
        put(name, "another's");
        age(name);
    }
    cr_assert_eq(out_file_init(&young, &term, path, false), 0);
    put(young.temp, "being made");
    cr_assert_eq(out_file_init(&held, &term, path, false), 0);
    put(held.temp, "being filled");
    age(held.temp);
    int hold = out_file_hold(&held);
    cr_assert_geq(hold, 0);
    snprintf(name, sizeof(name), "%s.part-0123abcd", path);
    put(name, "left");
    age(name);
    snprintf(name, sizeof(name), "%s.part-0123abcd-journal", path);
    put(name, "left as well");
    cr_assert_eq(out_file_init(&out, &term, path, false), 0);
    out_file_sweep(&out);
    cr_assert_eq(files_in_folder(), (int)(sizeof(kept) / sizeof(kept[0])) + 2);
    cr_assert(holds(young.temp, "being made"));
    cr_assert(holds(held.temp, "being filled"));
    close(hold);
    out_file_sweep(&out);
    cr_assert(!holds(held.temp, "being filled"), "nobody holds it any more");
}

Test(out_file, needs_a_folder_and_a_name) {
    struct out_file out;
    char name[PATH_MAX + 1];
    memset(name, 'a', sizeof(name));
    name[PATH_MAX] = '\0';
    cr_assert_eq(out_file_init(&out, &term, "/nonexistent/folder/out", false), OUTCOME_NO_OUTPUT);
    cr_assert_eq(out_file_init(&out, &term, folder, true), OUTCOME_NO_OUTPUT);
    cr_assert_eq(out_file_init(&out, &term, "", false), OUTCOME_USAGE);
    cr_assert_eq(out_file_init(&out, &term, name, false), OUTCOME_USAGE);
}
