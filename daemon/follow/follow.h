// SPDX-License-Identifier: Apache-2.0
//
// A followed file: from its bytes to the lines of a source. It is known by device and inode, not by
// name. How far it was read goes into the store with the events of what was read, so each line has
// its effect once, whatever is killed when.
//
// A file at rest takes a few hundred bytes: its descriptor is closed and the state of its source is
// in the store only, from where it is loaded when the file has changed, like a session's. A source
// ends when its file has gone, was cut or did not change for long; its place and state are kept
// then, and when the same file grows it goes on, with the ranges closed that were open. Only a file
// that is cut, or is another one in its place, begins a new source.
//
// At any time a follow is at rest, waits for its turn (`ready`), or is `busy`: in the hands of the
// thread pool or the writer, and not to be freed. Loop thread only, but for what watch_io does.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/follow/watch_io.h"
#include "protocol/base/frame.h"
#include "protocol/base/hash.h"
#include "protocol/interp/interp.h"
#include "store/store.h"

struct source;
struct watch;

#define FOLLOW_READ_BYTES (128u << 10)

// What a follow has while its file is open or its source is in memory.
struct follow_live {
    int fd;                // -1: not open
    bool gone;             // and it will not be opened any more
    struct source *source; // NULL: none yet, or not loaded
    struct nvtxt_frame frame;
    uint64_t position; // bytes read
    uint64_t links;
    int64_t size;
    char tail[WATCH_IO_TAIL_BYTES];   // the bytes before `at.offset`, at.tail_bytes of them
    char recent[WATCH_IO_TAIL_BYTES]; // the bytes before `position`
    size_t recent_len;
    bool compared;      // `tail` holds them: the file is the one that is known
    bool look_back;     // the next read begins with them: the file may have been written anew
    uint64_t rested_ms; // uv_now() when its end was reached
    struct follow *next_rested, **rested; // the watch's list of those; NULL: not in it
};

struct follow {
    struct watch *watch; // borrowed
    struct follow *next, *prev;
    struct nvtxt_hash_node by_inode;
    struct follow *next_ready;
    struct store_followed at; // its path is not used
    char *path;               // owned: the name it has, or had last
    size_t names;             // in watched folders
    int64_t size;             // as last seen
    int64_t uid, gid;         // its owner
    int64_t source_id;        // 0: no source yet
    int64_t opened_ns;        // when its source was opened
    int64_t closed_ns;        // when it ended
    struct nvtxt_counters counters;
    bool ended;          // its source did
    bool stuck;          // its source's state cannot be read: no more is taken until it begins anew
    bool ready, busy;    // see above
    bool again;          // it has changed while it was busy
    bool verified;       // compared with what is known of it since it was found
    bool said;           // that it cannot be read
    bool retry;          // what failed is tried again soon
    bool lost;           // it has no name; if it stays so its source ends
    uint64_t lost_round; // of the watch, in which that was so
    bool replaced;       // another file has the name that it had
    bool anew;           // `ending` is followed by a new source of the same file
    const char *ending;  // a literal: how its source ends when its rest is read; NULL: it does not
    struct follow_live *live; // owned
};

// Ends: the file did not change for FileExpiry; nobody wants it any more.
extern const char follow_idle[], follow_unwatched[];

// A file that was found or that the store knows; not in any list yet. NULL when memory is short.
struct follow *follow_new(struct watch *watch, const char *path, int64_t device, int64_t inode);
void follow_free(struct follow *follow); // neither busy nor in a list

// It never held a byte: there is nothing to come back to.
bool follow_is_blank(const struct follow *follow);

// Its turn: starts a step of what is to be done. The follow is busy until watch_done() is called
// with it, which may be before this returns.
void follow_run(struct follow *follow);

// Closes the file and puts the source's state into the open batch. Not while it is busy.
void follow_release(struct follow *follow);

// Memory ran out for its source: what the store has of it counts. `source` is free after it.
void follow_fail(struct follow *follow);

// One step in the thread pool: open or read. The watch has as many as may run at once.
struct follow_step {
    uv_work_t work;
    struct follow *follow; // NULL: free
    bool read;
    int fd;
    char *path; // OPEN: owned
    struct store_followed known;
    struct watch_opened opened;
    uint64_t offset; // READ
    size_t look_back;
    struct watch_read result;
    char *buffer; // FOLLOW_READ_BYTES, owned
};
