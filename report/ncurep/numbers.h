// SPDX-License-Identifier: Apache-2.0
//
// A hash table from pairs of numbers to numbers that needs 20 bytes for each: ids of a file, which
// may have as many of them as it has bytes. There is room for as many as the caller says first.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_number {
    uint64_t key;
    uint32_t group;
    uint32_t value; // above 0; 0: the place is free
};

struct report_numbers {
    struct report_number *places; // owned
    size_t count, room;
};

void report_numbers_deinit(struct report_numbers *numbers); // a zeroed one is fine

// Empties it, and makes room for `count` of them. Returns 0 or -ENOMEM.
int report_numbers_reset(struct report_numbers *numbers, size_t count);

// The place of a pair, which is made when there is none: its value is 0 then, and the caller sets
// it at once.
uint32_t *report_numbers_at(struct report_numbers *numbers, uint32_t group, uint64_t key);

// The value of a pair; 0: there is none.
uint32_t report_numbers_find(const struct report_numbers *numbers, uint32_t group, uint64_t key);
