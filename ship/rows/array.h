// SPDX-License-Identifier: Apache-2.0
//
// The values of a statement for many rows: single values, which come first, then an array for each
// column, as text, which the statement takes apart with unnest(). They are $1, $2, … in this order.
#pragma once

#include <stddef.h>

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"
#include "store/follow/follow_rows.h"

#define ARRAYS_MAX 24

struct arrays {
    struct nvtxt_buf columns[ARRAYS_MAX]; // owned
    size_t next;                          // the column that the next value goes to
    size_t count;                         // columns so far
    size_t singles;                       // the first of them are single values
};

void arrays_deinit(struct arrays *arrays); // zeroed is fine
void arrays_clear(struct arrays *arrays);  // keeps the memory, but not that of long texts

// A single value. All of them come before the first row.
void arrays_set_int(struct arrays *arrays, int64_t value);
void arrays_set_text(struct arrays *arrays, struct nvtxt_slice value);

// The next column of the row. After the last one arrays_next_row().
void arrays_int(struct arrays *arrays, int64_t value);
void arrays_maybe(struct arrays *arrays, struct store_maybe value);
void arrays_text(struct arrays *arrays, struct nvtxt_slice value);          // data NULL: NULL
void arrays_text_or_empty(struct arrays *arrays, struct nvtxt_slice value); // data NULL: ""
void arrays_next_row(struct arrays *arrays);

// Ends the arrays. `values` has room for ARRAYS_MAX; they live until the next change. Returns 0 or
// -ENOMEM.
int arrays_finish(struct arrays *arrays, const char **values);

// Appends a text of a store as the engine takes it (ship/rows/text.c). What is not UTF-8, and each
// NUL, becomes U+FFFD.
void row_text_add(struct nvtxt_buf *out, struct nvtxt_slice text);
