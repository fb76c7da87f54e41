// SPDX-License-Identifier: Apache-2.0
//
// Ring files: which are taken, which are refused and why, and that what is taken is what the
// process had left. With any byte of it changed a file is refused, or can be worked with.
#include "client/nvtx/ring_file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/region_kit.h"

#define NAME "nvtxt-1-2.ring"

static char dir[64], path[128];
static int dir_fd;
static struct region_kit kit;
static struct ring_file file;

// A file whose process, we, does not map it any more.
static void leave_file(void) {
    snprintf(dir, sizeof(dir), "/tmp/test_ring_file.XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/" NAME, dir);
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_eq(region_kit_make(&kit, path), 0);
    region_kit_free(&kit);
}

static void remove_all(void) {
    ring_file_close(&file);
    unlink(path);
    close(dir_fd);
    cr_assert_eq(rmdir(dir), 0);
}

static void put(off_t at, const void *bytes, size_t len) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    cr_assert_eq(pwrite(fd, bytes, len, at), (ssize_t)len);
    close(fd);
}

static int try_it(void) {
    ring_file_close(&file);
    int result = ring_file_open(&file, dir_fd, NAME);
    return result == 0 ? ring_file_read(&file) : result;
}

static void refuses(int result, const char *why) {
    cr_assert_eq(try_it(), result, "%s", why);
    cr_assert(strstr(file.fault, why), "'%s' lacks '%s'", file.fault, why);
}

Test(ring_file, of_a_process_that_is_gone_is_read_whole, .init = leave_file, .fini = remove_all) {
    cr_assert_eq(try_it(), 0, "%s", file.fault);
    const struct region *region = &file.region;
    struct region_state state = region_state(region);
    cr_assert_str_eq(region_session(region)->id, KIT_SESSION);
    cr_assert_str_eq(region->head->name, "kit");
    cr_assert_gt(state.lines, 6);
    cr_assert_eq(memcmp(region->window, "TimeBase=ClockRealtime\n", 23), 0);
    cr_assert_gt(atomic_load(&region->rings[1].at), region_tail(region, 1));
}

Test(ring_file, of_version_1_is_read_and_has_no_parent, .init = leave_file, .fini = remove_all) {
    uint32_t of_version_1[] = {1, offsetof(struct region_head, parent)};
    put(offsetof(struct region_head, version), of_version_1, sizeof(of_version_1));
    cr_assert_eq(try_it(), 0, "%s", file.fault);
    cr_assert_str_eq(region_session(&file.region)->id, KIT_SESSION);
    cr_assert_str_eq(file.region.head->parent, "");
    of_version_1[1]++;
    put(offsetof(struct region_head, version), of_version_1, sizeof(of_version_1));
    refuses(RING_FILE_BAD, "of ring files; this program reads up to version");
}

Test(ring_file, that_is_in_use_is_left_alone) {
    snprintf(dir, sizeof(dir), "/tmp/test_ring_file.XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/" NAME, dir);
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_eq(region_kit_make(&kit, path), 0);
    char why[64];
    snprintf(why, sizeof(why), "is still in use by process %d", (int)getpid());
    refuses(RING_FILE_IN_USE, why);
    uint32_t space = region_pid_space() ^ 1;
    put(offsetof(struct region_head, pid_space), &space, sizeof(space));
    refuses(RING_FILE_IN_USE, "of another container");
    region_kit_free(&kit);
    cr_assert_eq(try_it(), 0, "%s", file.fault);
    remove_all();
}

Test(ring_file, that_another_program_reads_is_busy, .init = leave_file, .fini = remove_all) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_eq(flock(fd, LOCK_EX), 0);
    cr_assert_eq(try_it(), RING_FILE_BUSY);
    close(fd);
    cr_assert_eq(try_it(), 0);
    cr_assert_eq(ring_file_open(&(struct ring_file){0}, dir_fd, "none.ring"), RING_FILE_BUSY);
}

Test(ring_file, of_a_process_that_ended_in_order_is_empty, .init = leave_file, .fini = remove_all) {
    uint32_t none = 0;
    put(offsetof(struct region_head, pid), &none, sizeof(none));
    cr_assert_eq(try_it(), RING_FILE_EMPTY);
    cr_assert_eq(truncate(path, 0), 0);
    cr_assert_eq(try_it(), RING_FILE_EMPTY, "it was never begun");
    cr_assert_eq(truncate(path, 100000), 0);
    cr_assert_eq(try_it(), RING_FILE_EMPTY);
}

Test(ring_file, that_is_cut_or_too_long_is_refused, .init = leave_file, .fini = remove_all) {
    off_t whole = (off_t)region_file_bytes(KIT_RING, KIT_WINDOW);
    cr_assert_eq(truncate(path, whole + 1), 0);
    refuses(RING_FILE_BAD, "was overwritten: it has");
    static const off_t lengths[] = {-1, -5000, 100000, 4096, 500, 16, 12, 8, 1};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        cr_assert_eq(truncate(path, lengths[i] < 0 ? whole + lengths[i] : lengths[i]), 0);
        refuses(RING_FILE_BAD, "was cut: it has");
    }
}

Test(ring_file, of_another_kind_or_version_is_refused, .init = leave_file, .fini = remove_all) {
    uint32_t version = REGION_VERSION + 1, uid = geteuid() + 1;
    uint64_t size = KIT_RING + 1;
    put(offsetof(struct region_head, ring_bytes), &size, sizeof(size));
    refuses(RING_FILE_BAD, "its sizes are impossible");
    put(offsetof(struct region_head, uid), &uid, sizeof(uid));
    refuses(RING_FILE_BAD, "it says that it belongs to uid");
    put(offsetof(struct region_head, version), &version, sizeof(version));
    refuses(RING_FILE_BAD, "install a newer package nvtxt-tools");
    put(0, "NVTXTRNG", 8);
    refuses(RING_FILE_BAD, "it does not begin as a ring file");
}

Test(ring_file, that_is_no_file_of_ours_is_refused, .init = leave_file, .fini = remove_all) {
    char away[160];
    snprintf(away, sizeof(away), "%s.away", path);
    cr_assert_eq(rename(path, away), 0);
    cr_assert_eq(symlink(away, path), 0);
    refuses(RING_FILE_BAD, "is a link");
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    refuses(RING_FILE_BAD, "is no file");
    unlink(path);
    cr_assert_eq(rename(away, path), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(path, 12345, (gid_t)-1), 0);
        refuses(RING_FILE_BAD, "belongs to another user (uid 12345)");
    }
}

// ---- Contents -----------------------------------------------------------------------------------

static bool is_good(const struct region *region) {
    char fault[512] = "";
    bool good = ring_file_check(region, fault, sizeof(fault));
    cr_assert(good || *fault);
    return good;
}

// Runs all passes, each line acknowledged at once. Returns the bytes of lines that came.
static uint64_t run_on(struct region *region) {
    struct pass *pass = malloc(sizeof(*pass));
    pass_init(pass, region);
    uint64_t before = pass->next.end;
    for (int quiet = 0; quiet < 2;) {
        quiet = pass_run(pass, true, NULL).moved ? 0 : quiet + 1;
        pass->next.acked = pass->next.end;
        pass->next.acked_lines = pass->next.lines;
    }
    uint64_t bytes = pass->next.end - before;
    free(pass);
    return bytes;
}

Test(ring_file, says_what_of_its_contents_cannot_be) {
    cr_assert_eq(region_kit_make(&kit, NULL), 0);
    struct region *region = &kit.region;
    struct region_head *head = region->head;
    struct region_state *state = &head->states[atomic_load(&head->pass) & 1];
    cr_assert(is_good(region));
#define SPOILED(place, value)                                                                      \
    do {                                                                                           \
        __typeof__(place) before = (place);                                                        \
        (place) = (value);                                                                         \
        cr_assert_not(is_good(region), #place);                                                    \
        (place) = before;                                                                          \
        cr_assert(is_good(region), #place);                                                        \
    } while (0)
    SPOILED(head->strings, REGION_STRINGS + 1);
    SPOILED(head->strings, 0);
    SPOILED(head->domains, 1);
    SPOILED(region->strings[0].at, REGION_TEXT_BYTES);
    SPOILED(region->domains[1].len, UINT32_MAX);
    SPOILED(region->names[0].text.len, RECORD_TEXT_MAX + 1);
    SPOILED(region->names[0].kind, NAME_COUNTER + 1);
    SPOILED(region->names[0].domain, 2);
    SPOILED(state->lines, state->lines + 1);
    SPOILED(state->end, state->end + KIT_WINDOW);
    SPOILED(state->end, state->end - 1);
    SPOILED(state->acked, state->end + 1);
    SPOILED(state->acked_lines, state->lines + 1);
    SPOILED(head->sessions[atomic_load(&head->session) & 1].id[7], 'x');
    SPOILED(head->sessions[atomic_load(&head->session) & 1].id[35], '\0');
    SPOILED(head->sessions[atomic_load(&head->session) & 1].first, 3);
    SPOILED(head->sessions[atomic_load(&head->session) & 1].preamble_bytes, REGION_PREAMBLE + 1);
    SPOILED(region->rings[0].at, UINT64_MAX - 7);
    SPOILED(region->rings[0].at, atomic_load(&region->rings[0].at) - 8);
    SPOILED(region->rings[1].granted, KIT_RING + 8);
    SPOILED(region_ring(region, 1)[region_tail(region, 1)], (char)RECORD_KINDS);
    region_kit_free(&kit);
}

// A ring that was empty past its mark begins a lap, and has all of its bytes.
Test(ring_file, whose_ring_has_begun_a_lap_is_whole) {
    const struct record_view mark = {.kind = RECORD_MARK, .text = "b", .text_len = 1};
    cr_assert_eq(region_kit_make(&kit, NULL), 0);
    struct ring_head *head = &kit.region.rings[1];
    while (atomic_load(&head->at) < RING_LAP_BYTES) {
        kit_put_record(&kit, 1, mark);
    }
    pass_run(kit.pass, true, NULL);
    for (int i = 0; i < 1800; i++) {
        kit_put_record(&kit, 1, mark);
    }
    cr_assert_gt(atomic_load(&head->at) - region_tail(&kit.region, 1), KIT_RING);
    cr_assert(is_good(&kit.region));
    region_kit_free(&kit);
}

// The last pass of a process may have done all but its last store.
Test(ring_file, of_a_pass_that_was_not_committed_gives_its_lines_again) {
    cr_assert_eq(region_kit_make(&kit, NULL), 0);
    struct region_head *head = kit.region.head;
    struct region_state before = region_state(&kit.region);
    pass_run(kit.pass, true, NULL);
    struct region_state after = region_state(&kit.region);
    cr_assert_gt(after.end, before.end);
    size_t len = (size_t)(after.end - before.end);
    char *lines = malloc(len);
    memcpy(lines, kit.region.window + before.end, len);
    atomic_fetch_sub(&head->pass, 1);
    memset(kit.region.window + before.end, '?', len);
    cr_assert(is_good(&kit.region));
    uint64_t got = run_on(&kit.region);
    char *again = kit.region.window + before.end;
    // Who goes on names thread and domain again, so it says a little more.
    cr_assert_geq(got, len);
    cr_assert_eq(region_state(&kit.region).lines - before.lines,
                 after.lines - before.lines + (got > len), "%.*s", (int)got, again);
    free(lines);
    region_kit_free(&kit);
}

Test(ring_file, with_any_byte_changed_is_refused_or_harmless) {
    for (size_t at = 0; at < 1200; at += 3) {
        for (unsigned bit = 0; bit < 8; bit += 7) {
            cr_assert_eq(region_kit_make(&kit, NULL), 0);
            struct region *region = &kit.region;
            char *places[] = {(char *)region->head, (char *)region->rings, region_ring(region, 0),
                              region_ring(region, 1), (char *)region->names};
            uint64_t ring_bytes = region->head->ring_bytes, window = region->head->window_bytes;
            uint32_t chunks = atomic_load(&region->head->chunks);
            places[at % 5][at / 5 * 3] ^= (char)(1u << bit);
            region->head->ring_bytes = ring_bytes;
            region->head->window_bytes = window;
            atomic_store(&region->head->chunks, chunks);
            if (is_good(region)) {
                run_on(region);
            }
            region_kit_free(&kit);
        }
    }
}
