// SPDX-License-Identifier: Apache-2.0
//
// Stacks, compared with their ranges: they open and close like brackets, in the order of time, and
// no time is lost or counted twice.
#include "client/format/export_stacks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace {
    char text[4096];
    size_t len;
    uint32_t open[512];
    size_t depth;
    int64_t now, total; // total: of all ranges together
    int64_t opened[512];
};

static void tell(struct trace *trace, const char *what, long long value) {
    int len = snprintf(trace->text + trace->len, sizeof(trace->text) - trace->len, "%s%lld ", what,
                       value);
    trace->len += trace->len + (size_t)len < sizeof(trace->text) ? (size_t)len : 0;
}

static int on_begin(void *context, const struct export_stack *stack) {
    struct trace *trace = context;
    cr_assert_eq(trace->depth, 0);
    tell(trace, "lane", stack->lane);
    trace->now = stack->start;
    return 0;
}

static int on_open(void *context, uint32_t frame, int64_t at, int64_t end,
                   const struct export_kin *kin) {
    (void)end;
    (void)kin;
    struct trace *trace = context;
    cr_assert_leq(trace->now, at, "time goes on");
    cr_assert_lt(trace->depth, 512);
    trace->now = at;
    trace->opened[trace->depth] = at;
    trace->open[trace->depth++] = frame;
    tell(trace, "+", frame);
    return 0;
}

static int on_close(void *context, uint32_t frame, int64_t at) {
    struct trace *trace = context;
    cr_assert_gt(trace->depth, 0);
    cr_assert_eq(trace->open[--trace->depth], frame, "the innermost is closed");
    cr_assert_leq(trace->now, at, "time goes on");
    trace->now = at;
    trace->total += at - trace->opened[trace->depth];
    tell(trace, "-", at);
    return 0;
}

static int on_end(void *context) {
    struct trace *trace = context;
    cr_assert_eq(trace->depth, 0, "all are closed");
    return 0;
}

static void add(struct export_stacks *stacks, int64_t start, int64_t end, const char *text) {
    struct store_read_event event = {.type = NVTXT_EVENT_START_END,
                                     .start = start,
                                     .end = end,
                                     .global_tid = UINT64_C(7) << 24 | 8,
                                     .text = nvtxt_slice_of(text)};
    struct store_named_event row = {.event = &event};
    cr_assert_eq(export_stacks_add(stacks, &row), 0);
}

static uint64_t visit(struct export_stacks *stacks, struct trace *trace) {
    const struct export_stacks_visitor visitor = {on_begin, on_open, on_close, on_end, trace};
    uint64_t cut = 99;
    cr_assert_eq(export_stacks_visit(stacks, &visitor, &cut), 0);
    return cut;
}

Test(export_stacks, open_and_close_as_ranges_nest) {
    struct export_stacks *stacks = export_stacks_new();
    struct trace trace = {0};
    add(stacks, 12, 15, "inner"); // ranges come when they end
    add(stacks, 10, 20, "outer");
    add(stacks, 20, 25, "inner");
    cr_expect_eq(visit(stacks, &trace), 0);
    cr_expect_str_eq(trace.text, "lane0 +1 +0 -15 -20 +0 -25 ");
    cr_expect_eq(export_stacks_frames(stacks), 2, "one a text");
    export_stacks_free(stacks);
}

Test(export_stacks, give_what_crosses_a_stack_of_its_own) {
    struct export_stacks *stacks = export_stacks_new();
    struct trace trace = {0};
    add(stacks, 10, 20, "a");
    add(stacks, 15, 30, "b");
    cr_expect_eq(visit(stacks, &trace), 0);
    cr_expect_str_eq(trace.text, "lane0 +0 -20 lane1 +1 -30 ");
    export_stacks_free(stacks);
}

Test(export_stacks, hold_points_and_the_same_time_twice) {
    struct export_stacks *stacks = export_stacks_new();
    struct trace trace = {0};
    add(stacks, 10, 10, "point");
    add(stacks, 10, 20, "inner");
    add(stacks, 10, 20, "outer");
    add(stacks, 20, 5, "backwards");
    cr_expect_eq(visit(stacks, &trace), 0);
    cr_expect_str_eq(trace.text, "lane0 +2 +1 +0 -10 -20 -20 +3 -20 ");
    export_stacks_free(stacks);
}

Test(export_stacks, leave_out_marks) {
    struct export_stacks *stacks = export_stacks_new();
    struct store_read_event event = {.type = NVTXT_EVENT_MARK, .text = NVTXT_SLICE("m")};
    struct store_named_event row = {.event = &event};
    struct trace trace = {0};
    cr_assert_eq(export_stacks_add(stacks, &row), 0);
    cr_expect_eq(visit(stacks, &trace), 0);
    cr_expect_str_eq(trace.text, "");
    cr_expect_eq(export_stacks_frames(stacks), 0);
    export_stacks_free(stacks);
}

Test(export_stacks, lose_no_time_of_random_ranges) {
    struct export_stacks *stacks = export_stacks_new();
    struct trace trace = {0};
    int64_t total = 0;
    char text[8];
    srand(5);
    for (int i = 0; i < 5000; i++) {
        int64_t start = rand() % 100000;
        int64_t length = rand() % (rand() % 3 ? 100 : 3000);
        total += length;
        snprintf(text, sizeof(text), "%d", rand() % 50);
        add(stacks, start, start + length, text);
    }
    cr_expect_eq(visit(stacks, &trace), 0);
    cr_expect_eq(trace.total, total);
    cr_expect_eq(export_stacks_frames(stacks), 50);
    export_stacks_free(stacks);
}
