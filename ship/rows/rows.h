// SPDX-License-Identifier: Apache-2.0
//
// ship/rows: rows of a store as the engine takes them. rows writes events as binary COPY, small the
// statements of all other tables, with array the values of a statement for many rows; text is what
// they have in common. Nothing here owns a connection or reads a store. One thread.
//
// The format is that of PostgreSQL's "COPY", section "Binary Format": a header, then each row as a
// number of columns and each column as its length and its bytes in network order, then a trailer.
#pragma once

#include <stdint.h>

#include "protocol/base/buf.h"
#include "store/follow/follow_rows.h"

// COPY @.events (…) FROM STDIN (FORMAT binary), with the columns in the order of rows_add().
extern const char rows_copy_sql[];

struct rows_home { // what all rows of a segment have in common
    int32_t store_id;
    int32_t segment;
};

// Appends what stands before the first row, a row, and what stands after the last one. A failed
// allocation shows in nvtxt_buf_failed().
void rows_begin(struct nvtxt_buf *out);
void rows_add(struct nvtxt_buf *out, const struct rows_home *home,
              const struct store_follow_event *event);
void rows_end(struct nvtxt_buf *out);

// A time of the store, cut to microseconds, as a timestamptz is on the wire: since 2000.
int64_t rows_time(int64_t ns);
