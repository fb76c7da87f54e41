// SPDX-License-Identifier: Apache-2.0
//
// Replies to a reader that is fast, that is slow, or that has gone, over a pair of sockets.
#include "daemon/socket/outq.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct world {
    uv_loop_t loop;
    uv_pipe_t pipe;
    struct outq outq;
    int reader;
    int drained, status;
};

static struct world world;

static void on_drained(struct outq *outq, int status) {
    (void)outq;
    world.drained++;
    world.status = status;
}

static void set_up(void) {
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    memset(&world, 0, sizeof(world));
    cr_assert_eq(uv_loop_init(&world.loop), 0);
    cr_assert_eq(uv_pipe_init(&world.loop, &world.pipe, 0), 0);
    cr_assert_eq(uv_pipe_open(&world.pipe, pair[0]), 0);
    world.reader = pair[1];
    outq_init(&world.outq, (uv_stream_t *)&world.pipe, OUTQ_LIMIT_BYTES, on_drained);
}

static void tear_down(void) {
    uv_close((uv_handle_t *)&world.pipe, NULL);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    outq_deinit(&world.outq);
    cr_assert_eq(uv_loop_close(&world.loop), 0);
    close(world.reader);
}

static void append(size_t len, char byte) {
    char *data = malloc(len);
    memset(data, byte, len);
    nvtxt_buf_add(outq_buffer(&world.outq), data, len);
    free(data);
}

static size_t read_all(void) {
    static char buffer[65536];
    size_t total = 0;
    ssize_t n;
    while ((n = read(world.reader, buffer, sizeof(buffer))) > 0) {
        total += (size_t)n;
    }
    return total;
}

Test(outq, writes_at_once_what_the_socket_takes) {
    set_up();
    append(100, 'a');
    cr_assert_eq(outq_flush(&world.outq), 0);
    cr_assert(outq_is_empty(&world.outq));
    cr_assert_null(world.outq.waiting.data, "an empty queue holds no memory");
    cr_assert_eq(read_all(), 100);
    cr_assert_eq(world.drained, 0);
    tear_down();
}

Test(outq, keeps_the_order_of_what_has_to_wait) {
    set_up();
    append(700000, 'a');
    cr_assert_eq(outq_flush(&world.outq), 0);
    append(100, 'b');
    cr_assert_eq(outq_flush(&world.outq), 0);
    cr_assert_not(outq_is_empty(&world.outq));
    static char buffer[65536];
    size_t a = 0, b = 0;
    while (a + b < 700100) {
        uv_run(&world.loop, UV_RUN_NOWAIT);
        ssize_t n = read(world.reader, buffer, sizeof(buffer));
        for (ssize_t i = 0; i < n; i++) {
            a += buffer[i] == 'a';
            b += buffer[i] == 'b';
            cr_assert(buffer[i] == 'b' || b == 0);
        }
    }
    uv_run(&world.loop, UV_RUN_NOWAIT);
    cr_assert_eq(world.drained, 1);
    cr_assert_eq(world.status, 0);
    cr_assert(outq_is_empty(&world.outq));
    tear_down();
}

Test(outq, gives_up_a_reader_above_the_limit) {
    set_up();
    int r = 0, pieces = 0;
    for (; r == 0 && pieces < 100; pieces++) {
        append(65536, 'a');
        r = outq_flush(&world.outq);
    }
    cr_assert_eq(r, OUTQ_UNREAD);
    cr_assert_geq((size_t)pieces * 65536, OUTQ_LIMIT_BYTES);
    cr_assert_lt((size_t)pieces * 65536, 3 * OUTQ_LIMIT_BYTES);
    tear_down();
}

Test(outq, brings_much_at_once_to_who_reads) {
    set_up();
    for (int i = 0; i < 3; i++) {
        append(3 * OUTQ_LIMIT_BYTES, 'a');
        cr_assert_eq(outq_flush(&world.outq), 0);
        cr_assert_eq(outq_flush(&world.outq), 0, "nothing was added");
        size_t total = 0;
        while (total < 3 * OUTQ_LIMIT_BYTES) {
            uv_run(&world.loop, UV_RUN_NOWAIT);
            total += read_all();
        }
        uv_run(&world.loop, UV_RUN_NOWAIT);
        cr_assert(outq_is_empty(&world.outq));
    }
    append(3 * OUTQ_LIMIT_BYTES, 'a');
    cr_assert_eq(outq_flush(&world.outq), 0);
    append(2 * OUTQ_LIMIT_BYTES, 'a');
    cr_assert_eq(outq_flush(&world.outq), 0);
    append(1, 'a');
    cr_assert_eq(outq_flush(&world.outq), OUTQ_UNREAD, "who has read neither gets no more");
    tear_down();
}

Test(outq, reports_a_reader_that_is_gone) {
    signal(SIGPIPE, SIG_IGN); // as the daemon does
    set_up();
    shutdown(world.reader, SHUT_RDWR);
    close(world.reader);
    world.reader = -1;
    append(10, 'a');
    cr_assert_eq(outq_flush(&world.outq), OUTQ_BROKEN);
    tear_down();
}

Test(outq, reports_a_failed_append) {
    set_up();
    append(10, 'a');
    outq_buffer(&world.outq)->failed = true;
    cr_assert_eq(outq_flush(&world.outq), -ENOMEM);
    tear_down();
}
