// SPDX-License-Identifier: Apache-2.0
//
// The lanes that the page draws: the marks of a thread, the push/pop ranges of a thread and domain,
// the start/end ranges of a process and category. They stand in the order of the picture: process;
// in it start/end ranges by category; then by thread its marks, then its push/pop ranges by domain.
#pragma once

#include "report/load/idmap.h"
#include "report/model/model.h"

struct page_lane {
    uint8_t kind;      // enum report_kind
    uint32_t process;  // index in the capture
    uint32_t thread;   // the same; of start/end ranges not used
    uint32_t domain;   // of push/pop ranges
    uint32_t category; // of start/end ranges: an index of page_category; REPORT_NONE: none
};

// A category of events that are drawn: its number, and its name in a scope.
struct page_category {
    uint32_t scope, id;
};

struct page_lanes {
    const struct report_capture *capture; // borrowed
    struct page_lane *lanes;              // owned; in their order after page_lanes_sort()
    size_t count, room;
    uint32_t *place; // owned: from the number of page_lanes_of() to the place in the order
    struct page_category *categories; // owned; as they came
    size_t category_count, category_room;
    struct report_idmap marks, push_pop, start_end, by_category;
};

void page_lanes_init(struct page_lanes *lanes, const struct report_capture *capture);
void page_lanes_deinit(struct page_lanes *lanes); // fine when zeroed

// The index of the category of an event; REPORT_NONE: it has none. Returns 0 or -ENOMEM.
int page_category_of(struct page_lanes *lanes, const struct report_event *event, uint32_t *index);

// The number of the lane of an event; a new lane has the next number. Returns 0 or -ENOMEM.
int page_lanes_of(struct page_lanes *lanes, const struct report_event *event, uint32_t *number);

// Sorts the lanes, once all are there. Returns 0 or -ENOMEM.
int page_lanes_sort(struct page_lanes *lanes);
