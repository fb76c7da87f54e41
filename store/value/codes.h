// SPDX-License-Identifier: Apache-2.0
//
// What functions of the store return: 0, one of these positive codes, which the caller handles, or
// -errno, which it passes on. Each function says which of them it returns. And how a store is
// opened.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_result {
    STORE_DONE = 0,
    STORE_NOT_FOUND = 1,
    STORE_BUSY = 2,     // another process holds a lock: try again
    STORE_NEWER = 3,    // store_open: written by a newer version; untouched
    STORE_FOREIGN = 4,  // store_open: a database of another application; untouched
    STORE_CORRUPT = 5,  // not a database, or a broken one
    STORE_NO_SPACE = 6, // the disk is full: roll back, try again later
    STORE_IO = 7,       // another I/O error: the same
    STORE_REFUSED = 8,  // SQLite refuses a row (a constraint, too big): it always will. store_open:
                        // not in UTF-8; untouched
    STORE_GONE = 9,     // store_begin: the file, or its log, was moved or removed
    STORE_LACKING = 10, // somebody added a trigger or an index that calls a function, a module or a
                        // collation that this program does not have: try again when it is gone
    STORE_EMPTY = 11,   // an empty file, where a store must be
    STORE_FAILED = 12,  // SQLite failed in a way that is none of these
    STORE_STOPPED = 13, // the caller's callback asked to stop
    STORE_UNSURE = 14,  // store_session_load: nobody knows it, but something cannot be read
    STORE_UNFIT = 15,   // store_nsys_copy_finish: an event's times cannot be the copy's
};

struct store_options { // how a store is opened
    bool plain; // an import's store: one plain file, no WAL, no link. It is complete when it is
                // closed; the caller syncs it before it gives it its name
    bool synchronous_normal; // NORMAL instead of FULL
    bool no_cupti_views;     // leave the two compatibility views out
    uint32_t file_mode;      // of a new file, e.g. 0640
    bool keeps_lock; // nobody else writes to it while it is open, see store/lock/writelock.h. Its
                     // log is moved into it before it is closed, not by closing it
    bool checkpoint_helper; // a thread checkpoints beside the writer, see checkpointer.h
    size_t wal_cap_pages;   // the writer checkpoints when the WAL has more pages; 0: 8000
    bool read_only;         // nothing is created, migrated or written
    int64_t group;          // of a new file and its logs; 0: whatever the system gives
    bool new_id;            // it is another store than the one that it was copied from
    const char *aside; // a segment that was put aside, borrowed: the next one goes on where its
                       // ids end, if it can be read; NULL: none
    const char *name;  // what sentences call it, borrowed for the store's life: the configured
                       // path of a store of segments; NULL: the path of the file
    size_t carry_rows; // see store/segment/carry_over.h; 0: 10000
};
