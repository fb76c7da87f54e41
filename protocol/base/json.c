// SPDX-License-Identifier: Apache-2.0
//
// jansson gets an allocator that remembers whether an allocation failed. jansson has one allocator
// for the whole process and gives it no context, so each thread has its own flag. A call clears it
// first and asks it last; nothing else here outlives a call.
#include "protocol/base/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static _Thread_local bool was_short;

static void *allocate(size_t size) {
    void *memory = malloc(size);
    was_short = was_short || !memory;
    return memory;
}

int nvtxt_json_read(struct nvtxt_slice text, size_t flags, json_t **root, json_error_t *error) {
    json_error_t unused;
    json_set_alloc_funcs(allocate, free);
    was_short = false;
    *root = text.len ? json_loadb(text.data, text.len, flags, error ? error : &unused) : NULL;
    if (was_short) {
        json_decref(*root);
        *root = NULL;
        return -ENOMEM;
    }
    return *root ? NVTXT_JSON_READ : NVTXT_JSON_BAD;
}
