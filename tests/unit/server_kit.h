// SPDX-License-Identifier: Apache-2.0
//
// What tests of the loop's side share: a server on a loop of its own, without a listener and
// without a writer. The test is the writer: it takes jobs from the queue and decides when it gives
// them back.
#pragma once

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/conn/conn.h"
#include "daemon/conn/server.h"

struct kit {
    uv_loop_t loop;
    struct conf config;
    struct server server;
    bool stopped;
};

static inline void kit_on_room(struct server *server) {
    (void)server;
}

static inline void kit_on_stopped(struct server *server) {
    ((struct kit *)server->owner)->stopped = true;
}

static inline void kit_open(struct kit *kit) {
    memset(kit, 0, sizeof(*kit));
    signal(SIGPIPE, SIG_IGN); // as in the daemon
    cr_assert_eq(uv_loop_init(&kit->loop), 0);
    cr_assert_eq(conf_init(&kit->config), 0);
    cr_assert_eq(server_init(&kit->server, &kit->loop, &kit->config, 1), 0);
    kit->server.owner = kit;
    kit->server.on_room = kit->server.on_commit = kit_on_room;
    kit->server.on_stopped = kit_on_stopped;
}

// A pair of sockets: [0] is the client's, [1] goes to the daemon.
static inline void kit_pair(int fds[2]) {
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

// The client's end of a new data connection, which is the first of the server's list.
static inline int kit_connect(struct kit *kit) {
    int fds[2];
    kit_pair(fds);
    cr_assert_eq(conn_prepare(&kit->server), 0);
    conn_accept(&kit->server, fds[1]);
    return fds[0];
}

static inline void kit_send(int fd, const char *text) {
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

// As the writer gives it back when there is nothing in the store.
static inline void kit_finish(struct kit *kit, struct job *job) {
    if (job->kind == JOB_SESSION_LOAD || job->kind == JOB_EXPIRED) {
        job->result = STORE_NOT_FOUND;
    }
    job->next = NULL;
    bqueue_finish(&kit->server.hub.queue, job);
}

// Runs the loop until a job of this kind is there, and takes it; others go back.
static inline struct job *kit_take(struct kit *kit, enum job_kind kind) {
    for (;;) {
        struct job *job = bqueue_try_take(&kit->server.hub.queue);
        if (job && job->kind == kind) {
            return job;
        }
        if (job) {
            kit_finish(kit, job);
        } else {
            uv_run(&kit->loop, UV_RUN_ONCE);
        }
    }
}

// The test has stopped what uses the server and given back all jobs.
static inline void kit_close(struct kit *kit) {
    struct job *job;
    server_abort(&kit->server);
    do {
        while ((job = bqueue_try_take(&kit->server.hub.queue))) {
            kit_finish(kit, job);
        }
        uv_run(&kit->loop, UV_RUN_NOWAIT);
    } while (!kit->stopped || kit->server.hub.queue.head || kit->server.hub.queue.done);
    server_close_handles(&kit->server);
    uv_run(&kit->loop, UV_RUN_DEFAULT);
    server_deinit(&kit->server);
    conf_deinit(&kit->config);
    cr_assert_eq(uv_loop_close(&kit->loop), 0);
}
