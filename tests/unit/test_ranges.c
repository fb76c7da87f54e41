// SPDX-License-Identifier: Apache-2.0
//
// Open ranges: stacks per thread, ids, limits, the list by age, and memory that is freed when
// ranges close.
#include "protocol/interp/ranges.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define NO_DOMAIN ((struct nvtxt_slice){NULL, 0})

static struct nvtxt_ranges ranges;
static struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;

static int push(uint32_t pid, uint32_t tid, const char *text) {
    struct nvtxt_open_range range = {.type = NVTXT_EVENT_PUSH_POP,
                                     .pid = pid,
                                     .tid = tid,
                                     .text = nvtxt_slice_of(text),
                                     .excerpt = NVTXT_SLICE("excerpt")};
    return nvtxt_ranges_open(&ranges, &limits, &range, NULL);
}

static int start(int64_t id, const char *text) {
    struct nvtxt_open_range range = {
        .type = NVTXT_EVENT_START_END, .range_id = id, .text = nvtxt_slice_of(text)};
    return nvtxt_ranges_open(&ranges, &limits, &range, NULL);
}

static void pops(uint32_t pid, uint32_t tid, const char *wanted) {
    struct nvtxt_range *top = nvtxt_ranges_top(&ranges, pid, tid, NO_DOMAIN);
    cr_assert_not_null(top, "%s", wanted);
    cr_assert(nvtxt_slice_equal(top->view.text, nvtxt_slice_of(wanted)), "%s", wanted);
    nvtxt_ranges_close(&ranges, top);
}

// The list by age, walked both ways.
static void ages(const char *wanted) {
    char text[256] = "", back[256] = "";
    size_t len = 0;
    uint64_t seq = 0;
    for (const struct nvtxt_range *range = ranges.oldest; range; range = range->newer) {
        cr_assert_gt(range->view.seq, seq);
        seq = range->view.seq;
        len +=
            (size_t)sprintf(text + len, "%.*s", (int)range->view.text.len, range->view.text.data);
    }
    cr_assert_str_eq(text, wanted);
    for (const struct nvtxt_range *range = ranges.newest; range; range = range->older) {
        memmove(back + range->view.text.len, back, strlen(back) + 1);
        memcpy(back, range->view.text.data, range->view.text.len);
    }
    cr_assert_str_eq(back, wanted);
}

Test(ranges, have_a_stack_for_each_thread_of_each_process) {
    cr_assert_null(nvtxt_ranges_top(&ranges, 1, 1, NO_DOMAIN));
    cr_assert_eq(push(1, 1, "a"), 0);
    cr_assert_eq(push(1, 2, "b"), 0);
    cr_assert_eq(push(2, 1, "c"), 0);
    cr_assert_eq(push(1, 1, "d"), 0);
    cr_assert_eq(nvtxt_ranges_top(&ranges, 1, 1, NO_DOMAIN)->view.depth, 1);
    cr_assert_eq(nvtxt_ranges_top(&ranges, 2, 1, NO_DOMAIN)->view.depth, 0);
    cr_assert_eq(ranges.open_threads, 3);
    pops(1, 1, "d");
    pops(2, 1, "c");
    pops(1, 1, "a");
    pops(1, 2, "b");
    cr_assert_null(nvtxt_ranges_top(&ranges, 1, 1, NO_DOMAIN));
    cr_assert_eq(ranges.open_threads, 0);
    cr_assert_eq(ranges.bytes, 0);
    nvtxt_ranges_deinit(&ranges);
}

Test(ranges, are_found_by_their_ids) {
    cr_assert_null(nvtxt_ranges_find(&ranges, 0));
    static const int64_t ids[] = {0, 1, -1, INT64_MIN, INT64_MAX, 1LL << 32};
    for (size_t i = 0; i < 6; i++) {
        cr_assert_eq(start(ids[i], "x"), 0);
    }
    for (size_t i = 0; i < 6; i++) {
        struct nvtxt_range *range = nvtxt_ranges_find(&ranges, ids[i]);
        cr_assert_not_null(range);
        cr_assert_eq(range->view.range_id, ids[i]);
        nvtxt_ranges_close(&ranges, range);
        cr_assert_null(nvtxt_ranges_find(&ranges, ids[i]));
    }
    cr_assert_eq(ranges.bytes, 0);
    nvtxt_ranges_deinit(&ranges);
}

Test(ranges, own_their_text_excerpt_and_domain) {
    char text[500], excerpt[] = "line";
    struct nvtxt_refstr *domain = nvtxt_refstr_new(NVTXT_SLICE("Domain"));
    memset(text, 'x', sizeof(text));
    struct nvtxt_open_range range = {.type = NVTXT_EVENT_PUSH_POP,
                                     .text = {text, sizeof(text)},
                                     .excerpt = nvtxt_slice_of(excerpt),
                                     .domain = nvtxt_refstr_slice(domain)};
    cr_assert_eq(nvtxt_ranges_open(&ranges, &limits, &range, domain), 0);
    nvtxt_refstr_unref(domain);
    memset(text, '!', sizeof(text));
    memset(excerpt, '!', 4);
    struct nvtxt_range *top = nvtxt_ranges_top(&ranges, 0, 0, NO_DOMAIN);
    cr_assert_eq(top->view.text.len, 500);
    cr_assert_eq(top->view.text.data[499], 'x');
    cr_assert(nvtxt_slice_equal(top->view.excerpt, NVTXT_SLICE("line")));
    cr_assert(nvtxt_slice_equal(top->view.domain, NVTXT_SLICE("Domain")));
    nvtxt_ranges_close(&ranges, top);
    nvtxt_ranges_deinit(&ranges);
}

Test(ranges, are_in_one_list_by_age) {
    push(1, 1, "a");
    start(1, "b");
    push(1, 2, "c");
    push(1, 1, "d");
    start(2, "e");
    ages("abcde");
    nvtxt_ranges_close(&ranges, nvtxt_ranges_find(&ranges, 1));
    ages("acde");
    pops(1, 1, "d");
    ages("ace");
    nvtxt_ranges_close(&ranges, nvtxt_ranges_find(&ranges, 2));
    ages("ac");
    push(1, 3, "f");
    cr_assert_eq(ranges.newest->view.seq, 6, "numbers are never given twice");
    pops(1, 1, "a");
    ages("cf");
    nvtxt_ranges_deinit(&ranges);
    ages("");
}

Test(ranges, keep_the_oldest_unannounced_one_in_sight) {
    cr_assert_null(ranges.unannounced);
    push(1, 1, "a");
    push(1, 2, "b");
    push(1, 3, "c");
    cr_assert_eq(ranges.unannounced, ranges.oldest);
    pops(1, 1, "a");
    cr_assert_eq(ranges.unannounced, ranges.oldest);
    pops(1, 3, "c");
    pops(1, 2, "b");
    cr_assert_null(ranges.unannounced);
    push(1, 1, "d");
    cr_assert_eq(ranges.unannounced, ranges.newest);
    nvtxt_ranges_deinit(&ranges);
}

Test(ranges, may_all_be_closed_from_the_oldest_to_the_newest) {
    for (unsigned i = 0; i < 100; i++) {
        push(1, i % 3, "p");
        start(i, "s");
    }
    while (ranges.oldest) {
        nvtxt_ranges_close(&ranges, ranges.oldest);
    }
    cr_assert_null(ranges.newest);
    cr_assert_eq(ranges.bytes, 0);
    cr_assert_eq(ranges.ids.count, 0);
    nvtxt_ranges_deinit(&ranges);
}

Test(ranges, are_limited_in_depth_number_threads_and_memory) {
    limits.push_depth = 2;
    limits.open_threads = 2;
    limits.open_ranges = 2;
    cr_assert_eq(push(1, 1, "a"), 0);
    cr_assert_eq(push(1, 1, "b"), 0);
    cr_assert_eq(push(1, 1, "c"), NVTXT_RANGES_TOO_DEEP);
    cr_assert_eq(push(1, 2, "d"), 0);
    cr_assert_eq(push(1, 3, "e"), NVTXT_RANGES_TOO_MANY_THREADS);
    cr_assert_eq(start(1, "f"), 0);
    cr_assert_eq(start(2, "g"), 0);
    cr_assert_eq(start(3, "h"), NVTXT_RANGES_TOO_MANY);
    limits.open_bytes = ranges.bytes;
    pops(1, 2, "d");
    cr_assert_eq(push(1, 3, "i"), 0, "room again");
    pops(1, 1, "b");
    char text[300] = "";
    memset(text, 'x', sizeof(text) - 1);
    cr_assert_eq(push(1, 1, text), NVTXT_RANGES_TOO_LARGE);
    ages("afgi");
    nvtxt_ranges_deinit(&ranges);
}

Test(ranges, name_every_limit) {
    for (int result = NVTXT_RANGES_TOO_DEEP; result <= NVTXT_RANGES_TOO_LARGE; result++) {
        for (int other = result + 1; other <= NVTXT_RANGES_TOO_LARGE; other++) {
            cr_assert_str_neq(nvtxt_ranges_limit_name(result), nvtxt_ranges_limit_name(other));
        }
    }
}

Test(ranges, forget_threads_that_have_none_open) {
    push(9, 9, "stays");
    for (uint32_t tid = 0; tid < 100000; tid++) {
        cr_assert_eq(push(1, tid, "p"), 0);
        pops(1, tid, "p");
        cr_assert_leq(ranges.threads.count, 200);
    }
    pops(9, 9, "stays");
    nvtxt_ranges_deinit(&ranges);
}

Test(ranges, forget_threads_that_were_refused) {
    limits.open_threads = 1;
    push(9, 9, "stays");
    for (uint32_t tid = 0; tid < 10000; tid++) {
        cr_assert_eq(push(1, tid, "p"), NVTXT_RANGES_TOO_MANY_THREADS);
    }
    cr_assert_leq(ranges.threads.count, 200);
    pops(9, 9, "stays");
    cr_assert_eq(push(1, 5, "p"), 0);
    nvtxt_ranges_deinit(&ranges);
}

Test(ranges, hold_little_memory_when_all_are_closed) {
    for (int64_t id = 0; id < 1000; id++) {
        start(id, "text");
    }
    for (int64_t id = 0; id < 1000; id++) {
        nvtxt_ranges_close(&ranges, nvtxt_ranges_find(&ranges, id));
    }
    cr_assert_leq(ranges.spare_count, 100);
    push(1, 1, "from a spare one");
    pops(1, 1, "from a spare one");
    nvtxt_ranges_deinit(&ranges);
    nvtxt_ranges_deinit(&ranges);
}

// ---- Stacks by domain ---------------------------------------------------------------------------

static int push_in(struct nvtxt_refstr *domain, const char *text) {
    struct nvtxt_open_range range = {.type = NVTXT_EVENT_PUSH_POP,
                                     .pid = 1,
                                     .tid = 2,
                                     .text = nvtxt_slice_of(text),
                                     .json = NVTXT_SLICE("[1]"),
                                     .excerpt = NVTXT_SLICE("excerpt")};
    return nvtxt_ranges_open(&ranges, &limits, &range, domain);
}

static void pops_in(struct nvtxt_slice domain, const char *wanted) {
    struct nvtxt_range *top = nvtxt_ranges_top(&ranges, 1, 2, domain);
    cr_assert_not_null(top, "%s", wanted);
    cr_assert(nvtxt_slice_equal(top->view.text, nvtxt_slice_of(wanted)), "%s", wanted);
    cr_assert(nvtxt_slice_equal(top->view.json, NVTXT_SLICE("[1]")));
    cr_assert(nvtxt_slice_equal(top->view.excerpt, NVTXT_SLICE("excerpt")));
    nvtxt_ranges_close(&ranges, top);
}

Test(ranges, have_a_stack_for_each_domain_if_they_are_told_so) {
    struct nvtxt_refstr *a = nvtxt_refstr_new(NVTXT_SLICE("a"));
    struct nvtxt_refstr *b = nvtxt_refstr_new(NVTXT_SLICE("b"));
    ranges.by_domain = true;
    cr_assert_eq(push_in(a, "a1"), 0);
    cr_assert_eq(push_in(b, "b1"), 0);
    cr_assert_eq(push_in(NULL, "none"), 0);
    cr_assert_eq(push_in(a, "a2"), 0);
    cr_assert_eq(nvtxt_ranges_top(&ranges, 1, 2, NVTXT_SLICE("a"))->view.depth, 1);
    cr_assert_eq(ranges.open_threads, 3);
    cr_assert_null(nvtxt_ranges_top(&ranges, 1, 2, NVTXT_SLICE("c")));
    pops_in(NVTXT_SLICE("b"), "b1");
    pops_in(NVTXT_SLICE("a"), "a2");
    pops_in(NVTXT_SLICE("a"), "a1");
    cr_assert_null(nvtxt_ranges_top(&ranges, 1, 2, NVTXT_SLICE("a")));
    pops_in(NO_DOMAIN, "none");
    cr_assert_eq(ranges.open_threads, 0);
    nvtxt_ranges_deinit(&ranges);
    // Without, the domain does not matter.
    cr_assert_eq(push_in(a, "a1"), 0);
    cr_assert_eq(push_in(b, "b1"), 0);
    pops_in(NVTXT_SLICE("a"), "b1");
    pops_in(NO_DOMAIN, "a1");
    nvtxt_ranges_deinit(&ranges);
    nvtxt_refstr_unref(a);
    nvtxt_refstr_unref(b);
}

Test(ranges, forget_an_empty_stack_whose_domain_is_long) {
    char name[1000];
    memset(name, 'd', sizeof(name));
    ranges.by_domain = true;
    for (int i = 0; i < 3; i++) {
        struct nvtxt_refstr *domain = nvtxt_refstr_new((struct nvtxt_slice){name, sizeof(name)});
        cr_assert_eq(push_in(domain, "x"), 0);
        cr_assert_eq(ranges.threads.count, 1);
        pops_in((struct nvtxt_slice){name, sizeof(name)}, "x");
        cr_assert_eq(ranges.threads.count, 0);
        cr_assert_eq(domain->refs, 1);
        nvtxt_refstr_unref(domain);
    }
    nvtxt_ranges_deinit(&ranges);
}
