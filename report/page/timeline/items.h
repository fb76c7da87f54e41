// SPDX-License-Identifier: Apache-2.0
//
// The items of the timeline: selected events in their order, and when there are more of them than
// the page takes, short ones merged: those of one lane and depth that begin in one of 4,096 parts
// of the whole span, and are shorter than it, stand as one item where the first of them stands.
#pragma once

#include "report/page/timeline/lanes.h"

struct page_item {
    uint32_t event;  // its index in the order; of a merged item that of the first
    uint32_t lane;   // a number of page_lanes_of()
    uint32_t merged; // how many events it stands for; 0: it is one
    uint32_t parent; // index of an item, or REPORT_NONE
    uint32_t guess;  // the parent that the depth alone lets one guess, or REPORT_NONE
    int64_t end;     // of the last of them
};

struct page_items {
    struct page_item *items; // owned
    size_t count;
    size_t single;       // items that are one event
    int64_t first, last; // smallest start, largest end; both 0 without items
    struct page_lanes lanes;
};

// Merges when more than `most` events are selected. Returns 0 or -ENOMEM; deinit is fine after
// both.
int page_items_init(struct page_items *items, const struct report_model *model, size_t most);
void page_items_deinit(struct page_items *items);
