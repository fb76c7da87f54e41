// SPDX-License-Identifier: Apache-2.0
//
// Who may do what on the control socket. Who may read the store may look: everybody, or the members
// of the store's group, as the mode of its files says; a member by a supplementary group counts.
// Root and the user that the daemon runs as may do everything. What the kernel says of the peer
// counts (SO_PEERCRED, SO_PEERGROUPS of socket(7)), never what the peer says. Loop thread only.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct peer;

enum rights_level {
    RIGHTS_NONE,
    RIGHTS_LOOK, // what changes nothing but when it is committed
    RIGHTS_ALL,
};

struct rights {
    int64_t daemon_uid;
    int64_t group;       // of the store's files; -1: not known
    mode_t mode;         // theirs
    char group_name[64]; // "" when it has none
};

// Looks at the store's file, which is there; `mode` is what its files get.
void rights_init(struct rights *rights, const char *store, mode_t mode);

// What the peer behind the socket may do.
enum rights_level rights_of(const struct rights *rights, int fd, const struct peer *peer);
