// SPDX-License-Identifier: Apache-2.0
//
// How a store is opened.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_options {
    bool plain; // an import's store: one plain file, no WAL, no link; complete when it is closed,
                // but not synced, which is for who gives it its name
    bool synchronous_normal; // NORMAL instead of FULL
    bool no_cupti_views;     // leave the two compatibility views out
    uint32_t file_mode;      // of a new file, e.g. 0640
    bool keeps_lock; // nobody else writes to it while it is open, see store/lock/writelock.h; its
                     // log is moved into it before it is closed, not by closing it
    bool checkpoint_helper; // a thread that checkpoints beside the writer (see checkpointer.h)
    size_t wal_cap_pages;   // the writer checkpoints past this many WAL pages; 0: default (8000)
    bool read_only;         // only totals are read: nothing is created, migrated or written
    int64_t group;          // of a new file and its logs; 0: whatever the system gives
    const char *name;       // borrowed for the store's life: the configured path of a store of
                            // segments, by which sentences call it; NULL: a file of its own
    size_t carry_rows;      // see store/segment/carry_over.h; 0: default (10000)
};
