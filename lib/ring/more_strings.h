// SPDX-License-Identifier: Apache-2.0
//
// Registered strings beyond the tables of the catalog: each keeps its text here, and events that
// use it bear the text. They live as long as the process, like all strings, so a program that has a
// new one for each event would fill its memory: they have MORE_STRINGS_BYTES together. The caller
// has the catalog's lock.
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define MORE_STRINGS_BYTES (64u << 20) // four times the tables: a million short ones
#define STRING_INLINE UINT32_MAX       // no number: its events bear the text

struct nvtxt_string {
    uint32_t number, len;
    const char *text;
    _Atomic uint32_t counter_in; // 1 + the domain where it was a counter last; 0: nowhere
    _Atomic(void *) handle;      // for libnvtxt-inject
};

#define HASH_START 0xcbf29ce484222325u

static inline uint64_t hash_bytes(const char *data, size_t len, uint64_t hash) {
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3u;
    }
    return hash ^ hash >> 29;
}

// NULL: this text is not here.
struct nvtxt_string *more_strings_find(const char *text, size_t len);

// NULL without memory, and when all have MORE_STRINGS_BYTES. The text was not found.
struct nvtxt_string *more_strings_add(const char *text, size_t len);
