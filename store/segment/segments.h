// SPDX-License-Identifier: Apache-2.0
//
// store/segment: the files of a daemon's store. Their names and order and the link (here), what a
// new segment takes over (carry_over), which ones are removed (retention), what is in one
// (contents), in which one a session ended (ended, ended_index), whose they are (store_id), how
// much of them a shipper has taken (shipped), and broken files (quarantine). It does not decide
// when a segment begins or goes: the daemon does. It writes no events. Any thread, except where a
// header names one.
//
// A daemon's store is a row of files, its segments. The configured path (nvtxt.sqlite) is a
// symbolic link to the active one, the last. The others stand beside it and are not written any
// more: the link left them. Names:
//   <stem>-<UTC time>-<number>.sqlite       nvtxt-20261121T062400Z-1.sqlite
// The stem is the configured name without ".sqlite", the time is when the segment was begun, and
// the number orders them: it never goes back, whatever the clock does. Numbers begin with 1 and may
// have gaps, at the front because old segments are removed.
//
// A store without segments (an import's, a snapshot) is one plain file: a list of one.
//
// To read all of a store, list its segments and open one after the other, oldest first. An event
// stands in exactly one. A source that goes on has a row in each; counters are totals, so the
// newest counts. Strings, names and domains belong to their segment. A segment that is gone between
// the list and the open was removed for its age or size: skip it.
//
// This header knows names of files only, no SQLite. Functions return 0 or -errno.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_segment {
    char *path;         // owned: folder as in the configured path, and the segment's name
    uint64_t number;    // 0: a plain file
    int64_t started_ns; // Unix time of its name, whole seconds; 0: a plain file
    int64_t bytes;      // with -wal and -shm
    bool empty;         // for callers to fill (store/segment/contents.h); false
    int64_t carried;    // likewise: bytes that it took over and that are nobody's history; 0
};

struct store_segments {
    struct store_segment *rows; // owned; oldest first
    size_t count;
};

// The segments of the store at the configured `path`, the active one last. Files that are not (yet)
// part of the store are left out. -ENOENT: there is no store, or a link to nowhere.
int store_segments_list(const char *path, struct store_segments *segments);
void store_segments_deinit(struct store_segments *segments); // zeroed is fine

// ---- For callers that make and remove them ------------------------------------------------------

#define STORE_SEGMENT_UNFINISHED ".new" // after the name of a segment that is being made

// All files with the name of a segment of `path`, with or without a link. None is no error.
int store_segments_scan(const char *path, struct store_segments *segments);

// The path of a segment. Returns 0 or -ENAMETOOLONG.
int store_segments_name(const char *path, int64_t started_ns, uint64_t number, char *name,
                        size_t size);

// The reverse: the configured path of the store that a file with this name is a segment of, without
// ".sqlite". `stem` has room for PATH_MAX bytes. False when the name is not that of a segment.
bool store_segments_stem(const char *segment, char *stem);

// Its number; 0 when the name is not that of a segment.
uint64_t store_segments_number(const char *segment);

enum store_link {
    STORE_LINK_NONE,     // nothing is there
    STORE_LINK_SEGMENT,  // a link to a segment beside it: written to `target`
    STORE_LINK_VANISHED, // the same, but the segment is not there
    STORE_LINK_FILE,     // a file
    STORE_LINK_FOREIGN,  // a link to something else, or to nowhere: its text is in `target`
    STORE_LINK_OTHER,    // a folder, a device
};

// What stands at `path`. `target` has room for PATH_MAX bytes. Returns 0 or -errno.
int store_segments_link(const char *path, enum store_link *link, char *target);

// Points the link to `segment`, which is in the same folder, in one step and synced to the disk:
// whoever opens `path` finds the old one or the new one. Replaces what stood at `path`; when the
// sync fails it puts that back and returns -errno.
int store_segments_set_link(const char *path, const char *segment);

// Syncs the folder of `path`, so that names in it survive a power loss.
int store_segments_sync(const char *path);

// Renames or removes a segment with its -wal and -shm; a file that is missing is no error.
int store_segments_rename(const char *from, const char *to);
int store_segments_remove(const char *segment);

// Removes unfinished segments that a killed daemon left, and logs without their store.
int store_segments_tidy(const char *path);

// ---- Out of the way of a new store: nothing is deleted (quarantine.c) ---------------------------

// Renames `file`, `file`-wal and `file`-shm, whichever of them exist, to a new name that begins
// with `path`.broken and the time, with the same endings, so that SQLite finds them together.
// Returns 0 with the new name in `name`, 1 when there is none of them, or -errno.
int store_quarantine(const char *file, const char *path, int64_t now_ns, char *name, size_t size);

// What was put aside for the store at `path` and is still there: main files, in no order; for
// store_segments_deinit(). Returns 0 or -errno.
int store_quarantine_list(const char *path, struct store_segments *list);
