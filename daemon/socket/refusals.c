// SPDX-License-Identifier: Apache-2.0
//
// A user has a place in the table from its first refusal until a second later. The daemon shuts its
// receiving side before it checks what a refused peer has sent, so nothing can come after the
// check.
#include "daemon/socket/refusals.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

bool refusals_allow_answer(struct refusals *refusals, int64_t uid, int64_t now_ns) {
    struct refusals_user *place = NULL;
    for (size_t i = 0; i < REFUSALS_USERS; i++) {
        struct refusals_user *user = &refusals->users[i];
        if (user->answers > 0 && now_ns - user->since_ns >= SECOND_NS) {
            user->answers = 0;
        }
        if (user->answers > 0 && user->uid == uid) {
            place = user;
            break;
        }
        if (user->answers == 0 && !place) {
            place = user;
        }
    }
    if (!place) {
        return false;
    }
    if (place->answers == 0) {
        *place = (struct refusals_user){.uid = uid, .since_ns = now_ns};
    }
    if (place->answers >= REFUSALS_A_SECOND) {
        return false;
    }
    place->answers++;
    return true;
}

// After SHUT_RD the peer cannot send more.
static bool holds_data(int fd, const char *hello) {
    char start[64];
    size_t len = strlen(hello);
    ssize_t n = shutdown(fd, SHUT_RD) < 0 ? 0 : recv(fd, start, sizeof(start), MSG_DONTWAIT);
    if (n <= 0) {
        return false;
    }
    if (len > (size_t)n) {
        len = (size_t)n;
    }
    return memcmp(start, hello, len) != 0;
}

bool refusals_close(int fd_take, const char *reply, size_t len, const char *hello) {
    bool lost = hello && holds_data(fd_take, hello);
    if (reply) { // nothing was sent before: all of it fits, or the peer is gone
        (void)!send(fd_take, reply, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    close(fd_take);
    return lost;
}
