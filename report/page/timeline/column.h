// SPDX-License-Identifier: Apache-2.0
//
// A column of the page's data: unsigned numbers as LEB128 (seven bits a byte, low ones first), in
// one raw deflate stream, in base64, as a member of a JSON object. It is written while numbers
// come. A column of zeros alone is not written at all.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/text/out.h"

struct page_columns; // writes one column after the other

// Writes to `out`, which is borrowed. NULL when memory is short.
struct page_columns *page_columns_new(struct nvtxt_out *out);
void page_columns_free(struct page_columns *columns); // NULL is fine

// Begins the member `name`, and ends it. A failure of the output is in `out`.
void page_column_begin(struct page_columns *columns, const char *name);
void page_column_add(struct page_columns *columns, uint64_t value);
void page_column_end(struct page_columns *columns);

// Small for numbers near 0 of both signs.
static inline uint64_t page_zigzag(uint64_t value) {
    return (value << 1) ^ (value >> 63 ? UINT64_MAX : 0);
}
