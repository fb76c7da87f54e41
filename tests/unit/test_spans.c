// SPDX-License-Identifier: Apache-2.0
//
// Busy time, gaps, concurrency and the blocking chain: those of the fixture, and those of random
// captures, which a second computation gives moment by moment.
#include "report/model/spans.h"

#include <stdlib.h>

#include "tests/unit/report_kit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct list {
    uint32_t events[64];
    size_t count;
};

// The ranges of a message (NULL: all events) and a thread (0: all).
static struct list list_of(const struct report_model *model, const char *message, uint32_t tid) {
    struct list list = {.count = 0};
    for (size_t i = 0; i < model->count; i++) {
        const struct report_event *event = &model->capture->events[i];
        if ((!message || nvtxt_slice_equal(report_event_text(model->capture, event),
                                           nvtxt_slice_of(message))) &&
            (tid == 0 || report_tid(&model->capture->threads[event->thread]) == tid)) {
            list.events[list.count++] = (uint32_t)i;
        }
    }
    return list;
}

Test(spans, knows_the_gap_of_the_fixture) {
    struct report_model *model = report_kit_f1();
    struct list list = list_of(model, NULL, 1);
    const struct report_event *events = model->capture->events;
    struct report_gap *gaps;
    size_t count;
    cr_assert_eq(report_gaps(model->capture, list.events, list.count, &gaps, &count), 0);
    cr_assert_eq(count, 1);
    cr_assert_eq(gaps[0].length, 20);
    cr_assert_eq(gaps[0].at, 100);
    cr_assert_eq(events[gaps[0].after].end, 100);
    cr_assert_eq(events[gaps[0].before].end, 260);
    free(gaps);
    cr_assert_eq(report_busy(model->capture, list.events, list.count, REPORT_BOTH_KINDS), 260 - 15);
    cr_assert_eq(report_busy(model->capture, list.events, list.count, REPORT_KIND(REPORT_PUSH_POP)),
                 240);
    report_kit_free(model);
}

Test(spans, knows_the_concurrency_of_the_fixture) {
    struct report_model *model = report_kit_f1();
    struct list list = list_of(model, "request", 0);
    struct report_concurrency found;
    cr_assert_eq(
        report_concurrency_of(model->capture, list.events, list.count, REPORT_BOTH_KINDS, &found),
        0);
    cr_assert_eq((uint64_t)found.area, 120);
    cr_assert_eq(found.max, 2);
    cr_assert_eq(found.overlap, 20);
    list = list_of(model, NULL, 0);
    cr_assert_eq(report_thread_concurrency(model->capture, list.events, list.count, &found), 0);
    cr_assert_eq((uint64_t)found.area, 290);
    cr_assert_eq(found.max, 2);
    cr_assert_eq(found.overlap, 50);
    report_kit_free(model);
}

Test(spans, knows_the_chain_of_the_fixture) {
    struct report_model *model = report_kit_f1();
    struct list list = list_of(model, NULL, 0);
    uint32_t *links;
    size_t count;
    cr_assert_eq(
        report_chain(model->capture, list.events, list.count, REPORT_BOTH_KINDS, &links, &count),
        0);
    cr_assert_eq(count, 2);
    cr_assert_eq(model->capture->events[links[0]].end, 105, "request");
    cr_assert_eq(model->capture->events[links[1]].end, 260, "step");
    free(links);
    report_kit_free(model);
}

Test(spans, takes_nothing) {
    struct report_capture *capture = report_kit_capture(NULL, 0);
    struct report_concurrency found;
    struct report_gap *gaps;
    uint32_t *links;
    size_t count;
    cr_assert_eq(report_busy(capture, NULL, 0, REPORT_BOTH_KINDS), 0);
    cr_assert_eq(report_gaps(capture, NULL, 0, &gaps, &count), 0);
    cr_assert_eq(count, 0);
    free(gaps);
    cr_assert_eq(report_thread_concurrency(capture, NULL, 0, &found), 0);
    cr_assert_eq(found.max, 0);
    cr_assert_eq(report_chain(capture, NULL, 0, REPORT_BOTH_KINDS, &links, &count), 0);
    cr_assert_eq(count, 0);
    free(links);
    report_kit_free_capture(capture);
}

Test(spans, takes_all_of_time) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "a", INT64_MIN, INT64_MIN + 1),
        KIT_RANGE(1, "a", INT64_MAX - 1, INT64_MAX),
        KIT_START_END(1, "b", INT64_MIN, INT64_MAX),
        KIT_START_END(1, "b", INT64_MIN, INT64_MAX),
    };
    struct report_model *model = report_kit_model(events, COUNT(events));
    struct list list = list_of(model, NULL, 0);
    struct report_concurrency found;
    struct report_gap *gaps;
    size_t count;
    cr_assert_eq(report_busy(model->capture, list.events, list.count, REPORT_BOTH_KINDS),
                 UINT64_MAX);
    cr_assert_eq(report_gaps(model->capture, list.events, list.count, &gaps, &count), 0);
    cr_assert_eq(count, 1);
    cr_assert_eq(gaps[0].length, UINT64_MAX - 2);
    free(gaps);
    cr_assert_eq(
        report_concurrency_of(model->capture, list.events, list.count, REPORT_BOTH_KINDS, &found),
        0);
    cr_assert_eq(found.max, 3);
    cr_assert_eq(found.overlap, UINT64_MAX);
    cr_assert(found.area == 2 * (unsigned __int128)UINT64_MAX + 2);
    report_kit_free(model);
}

// --- the second computation, for times from 0 to END

#define END 120

static bool is_open(const struct report_model *model, uint32_t event, unsigned kinds, int64_t at) {
    const struct report_event *range = &model->capture->events[event];
    return (REPORT_KIND(range->kind) & kinds) != 0 && !(range->flags & REPORT_OPEN) &&
           range->start <= at && at < range->end;
}

static struct report_concurrency slow_concurrency(const struct report_model *model,
                                                  const struct list *list, bool of_threads) {
    struct report_concurrency slow = {0};
    for (int64_t at = 0; at < END; at++) {
        uint64_t open = 0;
        bool seen[8] = {false};
        for (size_t i = 0; i < list->count; i++) {
            uint32_t thread = model->capture->events[list->events[i]].thread;
            if (is_open(model, list->events[i],
                        of_threads ? REPORT_KIND(REPORT_PUSH_POP) : REPORT_BOTH_KINDS, at) &&
                !(of_threads && seen[thread])) {
                seen[thread] = true;
                open++;
            }
        }
        slow.area += open;
        slow.max = open > slow.max ? open : slow.max;
        slow.overlap += open > 1;
    }
    return slow;
}

static void check_concurrency(const struct report_model *model, const struct list *list) {
    for (int of_threads = 0; of_threads < 2; of_threads++) {
        struct report_concurrency slow = slow_concurrency(model, list, of_threads), found;
        int rc = of_threads
                     ? report_thread_concurrency(model->capture, list->events, list->count, &found)
                     : report_concurrency_of(model->capture, list->events, list->count,
                                             REPORT_BOTH_KINDS, &found);
        cr_assert_eq(rc, 0);
        cr_assert(found.area == slow.area, "threads: %d", of_threads);
        cr_assert_eq(found.max, slow.max, "threads: %d", of_threads);
        cr_assert_eq(found.overlap, slow.overlap, "threads: %d", of_threads);
    }
}

// Of moments from the first start to the last end: those without a push/pop range.
static void check_gaps(const struct report_model *model, const struct list *list) {
    struct report_gap *gaps;
    size_t count, next = 0;
    cr_assert_eq(report_gaps(model->capture, list->events, list->count, &gaps, &count), 0);
    bool open[END + 1] = {false}, begun = false;
    int64_t last = 0;
    uint64_t busy = 0;
    for (int64_t at = 0; at < END; at++) {
        for (size_t i = 0; i < list->count; i++) {
            open[at] |= is_open(model, list->events[i], REPORT_KIND(REPORT_PUSH_POP), at);
        }
        busy += open[at];
        last = open[at] ? at : last;
    }
    for (int64_t at = 0; at <= last; at++) {
        begun |= open[at];
        if (begun && !open[at] && open[at - 1]) {
            cr_assert_lt(next, count);
            cr_assert_eq(gaps[next].at, at);
            cr_assert_eq(model->capture->events[gaps[next].after].end, at);
            int64_t end = at;
            for (; !open[end]; end++) {
            }
            cr_assert_eq(gaps[next].length, (uint64_t)(end - at));
            cr_assert_eq(model->capture->events[gaps[next].before].start, end);
            next++;
        }
    }
    cr_assert_eq(next, count);
    cr_assert_eq(
        busy, report_busy(model->capture, list->events, list->count, REPORT_KIND(REPORT_PUSH_POP)));
    free(gaps);
}

static uint32_t ends_last(const struct report_model *model, const struct list *list, int64_t by) {
    const struct report_event *events = model->capture->events;
    uint32_t best = REPORT_NONE;
    for (size_t i = 0; i < list->count; i++) {
        const struct report_event *range = &events[list->events[i]];
        if (report_is_timed(range) && range->end > range->start && range->end <= by &&
            (best == REPORT_NONE || range->end > events[best].end)) {
            best = list->events[i];
        }
    }
    return best;
}

static void check_chain(const struct report_model *model, const struct list *list) {
    uint32_t *links;
    size_t count;
    cr_assert_eq(
        report_chain(model->capture, list->events, list->count, REPORT_BOTH_KINDS, &links, &count),
        0);
    int64_t by = INT64_MAX;
    for (size_t place = count; place-- > 0;) {
        cr_assert_eq(links[place], ends_last(model, list, by));
        by = model->capture->events[links[place]].start;
    }
    cr_assert_eq(ends_last(model, list, by), REPORT_NONE);
    free(links);
}

Test(spans, agrees_with_a_look_at_each_moment) {
    struct report_kit_event events[40];
    for (unsigned round = 0; round < 2000; round++) {
        srand(round);
        size_t count = (size_t)(rand() % (int)COUNT(events));
        for (size_t i = 0; i < count; i++) {
            int64_t start = rand() % 80, length = rand() % 3 ? rand() % 6 : rand() % 40;
            events[i] = (struct report_kit_event){
                .kind = (enum report_kind)(rand() % 3),
                .name = rand() % 2 ? "a" : "D:a",
                .tid = 1 + (uint32_t)rand() % 3,
                .start = start,
                .end = start + length,
                .flags = rand() % 20 ? 0 : REPORT_OPEN,
            };
        }
        struct report_model *model = report_kit_model(events, count);
        struct list all = list_of(model, NULL, 0), thread = list_of(model, NULL, 2);
        check_concurrency(model, &all);
        check_gaps(model, &thread);
        check_chain(model, &all);
        report_kit_free(model);
    }
}
