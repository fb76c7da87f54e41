// SPDX-License-Identifier: Apache-2.0
//
// daemon/follow: the watched folders and the files in them that are followed (WatchDirectory). A
// folder finds names (folder.c), a file is read and becomes a source (follow.h), a file that lost
// its name is searched for before it is believed gone (lost_files.c). Events of the file system
// only say where to look; what is true is what a look finds, so a lost event costs time, not lines.
// Few files are worked on at once, one chunk of each (schedule.c), and few are open: those that
// changed last. When nothing changes nothing wakes up, but for a check of what is to end, 24 times
// in FileExpiry, and a look at folders that are missing or whose file system sends no events.
//
// The room owns folders and followed files. It knows neither connections nor the control socket.
// Loop thread; what blocks runs in libuv's thread pool (watch_io.h).
//
// This header: the face of the room, and what its modules share, one watch with its folders and
// followed files. Modules call each other downwards only, in this order: watch, lost_files, folder,
// known_files, follow, follow_source, schedule. Calls upwards are the callbacks of struct watch.
//
// A folder has names, and each name leads to a file that is followed, or to nothing that is. A file
// is known by device and inode, not by name: it may have several names, or none for a while.
#pragma once

#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/follow/watch_io.h"
#include "daemon/source/hub.h"
#include "protocol/base/frame.h"
#include "protocol/interp/interp.h"
#include "protocol/table/hash.h"
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
    char *path;        // owned
    bool has_captures; // the capture folders in it are watched, too
    bool is_capture;   // it was found in such a folder, and closes when it is not there
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
    unsigned how; // it is read: for watch_io_list()
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
    bool logged_newer;      // that a newer version saved its state
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

// The search for files that lost their names: see lost_files_init().
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
    size_t captures;      // folders with `is_capture`
    bool logged_captures; // that there are too many

    // Called by the schedule. `run` begins the next step of a file (follow_run()); `release` closes
    // a file that rests; `on_done` may free a file whose step is over.
    void (*run)(struct follow *follow);
    void (*release)(struct follow *follow);
    void (*on_done)(struct follow *follow);
    // Called by folders. `look_everywhere` lists all folders, after a file has lost its name or a
    // folder has come; `on_listed`: a folder was listed. `on_capture`: a capture folder is in it,
    // or not there any more; `on_capture_gone`: one has found that it is not there.
    void (*look_everywhere)(struct watch *watch);
    void (*on_listed)(struct watch *watch);
    void (*on_capture)(struct folder *folder, const char *name, bool is_there);
    void (*on_capture_gone)(struct folder *capture);
};

// The watched folder that a file is or was in; that around it if it was in a capture folder that
// has gone; NULL: none. The limit of log lines about a file.
struct folder *watch_folder_of(const struct watch *watch, const char *path);
struct log_limit *watch_log_of(struct watch *watch, const char *path);

// A path as it is logged; see log_escape(). Returns `text`.
const char *watch_escaped(const char *path, char *text, size_t size);

// ---- The face of the room (daemon/follow/watch.c) -----------------------------------------------

// Takes the list of files that the store knew at the start. `descriptors` is how many connections
// and files may be open together; `reserved` of them are for the files. Returns 0 or -errno; call
// watch_stop() and watch_deinit() in any case.
int watch_start(struct watch *watch, struct hub *hub, struct store_file_list *known_take,
                size_t descriptors);
void watch_configure(struct watch *watch); // WatchDirectory or FileExpiry may have changed
void watch_stop(struct watch *watch);      // reads no more; what was read is in the open batch
void watch_deinit(struct watch *watch);    // after the loop has run out

// ---- A watched folder (daemon/follow/folder.c) --------------------------------------------------
//
// Which names are in it, and to which files they lead. An event of libuv makes it read the names
// again. While the folder is missing, it tries again when the folder above changes, or every few
// seconds where there are no such events. It does not read the folders inside it, but may tell the
// watch of capture folders. Loop thread only; the thread pool reads the names.

// The folder is watched from its first list on. NULL when memory is short.
struct folder *folder_open(struct watch *watch, const char *path);
void folder_close(struct folder *folder);         // its files lose their names; frees it later
void folder_list_all(struct folder *folder);      // reads all its names again
bool folder_is_busy(const struct folder *folder); // names are being read, or will be

// ---- The search for files that lost their names (daemon/follow/lost_files.c) --------------------
//
// A file whose name is gone may have another one, also in another folder: it is believed gone only
// when a list of all folders that was made since then, and every event up to that list, do not show
// it. A search makes such a list of all folders. A file that loses its name during a search waits
// for the next one. Loop thread only.

// Sets the callbacks of the watch that folders call.
void lost_files_init(struct lost_files *lost, struct watch *watch);
void lost_files_close(struct lost_files *lost);

void lost_files_search(struct lost_files *lost); // lists all folders, unless a search is under way

// ---- Which file is next (daemon/follow/schedule.c) ----------------------------------------------
//
// Which followed file is worked on next. A file that may have changed is wanted: it waits until
// others before it had a step, and is busy until its own step is over. A file at its end rests: it
// stays open for a while, in case it grows. A file that could not be worked on, for want of memory
// or descriptors, is wanted again soon. What a step does is not known here: the callback
// watch->run. Loop thread only.

void schedule_start(struct watch *watch); // after its callbacks were set
void schedule_stop(struct watch *watch);

void schedule_want(struct follow *follow); // it may have changed

// A step is over. `more`: the next one can begin at once. May free the follow.
void schedule_done(struct follow *follow, bool more);
void schedule_retry(struct follow *follow);
void schedule_rest(struct follow *follow); // its end was reached
void schedule_unrest(struct follow *follow);

// No step begins in between, so no follow is freed while all of them are walked over. The result of
// schedule_pause() is for schedule_resume().
bool schedule_pause(struct watch *watch);
void schedule_resume(struct watch *watch, bool before);
