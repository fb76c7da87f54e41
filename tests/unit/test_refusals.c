// SPDX-License-Identifier: Apache-2.0
//
// How often one user hears why its connections are refused, and what the refused ones lose.
#include "daemon/socket/refusals.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define HELLO "#nvtxt-session"

Test(refusals, reach_a_user_a_number_of_times_a_second) {
    struct refusals refusals = {0};
    for (int i = 0; i < REFUSALS_A_SECOND; i++) {
        cr_assert(refusals_allow_answer(&refusals, 1000, SECOND + i));
    }
    cr_assert_not(refusals_allow_answer(&refusals, 1000, SECOND + SECOND / 2));
    cr_assert(refusals_allow_answer(&refusals, 1001, SECOND + SECOND / 2), "another one");
    cr_assert(refusals_allow_answer(&refusals, 1000, 2 * SECOND), "the next second");
}

Test(refusals, remember_a_bounded_number_of_users) {
    struct refusals refusals = {0};
    for (int64_t uid = 0; uid < REFUSALS_USERS; uid++) {
        cr_assert(refusals_allow_answer(&refusals, uid, SECOND));
    }
    cr_assert_not(refusals_allow_answer(&refusals, REFUSALS_USERS, SECOND));
    cr_assert(refusals_allow_answer(&refusals, 5, SECOND), "one that is known");
    cr_assert(refusals_allow_answer(&refusals, REFUSALS_USERS, 2 * SECOND),
              "those of before are forgotten");
}

// What the peer of a refused connection reads, after it had sent `sent`.
static bool close_with(const char *sent, const char *reply, char *got, size_t size) {
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    cr_assert_eq(write(pair[0], sent, strlen(sent)), (ssize_t)strlen(sent));
    bool lost = refusals_close(pair[1], reply, reply ? strlen(reply) : 0, HELLO);
    ssize_t n = recv(pair[0], got, size - 1, 0);
    got[n > 0 ? n : 0] = '\0';
    cr_assert_lt(send(pair[0], "x", 1, MSG_NOSIGNAL), 0);
    close(pair[0]);
    return lost;
}

Test(refusals, say_why_and_close) {
    char got[64];
    cr_assert_not(close_with("", "no\n", got, sizeof(got)));
    cr_assert_str_eq(got, "no\n");
    cr_assert_not(close_with("", NULL, got, sizeof(got)));
    cr_assert_str_empty(got);
}

Test(refusals, know_what_is_lost_by_them) {
    char got[64];
    cr_assert(close_with("@Marker, Time\n", "no\n", got, sizeof(got)));
    cr_assert_str_eq(got, "no\n");
    cr_assert(close_with("#", NULL, got, sizeof(got)) == false, "may be a hello");
    cr_assert_not(close_with(HELLO " {}\nMarker, 1\n", "no\n", got, sizeof(got)));
    cr_assert(close_with("# a comment\n", NULL, got, sizeof(got)));
}
