// SPDX-License-Identifier: Apache-2.0
//
// Reading JSON with jansson, which alone does not tell bad text from memory that was short: some of
// its failed allocations become "invalid token", and a token that could not grow loses bytes
// without a word. What a saved state or a line of a session says must not hang on that, so jansson
// gets an allocator that remembers.
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "protocol/base/slice.h"

// Reads all of `text`. Returns 0 and a value that is the caller's (json_decref), or -ENOMEM, or
// -EINVAL with what is wrong in `error` (may be NULL).
int nvtxt_json_read(struct nvtxt_slice text, size_t flags, json_t **root, json_error_t *error);
