// SPDX-License-Identifier: Apache-2.0
//
// Rows of COPY … TO STDOUT (FORMAT binary), one after the other. Pure. A field of another size than
// its type has is NULL, and the row is bad.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

struct binary_row {
    const char *at;
    size_t left;
    int fields; // that are left
    bool is_bad;
};

// A piece as pg_copy_get() gives it. False when it has no row: the head or the end of the stream.
bool binary_begin(struct binary_row *row, const char *data, size_t len);

// The next field. `*is_null` may be NULL.
int64_t binary_int(struct binary_row *row, bool *is_null); // of smallint, integer or bigint
double binary_double(struct binary_row *row, bool *is_null);
bool binary_bool(struct binary_row *row);
struct nvtxt_slice binary_text(struct binary_row *row);     // data NULL: NULL
int64_t binary_time(struct binary_row *row, bool *is_null); // ns since 1970

// True when every field was read, and none was wrong.
bool binary_end(const struct binary_row *row);
