// SPDX-License-Identifier: Apache-2.0
//
// How a store is opened.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_options {
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
