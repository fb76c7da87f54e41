// SPDX-License-Identifier: Apache-2.0
//
// Losses on their way to the table NVTXT_LOSSES. Most of them happen because memory is short, so a
// note takes no memory: a fixed number of notes waits for the next batch. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct store_batch;

#define LOSSES_WAITING 64

// Reasons; nvtxt-store(5) lists them.
#define LOSS_MEMORY "memory"             // count: lines of a plain source
#define LOSS_PARTIAL_LINE "partial-line" // count: 1, the daemon stopped in the middle of the line

#define LOSS_QUOTA "quota" // count: 1, an unfinished line of a plain source, or all that it sent

#define LOSS_SESSION_STATE "session-state"   // count: 1, a session that can no longer be resumed
#define LOSS_FILE_STATE "file-state"         // count: 1, a followed file that is no longer read
#define LOSS_UNWRITTEN "unwritten"           // count: events, see stop_note.c
#define LOSS_STORE_BROKEN "store-broken"     // count: 1, a store that was put into quarantine
#define LOSS_STORE_VANISHED "store-vanished" // count: 1

struct loss {
    int64_t at_ns;
    int64_t source_id, uid, pid; // 0, -1, 0: several, or not known
    const char *reason;          // a literal
    uint64_t count;
};

struct losses {
    struct loss waiting[LOSSES_WAITING];
    size_t count;
};

void losses_note(struct losses *losses, const struct loss *loss);

// Moves the notes into the batch. Returns 0, or -ENOMEM: some notes still wait.
int losses_write(struct losses *losses, struct store_batch *batch);
