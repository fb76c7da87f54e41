// SPDX-License-Identifier: Apache-2.0
//
// What could not be kept, on its way to NVTXT_LOSSES. Most of it is for want of memory, so noting a
// loss takes none: a fixed number of them waits for the next batch that can be made; when there are
// more, the last one stands for all further ones. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct store_batch;

#define LOSSES_WAITING 64

// Reasons; nvtxt-store(5) lists them.
#define LOSS_MEMORY "memory"             // count: lines of a plain source
#define LOSS_PARTIAL_LINE "partial-line" // count: 1, the daemon stopped in the middle of it

#define LOSS_QUOTA "quota" // count: 1, a plain source's unfinished line, or all that it sent

#define LOSS_SESSION_STATE "session-state"   // count: 1, a session that cannot be resumed
#define LOSS_FILE_STATE "file-state"         // count: 1, a followed file that is not read on
#define LOSS_UNWRITTEN "unwritten"           // count: events, see stop_note.h
#define LOSS_STORE_BROKEN "store-broken"     // count: 1, put aside
#define LOSS_STORE_VANISHED "store-vanished" // count: 1

struct loss {
    int64_t at_ns;
    int64_t source_id, uid, pid; // 0, -1, 0: several, or not known
    const char *reason;          // not owned: a literal
    uint64_t count;
};

struct losses {
    struct loss waiting[LOSSES_WAITING];
    size_t count;
};

void losses_note(struct losses *losses, const struct loss *loss);

// Moves what waits into the batch. Returns 0, or -ENOMEM: the rest waits on.
int losses_write(struct losses *losses, struct store_batch *batch);
