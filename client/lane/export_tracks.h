// SPDX-License-Identifier: Apache-2.0
//
// The tracks of a trace: processes, threads, and the further lanes of threads (export_lanes.h).
// Each is found by what it is of, and remembers whether the output has its name. The name of a
// thread is kept, because its lanes have it too.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/table/hash.h"

#define EXPORT_TRACK_PROCESS (-1) // in the place of a lane

struct export_track {
    struct nvtxt_hash_node node;
    struct export_track *next;
    uint64_t global_tid;
    int lane;      // 0: the thread itself
    uint64_t id;   // only the caller uses it; 0 in a new track
    bool is_named; // the output has it; only the caller uses this
    char *name;    // owned; NULL: it has none
    size_t name_len;
};

struct export_tracks { // zeroed: empty
    struct nvtxt_hash table;
    struct export_track *all; // owned
};

void export_tracks_deinit(struct export_tracks *tracks);

// Finds a track, or makes it. NULL when memory is short.
struct export_track *export_tracks_get(struct export_tracks *tracks, uint64_t global_tid, int lane);
struct export_track *export_tracks_process(struct export_tracks *tracks, uint64_t global_tid);

// Keeps the first name that the track gets before the output has it; data == NULL is none. A track
// of NULL is short memory. Returns 0 or -ENOMEM.
int export_track_keep_name(struct export_track *track, struct nvtxt_slice name);
