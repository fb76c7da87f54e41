// SPDX-License-Identifier: Apache-2.0
//
// The daemon starts and goes on without anybody's help. A segment of the store that is broken is
// put aside with all its files under a new name; one that vanished is given up. A new segment takes
// its place, with a row of NVTXT_LOSSES that says so. A store that is locked, full or cannot be
// read at the moment stays what it is, and so does one of a newer version or of another
// application.
//
// Used by the thread that owns the store: at the start the loop, then the writer.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct revive {
    const char *path; // borrowed
    struct store_options options;
    const char *loss; // a literal: the reason to write into the next store; NULL: none
    int64_t loss_ns;
    char aside[PATH_MAX];    // where the store was put that caused the loss; "": nowhere
    int64_t lock_timeout_ns; // how long to wait for a store that is locked
    int64_t locked_since_ns; // CLOCK_BOOTTIME; 0: it is not locked
    bool left_behind;        // its segment stayed locked for that long: nobody waits any more
    int *lock; // borrowed: descriptor of the store's lock file; replaced with a new folder
};

// Whether only another store helps after this result of the store.
bool revive_is_due(int r);

// Closes `store_take` (NULL when it could not be opened), whose last result was `r`, and puts
// its files aside. Logs `sentence`, which says what is wrong with it.
void revive_put_aside(struct revive *revive, struct store *store_take, int r, const char *sentence);

// The files that were put aside here and are still there, for a sentence; owned by the caller.
// NULL: there is none, or memory is short.
char *revive_list_aside(const struct revive *revive);

// Opens the store; makes its folder and file if they are missing; takes its lock again if that was
// in a folder that is gone; writes the loss into it. Returns what store_open() does, with a
// sentence in `why`; revive_put_aside() may be called after a failure. While another process has
// locked the store the result is STORE_BUSY. After lock_timeout_ns of that a new segment goes on
// beside the locked one, with all sessions and ranges that were open in it. That is not possible
// for a plain file that is to become a segment.
int revive_open(struct revive *revive, struct store **store, char *why, size_t size);

// For an open store that another process has locked: logs that at the first time, with a sentence
// in `why`. Returns true when it has lasted for lock_timeout_ns: close the store, and revive_open()
// goes on beside it.
bool revive_note_locked(struct revive *revive, char *why, size_t size);

// After STORE_BUSY: waits a little, and returns true, when revive_open() is to be called again;
// false when the time is over.
bool revive_wait(const struct revive *revive);

// ---- A note of losses beside the store (daemon/writer/stop_note.c) ------------------------------
//
// A stop that gives up on a store that cannot be written cannot say so in that store. What plain
// sources lose by that (sessions send their lines again) is noted beside the store, and becomes a
// row of NVTXT_LOSSES at the next start, or as soon as the store can be written after that.
//
// The usual reason is a full disk, on which a file can be made but cannot hold data. So the note is
// the target of a symbolic link that leads nowhere: a target of fewer than 60 bytes is in the inode
// itself (ext4, XFS, tmpfs) and needs no room for data.

// Adds `events` that were lost to those in the note `<store>.lost`. Returns 0 or -errno.
int stop_note_add(const char *store_path, int64_t at_ns, uint64_t events);

// Moves the note into the store, and removes it when it is committed there; a note that the store
// has already is only removed. A file that is no note of ours counts as one event. Returns 0, a
// store_result, or -errno.
int stop_note_move(const char *store_path, struct store *store);

// ---- A row of NVTXT_LOSSES (daemon/writer/loss_row.c) -------------------------------------------

// For what no source can report: a store that was replaced, events of an earlier stop. The thread
// that owns the store writes and commits the row; no transaction may be open. `reason` as in
// daemon/base/loss_notes.h. Returns 0, a store_result, or -ENOMEM; nothing is written then.
int loss_row_write(struct store *store, int64_t at_ns, const char *reason, uint64_t count);
