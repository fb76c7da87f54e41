// SPDX-License-Identifier: Apache-2.0
#include "daemon/peer.h"

#include <criterion/criterion.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

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
    peer_look(&peer);
    cr_assert_str_eq(peer.comm, "odd) name (");
    cr_assert_gt(peer.start, 0);
    close(pair[0]);
    close(pair[1]);
}

Test(peer, is_an_error_without_a_socket) {
    struct peer peer;
    cr_assert_lt(peer_get(-1, &peer), 0);
}
