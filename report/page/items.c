// SPDX-License-Identifier: Apache-2.0
//
// One walk over the events. For each lane the last item of each depth is known: it is what a short
// event may join, and the last one of a smaller depth is the parent that a reader guesses.
#include "protocol/table/arrays.h"
#include "report/page/timeline.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

#define PARTS 4096

// The last item of each depth of a lane; REPORT_NONE: none.
struct last {
    uint32_t *item; // owned
    size_t count;
};

struct walk {
    struct page_items *to;
    const struct report_model *model;
    struct last *lasts; // owned; by number of the lane
    size_t last_count;
    uint64_t part; // length of a part; 0: nothing is merged
};

// ---- The last items -----------------------------------------------------------------------------

static int make_last(struct walk *walk, uint32_t lane, size_t depth) {
    size_t before = walk->last_count;
    int r = nvtxt_grow(&walk->lasts, &walk->last_count, (size_t)lane + 1, sizeof(*walk->lasts));
    if (r < 0) {
        return r;
    }
    for (size_t i = before; i < walk->last_count; i++) {
        walk->lasts[i] = (struct last){0};
    }
    struct last *last = &walk->lasts[lane];
    before = last->count;
    r = nvtxt_grow(&last->item, &last->count, depth + 1, sizeof(*last->item));
    for (size_t i = before; i < last->count; i++) {
        last->item[i] = REPORT_NONE;
    }
    return r;
}

// ---- Merging ------------------------------------------------------------------------------------

static bool is_short(const struct walk *walk, const struct report_event *event) {
    return walk->part > 0 && !(event->flags & REPORT_OPEN) &&
           (uint64_t)event->end - (uint64_t)event->start < walk->part;
}

static uint64_t part_of(const struct walk *walk, const struct report_event *event) {
    return ((uint64_t)event->start - (uint64_t)walk->to->first) / walk->part;
}

static bool joins(const struct walk *walk, const struct report_event *event, uint32_t index) {
    if (index == REPORT_NONE || !is_short(walk, event)) {
        return false;
    }
    const struct report_event *first = &walk->model->capture->events[walk->to->items[index].event];
    return is_short(walk, first) && part_of(walk, first) == part_of(walk, event);
}

static uint8_t level_of(const struct report_capture *capture, const struct report_event *event) {
    int level = report_line_level(capture, event);
    bool line = report_is_line(capture, event);
    return (uint8_t)(!line ? 0 : level == NVTXT_LEVEL_NONE ? NVTXT_LEVEL_COUNT + 1 : level + 1);
}

static void join(const struct walk *walk, uint32_t index, const struct report_event *event) {
    struct page_items *items = walk->to;
    struct page_item *item = &items->items[index];
    uint8_t level = level_of(walk->model->capture, event);
    item->level = level > 0 && (item->level == 0 || level < item->level) ? level : item->level;
    items->single -= item->merged == 0;
    item->merged += item->merged == 0 ? 2 : 1;
    item->end = event->end > item->end ? event->end : item->end;
}

static uint32_t parent_of(const struct walk *walk, size_t event) {
    uint32_t parent = walk->model->parent[event];
    return parent == REPORT_NONE ? REPORT_NONE : walk->to->item_of[parent];
}

static int take(struct walk *walk, size_t index) {
    const struct report_event *event = &walk->model->capture->events[index];
    struct page_items *items = walk->to;
    size_t depth = walk->model->depth[index];
    uint32_t lane, category;
    int r = page_category_of(&items->lanes, event, &category);
    r = r ?: page_lanes_of(&items->lanes, event, &lane);
    r = r ?: make_last(walk, lane, depth);
    if (r != 0) {
        return r;
    }
    uint32_t *last = walk->lasts[lane].item;
    if (joins(walk, event, last[depth])) {
        join(walk, last[depth], event);
    } else {
        items->items[items->count] = (struct page_item){
            .event = (uint32_t)index,
            .lane = lane,
            .parent = parent_of(walk, index),
            .guess = depth > 0 ? last[depth - 1] : REPORT_NONE,
            .end = event->end,
            .level = level_of(walk->model->capture, event),
        };
        last[depth] = (uint32_t)items->count++;
        items->single++;
    }
    walk->to->item_of[index] = last[depth];
    return 0;
}

// ---- The walk -----------------------------------------------------------------------------------

static void find_span(struct page_items *items, const struct report_model *model) {
    bool any = false;
    for (size_t i = 0; i < model->count; i++) {
        const struct report_event *event = &model->capture->events[i];
        if (event->flags & REPORT_SELECTED) {
            items->first = any ? items->first : event->start;
            items->last = any && items->last > event->end ? items->last : event->end;
            any = true;
        }
    }
}

static int walk_events(struct walk *walk) {
    const struct report_model *model = walk->model;
    int r = 0;
    for (size_t i = 0; i < model->count && r == 0; i++) {
        walk->to->item_of[i] = REPORT_NONE;
        if (model->capture->events[i].flags & REPORT_SELECTED) {
            r = take(walk, i);
        }
    }
    return r;
}

int page_items_init(struct page_items *items, const struct report_model *model, size_t most) {
    struct walk walk = {.to = items, .model = model};
    *items = (struct page_items){0};
    int r = page_lanes_init(&items->lanes, model);
    find_span(items, model);
    if (model->selected > most) {
        walk.part = ((uint64_t)items->last - (uint64_t)items->first) / PARTS + 1;
    }
    items->items = malloc((model->selected + 1) * sizeof(*items->items));
    items->item_of = malloc((model->count + 1) * sizeof(*items->item_of));
    r = items->items && items->item_of ? r : nvtxt_origin(-ENOMEM);
    r = r ?: walk_events(&walk);
    r = r ?: page_lanes_sort(&items->lanes);
    for (size_t i = 0; i < walk.last_count; i++) {
        free(walk.lasts[i].item);
    }
    free(walk.lasts);
    return r;
}

void page_items_deinit(struct page_items *items) {
    free(items->items);
    free(items->item_of);
    page_lanes_deinit(&items->lanes);
    *items = (struct page_items){0};
}
