// SPDX-License-Identifier: Apache-2.0
//
// Filter expressions on random events, against a slow second matcher: for each event and expression
// it looks at all other events, and tries all ways to lay the items over a stack. Events share
// starts and ends, cross, and have no length, so that each part of the rule matters.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/model.h"
#include "report/select/filter.h"
#include "report/select/stack_bits.h"
#include "tests/unit/report_kit.h"

#define EVENTS 60
#define ROUNDS 2000
#define ITEMS 4

static uint64_t seed;

static unsigned any(unsigned below) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

// ---- Expressions --------------------------------------------------------------------------------

struct expression {
    bool exclude, is_regex, push_pop, bottom, top;
    const char *domain;       // NULL: the default one
    const char *items[ITEMS]; // "*" and "+" are wild; other names are a letter
    size_t count;
    char text[64];
};

static struct expression random_expression(void) {
    static const char *const names[] = {"a", "b", "c", "a", "b", "+", "*"};
    struct expression e = {.exclude = any(4) == 0,
                           .is_regex = any(3) == 0,
                           .push_pop = any(3) > 0,
                           .domain = any(3) == 0 ? "D" : NULL,
                           .count = 1 + any(ITEMS)};
    e.bottom = e.push_pop && any(3) == 0;
    e.top = e.push_pop && any(3) == 0;
    bool closing = e.push_pop && !e.top && (e.count == 1 || any(2) == 0);
    snprintf(e.text, sizeof(e.text), "%s%s%s%s", e.is_regex ? "regex:" : "",
             e.domain ? e.is_regex ? "^D$" : e.domain : "", e.domain ? "@" : "",
             e.bottom ? "[" : "");
    for (size_t i = 0; i < e.count; i++) {
        e.items[i] = names[any(e.push_pop ? 7 : 5)];
        strcat(strcat(e.text, i == 0 ? "" : e.push_pop ? "/" : ","), e.items[i]);
    }
    strcat(e.text, e.top ? "]" : closing ? "/" : "");
    return e;
}

// ---- The slow matcher ---------------------------------------------------------------------------

static const char *name_of(const struct report_capture *capture, const struct report_event *event) {
    static char text[8][16];
    static size_t next;
    struct nvtxt_slice message = report_event_text(capture, event);
    char *to = text[next++ % 8];
    snprintf(to, 16, "%.*s", (int)message.len, message.data);
    return to;
}

static bool item_is(const struct expression *e, const char *item, const char *name) {
    return strcmp(item, "+") == 0 ||
           (e->is_regex ? strstr(name, item) != NULL : strcmp(item, name) == 0);
}

// Whether the items from `item` on can lie on the stack from `at` on, up to its top.
static bool lies(const struct expression *e, size_t item, const char *const *stack, size_t at,
                 size_t depth) {
    if (item == e->count) {
        return at == depth || !e->top;
    }
    if (strcmp(e->items[item], "*") == 0) {
        return lies(e, item + 1, stack, at, depth) ||
               (at < depth && lies(e, item, stack, at + 1, depth));
    }
    return at < depth && item_is(e, e->items[item], stack[at]) &&
           lies(e, item + 1, stack, at + 1, depth);
}

static bool is_domain(const struct report_capture *capture, const struct report_event *event,
                      const char *domain) {
    return nvtxt_slice_equal(report_domain(capture, event), nvtxt_slice_of(domain));
}

static bool stack_matches(const struct report_capture *capture, size_t index,
                          const struct expression *e) {
    const struct report_event *event = &capture->events[index];
    bool own = event->kind == REPORT_PUSH_POP && is_domain(capture, event, e->domain);
    const char *stack[EVENTS];
    char names[EVENTS][16];
    size_t depth = 0;
    for (size_t i = 0; i < (own ? index : capture->event_count); i++) {
        const struct report_event *other = &capture->events[i];
        if (other->kind == REPORT_PUSH_POP && other->thread == event->thread &&
            is_domain(capture, other, e->domain) && other->start <= event->start &&
            event->start < other->end) {
            strcpy(names[depth], name_of(capture, other));
            stack[depth] = names[depth];
            depth++;
        }
    }
    if (own) {
        strcpy(names[depth], name_of(capture, event));
        stack[depth] = names[depth];
        depth++;
    }
    for (size_t from = 0; from <= (e->bottom ? 0 : depth); from++) {
        if (lies(e, 0, stack, from, depth)) {
            return true;
        }
    }
    return false;
}

static bool ranges_match(const struct report_capture *capture, size_t index,
                         const struct expression *e) {
    const struct report_event *event = &capture->events[index];
    uint32_t process = capture->threads[event->thread].process;
    size_t found = 0;
    for (size_t item = 0; item < e->count; item++) {
        bool open = false;
        for (size_t i = 0; i < capture->event_count && !open; i++) {
            const struct report_event *other = &capture->events[i];
            open = other->kind == REPORT_START_END &&
                   capture->threads[other->thread].process == process &&
                   is_domain(capture, other, e->domain) &&
                   item_is(e, e->items[item], name_of(capture, other)) &&
                   other->start <= event->start &&
                   (event->start < other->end || event->start == other->start);
        }
        found += open;
    }
    return found == e->count;
}

static bool has_domain(const struct report_capture *capture, const char *domain) {
    for (size_t i = 0; i < capture->domain_count; i++) {
        if (nvtxt_slice_equal(capture->domains[i], nvtxt_slice_of(domain))) {
            return true;
        }
    }
    return false;
}

static bool matches(const struct report_capture *capture, size_t index, struct expression e) {
    e.domain = e.domain ? e.domain : "";
    if (e.is_regex && !has_domain(capture, e.domain)) {
        return false;
    }
    return e.push_pop ? stack_matches(capture, index, &e) : ranges_match(capture, index, &e);
}

// ---- Rounds -------------------------------------------------------------------------------------

static struct report_model *random_model(void) {
    static const char *const names[] = {":a", ":b", ":c", ":ab", "D:a", "D:b"};
    static struct report_kit_event events[EVENTS];
    size_t count = 1 + any(EVENTS - 1);
    bool deep = any(3) == 0; // one lane of each domain, in which very many cross
    unsigned threads = deep ? 1 : 2;
    for (size_t i = 0; i < count; i++) {
        int64_t start = any(deep ? 60 : 12);
        enum report_kind kind = any(4) == 0   ? REPORT_MARK
                                : any(3) == 0 ? REPORT_START_END
                                              : REPORT_PUSH_POP;
        int64_t end = kind == REPORT_MARK ? start : start + any(deep ? 40 : 8);
        events[i] = (struct report_kit_event){
            KIT_EVENT(kind, 1 + any(threads), names[any(6)], start, end), .pid = 1 + any(threads)};
    }
    return report_kit_model(events, count);
}

static void play(unsigned round) {
    struct expression expressions[20];
    struct report_selection selection = {0};
    struct report_fault fault = {0};
    struct nvtxt_buf notes = {0};
    size_t count = round % 10 == 0 ? 20 : 1 + any(3);
    char all[20 * 72] = "";
    seed = round;
    struct report_model *model = random_model();
    bool includes = false;
    for (size_t i = 0; i < count; i++) {
        struct expression *e = &expressions[i];
        *e = random_expression();
        includes |= !e->exclude;
        strcat(strcat(strcat(all, e->exclude ? " -" : " +"), e->text), ";");
        int result = report_selection_take(&selection, e->exclude ? "nvtx-exclude" : "nvtx-include",
                                           e->text, &fault);
        cr_assert_eq(result, 0, "%s: %s", e->text, fault.sentence);
    }
    cr_assert_eq(report_select(model, &selection, INT64_MIN, INT64_MAX, &notes, &fault), 0);
    for (size_t i = 0; i < model->count; i++) {
        bool included = !includes, excluded = false;
        for (size_t j = 0; j < count; j++) {
            *(expressions[j].exclude ? &excluded : &included) |=
                matches(model->capture, i, expressions[j]);
        }
        bool selected = model->capture->events[i].flags & REPORT_SELECTED;
        cr_expect_eq(selected, included && !excluded, "round %u, event %zu:%s", round, i, all);
    }
    report_selection_deinit(&selection);
    nvtxt_buf_deinit(&notes);
    report_kit_free(model);
}

Test(report_sweep, agrees_with_a_slow_matcher) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        play(round);
    }
}

// ---- The bits of a stack ------------------------------------------------------------------------

// An expression of so many names that its bits fill some words, and one that begins in the same
// word as it ends.
static struct report_model *stack_kit(struct report_selection *selection,
                                      struct report_filter_set *set) {
    static const struct report_kit_event events[] = {KIT_RANGE(1, ":a", 0, 9),
                                                     KIT_RANGE(1, ":b", 1, 8)};
    struct report_model *model = report_kit_model(events, 2);
    struct report_fault fault = {0};
    char text[400] = "[";
    for (int i = 0; i < 140; i++) {
        strcat(text, i % 7 == 3 ? "*/" : i % 3 == 0 ? "a/" : i % 5 == 0 ? "+/" : "b/");
    }
    strcat(text, "a");
    const char *const texts[] = {"[a/*/b", text, "b/+/*/a]", "a,b"};
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(report_selection_take(selection, "nvtx-include", texts[i], &fault), 0, "%s",
                     fault.sentence);
    }
    cr_assert_eq(report_filter_set_init(set, model->capture, selection, &fault), 0);
    cr_assert_gt(set->words, 2);
    return model;
}

static void compare_bits(const struct report_stack_bits *bits, const struct nvtxt_walk *walk) {
    const struct report_filter_set *set = bits->set;
    uint64_t slow[8], quick[8];
    cr_assert_leq(set->words, 8);
    memcpy(slow, set->lanes, set->words * sizeof(*slow));
    for (size_t i = 0; i < walk->stacked; i++) {
        if (walk->stack[i].id != NVTXT_WALK_GAP) {
            report_filter_set_step(set, 0, set->words, walk->stack[i].id, slow, slow);
        }
    }
    report_stack_bits_after(bits, set->lanes, quick);
    cr_assert_arr_eq(slow, quick, set->words * sizeof(*slow), "a stack of %zu", walk->stacked);
}

// One range more, which ends at `end`, after all that is over at `now` has left.
static void change_stack(struct report_stack_bits *bits, struct nvtxt_walk *walk, int64_t now,
                         int64_t end, uint32_t class) {
    while (nvtxt_walk_due(walk, now)) {
        cr_assert_eq(report_stack_bits_leave(bits, walk), 0);
    }
    cr_assert_eq(nvtxt_walk_begin(walk, end, class), 0);
    cr_assert_eq(report_stack_bits_begin(bits, walk), 0);
}

Test(report_stack_bits, agree_with_a_walk_over_the_stack) {
    struct report_selection selection = {0};
    struct report_filter_set set;
    struct report_model *model = stack_kit(&selection, &set);
    struct report_stack_bits bits = {.set = &set};
    struct nvtxt_walk walk = {0};
    seed = 5;
    cr_assert_eq(report_stack_bits_build(&bits, &walk), 0);
    for (int64_t i = 0; i < 3000; i++) {
        unsigned longest = i < 1000 ? 900 : 30; // the stack becomes deep, then flat
        change_stack(&bits, &walk, i, i + 1 + any(longest), set.classes[any(2)]);
        compare_bits(&bits, &walk);
    }
    report_stack_bits_deinit(&bits);
    nvtxt_walk_deinit(&walk);
    report_filter_set_deinit(&set);
    report_selection_deinit(&selection);
    report_kit_free(model);
}

// Counts rows: 16 times as many ranges, of which half are open at a time and the bottom one leaves
// at every step, cost 16 times as much and a few more, not 256 times.
static uint64_t steps_of(const struct report_filter_set *set, int64_t deep) {
    struct report_stack_bits bits = {.set = set};
    struct nvtxt_walk walk = {0};
    cr_assert_eq(report_stack_bits_build(&bits, &walk), 0);
    for (int64_t i = 0; i < 2 * deep; i++) {
        change_stack(&bits, &walk, i, i + deep, set->classes[i % 2]);
    }
    uint64_t steps = bits.steps;
    report_stack_bits_deinit(&bits);
    nvtxt_walk_deinit(&walk);
    return steps;
}

Test(report_stack_bits, cost_the_logarithm_of_the_stack) {
    struct report_selection selection = {0};
    struct report_filter_set set;
    struct report_fault fault;
    struct report_model *model = report_kit_model(
        (struct report_kit_event[]){KIT_RANGE(1, ":a", 0, 9), KIT_RANGE(1, ":b", 1, 8)}, 2);
    cr_assert_eq(report_selection_take(&selection, "nvtx-include", "[a/*/b", &fault), 0);
    cr_assert_eq(report_filter_set_init(&set, model->capture, &selection, &fault), 0);
    uint64_t few = steps_of(&set, 1000), many = steps_of(&set, 16000);
    cr_expect_lt(many, 24 * few, "%llu and %llu", (unsigned long long)few,
                 (unsigned long long)many);
    report_filter_set_deinit(&set);
    report_selection_deinit(&selection);
    report_kit_free(model);
}

// A stack of 150,000 ranges, from which the bottom one goes at every step, and changes the bits of
// all that is above it.
Test(report_sweep, takes_many_ranges_that_cross) {
    enum { DEEP = 150000 };
    struct report_kit_event *events = calloc(2 * (size_t)DEEP, sizeof(*events));
    struct report_selection selection = {0};
    struct report_fault fault;
    struct nvtxt_buf notes = {0};
    cr_assert_not_null(events);
    for (int64_t i = 0; i < 2 * DEEP; i++) {
        events[i] = (struct report_kit_event)KIT_RANGE(1, i % 2 ? ":b" : ":a", i, DEEP + i);
    }
    struct report_model *model = report_kit_model(events, 2 * (size_t)DEEP);
    cr_assert_eq(report_selection_take(&selection, "nvtx-include", "[a/*/b", &fault), 0);
    cr_assert_eq(report_select(model, &selection, INT64_MIN, INT64_MAX, &notes, &fault), 0);
    // The first half stands on an `a`, then at every second step the bottom is one.
    cr_expect_eq(model->selected, DEEP - 1 + DEEP / 2);
    report_selection_deinit(&selection);
    nvtxt_buf_deinit(&notes);
    report_kit_free(model);
    free(events);
}
