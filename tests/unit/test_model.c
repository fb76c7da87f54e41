// SPDX-License-Identifier: Apache-2.0
//
// Order, parents, depths and self times: those of the fixture, and those of random captures, which
// a second computation gives slowly, from the sentences of the manual page alone.
#include "report/model/model.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/model/lanes.h"
#include "tests/unit/report_kit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t find(const struct report_model *model, const char *message, int64_t start) {
    for (size_t i = 0; i < model->count; i++) {
        const struct report_event *event = &model->capture->events[i];
        if (event->start == start &&
            nvtxt_slice_equal(report_event_text(model->capture, event), nvtxt_slice_of(message))) {
            return (uint32_t)i;
        }
    }
    cr_assert_fail("no %s at %lld", message, (long long)start);
    return REPORT_NONE;
}

Test(model, knows_the_fixture) {
    struct report_model *model = report_kit_f1();
    uint64_t self[5] = {0};
    static const char *const names[] = {"step", "load", "compute", "kernel", "wait"};
    for (size_t i = 0; i < model->count; i++) {
        for (size_t name = 0; name < COUNT(names); name++) {
            if (nvtxt_slice_equal(report_event_text(model->capture, &model->capture->events[i]),
                                  nvtxt_slice_of(names[name]))) {
                self[name] += model->self_ns[i];
            }
        }
    }
    cr_assert_eq(self[0], 40);
    cr_assert_eq(self[1], 30);
    cr_assert_eq(self[2], 80);
    cr_assert_eq(self[3], 90);
    cr_assert_eq(self[4], 50);
    uint32_t compute = find(model, "compute", 30);
    cr_assert_eq(model->self_ns[compute], 20);
    cr_assert_eq(model->depth[compute], 1);
    cr_assert_eq(model->child_count[compute], 2);
    cr_assert_eq(model->parent[compute], find(model, "step", 0));
    cr_assert_eq(model->parent[find(model, "step", 120)], REPORT_NONE);
    cr_assert_eq(model->elapsed_ns, 260);
    cr_assert_eq(model->selected, 15);
    report_kit_free(model);
}

// --- the second computation

static bool is_open(const struct report_event *range, int64_t at) {
    return range->start <= at && at < range->end;
}

static bool same_lane(const struct report_model *model, size_t a, size_t b) {
    const struct report_event *events = model->capture->events;
    return events[a].kind == REPORT_PUSH_POP && events[b].kind == REPORT_PUSH_POP &&
           events[a].thread == events[b].thread &&
           model->capture->names[events[a].name].domain ==
               model->capture->names[events[b].name].domain;
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

// Between two neighbouring times nothing changes: the last open range of the lane has that time.
static uint64_t slow_self(const struct report_model *model, size_t range, const int64_t *times,
                          size_t time_count) {
    uint64_t self = 0;
    for (size_t t = 0; t + 1 < time_count; t++) {
        size_t last = SIZE_MAX;
        for (size_t i = 0; i < model->count; i++) {
            if (same_lane(model, i, range) && is_open(&model->capture->events[i], times[t])) {
                last = i;
            }
        }
        self += last == range ? (uint64_t)times[t + 1] - (uint64_t)times[t] : 0;
    }
    return self;
}

static void check_range(const struct report_model *model, size_t range, const int64_t *times,
                        size_t time_count) {
    uint32_t parent = REPORT_NONE, depth = 0, children = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (i < range && same_lane(model, i, range) &&
            is_open(&model->capture->events[i], model->capture->events[range].start)) {
            parent = (uint32_t)i;
            depth++;
        }
        children += model->parent[i] == range;
    }
    cr_assert_eq(model->parent[range], parent, "parent of %zu", range);
    cr_assert_eq(model->depth[range], depth, "depth of %zu", range);
    cr_assert_eq(model->child_count[range], children, "children of %zu", range);
    cr_assert_eq(model->self_ns[range], slow_self(model, range, times, time_count), "self of %zu",
                 range);
}

// The stack of each range of a lane, with the range itself on top.
static void check_stacks(const struct report_model *model) {
    const struct report_event *events = model->capture->events;
    struct report_lanes lanes;
    cr_assert_eq(report_lanes_init(&lanes, model->capture), 0);
    for (size_t event = 0; event < model->count; event++) {
        if (events[event].kind != REPORT_PUSH_POP) {
            continue;
        }
        struct report_lane *lane;
        cr_assert_eq(report_lanes_begin(&lanes, (uint32_t)event, &lane), 0);
        size_t place = 0;
        for (size_t i = 0; i <= event; i++) {
            if (same_lane(model, i, event) &&
                (i == event || is_open(&events[i], events[event].start))) {
                while (place < lane->walk.stacked && lane->walk.stack[place].id == NVTXT_WALK_GAP) {
                    place++;
                }
                cr_assert_lt(place, lane->walk.stacked, "event %zu", event);
                cr_assert_eq(lane->walk.stack[place++].id, i, "event %zu", event);
            }
        }
        cr_assert_eq(place, lane->walk.stacked, "event %zu", event);
    }
    report_lanes_deinit(&lanes);
}

static void check(const struct report_model *model) {
    int64_t *times = malloc((2 * model->count + 1) * sizeof(*times));
    cr_assert_not_null(times);
    for (size_t i = 0; i < model->count; i++) {
        times[2 * i] = model->capture->events[i].start;
        times[2 * i + 1] = model->capture->events[i].end;
    }
    qsort(times, 2 * model->count, sizeof(*times), compare_times);
    for (size_t i = 0; i < model->count; i++) {
        if (model->capture->events[i].kind == REPORT_PUSH_POP) {
            check_range(model, i, times, 2 * model->count);
        } else {
            cr_assert_eq(model->parent[i], REPORT_NONE);
            cr_assert_eq(model->depth[i] + model->child_count[i] + model->self_ns[i], 0);
        }
    }
    free(times);
}

// --- order

static bool is_before(const struct report_capture *capture, const struct report_event *a,
                      const struct report_event *b) {
    uint64_t tids[] = {capture->threads[a->thread].global_tid,
                       capture->threads[b->thread].global_tid};
    if (a->start != b->start || a->store != b->store) {
        return a->start != b->start ? a->start < b->start : a->store < b->store;
    }
    if (tids[0] != tids[1] || a->end != b->end) {
        return tids[0] != tids[1] ? tids[0] < tids[1] : a->end > b->end;
    }
    return capture->stores[a->store].ours ? a->row > b->row : a->row < b->row;
}

static void check_order(const struct report_capture *capture) {
    for (size_t i = 1; i < capture->event_count; i++) {
        cr_assert(is_before(capture, &capture->events[i - 1], &capture->events[i]), "at %zu", i);
    }
}

// --- random captures

static int64_t time_below(unsigned span) {
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};
    return rand() % 16 == 0 && span == 0 ? ends[rand() % 6] : rand() % (int)(span ? span : 12);
}

// span 0: with times at the ends of Int64.
static void make(struct report_kit_event *events, size_t count, unsigned span) {
    static const char *const names[] = {"a", "b", "D:a", "E:c"};
    for (size_t i = 0; i < count; i++) {
        events[i] = (struct report_kit_event){
            .kind = rand() % 8   ? REPORT_PUSH_POP
                    : rand() % 2 ? REPORT_MARK
                                 : REPORT_START_END,
            .name = names[rand() % 4],
            .tid = 1 + (uint32_t)(rand() % 2),
            .store = (uint8_t)(rand() % 2),
            .start = time_below(span),
        };
        int64_t length = rand() % 3 ? rand() % 5 : rand() % 40;
        events[i].end = events[i].kind == REPORT_MARK          ? events[i].start
                        : span == 0 && rand() % 4 == 0         ? time_below(0)
                        : events[i].start > INT64_MAX - length ? INT64_MAX
                                                               : events[i].start + length;
        if (events[i].kind != REPORT_MARK && rand() % 16 == 0) {
            events[i].flags = REPORT_OPEN;
        }
    }
}

Test(model, agrees_with_the_sentences_of_the_page) {
    struct report_kit_event events[40];
    for (unsigned round = 0; round < 2000; round++) {
        srand(round);
        size_t count = (size_t)(rand() % (int)COUNT(events));
        make(events, count, round % 3 ? 1u + (unsigned)rand() % 60 : 0);
        struct report_capture *capture = report_kit_capture(events, count);
        capture->stores[0].ours = rand() % 2;
        struct report_model *model;
        cr_assert_eq(report_model_build(&model, capture), 0);
        check_order(capture);
        check(model);
        check_stacks(model);
        report_kit_free(model);
    }
}

Test(model, orders_many_events_nearly_in_order_or_not_at_all) {
    enum { MANY = 20000 };
    struct report_kit_event *events = calloc(MANY, sizeof(*events));
    cr_assert_not_null(events);
    for (int disorder = 1; disorder < 1000000; disorder *= 30) {
        srand((unsigned)disorder);
        for (size_t i = 0; i < MANY; i++) {
            int64_t start = (int64_t)i + rand() % disorder;
            events[i] = (struct report_kit_event)KIT_RANGE(1, "a", start, start + rand() % 9);
        }
        struct report_model *model = report_kit_model(events, MANY);
        check_order(model->capture);
        report_kit_free(model);
    }
    free(events);
}

Test(model, takes_a_million_years_and_a_thousand_crossing_ranges) {
    enum { MANY = 3000 };
    struct report_kit_event *events = calloc(MANY, sizeof(*events));
    cr_assert_not_null(events);
    for (int i = 0; i < MANY; i++) {
        events[i] = (struct report_kit_event)KIT_RANGE(1, "a", i, i + MANY);
    }
    struct report_model *model = report_kit_model(events, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        cr_assert_eq(model->depth[i], i);
        cr_assert_eq(model->self_ns[i], i + 1 < MANY ? 1 : MANY);
    }
    report_kit_free(model);
    free(events);

    static const struct report_kit_event whole[] = {KIT_RANGE(1, "all", INT64_MIN, INT64_MAX)};
    model = report_kit_model(whole, 1);
    cr_assert_eq(model->self_ns[0], UINT64_MAX);
    cr_assert_eq(report_duration(&model->capture->events[0]), UINT64_MAX);
    cr_assert_eq(model->elapsed_ns, UINT64_MAX);
    report_kit_free(model);
}

Test(model, counts_what_is_selected) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "a", 0, 1000),
        KIT_MARK(1, "b", 7),
        KIT_RANGE(1, "c", 20, 30),
        {KIT_EVENT(REPORT_START_END, 1, "d", 25, 0), .flags = REPORT_OPEN},
    };
    struct report_model *model = report_kit_model(events, COUNT(events));
    cr_assert_eq(model->open_selected, 1);
    for (size_t i = 0; i < model->count; i++) {
        model->capture->events[i].flags &= (uint8_t)~REPORT_SELECTED;
    }
    report_model_count_selected(model);
    cr_assert_eq(model->selected + model->elapsed_ns + model->open_selected, 0);
    model->capture->events[1].flags |= REPORT_SELECTED;
    model->capture->events[2].flags |= REPORT_SELECTED;
    report_model_count_selected(model);
    cr_assert_eq(model->selected, 2);
    cr_assert_eq(model->selected_first_ns, 7);
    cr_assert_eq(model->elapsed_ns, 23);
    report_kit_free(model);
}

Test(model, takes_a_capture_without_events) {
    struct report_model *model = report_kit_model(NULL, 0);
    cr_assert_eq(model->count + model->selected + model->elapsed_ns, 0);
    report_kit_free(model);
}
