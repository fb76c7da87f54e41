// SPDX-License-Identifier: Apache-2.0
//
// The bits that a whole stack of ranges sets, while ranges leave it anywhere: for lanes whose
// ranges cross. A stack is that of a walk, with the classes of messages as ids.
//
// What a range does to a row of bits is a map: bit by bit, where each is moved. The map of a stack
// is made of those of its parts, which stand in a tree, so a change costs the logarithm of the
// stack.
#pragma once

#include "protocol/table/walk.h"
#include "report/select/filter_set.h"

struct report_stack_bits {
    const struct report_filter_set *set; // borrowed
    uint64_t *maps; // owned; node i has two halves, 2 i and 2 i + 1; the last `leaves` are blocks
    size_t leaves;  // a power of two
    uint64_t steps; // rows of maps that were made; tests look at it
};

void report_stack_bits_deinit(struct report_stack_bits *bits); // fine when zeroed but for `set`

// Makes the tree of a stack. Returns 0 or -ENOMEM.
int report_stack_bits_build(struct report_stack_bits *bits, const struct nvtxt_walk *walk);

// A range has come to the top of the stack; the tree was built. Returns 0 or -ENOMEM.
int report_stack_bits_begin(struct report_stack_bits *bits, const struct nvtxt_walk *walk);

// Takes away the range of the walk that ends first. Returns 0 or -ENOMEM.
int report_stack_bits_leave(struct report_stack_bits *bits, struct nvtxt_walk *walk);

// The bits after the whole stack, from those of an empty one.
void report_stack_bits_after(const struct report_stack_bits *bits, const uint64_t *empty,
                             uint64_t *after);
