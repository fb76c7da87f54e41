// SPDX-License-Identifier: Apache-2.0
//
// Events that wait for their lanes. Ranges get their lanes fastest in the order of their starts
// (export_lanes.h), but a store has them in the order of their ends. So a batch of ranges is placed
// in the one order and written in the other. The texts of the events wait with them.
#pragma once

#include "client/lane/export_lanes.h"
#include "protocol/text/out.h"

#define LANE_BATCH_ITEMS 65536u             // 5 MiB
#define LANE_BATCH_BYTES ((size_t)16 << 20) // of texts

struct lane_item {
    uint64_t global_tid;
    int64_t start, end;
    size_t ids, late, stop; // places in the text: of the ids, of a lane's argument, its end
    unsigned lane;
    bool is_range;
    // Only the format uses these.
    uint64_t track;             // of the output
    uint32_t flow_in, flow_out; // 0: none
    int64_t flow_at;
};

enum lane_edge_kind { LANE_END, LANE_BEGIN, LANE_POINT }; // a point: without length

struct lane_edge {
    int64_t at;
    uint32_t item;
    enum lane_edge_kind kind;
};

struct lane_batch {
    struct nvtxt_out text;   // owned; never written, it grows
    struct lane_item *items; // owned
    uint32_t *order;         // owned
    struct lane_edge *edges; // owned; NULL before the first call of lane_batch_edges()
    uint32_t count;
};

int lane_batch_init(struct lane_batch *batch);    // 0 or -ENOMEM
void lane_batch_deinit(struct lane_batch *batch); // fine when zeroed

bool lane_batch_is_full(const struct lane_batch *batch);

// Gives each range its lane. Returns 0 or -ENOMEM.
int lane_batch_place(struct lane_batch *batch, struct export_lanes *lanes);

// The begins and ends of ranges, and the points, in the order of time, so that on each lane they
// nest: of the same time first the ends, then the begins, the longest range first, then the points.
// Sets `count`. NULL when memory is short. The edges live until the next call.
const struct lane_edge *lane_batch_edges(struct lane_batch *batch, uint32_t *count);

void lane_batch_clear(struct lane_batch *batch);
