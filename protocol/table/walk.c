// SPDX-License-Identifier: Apache-2.0
//
// While ranges nest, the one on top ends first. As soon as one ends after the range under it, a
// heap says which ends first, until none is open: the two ends below end i are 2 i + 1 and 2 i + 2,
// and none is before i. Then what leaves below the top stays as a gap; when most of the stack is
// gaps, they are closed.
#include "protocol/table/walk.h"

#include <stdlib.h>

#include "protocol/table/arrays.h"

#define FEW_GAPS 16 // not worth closing

void nvtxt_walk_deinit(struct nvtxt_walk *walk) {
    free(walk->stack);
    free(walk->ends);
    *walk = (struct nvtxt_walk){0};
}

// ---- Ends ---------------------------------------------------------------------------------------

static bool is_before(const struct nvtxt_walk_end *a, const struct nvtxt_walk_end *b) {
    return a->at != b->at ? a->at < b->at : a->place > b->place;
}

// Puts the end of a range beside the `count` that are in the heap.
static void add_end(struct nvtxt_walk *walk, size_t count, size_t place) {
    struct nvtxt_walk_end *ends = walk->ends, end = {walk->stack[place].end, place};
    size_t at = count;
    for (; at > 0 && is_before(&end, &ends[(at - 1) / 2]); at = (at - 1) / 2) {
        ends[at] = ends[(at - 1) / 2];
    }
    ends[at] = end;
}

// Takes the first end out; `count` are left.
static size_t take_end(struct nvtxt_walk *walk, size_t count) {
    struct nvtxt_walk_end *ends = walk->ends, first = ends[0], last = ends[count];
    size_t at = 0;
    for (size_t below; (below = 2 * at + 1) < count; at = below) {
        below += below + 1 < count && is_before(&ends[below + 1], &ends[below]);
        if (!is_before(&ends[below], &last)) {
            break;
        }
        ends[at] = ends[below];
    }
    ends[at] = last;
    return first.place;
}

// ---- The stack ----------------------------------------------------------------------------------

// Ends of all that is on the stack, whose gaps are closed.
static void add_ends(struct nvtxt_walk *walk) {
    size_t kept = 0;
    for (size_t i = 0; i < walk->stacked; i++) {
        if (walk->stack[i].id != NVTXT_WALK_GAP) {
            walk->stack[kept] = walk->stack[i];
            add_end(walk, kept, kept);
            kept++;
        }
    }
    walk->stacked = kept;
}

int nvtxt_walk_begin(struct nvtxt_walk *walk, int64_t end, uint32_t id) {
    bool crosses = walk->count > 0 && end > nvtxt_walk_top(walk)->end;
    int r = nvtxt_grow(&walk->stack, &walk->room, walk->stacked + 1, sizeof(*walk->stack));
    if (r == 0 && (walk->crossed || crosses)) {
        r = nvtxt_grow(&walk->ends, &walk->ends_room, walk->count + 1, sizeof(*walk->ends));
    }
    if (r < 0) {
        return r;
    }
    if (crosses && !walk->crossed) {
        add_ends(walk);
        walk->crossed = true;
    }
    walk->stack[walk->stacked] = (struct nvtxt_open){end, id};
    if (walk->crossed) {
        add_end(walk, walk->count, walk->stacked);
    }
    walk->stacked++;
    walk->count++;
    return 0;
}

bool nvtxt_walk_leave(struct nvtxt_walk *walk) {
    walk->count--;
    if (!walk->crossed) {
        walk->stacked--;
        return false;
    }
    walk->stack[take_end(walk, walk->count)].id = NVTXT_WALK_GAP;
    while (walk->stacked > 0 && nvtxt_walk_top(walk)->id == NVTXT_WALK_GAP) {
        walk->stacked--;
    }
    walk->crossed = walk->count > 0;
    bool is_hollow = walk->stacked > 2 * walk->count + FEW_GAPS;
    if (is_hollow) {
        walk->moves += walk->stacked;
        add_ends(walk);
    }
    return is_hollow;
}
