// SPDX-License-Identifier: Apache-2.0
//
// Who may use which commands of the control socket. Readers are those who may read the store: all
// users, or the members of the store's group (also by a supplementary group), as the mode of its
// files says. Operators are root and the user that the daemon runs as. Only what the kernel says of
// the peer counts (SO_PEERCRED, SO_PEERGROUPS of socket(7)), never what the peer says. Loop thread
// only.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct peer;

enum rights_level {
    RIGHTS_NONE,
    RIGHTS_READER,   // commands that change nothing but the time of a commit
    RIGHTS_OPERATOR, // all commands
};

struct rights {
    int64_t daemon_uid;
    int64_t group;       // of the store's files; -1: not known
    mode_t mode;         // of the store's files
    char group_name[64]; // "" when the group has no name
};

// Reads the group of the store's file, which exists; `mode` is what its files get.
void rights_init(struct rights *rights, const char *store, mode_t mode);

// What the peer of the socket `fd` may do.
enum rights_level rights_of(const struct rights *rights, int fd, const struct peer *peer);
