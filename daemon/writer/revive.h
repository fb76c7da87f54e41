// SPDX-License-Identifier: Apache-2.0
//
// The daemon needs nobody in order to start or to go on: a segment of the store that is broken is
// put aside with all its files under a new name, one that vanished is let go of, and a new one
// takes its place, with a row of NVTXT_LOSSES that says so. A store that is locked, full or
// unreadable for the moment is none of its business, nor one of a newer version or of another
// application.
//
// Used by the thread that owns the store: at the start the loop's, then the writer's.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct revive {
    const char *path; // borrowed
    struct store_options options;
    const char *loss; // a literal: to be told in the next store; NULL: nothing
    int64_t loss_ns;
    int64_t lock_timeout_ns; // how long a store that is locked is waited for
    int64_t locked_since_ns; // boottime; 0: it is not
    bool left_behind;        // its active segment stayed locked: not waited for any longer
    int *lock; // borrowed: descriptor of the store's lock file, taken anew with a new folder
};

// True for results of the store after which only another store helps.
bool revive_is_due(int result);

// Closes `store_take` (NULL when it could not be opened), whose last result was `result`, and puts
// its files aside. `sentence` says what was wrong with it; it is logged.
void revive_put_aside(struct revive *revive, struct store *store_take, int result,
                      const char *sentence);

// Opens a store, making folder and file if they are missing, takes its lock when that was in a
// folder that is gone, and tells it the loss. Returns what
// store_open() does with its sentence in `why`; revive_put_aside() may be called for it then.
// While another process has it locked that is STORE_BUSY; when it has been so for lock_timeout_ns,
// a new segment goes on beside the locked one, with all that was going on in it. A plain file that
// is to become a segment has no such way out.
int revive_open(struct revive *revive, struct store **store, char *why, size_t size);

// For a store that is open and that somebody else has locked: says so at the first time. True when
// that has lasted for lock_timeout_ns: when the store is closed, revive_open() goes on beside it.
// `why` gets the sentence.
bool revive_is_locked(struct revive *revive, char *why, size_t size);

// After STORE_BUSY: true when the time is not over, then call revive_open() again; it has waited a
// little.
bool revive_waits(const struct revive *revive);
