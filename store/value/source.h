// SPDX-License-Identifier: Apache-2.0
//
// A source as the store knows it: what stands in its row, and its share of a batch (batch.h). The
// filling side fills the share, and reads it again after the commit.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/interp.h"

struct store_batch;

enum store_source_kind { STORE_SOURCE_PLAIN, STORE_SOURCE_SESSION, STORE_SOURCE_FILE };

// What stands in a source's row and never changes. The calls that take it borrow its strings.
struct store_source {
    int64_t id; // from the filling side, see store_next_source_id()
    enum store_source_kind kind;
    const char *session_id; // NULL unless SESSION
    const char *name;       // file name, hello's name, or NULL
    bool has_peer;
    int64_t peer_pid, peer_uid, peer_gid;
    const char *peer_comm; // NULL when not known
    int64_t peer_start;    // when the peer started, as /proc/PID/stat counts it; 0: not known
    int64_t opened_ns;
    bool levels;        // payloads of its markers are severities
    bool nvtx;          // it has the extension `nvtx`
    const char *parent; // the token of the range that it began under, or NULL
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

// How far a followed file was read, and how to recognize it if another file takes its place. Only
// the daemon that wrote the hashes compares them.
struct store_followed {
    const char *path;                // where it is; borrowed by the call that takes it
    int64_t device, inode;           // as stat(2) gives them
    uint64_t offset;                 // bytes of the lines that were read
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
    size_t open_bytes;          // session: memory that its open ranges take; 0 until it is known
    struct nvtxt_counters counters;
    size_t cost; // of its lines, against a quota; the store does not look at it
};

// Whose a process is from now on, or is still: a row of NVTXT_OWNERS.
#define STORE_OWNER_SHARED INT64_C(-1)

struct store_owner_change {
    int64_t pid;
    int64_t uid;      // STORE_OWNER_SHARED: two users used it, and it was gone
    bool proven;      // by the word of the kernel
    bool taken;       // from another owner, whose names go
    const char *comm; // of a proven process whose names go; may be NULL
};
