// SPDX-License-Identifier: Apache-2.0
//
// Sorts the indexes of the ranges, not the ranges. Of ranges that start together the longer one is
// first, so that it is the outer one. Of ranges with the same times the later one is first: the
// range that ended last was opened first.
#include "client/format/lane_batch.h"

#include <errno.h>
#include <stdlib.h>

#define TEXT_KEPT ((size_t)1 << 20) // an empty batch frees the memory of a long text

int lane_batch_init(struct lane_batch *batch) {
    *batch = (struct lane_batch){.items = malloc(LANE_BATCH_ITEMS * sizeof(*batch->items)),
                                 .order = malloc(LANE_BATCH_ITEMS * sizeof(*batch->order))};
    int result = nvtxt_out_init(&batch->text, -1);
    return result < 0 || !batch->items || !batch->order ? -ENOMEM : 0;
}

void lane_batch_deinit(struct lane_batch *batch) {
    nvtxt_out_deinit(&batch->text);
    free(batch->items);
    free(batch->order);
    *batch = (struct lane_batch){0};
}

bool lane_batch_is_full(const struct lane_batch *batch) {
    return batch->count == LANE_BATCH_ITEMS || batch->text.len >= LANE_BATCH_BYTES;
}

static int by_start(const void *one, const void *other, void *context) {
    const struct lane_item *items = context;
    uint32_t first = *(const uint32_t *)one, second = *(const uint32_t *)other;
    const struct lane_item *a = &items[first], *b = &items[second];
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    if (a->end != b->end) {
        return a->end > b->end ? -1 : 1;
    }
    return first > second ? -1 : 1;
}

int lane_batch_place(struct lane_batch *batch, struct export_lanes *lanes) {
    uint32_t count = 0;
    int result = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->items[i].is_range) {
            batch->order[count++] = i;
        }
    }
    qsort_r(batch->order, count, sizeof(*batch->order), by_start, batch->items);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct lane_item *item = &batch->items[batch->order[i]];
        result = export_lanes_place(lanes, item->global_tid, item->start, item->end, &item->lane);
    }
    return result;
}

void lane_batch_clear(struct lane_batch *batch) {
    batch->count = 0;
    batch->text.len = 0;
    if (batch->text.cap > LANE_BATCH_BYTES + TEXT_KEPT) {
        char *data = realloc(batch->text.data, LANE_BATCH_BYTES);
        batch->text.data = data ? data : batch->text.data;
        batch->text.cap = data ? LANE_BATCH_BYTES : batch->text.cap;
    }
}
