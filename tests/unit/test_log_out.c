// SPDX-License-Identifier: Apache-2.0
//
// A log whose reader stalls: nothing blocks; lines that do not fit are counted, and the count is in
// their place.
#include "daemon/base/log_out.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINES 4000

static char text[LINES * 64];
static int woken;

static size_t format_lost(char *line, size_t size, uint64_t lines) {
    return (size_t)snprintf(line, size, "lost %" PRIu64 "\n", lines);
}

static void on_wait(void *context) {
    (void)context;
    woken++;
}

static void say(struct log_out *out, int from, int to) {
    char line[64];
    for (int i = from; i < to; i++) {
        log_out_write(out, line, (size_t)snprintf(line, sizeof(line), "line %d of the log\n", i));
    }
}

// Reads until nothing more comes of it.
static void read_all(struct log_out *out, int fd) {
    size_t len = 0;
    ssize_t n;
    do {
        log_out_retry(out);
        n = recv(fd, text + len, sizeof(text) - 1 - len, MSG_DONTWAIT);
        if (n < 0) {
            n = read(fd, text + len, sizeof(text) - 1 - len);
        }
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    text[len] = '\0';
}

// Every line is there once and in order, or is counted where it is missing.
static void check(int lines) {
    int next = 0, number, used;
    bool counted = false;
    for (const char *at = text; *at; at += used) {
        if (sscanf(at, "lost %d\n%n", &number, &used) == 1) {
            next += number;
            counted = true;
        } else {
            cr_assert_eq(sscanf(at, "line %d of the log\n%n", &number, &used), 1, "%.40s", at);
            cr_assert_eq(number, next);
            next++;
        }
    }
    cr_assert_eq(next, lines);
    cr_assert(counted);
}

static void stall(int reader, int writer, bool open) {
    struct log_out *out = malloc(sizeof(*out));
    *out = (struct log_out)LOG_OUT_INIT(writer, format_lost);
    cr_assert_neq(fcntl(reader, F_SETFL, O_NONBLOCK), -1);
    if (open) {
        log_out_open(out);
    }
    log_out_set_waker(out, on_wait, NULL);
    say(out, 0, LINES); // nobody reads
    cr_assert_gt(woken, 0);
    cr_assert_gt(out->lost, 0);
    read_all(out, reader);
    cr_assert_not(log_out_retry(out));
    cr_assert_not(fcntl(writer, F_GETFL) & O_NONBLOCK, "others share it");
    check(LINES);
    log_out_close(out);
    free(out);
    close(reader);
    close(writer);
}

// A page: else it takes all lines there are.
static void make_pipe(int ends[2]) {
    cr_assert_eq(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
}

Test(log_out, does_not_wait_for_a_pipe) {
    int ends[2];
    make_pipe(ends);
    stall(ends[0], ends[1], true);
}

Test(log_out, does_not_wait_for_a_pipe_that_it_may_not_open_again) {
    int ends[2];
    make_pipe(ends);
    stall(ends[0], ends[1], false);
}

Test(log_out, does_not_wait_for_a_socket) {
    int pair[2], size = 4096;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    stall(pair[0], pair[1], true);
}

Test(log_out, gives_up_at_the_end_after_a_while) {
    int ends[2];
    make_pipe(ends);
    struct log_out *out = malloc(sizeof(*out));
    *out = (struct log_out)LOG_OUT_INIT(ends[1], format_lost);
    log_out_open(out);
    say(out, 0, LINES);
    log_out_drain(out, 50);
    cr_assert_gt(out->lost, 0);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]); // now nobody will ever read
    log_out_drain(out, 60000);
    cr_assert_eq(out->start, out->end);
    log_out_close(out);
    close(ends[1]);
    free(out);
}

Test(log_out, writes_a_file_at_once) {
    char path[] = "/tmp/nvtxt-log-XXXXXX";
    int fd = mkstemp(path);
    struct log_out *out = malloc(sizeof(*out));
    *out = (struct log_out)LOG_OUT_INIT(fd, format_lost);
    log_out_open(out);
    say(out, 0, LINES);
    cr_assert_eq(out->start, out->end);
    cr_assert_eq(out->lost, 0);
    cr_assert_gt(lseek(fd, 0, SEEK_END), LINES * 10);
    log_out_close(out);
    close(fd);
    unlink(path);
    free(out);
}
