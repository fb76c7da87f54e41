// SPDX-License-Identifier: Apache-2.0
//
// Which process is at the other end of a socket, and when its number may be that of a later one.
#include "daemon/socket/refusals.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// What every clock but that of the process shows, unless 0.
static time_t seconds_now;

int clock_gettime(clockid_t id, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *);
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int r = real(id, now);
    if (seconds_now && id == CLOCK_BOOTTIME) {
        *now = (struct timespec){.tv_sec = seconds_now};
    }
    return r;
}

// A pid was used again if the process that has it began after the connection.
Test(peer, is_not_a_process_that_began_later) {
    int pair[2];
    struct peer peer;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    cr_assert_eq(peer_get(pair[0], &peer), 0);
    seconds_now = 1; // after the boot of the machine: this process began later
    peer_read_process(&peer);
    cr_assert_eq(peer.pid, getpid());
    cr_assert_str_empty(peer.comm);
    cr_assert_eq(peer.start, 0);
    seconds_now = 0;
    close(pair[0]);
    close(pair[1]);
}

Test(peer, is_what_the_kernel_says) {
    int pair[2];
    struct peer peer;
    cr_assert_eq(prctl(PR_SET_NAME, "odd) name ("), 0);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    cr_assert_eq(peer_get(pair[0], &peer), 0);
    cr_assert_eq(peer.pid, getpid());
    cr_assert_eq(peer.uid, getuid());
    cr_assert_eq(peer.gid, getgid());
    cr_assert_str_empty(peer.comm, "not looked at yet");
    peer_read_process(&peer);
    cr_assert_str_eq(peer.comm, "odd) name (");
    cr_assert_gt(peer.start, 0);
    close(pair[0]);
    close(pair[1]);
}

Test(peer, is_an_error_without_a_socket) {
    struct peer peer;
    cr_assert_lt(peer_get(-1, &peer), 0);
}
