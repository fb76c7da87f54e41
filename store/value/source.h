// SPDX-License-Identifier: Apache-2.0
//
// A source as the store knows it: what stands on its row, and its share of a batch (batch.h), which
// the filling side fills and reads again after the commit.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/interp.h"

struct store_batch;

enum store_source_kind { STORE_SOURCE_PLAIN, STORE_SOURCE_SESSION, STORE_SOURCE_FILE };

// What stands on a source's row and never changes. Strings are borrowed by the calls that take it.
struct store_source {
    int64_t id; // given by the filling side, see store_next_source_id()
    enum store_source_kind kind;
    const char *session_id; // NULL unless SESSION
    const char *name;       // file name, hello's name, or NULL
    bool has_peer;
    int64_t peer_pid, peer_uid, peer_gid;
    const char *peer_comm; // NULL when not known
    int64_t peer_start;    // when the peer started, as /proc/PID/stat counts it; 0: not known
    int64_t opened_ns;
    bool levels; // payloads of its markers are severities
};

// A diagnostic as kept in the batch; strings live as long as the batch is not reset.
struct store_diag {
    struct store_diag *next;
    enum nvtxt_diag_code code;
    uint32_t column;
    uint64_t line;
    const char *message;
    const char *excerpt;
};

// How far a followed file was read, and what tells it from another one that came to its place.
// Hashes are nvtxt's own: who writes them compares them.
struct store_followed {
    const char *path;                // where it is; borrowed by the call that takes it
    int64_t device, inode;           // as stat(2) gives them
    uint64_t offset;                 // bytes of the lines that were taken
    uint32_t head_bytes, tail_bytes; // hashed: of its start, and right before `offset`
    uint64_t head_hash, tail_hash;
    int64_t changed_ns; // its time of change, as last seen
};

// One source's share of a batch. Open for reading; written through the functions below.
struct store_batch_source {
    struct store_batch_source *next;
    struct store_batch *batch;
    int64_t id;
    struct store_source source; // strings copied
    struct store_diag *diags;   // in the order of lines
    bool ended;                 // store_batch_end_source was called
    bool discarded;             // store_batch_discard was called: nothing of it is written
    uint64_t line;              // session: last line that this batch covers
    size_t open_bytes;          // session: memory of what it keeps open there; 0 until it is said
    struct nvtxt_counters counters;
    size_t cost; // the filling side's: what its lines count against a quota
};
