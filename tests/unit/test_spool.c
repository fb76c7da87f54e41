// SPDX-License-Identifier: Apache-2.0
//
// The spool: lines that were appended can be read from any line on, also by another process. Cut at
// any byte it gives its whole records; with any bit changed it is refused and not touched.
#include "client/spool/spool.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/failing_calls.h"

#define ID "7f0c1a2b-0000-4000-8000-00000000000a"

static char dir[64];
static struct spool spool;
static struct nvtxt_hello hello = {.protocol = 1, .session = ID, .name = "n", .diagnostics = true};

FAILING(struct dirent *, NULL, readdir, (DIR * list), (list))
FAILING(int, -1, fstat, (int fd, struct stat *status), (fd, status))
FAILING(int, -1, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
FAILING(int, -1, fdatasync, (int fd), (fd))
FAILING(int, -1, ftruncate, (int fd, off_t size), (fd, size))
FAILING(int, -1, fsync, (int fd), (fd))

static void begin(uint64_t limit) {
    snprintf(dir, sizeof(dir), "/tmp/test_spool.XXXXXX");
    cr_assert(mkdtemp(dir));
    cr_assert_eq(spool_create(&spool, dir, &hello, limit, false), 0, "%s", spool.fault);
}

static void append(const char *text, uint32_t lines) {
    cr_assert_eq(spool_append(&spool, text, strlen(text), lines), 0, "%s", spool.fault);
}

// All lines after `line`, as one string.
static const char *lines_after(uint64_t line) {
    static char text[4096];
    struct segment_record record;
    size_t len = 0;
    while (spool_next(&spool, line, &record) == 0) {
        memcpy(text + len, record.data, record.len);
        len += record.len;
        line += record.lines;
    }
    text[len] = '\0';
    cr_assert_eq(line, spool.last);
    return text;
}

static int take_over(void) {
    struct nvtxt_hello read;
    spool_close(&spool);
    int result = spool_open(&spool, dir, ID, &read);
    if (result == 0) {
        cr_assert_str_eq(read.name, "n");
    }
    return result;
}

static void end(void) {
    spool_remove(&spool);
    spool_close(&spool);
    cr_assert_eq(rmdir(dir), 0, "everything is removed");
}

// Begins to take over lines 7 and 8 of a session, and puts nothing under its name.
static void adopt_two(void) {
    cr_assert_eq(spool_adopt(&spool, dir, &hello, 7), 0, "%s", spool.fault);
    append("seven\neight\n", 2);
}

static char *segment_path(uint64_t number) {
    static char path[256];
    snprintf(path, sizeof(path), "%s/" ID ".%06llu.segment", dir, (unsigned long long)number);
    return path;
}

// ---- Lines of other files

Test(spool, that_is_adopted_begins_with_its_line) {
    struct nvtxt_hello read;
    snprintf(dir, sizeof(dir), "/tmp/test_spool.XXXXXX");
    cr_assert(mkdtemp(dir));
    adopt_two();
    cr_assert_eq(spool_publish(&spool), 0);
    cr_assert_eq(take_over(), 0);
    cr_assert_eq(spool_first(&spool), 7);
    cr_assert_str_eq(lines_after(6), "seven\neight\n");
    struct spool second;
    cr_assert_eq(spool_adopt(&second, dir, &hello, 7), SPOOL_BUSY, "there is one already");
    spool_close(&second);
    end();
    cr_assert(mkdtemp(strcpy(dir, "/tmp/test_spool.XXXXXX")));
    cr_assert_eq(spool_adopt(&spool, dir, &hello, 9), 0);
    cr_assert_eq(spool_publish(&spool), 0);
    spool_close(&spool);
    cr_assert_eq(spool_open(&spool, dir, ID, &read), 0,
                 "the session is to be ended, without lines");
    cr_assert_eq(spool_first(&spool), 9);
    end();
}

Test(spool, that_is_half_adopted_is_nobodys_and_is_made_anew) {
    struct nvtxt_hello read;
    struct spool other;
    char **sessions;
    snprintf(dir, sizeof(dir), "/tmp/test_spool.XXXXXX");
    cr_assert(mkdtemp(dir));
    for (int killed = 0; killed < 2; killed++) {
        adopt_two();
        if (killed) {
            spool_close(&spool);
        }
        cr_assert_eq(spool_list(dir, &sessions), 1);
        free(sessions[0]);
        free(sessions);
        cr_assert_eq(spool_open(&other, dir, ID, &read), SPOOL_BUSY);
        spool_close(&other);
        if (!killed) {
            spool_close(&spool);
        }
    }
    adopt_two();
    cr_assert_eq(spool_publish(&spool), 0);
    cr_assert_eq(take_over(), 0);
    cr_assert_str_eq(lines_after(6), "seven\neight\n");
    end();
    cr_assert(mkdtemp(strcpy(dir, "/tmp/test_spool.XXXXXX")));
    adopt_two();
    spool_abandon(&spool);
    spool_close(&spool);
    cr_assert_eq(rmdir(dir), 0, "nothing is left");
}

Test(crc32c, has_the_published_values) {
    struct crc32c crc;
    char zeros[32] = {0};
    crc32c_init(&crc);
    cr_assert_eq(crc32c_add(&crc, 0, "123456789", 9), 0xe3069283u);
    cr_assert_eq(crc32c_add(&crc, 0, zeros, 32), 0x8a9136aau); // RFC 3720, B.4
    for (size_t i = 0; i <= 9; i++) {
        cr_assert_eq(crc32c_add(&crc, crc32c_add(&crc, 0, "123456789", i), "123456789" + i, 9 - i),
                     0xe3069283u);
    }
}

Test(spool, gives_back_what_it_got_from_any_line_on) {
    begin(SPOOL_LIMIT);
    struct segment_record record;
    cr_assert_eq(spool_next(&spool, 0, &record), SPOOL_NONE);
    append("1\n2\n3\n", 3);
    append("4\n", 1);
    for (int again = 0; again < 2; again++) {
        cr_assert_str_eq(lines_after(0), "1\n2\n3\n4\n");
        cr_assert_str_eq(lines_after(1), "2\n3\n4\n");
        cr_assert_str_eq(lines_after(3), "4\n");
        cr_assert_str_eq(lines_after(2), "3\n4\n", "backwards too");
        cr_assert_str_eq(lines_after(4), "");
        if (!again) {
            spool_seen(&spool);
            append("5\n6\n", 2);
            cr_assert_str_eq(lines_after(4), "5\n6\n");
            spool_ack(&spool, 4);
            cr_assert_eq(spool_first(&spool), 1, "the last segment stays");
            cr_assert_eq(spool_sync(&spool), 0);
            spool.last -= 2; // as if they were not there, for the second round
        }
    }
    spool.last += 2;
    cr_assert_eq(take_over(), 0);
    cr_assert_str_eq(spool.fault, "");
    cr_assert_str_eq(lines_after(3), "4\n5\n6\n");
    end();
}

Test(spool, is_bounded_and_acknowledged_segments_go) {
    static char block[65536];
    begin(SPOOL_LIMIT_LEAST);
    memset(block, 'x', sizeof(block));
    block[sizeof(block) - 1] = '\n';
    uint64_t lines = 0;
    while (spool_append(&spool, block, sizeof(block), 1) == 0) {
        lines++;
    }
    cr_assert(lines > 55 && lines < 64, "%llu", (unsigned long long)lines);
    cr_assert_not(spool.disk_full);
    size_t count = spool.count;
    spool_ack(&spool, lines / 2);
    cr_assert_lt(spool.count, count);
    cr_assert_leq(spool_first(&spool), lines / 2 + 1);
    cr_assert_neq(access(segment_path(1), F_OK), 0, "its file is gone");
    append("more\n", 1);
    cr_assert_eq(take_over(), 0, "%s", spool.fault);
    cr_assert_eq(spool.last, lines + 1);
    struct segment_record record;
    cr_assert_eq(spool_next(&spool, lines, &record), 0);
    cr_assert_eq(record.len, 5);
    end();
}

Test(spool, begins_its_last_segment_anew_when_all_is_acknowledged) {
    static char block[600000];
    begin(SPOOL_LIMIT_LEAST);
    memset(block, '\n', sizeof(block));
    cr_assert_eq(spool_append(&spool, block, sizeof(block), sizeof(block)), 0);
    spool_ack(&spool, sizeof(block));
    cr_assert_eq(spool.segments[0].size, SEGMENT_HEAD_BYTES);
    append("next\n", 1);
    cr_assert_str_eq(lines_after(sizeof(block)), "next\n");
    cr_assert_eq(take_over(), 0);
    cr_assert_eq(spool_first(&spool), sizeof(block) + 1);
    cr_assert_str_eq(lines_after(sizeof(block)), "next\n");
    end();
}

Test(spool, keeps_its_head_when_it_cannot_be_cut) {
    static char block[600000];
    begin(SPOOL_LIMIT_LEAST);
    memset(block, '\n', sizeof(block));
    cr_assert_eq(spool_append(&spool, block, sizeof(block), sizeof(block)), 0);
    good_ftruncate = 0;
    spool_ack(&spool, sizeof(block));
    good_ftruncate = -1;
    cr_assert_gt(spool.segments[0].size, sizeof(block), "it did not begin anew");
    cr_assert_eq(take_over(), 0, "%s", spool.fault);
    cr_assert_eq(spool_first(&spool), 1);
    cr_assert_eq(spool.last, sizeof(block));
    end();
}

Test(spool, reports_dropped_lines_where_they_would_be) {
    static const char wanted[] = "1\n#nvtxt-lost {\"lines\":7,\"reason\":\"full\"}\n2\n";
    begin(SPOOL_LIMIT);
    append("1\n", 1);
    cr_assert_eq(spool_lose(&spool, 5), 0);
    cr_assert_str_eq(lines_after(0), "1\n", "it may grow: not given out");
    cr_assert_eq(spool_lose(&spool, 2), 0);
    append("2\n", 1);
    cr_assert_eq(spool.last, 3);
    cr_assert_str_eq(lines_after(0), wanted);
    cr_assert_str_eq(lines_after(2), "2\n");
    cr_assert_eq(take_over(), 0);
    cr_assert_str_eq(lines_after(0), wanted);
    end();
}

Test(spool, keeps_the_count_of_a_loss_that_is_open_when_it_dies) {
    begin(SPOOL_LIMIT);
    append("1\n", 1);
    cr_assert_eq(spool_lose(&spool, 5), 0);
    cr_assert_eq(take_over(), 0);
    for (int again = 0; again < 2; again++) {
        cr_assert_str_eq(lines_after(0), "1\n#nvtxt-lost {\"lines\":5,\"reason\":\"full\"}\n");
        spool_ack(&spool, 1);
        cr_assert_eq(take_over(), 0);
    }
    end();
}

Test(spool, settles_a_loss_when_there_is_room_or_no_more_input) {
    begin(SPOOL_LIMIT);
    cr_assert_eq(spool_settle(&spool, false), 0);
    cr_assert_eq(spool.last, 0);
    spool_lose(&spool, 1);
    spool.used += SPOOL_LIMIT;
    cr_assert_eq(spool_settle(&spool, false), 0);
    cr_assert_eq(spool.last, 0, "no room");
    spool.used -= SPOOL_LIMIT;
    cr_assert_eq(spool_settle(&spool, false), 0);
    cr_assert_eq(spool.last, 1);
    spool_lose(&spool, 2);
    cr_assert_eq(spool_settle(&spool, true), 0);
    cr_assert_str_eq(lines_after(0), "#nvtxt-lost {\"lines\":1,\"reason\":\"full\"}\n"
                                     "#nvtxt-lost {\"lines\":2,\"reason\":\"full\"}\n");
    end();
}

Test(spool, survives_a_full_disk) {
    begin(SPOOL_LIMIT);
    append("1\n", 1);
    int good = dup(spool.tail_fd);
    int full = open("/dev/full", O_RDWR);
    dup2(full, spool.tail_fd);
    cr_assert_eq(spool_append(&spool, "2\n", 2, 1), SPOOL_FULL);
    cr_assert(spool.disk_full);
    cr_assert(strstr(spool.fault, "No space left"), "%s", spool.fault);
    dup2(good, spool.tail_fd);
    spool_ack(&spool, 1);
    cr_assert_eq(spool.segments[0].size, SEGMENT_HEAD_BYTES, "all room is given back");
    append("2\n", 1);
    cr_assert_not(spool.disk_full);
    cr_assert_str_eq(lines_after(1), "2\n");
    close(good);
    close(full);
    end();
}

// Files can have 300 bytes, of which a head takes 80, and 12 each record.
static void begin_with_small_files(void) {
    struct rlimit small = {300, 300};
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    begin(SPOOL_LIMIT);
}

static char hundred[101];

static void append_hundred(void) {
    memset(hundred, 'x', 99);
    hundred[99] = '\n';
    append(hundred, 1);
}

Test(spool, uses_the_room_of_acknowledged_lines_first) {
    begin_with_small_files();
    for (uint64_t line = 1; line <= 5; line++) {
        append_hundred();
        cr_assert_not(spool.disk_full);
        cr_assert_eq(spool.count, 1, "no other file was needed");
        cr_assert_str_eq(lines_after(line - 1), hundred);
        spool_ack(&spool, line);
    }
    append_hundred();
    cr_assert_eq(take_over(), 0, "%s", spool.fault);
    cr_assert_str_eq(lines_after(5), hundred);
    end();
}

Test(spool, begins_another_file_where_one_cannot_grow) {
    char longest[208];
    begin_with_small_files();
    for (int i = 0; i < 4; i++) {
        append_hundred();
    }
    cr_assert_eq(spool.count, 4);
    memset(longest, '\n', sizeof(longest));
    cr_assert_eq(spool_append(&spool, longest, 208, 208), 0, "%s", spool.fault);
    cr_assert_eq(spool_append(&spool, longest, 200, 200), 0, "%s", spool.fault);
    cr_assert_eq(take_over(), 0, "%s", spool.fault);
    cr_assert_eq(spool.last, 4 + 408);
    end();
}

Test(spool, says_when_fewer_lines_may_find_room) {
    char more[209];
    begin_with_small_files();
    memset(more, '\n', sizeof(more));
    cr_assert_eq(spool_append(&spool, more, 209, 209), SPOOL_FULL);
    cr_assert(spool.disk_full);
    cr_assert(spool_wants_less(&spool));
    cr_assert_eq(spool_append(&spool, more, 208, 208), 0);
    cr_assert_not(spool_wants_less(&spool));
    end();
}

Test(spool, belongs_to_one_process) {
    struct spool other;
    struct nvtxt_hello read;
    begin(SPOOL_LIMIT);
    cr_assert_eq(spool_open(&other, dir, ID, &read), SPOOL_BUSY);
    spool_close(&other);
    char **sessions;
    cr_assert_eq(spool_list(dir, &sessions), 1);
    cr_assert_str_eq(sessions[0], ID);
    free(sessions[0]);
    free(sessions);
    end();
    cr_assert_lt(spool_list(dir, &sessions), 0);
}

// ---- Damage -------------------------------------------------------------------------------------

static size_t file_size(const char *path) {
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    return (size_t)status.st_size;
}

static void put_file(const char *path, const char *data, size_t len) {
    int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
    cr_assert_eq(write(fd, data, len), (ssize_t)len);
    close(fd);
}

static size_t get_file(const char *path, char *data, size_t size) {
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, data, size);
    close(fd);
    return (size_t)n;
}

// The whole text, or its beginning up to the end of a record.
static void assert_whole_records(const char *text) {
    static const char *const beginnings[] = {"", "one\n", "one\ntwo\n3\n", "one\ntwo\n3\nfour\n"};
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(text, beginnings[i]) == 0) {
            return;
        }
    }
    cr_assert_fail("'%s'", text);
}

static size_t write_three_records(char *data, size_t size) {
    begin(SPOOL_LIMIT);
    append("one\n", 1);
    append("two\n3\n", 2);
    append("four\n", 1);
    return get_file(segment_path(1), data, size);
}

Test(spool, cut_at_every_byte_gives_its_whole_records) {
    char data[512];
    size_t len = write_three_records(data, sizeof(data));
    for (size_t cut = 0; cut < len; cut++) {
        put_file(segment_path(1), data, cut);
        int result = take_over();
        if (cut < SEGMENT_HEAD_BYTES) {
            cr_assert_eq(result, SPOOL_NONE);
            cr_assert_eq(*spool.fault != '\0', cut > 0);
            continue;
        }
        const char *text = result == SPOOL_NONE ? "" : lines_after(0);
        assert_whole_records(text);
        size_t records = (size_t)(text[0] != 0) + (strlen(text) > 4) + (strlen(text) > 10);
        size_t whole = SEGMENT_HEAD_BYTES + records * SEGMENT_RECORD_BYTES + strlen(text);
        cr_assert_leq(whole, cut);
        cr_assert(cut - whole < SEGMENT_RECORD_BYTES + 6, "no whole record is left out");
        char offset[64];
        snprintf(offset, sizeof(offset), ": %zu bytes from offset %zu on", cut - whole, whole);
        cr_assert(cut == whole ? !*spool.fault : strstr(spool.fault, offset) != NULL, "%s",
                  spool.fault);
    }
    end();
}

Test(spool, changed_at_any_bit_is_left_as_it_is) {
    char data[512];
    size_t len = write_three_records(data, sizeof(data));
    for (size_t i = 0; i < 8 * len; i++) {
        char changed[512];
        memcpy(changed, data, len);
        changed[i / 8] = (char)(changed[i / 8] ^ 1 << i % 8);
        put_file(segment_path(1), changed, len);
        int result = take_over();
        cr_assert_eq(result, SPOOL_BAD, "bit %zu", i);
        cr_assert(*spool.fault, "bit %zu", i);
    }
    end();
}

// Twelve records of lines whose length is no power of two.
static size_t write_blocks(char *data, size_t size) {
    char block[7000];
    begin(SPOOL_LIMIT);
    for (int i = 0; i < 12; i++) {
        for (size_t at = 0; at < sizeof(block); at++) {
            block[at] = at % 70 == 69 ? '\n' : (char)('a' + i);
        }
        cr_assert_eq(spool_append(&spool, block, sizeof(block), 100), 0);
    }
    return get_file(segment_path(1), data, size);
}

#define BLOCK_RECORD (SEGMENT_RECORD_BYTES + 7000u)

Test(spool, takes_damage_before_a_whole_record_for_no_cut_end) {
    static char data[100000];
    size_t len = write_blocks(data, sizeof(data));
    for (size_t at = SEGMENT_HEAD_BYTES; at < len - BLOCK_RECORD; at += 1 + at % 977) {
        for (size_t bytes = 1; bytes < 6000; bytes *= 8) {
            char saved[6000];
            size_t n = len - BLOCK_RECORD - at < bytes ? len - BLOCK_RECORD - at : bytes;
            memcpy(saved, data + at, n);
            memset(data + at, at & 1 ? 0 : '\n', n);
            bool same = memcmp(saved, data + at, n) == 0;
            put_file(segment_path(1), data, len);
            int result = take_over();
            cr_assert_eq(result, same ? 0 : SPOOL_BAD, "%zu bytes at %zu: %d", n, at, result);
            cr_assert(same || strstr(spool.fault, "is damaged"), "%s", spool.fault);
            cr_assert_eq(file_size(segment_path(1)), len);
            memcpy(data + at, saved, n);
        }
    }
    end();
}

Test(spool, leaves_out_an_end_that_was_not_written) {
    static char data[100000];
    size_t len = write_blocks(data, sizeof(data));
    size_t last = len - BLOCK_RECORD;
    size_t block = (last + 4095) / 4096 * 4096;
    const size_t holes[][2] = {{last, len}, {block, len}, {last, block}, {block, block + 512}};
    for (size_t i = 0; i < 4; i++) {
        char saved[BLOCK_RECORD];
        memcpy(saved, data + last, sizeof(saved));
        memset(data + holes[i][0], 0, holes[i][1] - holes[i][0]);
        put_file(segment_path(1), data, len);
        cr_assert_eq(take_over(), 0, "%zu: %s", i, spool.fault);
        cr_assert(strstr(spool.fault, "left out"), "%s", spool.fault);
        cr_assert_eq(spool.last, 1100);
        memcpy(data + last, saved, sizeof(saved));
    }
    memset(data, 0, len);
    put_file(segment_path(1), data, len);
    cr_assert_eq(take_over(), SPOOL_NONE);
    data[len - 1] = '\n';
    put_file(segment_path(1), data, len);
    cr_assert_eq(take_over(), SPOOL_BAD);
    end();
}

Test(spool, knows_the_records_of_before_it_began_anew) {
    char data[512];
    size_t len = write_three_records(data, sizeof(data));
    struct segment_head head = {.session = ID, .first = 5};
    cr_assert_eq(segment_write_head(spool.tail_fd, &spool.crc, &head), 0); // and it was killed
    cr_assert_eq(take_over(), 0, "%s", spool.fault);
    cr_assert_eq(spool.last, 4);
    cr_assert_eq(spool_first(&spool), 5);
    get_file(segment_path(1), data, sizeof(data));
    data[len - 2] ^= 1;
    data[SEGMENT_HEAD_BYTES + SEGMENT_RECORD_BYTES] ^= 1;
    put_file(segment_path(1), data, len);
    cr_assert_eq(take_over(), SPOOL_BAD, "nobody knows whose they are");
    end();
}

Test(spool, knows_them_when_the_disk_lacks_the_last_of_them) {
    static char data[100000];
    size_t len = write_blocks(data, sizeof(data));
    struct segment_head head = {.session = ID, .first = spool.last + 1};
    cr_assert_eq(segment_write_head(spool.tail_fd, &spool.crc, &head), 0);
    get_file(segment_path(1), data, SEGMENT_HEAD_BYTES);
    for (size_t kept = len; kept > SEGMENT_HEAD_BYTES + BLOCK_RECORD; kept -= kept / 7) {
        put_file(segment_path(1), data, kept);
        cr_assert_eq(take_over(), 0, "%zu bytes: %s", kept, spool.fault);
        cr_assert_eq(spool.last + 1, head.first);
    }
    end();
}

// ---- Onto the disk ------------------------------------------------------------------------------

Test(spool, a_sync_that_fails_is_no_passing_condition) {
    begin(SPOOL_LIMIT);
    append("1\n", 1);
    good_fdatasync = 0;
    cr_assert_eq(spool_sync(&spool), -EIO);
    cr_assert(strstr(spool.fault, ".000001.segment: cannot be synced: "), "%s", spool.fault);
    good_fdatasync = -1;
    cr_assert_eq(spool_sync(&spool), -EIO, "the pages are forgotten: this would mean nothing");
    cr_assert_eq(spool_append(&spool, "2\n", 2, 1), -EIO);
    cr_assert_not(spool.disk_full);
    end();
}

Test(spool, a_folder_that_cannot_be_synced_is_reported) {
    begin(SPOOL_LIMIT);
    append("1\n", 1);
    good_fsync = 0;
    cr_assert_eq(spool_sync(&spool), -EIO);
    cr_assert(strstr(spool.fault, dir) && strstr(spool.fault, "cannot be synced"));
    good_fsync = -1;
    end();
}

Test(spool, a_segment_is_on_the_disk_before_the_next_one_begins) {
    static char block[600000];
    begin(SPOOL_LIMIT_LEAST);
    memset(block, '\n', sizeof(block));
    cr_assert_eq(spool_append(&spool, block, sizeof(block), sizeof(block)), 0);
    good_fdatasync = 0;
    cr_assert_eq(spool_append(&spool, block, sizeof(block), sizeof(block)), -EIO);
    cr_assert(strstr(spool.fault, ".000001.segment: cannot be synced: "), "%s", spool.fault);
    cr_assert_eq(spool.count, 1);
    good_fdatasync = -1;
    cr_assert_eq(take_over(), 0);
    cr_assert_eq(spool.last, sizeof(block));
    end();
}

Test(spool, a_lasting_one_syncs_what_begins_anew) {
    static char block[600000];
    begin(SPOOL_LIMIT_LEAST);
    spool.lasting = true;
    memset(block, '\n', sizeof(block));
    cr_assert_eq(spool_append(&spool, block, sizeof(block), sizeof(block)), 0);
    spool_ack(&spool, sizeof(block));
    cr_assert_eq(spool.segments[0].size, SEGMENT_HEAD_BYTES);
    cr_assert_not(spool.dirty);
    end();
}

Test(spool, a_lasting_one_is_not_made_when_its_folder_cannot_be_synced) {
    snprintf(dir, sizeof(dir), "/tmp/test_spool.XXXXXX");
    cr_assert(mkdtemp(dir));
    for (int good = 0; good < 2; good++) { // the parent; the folder with the session file
        good_fsync = good;
        cr_assert_eq(spool_create(&spool, dir, &hello, SPOOL_LIMIT, true), -EIO);
        good_fsync = -1;
        spool_close(&spool);
    }
    good_fdatasync = 0; // of the session file
    cr_assert_eq(spool_create(&spool, dir, &hello, SPOOL_LIMIT, true), -EIO);
    good_fdatasync = -1;
    spool_close(&spool);
    cr_assert_eq(rmdir(dir), 0, "nothing is left");
}

Test(spool, keeps_its_files_when_the_last_head_is_damaged) {
    begin(SPOOL_LIMIT);
    append("1\n", 1);
    spool_lose(&spool, 5);
    append("3\n", 1);
    cr_assert_eq(spool.count, 2);
    char data[512];
    size_t len = get_file(segment_path(2), data, sizeof(data));
    for (size_t i = 0; i < SEGMENT_HEAD_BYTES; i++) {
        data[i] ^= 4;
        put_file(segment_path(2), data, len);
        cr_assert_eq(take_over(), SPOOL_BAD, "byte %zu", i);
        data[i] ^= 4;
    }
    put_file(segment_path(2), data, len);
    cr_assert_eq(take_over(), 0);
    cr_assert_eq(spool.last, 3);
    end();
}

Test(spool, takes_no_fault_of_the_disk_for_an_end) {
    static char block[300000];
    begin(SPOOL_LIMIT);
    memset(block, '\n', sizeof(block));
    cr_assert_eq(spool_append(&spool, block, sizeof(block), sizeof(block)), 0);
    int faults = 0;
    for (int good = 0; good < 12; good++) {
        good_readdir = good % 6;
        good_fstat = -1;
        if (good >= 6) {
            good_fstat = good_readdir;
            good_readdir = -1;
        }
        int *left = good < 6 ? &good_readdir : &good_fstat;
        int result = take_over();
        cr_assert_eq(result, *left == 0 && *spool.fault ? -EIO : 0, "%d: %d", good, result);
        cr_assert(result == 0 || strstr(spool.fault, strerror(EIO)), "%s", spool.fault);
        faults += result != 0;
    }
    cr_assert_geq(faults, 6, "%d", faults);
    good_fstat = -1;
    good_readdir = 2;
    char **sessions;
    cr_assert_eq(spool_list(dir, &sessions), -EIO);
    good_readdir = -1;
    cr_assert_eq(take_over(), 0);
    end();
}

Test(spool, can_be_resumed_when_a_file_cannot_be_removed) {
    static char block[600000];
    begin(SPOOL_LIMIT_LEAST);
    memset(block, '\n', sizeof(block));
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(spool_append(&spool, block, sizeof(block), sizeof(block)), 0);
    }
    good_unlinkat = 1;
    spool_ack(&spool, spool.last);
    cr_assert_eq(spool.count, 2, "the first one is gone");
    cr_assert_gt(spool.segments[1].size, SEGMENT_HEAD_BYTES);
    cr_assert_eq(spool_remove(&spool), -EIO);
    cr_assert(strstr(spool.fault, "000002.segment: cannot be removed: "), "%s", spool.fault);
    good_unlinkat = -1;
    cr_assert_eq(take_over(), 0, "%s", spool.fault);
    cr_assert_eq(spool_first(&spool), sizeof(block) + 1);
    cr_assert_eq(spool.last, 3 * sizeof(block));
    struct segment_record record;
    cr_assert_eq(spool_next(&spool, 2 * sizeof(block) - 1, &record), 0);
    good_unlinkat = 2;
    cr_assert_eq(spool_remove(&spool), -EIO);
    good_unlinkat = -1;
    cr_assert_eq(take_over(), SPOOL_NONE, "only its session file is left");
    end();
}

Test(spool, misses_its_session_file_only_when_lines_are_left) {
    begin(SPOOL_LIMIT);
    append("1\n", 1);
    spool_lose(&spool, 5);
    append("3\n", 1);
    char path[256];
    char **sessions;
    snprintf(path, sizeof(path), "%s/" ID ".session", dir);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(spool_list(dir, &sessions), 1, "two segments are of one session");
    cr_assert_str_eq(sessions[0], ID);
    free(sessions[0]);
    free(sessions);
    cr_assert_eq(take_over(), SPOOL_BAD);
    cr_assert(strstr(spool.fault, ID ".session: it is missing"), "%s", spool.fault);
    unlink(segment_path(1));
    unlink(segment_path(2));
    cr_assert_eq(take_over(), SPOOL_BUSY, "it has just ended");
    cr_assert_eq(spool_list(dir, &sessions), 0);
    end();
}

Test(spool, refuses_segments_that_do_not_fit_together) {
    static char block[700000];
    char saved[SEGMENT_HEAD_BYTES];
    begin(SPOOL_LIMIT_LEAST);
    memset(block, '\n', sizeof(block));
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(spool_append(&spool, block, sizeof(block), sizeof(block)), 0);
    }
    cr_assert_eq(spool.count, 3);

    cr_assert_eq(truncate(segment_path(1), 5000), 0); // not the last one
    cr_assert_eq(take_over(), 0, "it is read when it is wanted");
    struct segment_record record;
    cr_assert_eq(spool_next(&spool, 0, &record), SPOOL_BAD);
    cr_assert(strstr(spool.fault, "000001.segment: the record at offset 80 is damaged"), "%s",
              spool.fault);
    cr_assert_eq(spool_next(&spool, sizeof(block), &record), 0, "the others are sound");

    get_file(segment_path(2), saved, sizeof(saved));
    char *path = strdup(segment_path(2));
    char moved[256];
    snprintf(moved, sizeof(moved), "%s/x", dir);
    rename(path, moved);
    cr_assert_eq(take_over(), SPOOL_BAD);
    cr_assert(strstr(spool.fault, "000002.segment: it is missing"), "%s", spool.fault);
    put_file(path, saved, 10);
    cr_assert_eq(take_over(), SPOOL_BAD);
    cr_assert(strstr(spool.fault, "000002.segment: the head"), "%s", spool.fault);
    rename(moved, path);
    cr_assert_eq(truncate(segment_path(3), 12), 0); // killed while it was made
    cr_assert_eq(take_over(), 0);
    cr_assert_eq(spool.last, 2 * sizeof(block));
    cr_assert_eq(file_size(path), SEGMENT_HEAD_BYTES + SEGMENT_RECORD_BYTES + sizeof(block));
    free(path);
    end();
}

Test(spool, takes_no_record_of_another_place_for_one) {
    char data[512];
    size_t len = write_three_records(data, sizeof(data));
    size_t first = SEGMENT_RECORD_BYTES + 4;
    memmove(data + SEGMENT_HEAD_BYTES, data + SEGMENT_HEAD_BYTES + first,
            len - SEGMENT_HEAD_BYTES - first);
    put_file(segment_path(1), data, len - first);
    cr_assert_eq(take_over(), SPOOL_BAD);
    cr_assert(*spool.fault);
    end();
}

Test(spool, keeps_an_open_loss_when_its_segment_begins_anew) {
    begin(SPOOL_LIMIT);
    append("1\n", 1);
    spool_lose(&spool, 5);
    spool_ack(&spool, 1);
    cr_assert_eq(spool.segments[0].size, SEGMENT_HEAD_BYTES);
    cr_assert_eq(take_over(), 0);
    cr_assert_eq(spool_first(&spool), 2);
    cr_assert_str_eq(lines_after(1), "#nvtxt-lost {\"lines\":5,\"reason\":\"full\"}\n");
    end();
}

Test(spool, keeps_a_segment_until_its_last_line_is_acknowledged) {
    begin(SPOOL_LIMIT);
    append("1\n2\n", 2);
    spool_lose(&spool, 5);
    append("4\n", 1);
    cr_assert_eq(spool.count, 2);
    spool_ack(&spool, 2);
    cr_assert_eq(spool.count, 2, "the loss is not reported yet");
    spool_ack(&spool, 3);
    cr_assert_eq(spool.count, 1);
    cr_assert_str_eq(lines_after(3), "4\n");
    end();
}
