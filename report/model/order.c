// SPDX-License-Identifier: Apache-2.0
//
// Events of a store come nearly in order: a range is written when it ends, after those within it.
// So the sort is a merge sort that looks first: short pieces are sorted by insertion, and of two
// neighbours only that part is merged which is not in place already. It sorts keys of 16 bytes,
// with at most as many again beside them, and then moves each event once, along the circles of the
// permutation: the events are never there twice.
#include "report/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

#define PIECE 32 // keys that are sorted by insertion

struct key {
    int64_t start;
    uint32_t thread;
    uint32_t event;
};

struct sorter {
    const struct report_capture *capture;
    struct key *keys;
    struct key *beside; // owned; grows
    size_t room;
};

// nvtxt-report(1), "THE MODEL": start, store as given, globalTid, end descending, row (descending
// in stores of nvtxtd, where an inner range is written first). Below 0 when `a` comes before `b`.
// Both belong to the capture.
static int compare_events(const struct report_capture *capture, const struct report_event *a,
                          const struct report_event *b) {
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    if (a->thread != b->thread) { // threads stand by store, then globalTid
        return a->thread < b->thread ? -1 : 1;
    }
    if (a->end != b->end) {
        return a->end > b->end ? -1 : 1;
    }
    if (a->row != b->row) {
        return (a->row > b->row) == capture->stores[a->store].ours ? -1 : 1;
    }
    return 0;
}

static inline bool is_after(const struct sorter *sorter, const struct key *a, const struct key *b) {
    if (a->start != b->start) {
        return a->start > b->start;
    }
    if (a->thread != b->thread) {
        return a->thread > b->thread;
    }
    const struct report_event *events = sorter->capture->events;
    return compare_events(sorter->capture, &events[a->event], &events[b->event]) > 0;
}

static void insert_keys(const struct sorter *sorter, struct key *keys, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct key key = keys[i];
        size_t at = i;
        for (; at > 0 && is_after(sorter, &keys[at - 1], &key); at--) {
            keys[at] = keys[at - 1];
        }
        keys[at] = key;
    }
}

// How many of the sorted keys at the end come after `key`: looks near the end first.
static size_t count_after(const struct sorter *sorter, const struct key *keys, size_t count,
                          const struct key *key) {
    size_t step = 1;
    while (step < count && is_after(sorter, &keys[count - step], key)) {
        step *= 2;
    }
    size_t least = step / 2, most = step < count ? step : count;
    while (least < most) {
        size_t middle = least + (most - least + 1) / 2;
        if (is_after(sorter, &keys[count - middle], key)) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    return least;
}

static int make_room(struct sorter *sorter, size_t count) {
    if (count <= sorter->room) {
        return 0;
    }
    free(sorter->beside);
    sorter->beside = malloc(count * sizeof(*sorter->beside));
    sorter->room = sorter->beside ? count : 0;
    return sorter->beside ? 0 : nvtxt_origin(-ENOMEM);
}

// Merges two sorted neighbours.
static int merge(struct sorter *sorter, struct key *keys, size_t left, size_t right) {
    size_t moving = count_after(sorter, keys, left, &keys[left]);
    if (moving == 0) {
        return 0;
    }
    int r = make_room(sorter, moving);
    if (r != 0) {
        return r;
    }
    struct key *to = &keys[left - moving], *end = &keys[left + right];
    const struct key *a = sorter->beside, *a_end = a + moving, *b = &keys[left];
    memcpy(sorter->beside, to, moving * sizeof(*to));
    while (a < a_end) {
        *to++ = b < end && is_after(sorter, a, b) ? *b++ : *a++;
    }
    return 0;
}

static int sort_keys(struct sorter *sorter, size_t count) {
    for (size_t at = 0; at < count; at += PIECE) {
        insert_keys(sorter, sorter->keys + at, count - at < PIECE ? count - at : PIECE);
    }
    for (size_t width = PIECE; width < count; width *= 2) {
        for (size_t at = 0; count - at > width; at += 2 * width) {
            size_t right = count - at - width < width ? count - at - width : width;
            int r = merge(sorter, sorter->keys + at, width, right);
            if (r != 0) {
                return r;
            }
            if (count - at <= 2 * width) {
                break;
            }
        }
    }
    return 0;
}

// Where the event that belongs to each place is now, from the sorted keys: in the same memory. A
// quarter of it is left, which more often is in a cache.
static uint32_t *places_of(struct key *keys, size_t count) {
    uint32_t *places = (uint32_t *)(void *)keys;
    for (size_t i = 0; i < count; i++) {
        places[i] = keys[i].event;
    }
    return places;
}

static void move_events(struct report_event *events, uint32_t *places, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (places[i] == i) {
            continue;
        }
        struct report_event first = events[i];
        size_t at = i;
        for (size_t from; (from = places[at]) != i; at = from) {
            events[at] = events[from];
            places[at] = (uint32_t)at;
        }
        events[at] = first;
        places[at] = (uint32_t)at;
    }
}

static bool is_ordered(const struct report_capture *capture) {
    for (size_t i = 1; i < capture->event_count; i++) {
        if (compare_events(capture, &capture->events[i - 1], &capture->events[i]) > 0) {
            return false;
        }
    }
    return true;
}

int report_order(struct report_capture *capture) {
    size_t count = capture->event_count;
    if (is_ordered(capture)) {
        return 0;
    }
    struct sorter sorter = {.capture = capture, .keys = malloc(count * sizeof(*sorter.keys))};
    if (!sorter.keys) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < count; i++) {
        sorter.keys[i] =
            (struct key){capture->events[i].start, capture->events[i].thread, (uint32_t)i};
    }
    int r = sort_keys(&sorter, count);
    free(sorter.beside);
    if (r == 0) {
        move_events(capture->events, places_of(sorter.keys, count), count);
    }
    free(sorter.keys);
    return r;
}
