// SPDX-License-Identifier: Apache-2.0
//
// When the store goes on in a new segment, and what becomes of the old ones: the policy over
// store/rotation.h. A segment is left when it is big, when it is old, when a reader keeps its
// write-ahead log from being used again until that is too big, or on demand. When that fails (a
// full disk) the daemon stays with the segment that it has, says so once and tries again after a
// while.
//
// No timer: the writer looks after a commit, and waits for jobs no longer than until a segment with
// events in it is old. Writer thread only, but for rotate_limits_of().
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/writer/bqueue.h"
#include "daemon/writer/revive.h"
#include "daemon/writer/segment_keeper.h"
#include "store/segment/retention.h"

struct conf;

struct rotate {
    const char *path; // borrowed
    struct store_options options;
    struct rotate_limits limits;
    struct keeper keeper;
    int64_t first_bytes;   // of the segment when it was begun
    int64_t carried;       // bytes that the segment took over
    int64_t old_at_ns;     // Unix time when it is old; 0: never
    int64_t not_before_ns; // CLOCK_BOOTTIME: a failure is that young
    int64_t asked_ns;      // CLOCK_BOOTTIME: when the keeper was last asked for room
    bool holds;            // the segment in use is not empty, as the keeper knows
    bool failing;          // said
    bool pinned;           // said
    bool unlinked;         // said
    bool short_of_room;    // said
};

void rotate_limits_of(const struct conf *config, struct rotate_limits *limits);

// For the store that was opened. Returns 0 or -errno.
int rotate_init(struct rotate *rotate, struct bqueue *queue, const struct revive *revive,
                const struct rotate_limits *limits, struct store *store);
void rotate_deinit(struct rotate *rotate); // waits until old segments are closed

void rotate_configure(struct rotate *rotate, const struct rotate_limits *limits,
                      struct store *store);

// Another store took the place of the one that there was.
void rotate_begun(struct rotate *rotate, struct store *store);

// After a commit: warns of what should be known, asks the keeper for room. Returns why the segment
// is to be left now, as a word; NULL: it is not.
const char *rotate_reason(struct rotate *rotate, struct store *store);

// Whether the segment is full; also within a transaction.
bool rotate_is_full(const struct rotate *rotate, struct store *store);

// Goes on in a new segment; no transaction may be open. On failure `*store` stays, with a sentence
// in `why`. Results as of store_open().
int rotate_now(struct rotate *rotate, struct store **store, const char *reason, char *why,
               size_t size);

// Whether there is anything in the segment that leaving it would keep. No transaction may be open.
bool rotate_is_worth_it(struct rotate *rotate, struct store *store);

// How long the writer may wait for a job: CLOCK_MONOTONIC, 0: for ever.
int64_t rotate_wait_until_ns(const struct rotate *rotate);
