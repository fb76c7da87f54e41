// SPDX-License-Identifier: Apache-2.0
//
// The ranges of an export as stacks, for viewers that need each thread's ranges opened and closed
// in the order of time, one inside of the other. Two ranges have the same frame when their messages
// are the same.
//
// All ranges are kept until the end, 32 bytes each, because rows come in the order in which ranges
// ended, and from all threads. A range that crosses another one of its thread is on a further lane
// of it (export_lanes.h), which is a separate stack. Beside them is kept what few ranges have to do
// with ranges of other processes.
#pragma once

#include <stdint.h>

#include "client/format/export_fmt.h"

struct export_stacks;

struct export_stacks *export_stacks_new(void); // NULL when memory is short
void export_stacks_free(struct export_stacks *stacks);

// Adds the range of a row; a mark has no length and is left out. Returns 0 or -ENOMEM.
int export_stacks_add(struct export_stacks *stacks, const struct store_named_event *row);

// The different messages of ranges, numbered from 0 on in the order in which they came.
uint32_t export_stacks_frames(const struct export_stacks *stacks);
struct nvtxt_slice export_stacks_frame(const struct export_stacks *stacks, uint32_t frame);

// What a range has to do with other processes (store/read/reader_parents.h). Both may be NULL.
struct export_kin {
    const struct store_parent *parent; // one that is known
    const struct store_parent *self;   // the range, if others have it as their parent
};

#define EXPORT_KIN_MOST 128 // parents, one above the other: nobody looks at more

// The frame of a parent that a range has, or of one above it.
uint32_t export_stacks_frame_of(const struct export_stacks *stacks,
                                const struct store_parent *parent);

struct export_stack {
    struct nvtxt_slice process, thread; // never without a name
    unsigned lane;                      // 0: the thread itself
    int64_t start, end;                 // of all its ranges
};

// Each may stop the visit with -errno. Every range is closed, in the reverse order of opening,
// before its stack ends; times never go back.
struct export_stacks_visitor {
    int (*begin)(void *context, const struct export_stack *stack);
    int (*open)(void *context, uint32_t frame, int64_t at, int64_t end,
                const struct export_kin *kin); // NULL: none
    int (*close)(void *context, uint32_t frame, int64_t at);
    int (*end)(void *context);
    void *context;
};

// Call it once, after the last row. `*cut` is the number of ranges that still crossed others on the
// last lane and were cut to fit. Returns 0, -ENOMEM or what a visitor stopped with.
int export_stacks_visit(struct export_stacks *stacks, const struct export_stacks_visitor *visitor,
                        uint64_t *cut);
