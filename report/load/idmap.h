// SPDX-License-Identifier: Apache-2.0
//
// Numbers to indexes: ids of rows to places in the arrays of a capture. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_idmap {
    struct report_idmap_slot *slots; // owned; NULL while empty
    size_t room;                     // a power of two
    size_t count;
};

void report_idmap_deinit(struct report_idmap *map);
void report_idmap_clear(struct report_idmap *map); // empties it, keeps a small room

// True when the number is there; then `*index` is what it was set to.
bool report_idmap_get(const struct report_idmap *map, uint64_t number, uint32_t *index);

// Adds a number, or changes its index, which is not UINT32_MAX. Returns 0 or -ENOMEM.
int report_idmap_set(struct report_idmap *map, uint64_t number, uint32_t index);
