// SPDX-License-Identifier: Apache-2.0
//
// JSON: read with jansson, so that bad text and short memory are two results. jansson alone does
// not keep them apart: after some failed allocations it reports "invalid token", and a token that
// could not grow loses bytes without an error. And the strings that are written.
#pragma once

#include "protocol/base/buf.h"

struct json_t; // jansson's; who reads JSON includes its header
struct json_error_t;

enum nvtxt_json_result {
    NVTXT_JSON_READ = 0,
    NVTXT_JSON_BAD = 1, // the text is not JSON
};

// Reads all of `text`. Returns READ with a value that is the caller's (json_decref), BAD with what
// is wrong in `error` (may be NULL) and no value, or -ENOMEM.
int nvtxt_json_read(struct nvtxt_slice text, size_t flags, struct json_t **root,
                    struct json_error_t *error);

// A JSON string with its quotes. `text` must be valid UTF-8; control characters are escaped.
void nvtxt_buf_add_json_string(struct nvtxt_buf *buf, struct nvtxt_slice text);

// A text, such as `,"code":`, and a JSON string.
void nvtxt_buf_add_pair_text(struct nvtxt_buf *buf, const char *before, const char *text);

// The escape of a byte of ASCII in JSON, such as \n or \u001b. Returns the end of it.
#define NVTXT_JSON_ESCAPE 6 // bytes at most
char *nvtxt_json_escape(char *at, char byte);
