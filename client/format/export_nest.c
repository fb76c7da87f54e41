// SPDX-License-Identifier: Apache-2.0
//
// Sorts the rows by thread and start, of equal starts the longer first, and goes through them once
// with a stack of ranges. The stack never crosses: a range takes those away that end before it.
// They are needed no more, because it started later than they and is around all that they could
// still be around.
#include "client/format/export_nest.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

void export_nest_deinit(struct export_nest *nest) {
    free(nest->items);
    *nest = (struct export_nest){0};
}

int export_nest_add(struct export_nest *nest, const struct store_read_event *event, uint64_t id,
                    bool is_wanted) {
    if (event->type == NVTXT_EVENT_START_END) {
        return 0;
    }
    if (nest->count == EXPORT_NEST_NONE ||
        nvtxt_grow(&nest->items, &nest->room, nest->count + 1, sizeof(*nest->items)) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    bool has_length = event->type == NVTXT_EVENT_PUSH_POP && event->end > event->start;
    nest->items[nest->count++] =
        (struct export_nested){.global_tid = event->global_tid & ((UINT64_C(1) << 48) - 1),
                               .is_range = has_length,
                               .is_wanted = is_wanted,
                               .start = event->start,
                               .end = has_length ? event->end : event->start,
                               .id = id};
    return 0;
}

// What has no length comes after the ranges, in the order of rows.
static int by_start(const void *one, const void *other, void *context) {
    const struct export_nested *items = context;
    uint32_t first = *(const uint32_t *)one, second = *(const uint32_t *)other;
    const struct export_nested *a = &items[first], *b = &items[second];
    int r = NVTXT_ORDER(a->global_tid, b->global_tid);
    r = r ?: NVTXT_ORDER(a->start, b->start);
    r = r ?: NVTXT_ORDER(b->end, a->end);
    return r ?: a->is_range ? NVTXT_ORDER(second, first) : NVTXT_ORDER(first, second);
}

// Whether the range is around a thing that starts when it does, or later.
static bool is_around(const struct export_nested *items, uint32_t range, uint32_t thing) {
    const struct export_nested *a = &items[range], *b = &items[thing];
    return a->global_tid == b->global_tid && a->end >= b->end && a->end > b->start;
}

static void set_place(struct export_nested *items, uint32_t thing, const uint32_t *around) {
    const struct export_nested *outer = around ? &items[*around] : NULL;
    items[thing].outermost = outer ? outer->outermost : thing;
    items[thing].around = !outer ? EXPORT_NEST_NONE : outer->is_wanted ? *around : outer->around;
}

// `order` also holds the stack, which is never larger than what was taken from it.
static void sweep(struct export_nested *items, uint32_t *order, size_t count) {
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t thing = order[i];
        while (open > 0 && !is_around(items, order[open - 1], thing)) {
            open--;
        }
        set_place(items, thing, open > 0 ? &order[open - 1] : NULL);
        if (items[thing].is_range) {
            order[open++] = thing;
        }
    }
}

int export_nest_find(struct export_nest *nest) {
    uint32_t *order = malloc((nest->count + 1) * sizeof(*order));
    if (!order) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < nest->count; i++) {
        order[i] = (uint32_t)i;
    }
    qsort_r(order, nest->count, sizeof(*order), by_start, nest->items);
    sweep(nest->items, order, nest->count);
    free(order);
    return 0;
}

const struct export_nested *export_nest_next(struct export_nest *nest, uint64_t id) {
    while (nest->next < nest->count && nest->items[nest->next].id != id) {
        nest->next++;
    }
    return nest->next < nest->count ? &nest->items[nest->next++] : NULL;
}
