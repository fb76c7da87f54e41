// SPDX-License-Identifier: Apache-2.0
//
// The watched folders and the files in them that are followed (WatchDirectory). Events of the file
// system only say where to look; what is true is what looking gives, so a lost event costs time,
// not lines. Few files are worked on at once, one chunk each in turn; few are open, those that
// changed last. When nothing changes nothing wakes up, but for the look at what is to end, 24 times
// in FileExpiry, and at folders that are missing or whose file system tells nothing.
//
// Owns folders and follows. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/follow/follow.h"
#include "daemon/follow/known_files.h"
#include "daemon/follow/lost_files.h"
#include "daemon/source/hub.h"

struct folder;

#define WATCH_STEPS 4 // files worked on at once: libuv's pool has as many threads

struct watch_queue {
    struct follow *head, **tail;
};

struct watch {
    struct hub *hub; // borrowed
    struct hub_listener listener;
    struct folder *folders;
    struct follows follows;
    struct search search;
    struct watch_queue ready_open, ready_closed;
    struct follow *rested, **rested_tail; // open, at their end; longest ago first
    struct follow_step steps[WATCH_STEPS];
    size_t busy, open_count, open_max;
    size_t reserved; // descriptors that connections leave to files: 0 while no folder is watched
    bool going, ready_turn;
    bool started, stopping;
    uv_timer_t quiet;  // closes files that rest
    uv_timer_t expiry; // ends what did not change for long
    uv_timer_t retry;
    uint64_t turn; // of the loop, in which
    size_t events; // so many came
    size_t burst;  // so many may be all that the kernel kept
    struct log_limit log_files;
};

// With what the store knew at the start; takes the list. `descriptors` is how many connections and
// files may be open together; `reserved` of them are for the files. Returns 0 or -errno;
// watch_stop() and watch_deinit() in any case.
int watch_start(struct watch *watch, struct hub *hub, struct store_file_list *known_take,
                size_t descriptors);
void watch_configure(
    struct watch *watch);               // folders were added or taken away, or FileExpiry changed
void watch_stop(struct watch *watch);   // reads no more; what was read is in the open batch
void watch_deinit(struct watch *watch); // after the loop has run out

// While all follows are walked over none of them is to go: what becomes ready waits until the end.
// What hold returns is for let_go.
bool watch_hold(struct watch *watch);
void watch_let_go(struct watch *watch, bool before);

// ---- For folders -------------------------------------------------------------------------------

// The file of a name, as looked at just now. NULL when memory is short.
struct follow *watch_find(struct watch *watch, const char *path, const struct watch_stat *stat);

// The watched folder that a file is, or was, in; NULL: none. The limit of what is logged of it.
struct folder *watch_folder_of(const struct watch *watch, const char *path);
struct log_limit *watch_log_of(struct watch *watch, const char *path);

// A look at a file that was seen before; at one that has a new name.
void watch_see(struct follow *follow, const struct watch_stat *stat);
void watch_gain_name(struct follow *follow, const char *path, const struct watch_stat *stat);
void watch_lose_name(struct follow *follow, bool replaced);
void watch_change(struct follow *follow); // it may have changed

// An event came. True when they are so many that some may have been lost: everything is looked at.
bool watch_count_event(struct watch *watch);

// ---- For follows -------------------------------------------------------------------------------

// A step is over. `more`: there is more to do at once.
void watch_done(struct follow *follow, bool more);
void watch_retry(struct follow *follow);
void watch_rest(struct follow *follow); // it is at its end
void watch_unrest(struct follow *follow);
struct follow_step *watch_step(struct watch *watch); // a free one; NULL when memory is short
