// SPDX-License-Identifier: Apache-2.0
//
// Who connects is asked of the kernel first, and counted for its user. A user with too many
// connections is refused with the descriptor alone: no connection is made for it.
#include "daemon/conn/conn.h"

#include <unistd.h>

#include "daemon/conn/server.h"
#include "daemon/conn/session.h"
#include "protocol/wire/reply.h"

// The user has too many connections. This costs little, however often it happens: nothing is read
// from /proc, and only some connections in a second get a reply.
static void refuse(struct server *server, int fd_take, const struct peer *peer) {
    static const char message[] = "this user has too many connections";
    bool answered = refusals_allow_answer(&server->refusals, peer->uid, nvtxt_boottime_ns());
    struct nvtxt_buf reply = {0};
    if (answered) {
        session_note_refusal(server, peer, NVTXT_ERROR_QUOTA, message);
        nvtxt_reply_error(&reply, NVTXT_ERROR_QUOTA, message);
    } else {
        server->hub.stats.connections_unheard++;
    }
    if (refusals_close(fd_take, nvtxt_buf_failed(&reply) ? NULL : reply.data, reply.len,
                       NVTXT_HELLO_PREFIX)) {
        batcher_lose(&server->hub.batcher, &(struct loss){
                                               .at_ns = nvtxt_realtime_ns(),
                                               .uid = peer->uid,
                                               .pid = answered ? peer->pid : 0,
                                               .reason = LOSS_QUOTA,
                                               .count = 1,
                                           });
    }
    nvtxt_buf_deinit(&reply);
}

void conn_accept(struct server *server, int fd_take) {
    struct peer peer;
    struct quota_user *user = NULL;
    server->hub.stats.connections_total++;
    if (peer_get(fd_take, &peer) < 0) {
        close(fd_take);
        return;
    }
    int r = quota_take(&server->quota, peer.uid, server->hub.config->max_connections_per_user,
                       nvtxt_boottime_ns(), &user);
    if (r > 0) {
        refuse(server, fd_take, &peer);
        return;
    }
    struct conn *conn = conn_new(server, fd_take);
    if (!conn) {
        quota_give(&server->quota, user);
        return;
    }
    conn->user = user;
    conn->peer = peer;
    peer_read_process(&conn->peer);
    if (r < 0) {
        conn_fail(conn);
    } else {
        conn_update_reading(conn);
    }
}
