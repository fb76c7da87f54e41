// SPDX-License-Identifier: Apache-2.0
//
// Accepting: how many connections at once, at a stop, and when there is no room for them.
#include "daemon/socket/listener.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CROWD 100

static uv_loop_t loop;
static struct listener listener;
static char path[64];
static int peers[CROWD], taken;
static int room;

static int prepare(struct listener *self) {
    (void)self;
    return taken < room ? 0 : LISTENER_NO_ROOM;
}

static void on_connection(struct listener *self, int fd_take) {
    (void)self;
    taken++;
    close(fd_take);
}

static void open_one(void) {
    char why[512];
    snprintf(path, sizeof(path), "/tmp/nvtxt-listener-%d.sock", (int)getpid());
    room = CROWD;
    cr_assert_eq(uv_loop_init(&loop), 0);
    listener = (struct listener){.prepare = prepare, .on_connection = on_connection};
    cr_assert_eq(listener_open(&listener, &loop, path, 0600, (gid_t)-1, why, sizeof(why)), 0, "%s",
                 why);
}

// They wait in the backlog.
static void connect_crowd(int count) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    for (int i = 0; i < count; i++) {
        peers[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        cr_assert_eq(connect(peers[i], (struct sockaddr *)&address, sizeof(address)), 0);
    }
}

static void close_all(int count) {
    for (int i = 0; i < count; i++) {
        close(peers[i]);
    }
    listener_close(&listener);
    cr_assert_neq(access(path, F_OK), 0, "its file is gone");
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&loop), 0);
}

Test(listener, takes_a_bounded_number_a_turn) {
    open_one();
    connect_crowd(CROWD);
    for (int turn = 1; taken < CROWD; turn++) {
        uv_run(&loop, UV_RUN_ONCE);
        cr_assert_leq(taken, turn * LISTENER_ACCEPTS_MAX);
    }
    close_all(CROWD);
}

Test(listener, takes_all_that_wait_before_a_stop) {
    open_one();
    connect_crowd(CROWD);
    listener_take_waiting(&listener);
    cr_assert_eq(taken, CROWD);
    close_all(CROWD);
}

Test(listener, leaves_them_waiting_until_there_is_room) {
    open_one();
    connect_crowd(10);
    room = 3;
    for (int i = 0; i < 5; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    cr_assert_eq(taken, 3);
    cr_assert_not(uv_is_active((uv_handle_t *)&listener.poll), "it would spin");
    room = CROWD;
    listener_go_on(&listener);
    while (taken < 10) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    close_all(10);
}

Test(listener, asks_later_when_the_system_is_short_of_descriptors) {
    struct rlimit before, none = {0};
    open_one();
    connect_crowd(2);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none.rlim_max = before.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    while (!listener.waiting) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    cr_assert_not(uv_is_active((uv_handle_t *)&listener.poll), "it would spin");
    cr_assert(uv_is_active((uv_handle_t *)&listener.again));
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    while (taken < 2) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    close_all(2);
}
