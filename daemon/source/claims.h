// SPDX-License-Identifier: Apache-2.0
//
// What a source may do with a process: the guard of its interpreter. When a source uses or names a
// process for the first time, it looks at it in /proc, once. A process that is alive is its user's,
// as the kernel says, against older claims; their names go. One that is gone, or not shown, is of
// the user for whom it was proven, or else of who uses or names it first, until another user uses
// it, too: then it has its neutral name for both, until somebody proves it. So a name may be lost,
// never forged. Root may name every process.
//
// A peer of another pid namespace knows other numbers than we do: for those of its events there is
// no look.
//
// With Claim=peer a source may use its peer, the living descendants of it, and processes that are
// gone and are not proven another user's.
//
// A source forgets what it has looked at when the store goes on in another file, so that each file
// has the owner of each process that it names. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/socket/refusals.h"

struct batcher;
struct nvtxt_interp;

struct claims {
    struct batcher *batcher; // borrowed
    const struct peer *peer; // borrowed: of the source
    bool is_file;            // the source has an owner, and no peer
    bool claimed;            // Claim=peer holds for it
    uint32_t *seen;          // owned: a hash table of numbers with marks; NULL: none yet
    uint32_t room, count;
    uint32_t stores;   // the number of the store's file that `seen` is of
    uint32_t last;     // the process that was used last, with a mark; 0: none
    uint8_t elsewhere; // whether the peer has a pid namespace of its own, once that is known
};

void claims_guard(struct claims *claims, struct nvtxt_interp *interp);
void claims_deinit(struct claims *claims);

size_t claims_bytes(const struct claims *claims); // what it keeps

// The peer itself, before the first line: it is its user's if it is alive, or if it is gone and
// nobody got its number since owners.changes was `accepted`, when the kernel named it. Returns 0 or
// -ENOMEM.
int claims_take_peer(struct claims *claims, uint32_t accepted);
