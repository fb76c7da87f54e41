// SPDX-License-Identifier: Apache-2.0
//
// Names of the events that merged items stand for: how many there are of each, and when. The page
// cannot show these events one by one, but a search finds their names.
#pragma once

#include "report/page/timeline/items.h"
#include "report/render/kit/json.h"

struct page_hidden_name {
    uint32_t name;
    uint64_t count;      // merged events of that name
    int64_t first, last; // smallest start, largest end of them
};

struct page_hidden {
    struct page_hidden_name *names; // owned; those of most events come first
    size_t count;
    uint64_t events; // that are merged
    uint64_t left;   // of these: events of names that are too many or too long for the page
};

// Returns 0 or -ENOMEM; deinit is fine after both.
int page_hidden_init(struct page_hidden *hidden, const struct report_model *model,
                     const struct page_items *items);
void page_hidden_deinit(struct page_hidden *hidden);

// The member "hidden", if events are merged: {"left":N,"names":[[number,count,"first","last"],…]}
// with the numbers of the names in `numbers`.
void page_hidden_put(struct report_json *json, const struct page_hidden *hidden,
                     const uint32_t *numbers);
