// SPDX-License-Identifier: Apache-2.0
//
// The connection of a client: waits between attempts, reads, and what a failed connect means.
#include "client/session/link.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int64_t delay_of(struct link *link) {
    link_back_off(link, 1000000);
    return link->next_ms - 1000000;
}

Test(link, waits_longer_each_time_up_to_a_bound) {
    struct link link;
    link_init(&link, "/nonexistent");
    cr_assert_eq(delay_of(&link), 0, "the first failure is tried again at once");
    int64_t most = LINK_DELAY_FIRST_MS;
    for (int i = 0; i < 100; i++) {
        int64_t delay = delay_of(&link);
        cr_assert(delay >= most / 2 && delay <= most, "%d: %lld of %lld", i, (long long)delay,
                  (long long)most);
        most = 2 * most < LINK_DELAY_MOST_MS ? 2 * most : LINK_DELAY_MOST_MS;
    }
    link_worked(&link);
    cr_assert_eq(delay_of(&link), 0);
}

Test(link, reads_bytes_nothing_yet_or_the_end) {
    struct link link;
    char data[16];
    size_t got;
    int ends[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    link_init(&link, "/nonexistent");
    link.fd = ends[0];
    cr_assert_eq(link_read(&link, data, sizeof(data), &got), LINK_NOTHING);
    cr_assert_eq(write(ends[1], "welcome", 7), 7);
    cr_assert_eq(link_read(&link, data, 4, &got), 0);
    cr_assert_eq(got, 4);
    cr_assert_eq(link_read(&link, data, sizeof(data), &got), 0);
    cr_assert_eq(got, 3);
    close(ends[1]);
    cr_assert_eq(link_read(&link, data, sizeof(data), &got), LINK_END);
    link_close(&link);
}

Test(link, knows_a_full_queue_from_a_missing_daemon) {
    char folder[] = "/tmp/nvtxt-link-XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct link links[8];
    int result = 0;
    size_t count = 0;
    cr_assert(mkdtemp(folder));
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    link_init(&links[0], address.sun_path);
    cr_assert_lt(link_connect(&links[0]), 0);
    cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    cr_assert_eq(listen(fd, 0), 0);
    for (; result == 0 && count < sizeof(links) / sizeof(links[0]); count++) {
        link_init(&links[count], address.sun_path);
        result = link_connect(&links[count]);
    }
    cr_assert_eq(result, LINK_FULL);
    while (count > 0) {
        link_close(&links[--count]);
    }
    close(fd);
    unlink(address.sun_path);
    rmdir(folder);
}
