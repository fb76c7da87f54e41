// SPDX-License-Identifier: Apache-2.0
//
// Reading JSON with jansson, so that bad text and short memory are two results. jansson alone does
// not keep them apart: after some failed allocations it reports "invalid token", and a token that
// could not grow loses bytes without an error.
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "protocol/base/slice.h"

enum nvtxt_json_result {
    NVTXT_JSON_READ = 0,
    NVTXT_JSON_BAD = 1, // the text is not JSON
};

// Reads all of `text`. Returns READ with a value that is the caller's (json_decref), BAD with what
// is wrong in `error` (may be NULL) and no value, or -ENOMEM.
int nvtxt_json_read(struct nvtxt_slice text, size_t flags, json_t **root, json_error_t *error);
