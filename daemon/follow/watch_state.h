// SPDX-License-Identifier: Apache-2.0
//
// Inside this room: what its modules share, one watch with its folders and followed files. Modules
// call each other downwards only, in this order: watch, lost_files, folder, known_files, follow,
// follow_source, schedule. Calls upwards are the callbacks of struct watch.
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
    bool up;                    // it was there when it was read last
    bool logged_unwatchable;    // that it cannot be watched
    struct log_limit log_names; // who renames in it cannot flood the log
    bool logged_limits;  // that its file system sends no events, or that it has too many names
    bool logged_empty;   // that some of its empty files are passed over
    size_t passed_over;  // empty files of the list of all names that is merged, or was last
    uint64_t round;      // of the search: the names were complete in it
    uint64_t list_round; // round of the list that is made now
    uint64_t all_round;  // counts lists of all names
    bool all_wanted;
    char **wanted; // owned: the names to read next
    size_t wanted_count;
    char **asked; // the names that are read now; NULL: all
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
    bool gone;             // and it will not be opened again
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
    uint64_t rested_ms; // uv_now() at the end of the file
    struct follow *next_rested, **rested; // list of files that rest; NULL: not in it
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
    bool blank;       // was empty when it was found, and has had no source since
    bool ended;       // its source did
    bool stuck;       // its source's state cannot be read: no more is taken until it begins anew
    bool ready, busy; // waits for its next step; a step is under way
    bool again;       // it has changed while it was busy
    bool verified;    // since it was found it was compared with what is known of it
    bool logged_unreadable; // that it cannot be read
    bool retry;             // what failed is tried again soon
    bool lost;              // it has no name; its source ends if none is found
    uint64_t lost_round;    // of the search, in which it lost its name
    bool replaced;          // another file has its name
    bool anew;              // `ending` is followed by a new source of the same file
    const char *ending; // a literal: how its source ends when the rest is read; NULL: it does not
    struct follow_live *live; // owned
};

// One step in the thread pool: open or read. There are as many as may run at once.
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
struct known_files {
    struct follow *first; // in no order
    struct nvtxt_hash by_inode;
    size_t count;
    size_t blanks; // of them: those that are `blank`
};

// ---- The watch ----------------------------------------------------------------------------------

// The search for files that lost their names: see lost_files.h.
struct lost_files {
    struct watch *watch; // borrowed
    uint64_t round;      // counts searches: lists of all folders
    bool running;        // a search is under way
    uint64_t settle_round;
    unsigned settle_loops;
    uv_timer_t settle; // after a search: what was not found is gone
};

#define WATCH_STEPS 4 // files worked on at once: libuv's pool has as many threads

struct watch_queue {
    struct follow *head, **tail;
};

struct watch {
    struct hub *hub; // borrowed
    struct hub_listener listener;
    struct folder *folders;
    struct known_files known;
    struct lost_files lost;
    struct watch_queue ready_open, ready_closed;
    struct follow *rested, **rested_tail; // open, at their end; longest ago first
    struct follow_step steps[WATCH_STEPS];
    size_t busy, open_count, open_max;
    size_t reserved; // descriptors that connections leave to files: 0 while no folder is watched
    bool going, closed_first;
    bool started, stopping;
    uv_timer_t quiet;  // closes files that rest
    uv_timer_t expiry; // ends what did not change for long
    uv_timer_t retry;
    uint64_t events_at; // hub.loop_count in which
    size_t events;      // so many events came
    size_t burst;       // so many may be all that the kernel kept
    struct log_limit log_files;

    // Called by the schedule. `run` begins the next step of a file (follow_run()); `release` closes
    // a file that rests; `on_done` may free a file whose step is over.
    void (*run)(struct follow *follow);
    void (*release)(struct follow *follow);
    void (*on_done)(struct follow *follow);
    // Called by folders. `look_everywhere` lists all folders, after a file has lost its name or a
    // folder has come; `on_listed`: a folder was listed.
    void (*look_everywhere)(struct watch *watch);
    void (*on_listed)(struct watch *watch);
};

// The watched folder that a file is or was in; NULL: none. The limit of log lines about a file.
struct folder *watch_folder_of(const struct watch *watch, const char *path);
struct log_limit *watch_log_of(struct watch *watch, const char *path);

// A path as it is logged; see log_escape(). Returns `text`.
const char *watch_escaped(const char *path, char *text, size_t size);
