// SPDX-License-Identifier: Apache-2.0
//
// When the store goes on in a new segment, and what becomes of the old ones: the policy over
// store/rotation.h. A segment is left when it is big, when it is old, when its write-ahead log is
// too big because a reader prevents that it is used again, or on demand. When that fails (a full
// disk) the daemon stays with the segment that it has, logs it once and tries again after a while.
//
// There is no timer: the writer asks after each commit, and waits for jobs no longer than until a
// segment with events in it is old. Writer thread only, but for rotate_limits_of().
#pragma once

#include "daemon/writer/revive.h"
#include "daemon/writer/segment_keeper.h"

struct conf;

struct rotate {
    const char *path; // borrowed
    struct store_options options;
    struct rotate_limits limits;
    struct keeper keeper;
    int64_t first_bytes;   // of the segment when it was begun
    int64_t carried;       // bytes that it took over from the one before
    int64_t old_at_ns;     // Unix time when it is old; 0: never
    int64_t not_before_ns; // CLOCK_BOOTTIME: after a failure, when to try again
    int64_t asked_ns;      // CLOCK_BOOTTIME: when the keeper was last asked for room
    bool holds;            // the segment in use is not empty, and the keeper knows it
    bool logged_failure;
    bool logged_pinned;
    bool logged_unlinked;
    bool logged_short;
};

void rotate_limits_of(const struct conf *config, struct rotate_limits *limits);

// For the store that was opened. Returns 0 or -errno.
int rotate_init(struct rotate *rotate, struct bqueue *queue, const struct revive *revive,
                const struct rotate_limits *limits, struct store *store);
void rotate_deinit(struct rotate *rotate); // waits until the old segments are closed

void rotate_configure(struct rotate *rotate, const struct rotate_limits *limits,
                      struct store *store);

// Another store has replaced the one before.
void rotate_begun(struct rotate *rotate, struct store *store);

// After a commit: logs what is wrong with log, link or disk, and asks the keeper for room. Returns
// why the segment is to be left now, as a word; NULL: it is not.
const char *rotate_reason(struct rotate *rotate, struct store *store);

// Whether the segment is full; also within a transaction.
bool rotate_is_full(const struct rotate *rotate, struct store *store);

// Goes on in a new segment; no transaction may be open. Returns what store_open() does; on failure
// `*store` stays as it is, with a sentence in `why`.
int rotate_now(struct rotate *rotate, struct store **store, const char *reason, char *why,
               size_t size);

// Finds out whether the segment holds anything: an empty one is not left. Tells the keeper when it
// does for the first time. No transaction may be open.
bool rotate_check_content(struct rotate *rotate, struct store *store);

// How long the writer may wait for a job: CLOCK_MONOTONIC, 0: for ever.
int64_t rotate_wait_until_ns(const struct rotate *rotate);
