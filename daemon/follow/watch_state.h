// SPDX-License-Identifier: Apache-2.0
//
// Inside this room: what its modules share, which is one watch with its folders and followed files.
// The modules that make it work call each other downwards only: watch, lost_files, folder,
// known_files, follow, follow_source, schedule; what goes upwards are the callbacks of struct
// watch.
//
// A folder has names, and each name leads to a file that is followed, or to nothing that is. A file
// is known by device and inode, not by name: it may have several names, or none for a while.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/follow/watch_io.h"
#include "daemon/source/hub.h"
#include "protocol/base/frame.h"
#include "protocol/base/hash.h"
#include "protocol/interp/interp.h"
#include "store/store.h"

struct follow;
struct source;
struct watch;

// ---- Folders ------------------------------------------------------------------------------------

struct folder_name {
    struct nvtxt_hash_node node;
    struct folder_name *next, *prev;
    struct follow *follow; // NULL: nothing that is followed
    uint64_t round;        // of the folder's lists of all names: seen in it
    char name[];
};

enum folder_event { FOLDER_UNWATCHED, FOLDER_WATCHES_ITSELF, FOLDER_WATCHES_PARENT };

struct folder {
    struct watch *watch; // borrowed
    struct folder *next;
    char *path; // owned
    uv_fs_event_t event;
    uv_timer_t timer;
    unsigned handles; // not closed yet
    enum folder_event watching;
    bool closing, listing;
    bool up;                    // it was there when it was looked at last
    bool said;                  // that it cannot be watched
    struct log_limit log_names; // who renames in it cannot flood the log
    bool told;                  // that its file system is silent, or that it has too many names
    uint64_t round;             // of the watch: names are complete as of it
    uint64_t list_round;        // of the list that is being made
    uint64_t all_round;         // counts lists of all names
    bool all_wanted;
    char **wanted; // owned: names to look at
    size_t wanted_count;
    char **asked; // what the list being made looks at; NULL: all
    size_t asked_count;
    uv_work_t work;
    struct watch_list list;
    int list_result;
    struct nvtxt_hash names;
    struct folder_name *first;
};

// ---- Followed files -----------------------------------------------------------------------------

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

// The files that are known: those in watched folders, and those that the store knows.
struct follows {
    struct follow *first; // in no order
    struct nvtxt_hash by_inode;
    size_t count;
};

// ---- The watch ----------------------------------------------------------------------------------

// The search for files that lost their names: see lost_files.h.
struct search {
    struct watch *watch; // borrowed
    uint64_t round;      // of lists of all folders, in which what was lost may be found again
    bool running;        // the round is being made
    uint64_t settle_round;
    unsigned settle_turns;
    uv_timer_t settle; // believes that what was not found is gone
};

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

    // What the schedule calls: makes the next step of a file, see follow_run(); closes a file that
    // rests; a step is over, and the file may be freed.
    void (*run)(struct follow *follow);
    void (*release)(struct follow *follow);
    void (*on_done)(struct follow *follow);
    // What folders call: a file lost its name, or a folder has come: looks into all folders; a
    // folder was listed.
    void (*look_everywhere)(struct watch *watch);
    void (*on_listed)(struct watch *watch);
};

// The watched folder that a file is, or was, in; NULL: none. The limit of what is logged of it.
struct folder *watch_folder_of(const struct watch *watch, const char *path);
struct log_limit *watch_log_of(struct watch *watch, const char *path);
