// SPDX-License-Identifier: Apache-2.0
//
// The NVTX state of events against a look at all other events: names of the ranges that are open,
// in lanes and processes, while ranges cross, share times and have no length.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/serve/open_ranges.h"
#include "tests/unit/report_kit.h"

#define EVENTS 60

static uint64_t seed;

static unsigned any(unsigned below) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

static void write_state(struct report_open_ranges *open, uint32_t event, struct nvtxt_out *out) {
    struct store_arena arena = {0};
    struct report_json json;
    out->len = 0;
    report_json_init(&json, out);
    cr_assert_eq(report_open_ranges_write(open, event, &arena, &json), 0);
    nvtxt_out_bytes(out, "", 1);
    store_arena_deinit(&arena);
}

// Rows are unlike, so each range has a text of its own.
static bool has_row(const struct nvtxt_out *out, const struct report_event *event) {
    char text[40];
    snprintf(text, sizeof(text), "\"row\":%lld,", (long long)event->row);
    return strstr(out->data, text) != NULL;
}

static bool is_open_at(const struct report_capture *capture, size_t index, size_t at) {
    const struct report_event *range = &capture->events[index], *event = &capture->events[at];
    bool own_lane = range->kind == event->kind && range->thread == event->thread &&
                    capture->names[range->name].domain == capture->names[event->name].domain;
    bool near =
        range->kind == REPORT_PUSH_POP
            ? range->thread == event->thread && (!own_lane || index < at)
            : capture->threads[range->thread].process == capture->threads[event->thread].process;
    return range->kind != REPORT_MARK &&
           (index == at || (near && range->start <= event->start && event->start < range->end));
}

static void check_round(unsigned round) {
    static const char *const names[] = {":a", ":b", "D:a"};
    static struct report_kit_event events[EVENTS];
    struct report_open_ranges *open;
    struct nvtxt_out out;
    seed = round;
    for (size_t i = 0; i < EVENTS; i++) {
        int64_t start = any(20), length = any(round % 3 == 0 ? 30 : 4);
        enum report_kind kind = any(5) == 0   ? REPORT_MARK
                                : any(2) == 0 ? REPORT_START_END
                                              : REPORT_PUSH_POP;
        events[i] =
            (struct report_kit_event){KIT_EVENT(kind, 1 + any(3), names[any(3)], start,
                                                kind == REPORT_MARK ? start : start + length),
                                      .pid = 1 + any(2), .row = 1000 + (int64_t)i};
    }
    struct report_model *model = report_kit_model(events, EVENTS);
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    cr_assert_eq(report_open_ranges_new(&open, model), 0);
    for (uint32_t at = 0; at < EVENTS; at++) {
        write_state(open, at, &out);
        for (size_t i = 0; i < EVENTS; i++) {
            cr_assert_eq(has_row(&out, &model->capture->events[i]),
                         is_open_at(model->capture, i, at), "round %u: %zu at %u: %s", round, i, at,
                         out.data);
        }
    }
    report_open_ranges_free(open);
    nvtxt_out_deinit(&out);
    report_kit_free(model);
}

Test(open_ranges, agree_with_a_look_at_all_events) {
    for (unsigned round = 0; round < 60; round++) {
        check_round(round);
    }
}

// Each range crosses the next one, and two are open at a time: the way from parent to parent leads
// through all that came before.
Test(open_ranges, look_at_few_others_when_ranges_cross) {
    enum { COUNT = 4000 };
    struct report_kit_event *events = calloc(COUNT, sizeof(*events));
    struct report_open_ranges *open;
    struct nvtxt_out out;
    cr_assert_not_null(events);
    for (int64_t i = 0; i < COUNT; i++) {
        events[i] = (struct report_kit_event)KIT_RANGE(1, ":a", 10 * i, 10 * i + 15);
    }
    struct report_model *model = report_kit_model(events, COUNT);
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    cr_assert_eq(report_open_ranges_new(&open, model), 0);
    for (uint32_t at = 0; at < COUNT; at++) {
        write_state(open, at, &out);
    }
    cr_expect_lt(open->looks, 100 * (uint64_t)COUNT, "%llu", (unsigned long long)open->looks);
    report_open_ranges_free(open);
    nvtxt_out_deinit(&out);
    report_kit_free(model);
    free(events);
}
