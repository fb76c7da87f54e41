// SPDX-License-Identifier: Apache-2.0
//
// jansson gets an allocator that remembers whether an allocation failed. jansson has one allocator
// for the whole process and gives it no context, so each thread has its own flag. A call clears it
// first and asks it last; nothing else here outlives a call.
#include "protocol/base/json.h"

#include <jansson.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/base/scan.h"

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
    *root = json_loadb(text.len ? text.data : "", text.len, flags, error ?: &unused);
    if (was_short) {
        json_decref(*root);
        *root = NULL;
        return nvtxt_origin(-ENOMEM);
    }
    return *root ? NVTXT_JSON_READ : NVTXT_JSON_BAD;
}

char *nvtxt_json_escape(char *at, char byte) {
    static const char hex[] = "0123456789abcdef";
    static const char shorts[128] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                     ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    unsigned code = (unsigned char)byte;
    *at++ = '\\';
    if (shorts[code]) {
        *at++ = shorts[code];
        return at;
    }
    memcpy(at, "u00", 3);
    at[3] = hex[code >> 4];
    at[4] = hex[code & 15];
    return at + 5;
}

void nvtxt_buf_add_json_string(struct nvtxt_buf *buf, struct nvtxt_slice text) {
    nvtxt_buf_add(buf, "\"", 1);
    size_t plain = 0; // start of the run that needs no escape
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.data[i];
        if (!nvtxt_is_ascii_control(byte) && byte != '"' && byte != '\\') {
            continue;
        }
        nvtxt_buf_add(buf, text.data + plain, i - plain);
        char escape[NVTXT_JSON_ESCAPE];
        nvtxt_buf_add(buf, escape, (size_t)(nvtxt_json_escape(escape, byte) - escape));
        plain = i + 1;
    }
    if (text.len) {
        nvtxt_buf_add(buf, text.data + plain, text.len - plain);
    }
    nvtxt_buf_add(buf, "\"", 1);
}

void nvtxt_buf_add_pair_text(struct nvtxt_buf *buf, const char *before, const char *text) {
    nvtxt_buf_add_string(buf, before);
    nvtxt_buf_add_json_string(buf, nvtxt_slice_of(text));
}
