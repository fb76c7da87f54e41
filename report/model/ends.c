// SPDX-License-Identifier: Apache-2.0
//
// A binary heap in an array that doubles.
#include "report/model/ends.h"

#include <errno.h>
#include <stdlib.h>

void report_ends_deinit(struct report_ends *ends) {
    free(ends->heap);
    *ends = (struct report_ends){0};
}

static int grow(struct report_ends *ends) {
    size_t room = ends->room > 0 ? 2 * ends->room : 16;
    uint32_t *heap = realloc(ends->heap, room * sizeof(*heap));
    if (!heap) {
        return -ENOMEM;
    }
    ends->heap = heap;
    ends->room = room;
    return 0;
}

int report_ends_add(struct report_ends *ends, const struct report_event *events, uint32_t event) {
    if (ends->count == ends->room && grow(ends) != 0) {
        return -ENOMEM;
    }
    uint32_t *heap = ends->heap;
    size_t at = ends->count++;
    for (; at > 0 && events[heap[(at - 1) / 2]].end > events[event].end; at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = event;
    return 0;
}

uint32_t report_ends_take(struct report_ends *ends, const struct report_event *events) {
    uint32_t *heap = ends->heap, first = heap[0], last = heap[--ends->count];
    size_t at = 0;
    for (size_t below; (below = 2 * at + 1) < ends->count; at = below) {
        if (below + 1 < ends->count && events[heap[below + 1]].end < events[heap[below]].end) {
            below++;
        }
        if (events[heap[below]].end >= events[last].end) {
            break;
        }
        heap[at] = heap[below];
    }
    heap[at] = last;
    return first;
}
