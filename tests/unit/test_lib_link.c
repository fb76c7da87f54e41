// SPDX-License-Identifier: Apache-2.0
//
// The library's connection: it never waits, knows what is no daemon, and keeps its hands off
// descriptors that became the program's. The thread of the test is the sender's here.
#include "lib/send/link.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = "/tmp/nvtxt-link-XXXXXX";
static char path[64];

static void start(void) {
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/s", folder);
}

static void end(void) {
    unlink(path);
    rmdir(folder);
}

TestSuite(lib_link, .init = start, .fini = end);

static int listen_at(const char *where, int backlog) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, where);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    cr_assert_eq(listen(fd, backlog), 0);
    return fd;
}

// A link in the program's own table, as where the kernel gives no other.
static struct link shared_link(void) {
    return (struct link){.fd = -1};
}

Test(lib_link, sends_and_receives) {
    struct link link = shared_link();
    char got[10];
    int listener = listen_at(path, 5);
    cr_assert_eq(link_connect(&link, path), 0);
    cr_assert_geq(link.fd, LINK_LOWEST);
    int peer = accept(listener, NULL, NULL);
    cr_assert_eq(link_send(&link, "hello", 5), 5);
    cr_assert_eq(read(peer, got, sizeof(got)), 5);
    cr_assert_eq(link_receive(&link, got, sizeof(got)), 0);
    cr_assert_eq(write(peer, "ack", 3), 3);
    link_wait(&link, false, 10000);
    cr_assert_eq(link_receive(&link, got, sizeof(got)), 3);
    link_close(&link);
    cr_assert_eq(link.fd, -1);
    cr_assert_eq(read(peer, got, sizeof(got)), 0);
}

Test(lib_link, what_the_daemon_said_last_is_read_after_a_send_that_failed) {
    struct link link = shared_link();
    char got[10];
    int listener = listen_at(path, 5);
    cr_assert_eq(link_connect(&link, path), 0);
    int peer = accept(listener, NULL, NULL);
    cr_assert_eq(write(peer, "bye", 3), 3);
    close(peer);
    cr_assert_eq(link_send(&link, "hello", 5), 0); // and no SIGPIPE
    cr_assert_eq(link_receive(&link, got, sizeof(got)), 3);
    cr_assert_eq(link_receive(&link, got, sizeof(got)), -EPIPE);
    cr_assert_eq(link.fd, -1);
    cr_assert_eq(link_send(&link, "hello", 5), 0);
}

Test(lib_link, never_waits) {
    static char much[1 << 20];
    struct link links[3] = {shared_link(), shared_link(), shared_link()};
    listen_at(path, 0);
    int r = 0;
    for (int i = 0; i < 3 && r == 0; i++) {
        r = link_connect(&links[i], path);
    }
    cr_assert_eq(r, -EAGAIN); // the backlog is full
    ssize_t sent;
    while ((sent = link_send(&links[0], much, sizeof(much))) > 0) {
    }
    cr_assert_eq(sent, 0);
}

Test(lib_link, knows_what_is_no_daemon) {
    struct link link = shared_link();
    char file[80], longer[200];
    snprintf(file, sizeof(file), "%s/file", folder);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    cr_assert_eq(link_connect(&link, longer), -ENAMETOOLONG);
    cr_assert_eq(link_connect(&link, ""), -ENAMETOOLONG);
    cr_assert_eq(link_connect(&link, file), -ECONNREFUSED);
    cr_assert_eq(link_connect(&link, folder), -ECONNREFUSED);
    cr_assert_eq(link_connect(&link, path), -ENOENT);
    cr_assert_eq(link.fd, -1);
    unlink(file);
}

Test(lib_link, leaves_a_number_alone_that_is_of_the_program_now) {
    struct link link = shared_link();
    struct stat what;
    char got[10], file[80];
    snprintf(file, sizeof(file), "%s/file", folder);
    listen_at(path, 5);
    cr_assert_eq(link_connect(&link, path), 0);
    int number = link.fd, own = open(file, O_CREAT | O_RDWR, 0600);
    cr_assert_eq(dup2(own, number), number);
    cr_assert_eq(link_send(&link, "hello", 5), 0);
    cr_assert_eq(link_receive(&link, got, sizeof(got)), -EPIPE);
    cr_assert_eq(link.fd, -1);
    cr_assert_eq(fstat(number, &what), 0);
    cr_assert_eq(what.st_size, 0);
    unlink(file);
}

Test(lib_link, tells_its_socket_from_another_one) {
    struct link link = shared_link();
    int ends[2];
    char got[10];
    listen_at(path, 5);
    cr_assert_eq(link_connect(&link, path), 0);
    int number = link.fd;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    cr_assert_eq(dup2(ends[0], number), number);
    cr_assert_eq(link_send(&link, "hello", 5), 0);
    cr_assert_eq(link.fd, -1);
    cr_assert_eq(recv(ends[1], got, sizeof(got), 0), -1, "the program's peer gets nothing");
}

static void *connect_privately(void *of) {
    struct link *link = of;
    link_init(link, true);
    if (link->is_private && link_connect(link, path) < 0) {
        return (void *)"no connection";
    }
    bool is_low = link->fd < LINK_LOWEST;
    link_close(link);
    return link->is_private && !is_low ? (void *)"a high number" : NULL;
}

Test(lib_link, a_table_of_its_own_leaves_the_programs_open) {
    struct link link;
    pthread_t thread;
    void *fault;
    int listener = listen_at(path, 5);
    cr_assert_eq(pthread_create(&thread, NULL, connect_privately, &link), 0);
    pthread_join(thread, &fault);
    cr_assert_null(fault, "%s", (const char *)fault);
    cr_assert_geq(fcntl(listener, F_GETFD), 0);
}
