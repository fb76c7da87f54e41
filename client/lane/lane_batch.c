// SPDX-License-Identifier: Apache-2.0
//
// Sorts the indexes of the ranges, not the ranges. Of ranges that start together the longer one is
// first, so that it is the outer one. Of ranges with the same times the later one is first: the
// range that ended last was opened first.
#include "client/lane/lane_batch.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

#define TEXT_KEPT ((size_t)1 << 20) // an empty batch frees the memory of a long text

int lane_batch_init(struct lane_batch *batch) {
    *batch = (struct lane_batch){.items = malloc(LANE_BATCH_ITEMS * sizeof(*batch->items)),
                                 .order = malloc(LANE_BATCH_ITEMS * sizeof(*batch->order))};
    int r = nvtxt_out_init(&batch->text, -1);
    return r < 0 || !batch->items || !batch->order ? nvtxt_origin(-ENOMEM) : 0;
}

void lane_batch_deinit(struct lane_batch *batch) {
    nvtxt_out_deinit(&batch->text);
    free(batch->items);
    free(batch->order);
    free(batch->edges);
    *batch = (struct lane_batch){0};
}

bool lane_batch_is_full(const struct lane_batch *batch) {
    return batch->count == LANE_BATCH_ITEMS || batch->text.len >= LANE_BATCH_BYTES;
}

static int compare_starts(const struct lane_item *items, uint32_t first, uint32_t second) {
    const struct lane_item *a = &items[first], *b = &items[second];
    int r = NVTXT_ORDER(a->start, b->start);
    r = r ?: NVTXT_ORDER(b->end, a->end);
    return r ?: NVTXT_ORDER(second, first);
}

static int by_start(const void *one, const void *other, void *context) {
    return compare_starts(context, *(const uint32_t *)one, *(const uint32_t *)other);
}

int lane_batch_place(struct lane_batch *batch, struct export_lanes *lanes) {
    uint32_t count = 0;
    bool sorted = true; // as most are: one by one, or ranges side by side
    int r = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->items[i].is_range) {
            sorted = sorted &&
                     (count == 0 || compare_starts(batch->items, batch->order[count - 1], i) < 0);
            batch->order[count++] = i;
        }
    }
    if (!sorted) {
        qsort_r(batch->order, count, sizeof(*batch->order), by_start, batch->items);
    }
    for (uint32_t i = 0; i < count && r == 0; i++) {
        struct lane_item *item = &batch->items[batch->order[i]];
        r = export_lanes_place(lanes, item->global_tid, item->start, item->end, &item->lane);
    }
    return r;
}

static int by_time(const void *one, const void *other, void *context) {
    const struct lane_edge *a = one, *b = other;
    int r = NVTXT_ORDER(a->at, b->at);
    r = r ?: NVTXT_ORDER(a->kind, b->kind);
    return r                       ? r
           : a->kind == LANE_BEGIN ? compare_starts(context, a->item, b->item)
                                   : NVTXT_ORDER(a->item, b->item);
}

const struct lane_edge *lane_batch_edges(struct lane_batch *batch, uint32_t *count) {
    batch->edges = batch->edges ?: malloc(2 * LANE_BATCH_ITEMS * sizeof(*batch->edges));
    *count = 0;
    for (uint32_t i = 0; batch->edges && i < batch->count; i++) {
        const struct lane_item *item = &batch->items[i];
        bool long_one = item->is_range && item->end > item->start;
        batch->edges[(*count)++] =
            (struct lane_edge){item->start, i, long_one ? LANE_BEGIN : LANE_POINT};
        if (long_one) {
            batch->edges[(*count)++] = (struct lane_edge){item->end, i, LANE_END};
        }
    }
    if (batch->edges) {
        qsort_r(batch->edges, *count, sizeof(*batch->edges), by_time, batch->items);
    }
    return batch->edges;
}

void lane_batch_clear(struct lane_batch *batch) {
    batch->count = 0;
    batch->text.len = 0;
    if (batch->text.cap > LANE_BATCH_BYTES + TEXT_KEPT) {
        char *data = realloc(batch->text.data, LANE_BATCH_BYTES);
        batch->text.data = data ?: batch->text.data;
        batch->text.cap = data ? LANE_BATCH_BYTES : batch->text.cap;
    }
}
