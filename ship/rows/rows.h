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

// A round has at most so much; but a single row may have more bytes.
#define ROUND_ROWS 32768
#define ROUND_BYTES (INT64_C(8) << 20)

// A COPY ends after so many bytes, and another one goes on: then the rows that its trigger looks at
// fit into the engine's memory for them (work_mem, 4 MB), and need no file.
#define COPY_BYTES (INT64_C(2) << 20)

struct rows_home { // what all rows of a segment have in common
    int32_t store_id;
    int32_t segment;
};

// Functions append to `out`. A failed allocation shows in nvtxt_buf_failed().

// The columns that these rows need beside those that every row has, as a set of bits. Sets of
// several chunks are joined with |.
unsigned rows_needed(const struct store_follow_event *rows, size_t count);

// COPY @.events (…) FROM STDIN (FORMAT binary) with these columns, and a zero byte.
void rows_copy_sql(struct nvtxt_buf *out, unsigned columns);

// What stands before the first row, a row, and what stands after the last one. `columns` are those
// of the COPY: at least what rows_needed() says of the row.
void rows_begin(struct nvtxt_buf *out);
void rows_add(struct nvtxt_buf *out, const struct rows_home *home, unsigned columns,
              const struct store_follow_event *event);
void rows_end(struct nvtxt_buf *out);

// A time of the store, cut to microseconds, as a timestamptz is on the wire: since 2000.
int64_t rows_time(int64_t ns);
