// SPDX-License-Identifier: Apache-2.0
//
// The group of the store is read once, at the start; each connection is asked for its groups when
// it comes.
#include "daemon/control/rights.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/socket/refusals.h"

void rights_init(struct rights *rights, const char *store, mode_t mode) {
    struct stat status;
    *rights = (struct rights){.daemon_uid = (int64_t)geteuid(), .group = -1, .mode = mode};
    if (stat(store, &status) < 0) {
        return;
    }
    rights->group = (int64_t)status.st_gid;
    const struct group *group = getgrgid(status.st_gid);
    snprintf(rights->group_name, sizeof(rights->group_name), "%s", group ? group->gr_name : "");
}

static bool has_group(const gid_t *groups, socklen_t size, int64_t wanted) {
    for (size_t i = 0; i < size / sizeof(*groups); i++) {
        if ((int64_t)groups[i] == wanted) {
            return true;
        }
    }
    return false;
}

// When `few` is too small, the kernel says how much room it needs.
static bool is_member(int fd, int64_t wanted) {
    gid_t few[64], *many = NULL;
    socklen_t size = sizeof(few);
    int r = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, few, &size);
    if (r < 0 && errno == ERANGE) {
        many = malloc(size);
        r = many ? getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, many, &size) : -1;
    }
    bool member = r == 0 && has_group(many ?: few, size, wanted);
    free(many);
    return member;
}

enum rights_level rights_of(const struct rights *rights, int fd, const struct peer *peer) {
    if (peer->uid == 0 || peer->uid == rights->daemon_uid) {
        return RIGHTS_OPERATOR;
    }
    if (rights->mode & S_IROTH) {
        return RIGHTS_READER;
    }
    if (!(rights->mode & S_IRGRP) || rights->group < 0) {
        return RIGHTS_NONE;
    }
    return peer->gid == rights->group || is_member(fd, rights->group) ? RIGHTS_READER : RIGHTS_NONE;
}
