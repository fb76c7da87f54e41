// SPDX-License-Identifier: Apache-2.0
//
// The statements of all tables but events: one unnamed statement for the rows of a call, inside the
// caller's transaction. Rows that are there already are replaced, except those of diagnostics and
// losses, which never change. No statement waits for another host's.
#pragma once

#include <stdint.h>

#include "ship/engine/pg.h"
#include "ship/rows/array.h"

struct small {
    struct pg *pg; // borrowed
    int64_t store_id;
    int64_t segment;   // that the rows are of
    bool adds_logs;    // of sources, it is also said which of them are logs
    bool adds_parents; // and what they began under; keys are taken; as of version 3
    bool frees;        // rows of open ranges that end are kept for others, as of version 2
    struct arrays arrays;
};
void small_deinit(struct small *small); // zeroed is fine

// Adds `events` rows, the last of them committed at `last_ns` (0: none), to the segment's row.
enum failure_class small_segment(struct small *small, const struct store_follow_segment *segment,
                                 int64_t events, int64_t last_ns, bool complete);

// Rows of a table, as a follower hands them out.
enum failure_class small_rows(struct small *small, enum store_follow_table table, const void *rows,
                              size_t count);

// A loss that is found out on the way: of segments that are gone, of rows that are too old.
enum failure_class small_own_loss(struct small *small, int64_t segment, int64_t row,
                                  const char *reason, int64_t count);

enum failure_class small_open_ranges(struct small *small, const struct store_follow_opens *open);
enum failure_class small_free_ranges(struct small *small); // none is open
