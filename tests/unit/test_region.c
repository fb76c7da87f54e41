// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process that records: what is in force after each store of a pass, the file of a
// spool folder, and that nothing is left of one that could not be made.
#include "lib/ring/region.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING_BYTES (64u << 10)
#define WINDOW_BYTES (1u << 20)

static char folder[] = "/tmp/nvtxt-region-XXXXXX";
static char path[64];
static struct region region;

static void start(void) {
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/ring", folder);
}

static void end(void) {
    unlink(path);
    rmdir(folder);
}

TestSuite(region, .init = start, .fini = end);

static void make(const char *where) {
    cr_assert_eq(region_make(&region, where, RING_BYTES, WINDOW_BYTES), 0);
    cr_assert_eq(region_chunk(&region, 0), 0);
}

static void commit(void) {
    struct region_state state = region_state(&region);
    state.lines++;
    region_commit(&region, &state);
}

Test(region, a_tail_counts_when_its_pass_is_committed) {
    make(NULL);
    for (uint64_t pass = 1; pass < 6; pass++) {
        cr_assert_eq(region_tail(&region, 3), (pass - 1) * 100);
        region_move_tail(&region, 3, pass * 100 - 50);
        cr_assert_eq(region_tail(&region, 3), (pass - 1) * 100);
        region_move_tail(&region, 3, pass * 100);
        cr_assert_eq(region_tail(&region, 3), (pass - 1) * 100);
        commit();
        cr_assert_eq(region_state(&region).lines, pass);
    }
}

Test(region, a_pass_that_was_not_finished_never_counts) {
    make(NULL);
    for (uint64_t pass = 1; pass < 6; pass++) {
        region_move_tail(&region, 3, pass * 1000); // then the process is killed
        region_drop_unfinished(&region);
        commit();
        cr_assert_eq(region_tail(&region, 3), (pass - 1) * 100);
        region_move_tail(&region, 3, pass * 100);
        commit();
        cr_assert_eq(region_tail(&region, 3), pass * 100);
    }
}

Test(region, a_session_is_in_force_as_a_whole) {
    struct region_session next = {.id = "a", .first = 1};
    make(NULL);
    cr_assert_str_empty(region_session(&region)->id);
    region_set_session(&region, &next);
    next = (struct region_session){.id = "b", .first = 2};
    cr_assert_str_eq(region_session(&region)->id, "a");
    region_set_session(&region, &next);
    cr_assert_str_eq(region_session(&region)->id, "b");
    cr_assert_eq(region_session(&region)->first, 2);
}

Test(region, a_file_is_its_users_alone_and_as_long_as_it_may_get) {
    struct stat what;
    make(path);
    cr_assert_eq(stat(path, &what), 0);
    cr_assert_eq(what.st_mode & 0777, 0600);
    cr_assert_eq((uint64_t)what.st_size, region_file_bytes(RING_BYTES, WINDOW_BYTES));
    cr_assert_lt((uint64_t)what.st_blocks * 512, 1u << 20);
    cr_assert_eq(region_grant_ring(&region, 5, 0), 0);
    memset(region_ring(&region, 5), 1, RING_BYTES);
    cr_assert_eq(region_make(&(struct region){0}, path, RING_BYTES, WINDOW_BYTES), -EEXIST);
    cr_assert_eq(access(path, F_OK), 0); // the other one's
}

Test(region, no_descriptor_stays_open) {
    int before = dup(0);
    make(path);
    cr_assert_eq(region_chunk(&region, 1), 0);
    cr_assert_eq(dup(0), before + 1);
}

Test(region, a_file_that_is_another_now_is_not_touched) {
    struct stat what;
    make(path);
    unlink(path);
    fclose(fopen(path, "w"));
    cr_assert_lt(region_chunk(&region, 1), 0);
    cr_assert_eq(stat(path, &what), 0);
    cr_assert_eq(what.st_size, 0);
}

Test(region, nothing_is_left_of_a_file_that_cannot_be) {
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit); // SIGXFSZ would end the test
    cr_assert_eq(region_make(&region, path, RING_BYTES, WINDOW_BYTES), -EFBIG);
    cr_assert_neq(access(path, F_OK), 0);
    cr_assert_lt(region_make(&region, "relative", RING_BYTES, WINDOW_BYTES), 0);
    cr_assert_lt(region_make(&region, "/nonexistent/ring", RING_BYTES, WINDOW_BYTES), 0);
}
