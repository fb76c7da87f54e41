// SPDX-License-Identifier: Apache-2.0
//
// Items are in the order of their events, so one walk over both tells which events are not items of
// their own: those that joined an item, and the first one of such an item.
#include "report/page/timeline.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

#define MOST_NAMES 20000
#define MOST_BYTES ((size_t)1 << 20) // of all their texts

static void count(struct page_hidden_name *name, const struct report_event *event) {
    bool any = name->count++ > 0;
    name->first = any && name->first < event->start ? name->first : event->start;
    name->last = any && name->last > event->end ? name->last : event->end;
}

static void count_all(struct page_hidden_name *by_name, const struct report_model *model,
                      const struct page_items *items) {
    size_t next = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct report_event *event = &model->capture->events[i];
        const struct page_item *item = next < items->count ? &items->items[next] : NULL;
        bool is_item = item && item->event == i;
        next += is_item;
        if ((event->flags & REPORT_SELECTED) && !(is_item && item->merged == 0)) {
            count(&by_name[event->name], event);
        }
    }
}

static int compare(const void *a, const void *b) {
    const struct page_hidden_name *x = a, *y = b;
    return NVTXT_ORDER(y->count, x->count) ?: NVTXT_ORDER(x->name, y->name);
}

// Keeps those that the page has room for.
static void choose(struct page_hidden *hidden, const struct report_capture *capture, size_t used) {
    size_t kept = 0, bytes = 0;
    for (size_t i = 0; i < used; i++) {
        struct page_hidden_name name = hidden->names[i];
        size_t len = capture->messages[capture->names[name.name].message].len;
        hidden->events += name.count;
        if (kept < MOST_NAMES && len <= MOST_BYTES - bytes) {
            hidden->names[kept++] = name;
            bytes += len;
        } else {
            hidden->left += name.count;
        }
    }
    hidden->count = kept;
}

int page_hidden_init(struct page_hidden *hidden, const struct report_model *model,
                     const struct page_items *items) {
    const struct report_capture *capture = model->capture;
    *hidden = (struct page_hidden){0};
    if (items->single == items->count) {
        return 0; // nothing is merged
    }
    hidden->names = calloc(capture->name_count + 1, sizeof(*hidden->names));
    if (!hidden->names) {
        return nvtxt_origin(-ENOMEM);
    }
    count_all(hidden->names, model, items);
    size_t used = 0;
    for (size_t i = 0; i < capture->name_count; i++) {
        if (hidden->names[i].count > 0) {
            hidden->names[used] = hidden->names[i];
            hidden->names[used++].name = (uint32_t)i;
        }
    }
    qsort(hidden->names, used, sizeof(*hidden->names), compare);
    choose(hidden, capture, used);
    return 0;
}

void page_hidden_deinit(struct page_hidden *hidden) {
    free(hidden->names);
    *hidden = (struct page_hidden){0};
}

// Times may be beyond what a reader of JSON keeps: they are texts.
void page_hidden_put(struct report_json *json, const struct page_hidden *hidden,
                     const uint32_t *numbers) {
    if (hidden->events == 0) {
        return;
    }
    report_json_object(json, "hidden");
    report_json_uint(json, "left", hidden->left);
    report_json_array(json, "names");
    for (size_t i = 0; i < hidden->count; i++) {
        const struct page_hidden_name *name = &hidden->names[i];
        report_json_array(json, NULL);
        report_json_uint(json, NULL, numbers[name->name]);
        report_json_uint(json, NULL, name->count);
        report_json_digits(json, NULL, name->first);
        report_json_digits(json, NULL, name->last);
        report_json_end_array(json);
    }
    report_json_end_array(json);
    report_json_end_object(json);
}
