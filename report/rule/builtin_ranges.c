// SPDX-License-Identifier: Apache-2.0
//
// Rules about durations. Thresholds are compared in integers of 128 bits, so that a figure that
// just does not reach one is told from one that does.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/model.h"
#include "report/model/spread.h"
#include "report/rule/builder.h"
#include "report/rule/rules_state.h"
#include "report/rule/template.h"

#define TINY_NS 1000
#define TINY_LEAST 1000    // ranges
#define VARIATION_LEAST 10 // ranges of a name
#define VARIATION_SHOWN 10 // names
#define SHOWN(text) (int)(text).len, (text).data

typedef unsigned __int128 wide;

// Sets "not applicable" when the metric is N/A; then `*metric` is NULL.
static int need(const struct report_builtin_call *call, const char *name,
                const struct report_metric **metric) {
    int r = report_metrics_get(call->metrics, name, metric);
    if (r == 0 && (*metric)->na) {
        report_build_status(call->builder, REPORT_RULE_NOT_APPLICABLE,
                            report_build_format(call->builder, "%s N/A: %s", name, (*metric)->na));
        *metric = NULL;
    }
    return r;
}

static double percent_of(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

// ---- DominantRange ------------------------------------------------------------------------------

static void say_dominant(const struct report_builtin_call *call,
                         const struct report_instance *longest, wide whole) {
    struct report_builder *builder = call->builder;
    struct nvtxt_slice name = nvtxt_slice_cut(longest->id.text, 200);
    double share = percent_of((double)longest->value.u64, (double)whole);
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Dominant range"),
        report_build_format(builder,
                            "'%.*s' alone takes %.1f%% of the time of all threads: it is the first "
                            "place to look at.",
                            SHOWN(name), share));
    struct report_focus_metric focus = {
        .name = NVTXT_SLICE("pushpop__self_time_per_name.sum"),
        .has_value = true,
        .value = longest->value,
        .severity = REPORT_FOCUS_HIGH,
        .info = report_build_format(builder, "the self time of '%.*s'", SHOWN(name)),
    };
    report_build_focus(builder, message, &focus);
}

struct thread_time {
    bool seen, has_ranges;
    int64_t first, last;
};

// The time of the scope's threads with push/pop ranges, each from its first event to its last. So
// no self time is more than that. Returns 0 or -ENOMEM.
static int time_of_threads(const struct report_builtin_call *call, wide *whole) {
    const struct report_model *model = report_metrics_model(call->metrics);
    const struct report_scope *scope = report_metrics_scope(call->metrics);
    const struct report_capture *capture = model->capture;
    struct thread_time *threads = calloc(capture->thread_count + 1, sizeof(*threads));
    if (!threads) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < scope->event_count; i++) {
        const struct report_event *event = &capture->events[scope->events[i]];
        struct thread_time *thread = &threads[event->thread];
        thread->first = thread->seen && thread->first < event->start ? thread->first : event->start;
        thread->last = thread->seen && thread->last > event->end ? thread->last : event->end;
        thread->seen = true;
        thread->has_ranges |= event->kind == REPORT_PUSH_POP;
    }
    *whole = 0;
    for (size_t i = 0; i < capture->thread_count; i++) {
        if (threads[i].has_ranges) {
            *whole += (wide)((__int128)threads[i].last - threads[i].first);
        }
    }
    free(threads);
    return 0;
}

int report_rule_dominant_range(const struct report_builtin_call *call) {
    const struct report_metric *self;
    const struct report_instance *longest = NULL;
    int r = need(call, "pushpop__self_time_per_name.sum", &self);
    if (r != 0 || !self) {
        return r;
    }
    for (size_t i = 0; i < self->instance_count; i++) {
        const struct report_instance *instance = &self->instances[i];
        longest = !longest || instance->value.u64 > longest->value.u64 ? instance : longest;
    }
    wide whole = 0;
    r = longest ? time_of_threads(call, &whole) : 0;
    if (r == 0 && longest && (wide)longest->value.u64 * 2 > whole) {
        say_dominant(call, longest, whole);
    }
    return r;
}

// ---- HighVariation ------------------------------------------------------------------------------

struct varied {
    uint32_t name;
    size_t count;
    double ratio, estimate;
};

// The durations of the scope's ranges, those of each name side by side: of name n from
// starts[n] to before starts[n + 1].
struct durations {
    uint64_t *values;
    size_t *starts;
};

static void fill_durations(struct durations *durations, size_t *next,
                           const struct report_capture *capture, const struct report_scope *scope) {
    for (size_t i = 0; i < scope->event_count; i++) {
        const struct report_event *event = &capture->events[scope->events[i]];
        if (report_is_timed(event)) {
            durations->values[next[event->name]++] = report_duration(event);
        }
    }
}

// Returns 0 or -ENOMEM; the arrays are the caller's in each case.
static int collect(struct durations *durations, const struct report_capture *capture,
                   const struct report_scope *scope) {
    size_t names = capture->name_count;
    size_t *starts = durations->starts = calloc(names + 1, sizeof(*starts));
    size_t *next = calloc(names + 1, sizeof(*next));
    durations->values = calloc(scope->event_count + 1, sizeof(*durations->values));
    if (!starts || !next || !durations->values) {
        free(next);
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < scope->event_count; i++) {
        const struct report_event *event = &capture->events[scope->events[i]];
        starts[event->name + 1] += report_is_timed(event);
    }
    for (size_t i = 0; i < names; i++) {
        starts[i + 1] += starts[i];
        next[i] = starts[i];
    }
    fill_durations(durations, next, capture, scope);
    free(next);
    return 0;
}

// Whether a name varies; `elapsed` of the scope.
static bool look_at_name(const struct durations *durations, uint32_t name, double elapsed,
                         struct varied *varied) {
    uint64_t *values = durations->values + durations->starts[name];
    size_t count = durations->starts[name + 1] - durations->starts[name];
    if (count < VARIATION_LEAST) {
        return false;
    }
    struct report_spread spread = report_spread_of(values, count);
    double saved = 0;
    *varied = (struct varied){.name = name, .count = count};
    varied->ratio = spread.avg > 0 ? spread.stddev / spread.avg : 0;
    for (size_t i = 0; i < count; i++) {
        double more = (double)values[i] - spread.median;
        saved += more > 0 ? more : 0;
    }
    varied->estimate = percent_of(saved, elapsed);
    return varied->ratio > 0.25;
}

static void say_varied(const struct report_builtin_call *call, const struct varied *varied,
                       struct nvtxt_slice name) {
    struct report_builder *builder = call->builder;
    struct nvtxt_slice shown = nvtxt_slice_cut(name, 200);
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("High variation"),
        report_build_format(builder,
                            "The durations of the %zu ranges '%.*s' vary: their standard "
                            "deviation is %.1f%% of their average.",
                            varied->count, SHOWN(shown), 100 * varied->ratio));
    struct report_focus_metric focus = {
        .name = NVTXT_SLICE("range__variation_per_name.ratio"),
        .has_value = true,
        .value = {.type = REPORT_DOUBLE, .real = varied->ratio},
        .info = report_build_format(builder, "of '%.*s'", SHOWN(shown)),
    };
    report_build_speedup(builder, message, true, varied->estimate);
    report_build_focus(builder, message, &focus);
}

static int by_estimate(const void *a, const void *b) {
    const struct varied *x = a, *y = b;
    return NVTXT_ORDER(y->estimate, x->estimate) ?: NVTXT_ORDER(x->name, y->name);
}

static int say_all_varied(const struct report_builtin_call *call, const struct durations *durations,
                          const struct report_capture *capture, double elapsed) {
    struct nvtxt_slice *texts = report_name_texts(capture);
    struct varied *list = calloc(capture->name_count + 1, sizeof(*list));
    size_t count = 0;
    for (uint32_t name = 0; list && texts && name < capture->name_count; name++) {
        count += look_at_name(durations, name, elapsed, &list[count]);
    }
    if (list && texts && count > 0) {
        qsort(list, count, sizeof(*list), by_estimate);
        for (size_t i = 0; i < count && i < VARIATION_SHOWN; i++) {
            say_varied(call, &list[i], texts[list[i].name]);
        }
    }
    int r = list && texts ? 0 : nvtxt_origin(-ENOMEM);
    free(list);
    free(texts);
    return r;
}

int report_rule_high_variation(const struct report_builtin_call *call) {
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    const struct report_metric *elapsed;
    struct durations durations = {0};
    int r = need(call, "capture__time_elapsed.sum", &elapsed);
    if (r != 0 || !elapsed) {
        return r;
    }
    r = collect(&durations, capture, report_metrics_scope(call->metrics));
    r = r ?: say_all_varied(call, &durations, capture, (double)elapsed->value.u64);
    free(durations.starts);
    free(durations.values);
    return r;
}

// ---- TinyRanges ---------------------------------------------------------------------------------

int report_rule_tiny_ranges(const struct report_builtin_call *call) {
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    const struct report_scope *scope = report_metrics_scope(call->metrics);
    size_t count = 0, tiny = 0;
    for (size_t i = 0; i < scope->event_count; i++) {
        const struct report_event *event = &capture->events[scope->events[i]];
        bool timed = report_is_timed(event);
        count += timed;
        tiny += timed && report_duration(event) < TINY_NS;
    }
    if (count >= TINY_LEAST && tiny * 5 > count) {
        report_build_message(
            call->builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Tiny ranges"),
            report_build_format(call->builder,
                                "%zu of %zu ranges (%.1f%%) last less than 1 us: what they measure "
                                "is mostly their own cost. Mark larger pieces of work.",
                                tiny, count, percent_of((double)tiny, (double)count)));
    }
    return 0;
}

// ---- WarmUp -------------------------------------------------------------------------------------

// Twice the median, which is exact; `values` are put into another order.
static wide twice_median(uint64_t *values, size_t count) {
    uint64_t upper = report_nth(values, count, count / 2);
    uint64_t lower = count % 2 ? upper : report_nth(values, count, count / 2 - 1);
    return (wide)lower + upper;
}

static struct nvtxt_slice warm_up_text(const struct report_builtin_call *call, uint64_t first,
                                       size_t rest, wide twice) {
    const struct report_value lasts = {.type = REPORT_U64, .u64 = first};
    const struct report_value median = {.type = REPORT_DOUBLE, .real = (double)twice / 2};
    struct nvtxt_buf text = {0}; // two times, one after the other
    report_value_write(&text, &lasts, NVTXT_SLICE("ns"));
    size_t len = text.len;
    report_value_write(&text, &median, NVTXT_SLICE("ns"));
    struct nvtxt_slice whole = report_build_format(
        call->builder,
        "The first iteration lasts %.*s, the median of the other %zu is %.*s. Leave it out of the "
        "figures: --skip-iterations 1.",
        (int)len, text.len ? text.data : "", rest, (int)(text.len - len),
        text.len ? text.data + len : "");
    call->builder->failed = call->builder->failed || nvtxt_buf_failed(&text);
    nvtxt_buf_deinit(&text);
    return whole;
}

int report_rule_warm_up(const struct report_builtin_call *call) {
    const struct report_metric *iterations;
    int r = need(call, "iteration__time_duration_per_iteration.sum", &iterations);
    if (r != 0 || !iterations || iterations->instance_count < 2) {
        return r;
    }
    size_t rest = iterations->instance_count - 1;
    uint64_t first = iterations->instances[0].value.u64;
    uint64_t *values = calloc(rest, sizeof(*values));
    if (!values) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < rest; i++) {
        values[i] = iterations->instances[i + 1].value.u64;
    }
    wide twice = twice_median(values, rest);
    free(values);
    if ((wide)first * 4 > twice * 3) {
        report_build_message(call->builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Warm-up"),
                             warm_up_text(call, first, rest, twice));
    }
    return 0;
}
