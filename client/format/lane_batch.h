// SPDX-License-Identifier: Apache-2.0
//
// Events that wait for their lanes. Ranges find their lanes soonest when they come by their start
// (export_lanes.h), and a store has them by their end; so a batch of them is placed in that order
// and written in the one in which it came. The texts of the events wait beside them.
#pragma once

#include "client/format/export_lanes.h"
#include "client/format/export_out.h"

#define LANE_BATCH_ITEMS 65536u             // 4 MiB
#define LANE_BATCH_BYTES ((size_t)16 << 20) // of texts

struct lane_item {
    uint64_t global_tid;
    int64_t start, end;
    size_t ids, late, stop; // where in the text the ids belong, a lane's argument, and its end
    unsigned lane;
    bool is_range;
};

struct lane_batch {
    struct export_out text;  // owned; never written, it grows
    struct lane_item *items; // owned
    uint32_t *order;         // owned
    uint32_t count;
};

int lane_batch_init(struct lane_batch *batch);    // 0 or -ENOMEM
void lane_batch_deinit(struct lane_batch *batch); // fine when zeroed

bool lane_batch_is_full(const struct lane_batch *batch);

// Gives each range its lane. Returns 0 or -ENOMEM.
int lane_batch_place(struct lane_batch *batch, struct export_lanes *lanes);

void lane_batch_clear(struct lane_batch *batch);
