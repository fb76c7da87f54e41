// SPDX-License-Identifier: Apache-2.0
//
// The text of a filter expression as characters that have lost their escapes: each knows whether it
// is special, and where it stood.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "protocol/base/slice.h"

struct report_char {
    char byte;
    bool special; // it was not escaped, and is one of @ , [ ] / * +
    size_t column;
};

// Reads `text` from `begin` on. `chars` has room for all its bytes. In a regular expression an
// escape stays as it is, except before @ , and /. Returns the number of characters. `*hanging` is
// the column of a `\` at the very end, or 0.
size_t report_chars_read(struct nvtxt_slice text, size_t begin, bool is_regex,
                         struct report_char *chars, size_t *hanging);

static inline bool report_char_is(const struct report_char *at, char byte) {
    return at->special && at->byte == byte;
}
