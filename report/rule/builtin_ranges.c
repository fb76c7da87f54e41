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

#define TINY_NS 1000
#define TINY_LEAST 1000    // ranges
#define VARIATION_LEAST 10 // ranges of a name
#define VARIATION_SHOWN 10 // names
#define TEXT_MOST 200      // bytes of a name in a sentence
#define SHOWN(text) (int)(text).len, (text).data

typedef unsigned __int128 wide;

// The longest range of each name of the scope, the first of several, as an index in the order;
// REPORT_NONE: it has none with an end. NULL when memory is short.
static uint32_t *longest_of_names(const struct report_builtin_call *call) {
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    const struct report_scope *scope = report_metrics_scope(call->metrics);
    uint32_t *longest = malloc((capture->name_count + 1) * sizeof(*longest));
    for (size_t name = 0; longest && name < capture->name_count; name++) {
        longest[name] = REPORT_NONE;
    }
    for (size_t i = 0; longest && i < scope->event_count; i++) {
        uint32_t event = scope->events[i], name = capture->events[event].name;
        if (report_is_longer(capture, event, longest[name])) {
            longest[name] = event;
        }
    }
    return longest;
}

// ---- DominantRange ------------------------------------------------------------------------------

// The name of that text; some have the same one, which are one to the metric.
static uint32_t find_name(const struct report_capture *capture, const struct nvtxt_slice *texts,
                          struct nvtxt_slice text) {
    uint32_t name = 0;
    while (name < capture->name_count && !nvtxt_slice_equal(texts[name], text)) {
        name++;
    }
    return name;
}

static int say_dominant(const struct report_builtin_call *call, const struct report_instance *most,
                        wide whole) {
    struct report_builder *builder = call->builder;
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    struct nvtxt_slice *texts = report_name_texts(capture);
    uint32_t *longest = longest_of_names(call);
    if (!texts || !longest) {
        free(texts);
        free(longest);
        return nvtxt_origin(-ENOMEM);
    }
    struct nvtxt_slice name = report_build_name(builder, most->id.text, TEXT_MOST),
                       link = NVTXT_SLICE("them");
    uint32_t found = find_name(capture, texts, most->id.text);
    if (found < capture->name_count && longest[found] != REPORT_NONE) {
        link = report_build_range(builder, capture, longest[found], NVTXT_SLICE("the longest one"));
    }
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Dominant range"),
        report_build_format(
            builder,
            "'%.*s' alone takes %.1f%% of the time of all threads. Look at %.*s "
            "first: what takes its time, and does it have to be?",
            SHOWN(name), report_rule_percent((double)most->value.u64, (double)whole), SHOWN(link)));
    struct report_focus_metric focus = {
        .name = NVTXT_SLICE("pushpop__self_time_per_name.sum"),
        .has_value = true,
        .value = most->value,
        .severity = REPORT_FOCUS_HIGH,
        .info = report_build_format(builder, "the self time of '%.*s'", SHOWN(name)),
    };
    report_build_focus(builder, message, &focus);
    free(texts);
    free(longest);
    return 0;
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
    int r = report_rule_need(call, "pushpop__self_time_per_name.sum", &self);
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
        r = say_dominant(call, longest, whole);
    }
    return r;
}

// ---- HighVariation ------------------------------------------------------------------------------

struct varied {
    uint32_t name, longest; // the index of its longest range
    size_t count;
    double ratio, estimate, median;
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
    *varied = (struct varied){.name = name, .count = count, .median = spread.median};
    varied->ratio = spread.avg > 0 ? spread.stddev / spread.avg : 0;
    for (size_t i = 0; i < count; i++) {
        double more = (double)values[i] - spread.median;
        saved += more > 0 ? more : 0;
    }
    varied->estimate = report_rule_percent(saved, elapsed);
    return varied->ratio > 0.25;
}

static int by_estimate(const void *a, const void *b) {
    const struct varied *x = a, *y = b;
    return NVTXT_ORDER(y->estimate, x->estimate) ?: NVTXT_ORDER(x->name, y->name);
}

// What is said of the name with the largest estimate.
static size_t say_varied(const struct report_builtin_call *call, const struct varied *varied,
                         size_t names, struct nvtxt_slice name) {
    struct report_builder *builder = call->builder;
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    struct nvtxt_slice shown = report_build_name(builder, name, TEXT_MOST),
                       longest = report_build_length_of(builder, capture, varied->longest),
                       median = report_build_time(builder, varied->median),
                       link = report_build_range(builder, capture, varied->longest,
                                                 NVTXT_SLICE("the longest one")),
                       lead = {"", 0};
    if (names > 1) {
        lead = report_build_format(builder,
                                   "%zu names have ranges of very different length; most is to be "
                                   "saved at ",
                                   names);
    }
    return report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("High variation"),
        report_build_format(builder,
                            "%.*s'%.*s': the longest of its %zu ranges lasts %.*s, their median is "
                            "%.*s (standard deviation: %.1f%% of the average). Look at %.*s: what "
                            "does it do that the others do not?",
                            SHOWN(lead), SHOWN(shown), varied->count, SHOWN(longest), SHOWN(median),
                            100 * varied->ratio, SHOWN(link)));
}

// Each name leads to its longest range.
static void put_varied(const struct report_builtin_call *call, size_t message,
                       const struct varied *list, size_t count, const struct nvtxt_slice *texts) {
    static const struct nvtxt_slice header[] = {{"Name", 4},           {"Count", 5},
                                                {"Median (ns)", 11},   {"Longest (ns)", 12},
                                                {"Variation (%)", 13}, {"Estimate (%)", 12}};
    static const enum report_column_kind kinds[] = {REPORT_COLUMN_MIXED,  REPORT_COLUMN_NUMBER,
                                                    REPORT_COLUMN_NUMBER, REPORT_COLUMN_NUMBER,
                                                    REPORT_COLUMN_NUMBER, REPORT_COLUMN_NUMBER};
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    struct report_rule_table *table =
        report_build_table(call->builder, message,
                           count > VARIATION_SHOWN ? NVTXT_SLICE("The ten names with the largest "
                                                                 "estimates")
                                                   : NVTXT_SLICE("Names by estimate"),
                           header, 6);
    report_build_kinds(table, kinds);
    for (size_t i = 0; table && i < count && i < VARIATION_SHOWN; i++) {
        const struct varied *of = &list[i];
        const struct report_cell cells[] = {
            report_cell_text(
                report_build_range(call->builder, capture, of->longest, texts[of->name])),
            report_cell_uint(of->count),
            report_cell_real(of->median),
            report_cell_uint(report_duration(&capture->events[of->longest])),
            report_cell_real(100 * of->ratio),
            report_cell_real(of->estimate)};
        report_build_row(call->builder, table, cells);
    }
}

static void say_all(const struct report_builtin_call *call, const struct varied *list, size_t count,
                    const struct nvtxt_slice *texts) {
    const struct varied *first = &list[0];
    size_t message = say_varied(call, first, count, texts[first->name]);
    struct nvtxt_slice name = report_build_name(call->builder, texts[first->name], TEXT_MOST);
    const struct report_focus_metric focus = {
        .name = NVTXT_SLICE("range__variation_per_name.ratio"),
        .has_value = true,
        .value = {.type = REPORT_DOUBLE, .real = first->ratio},
        .info = report_build_format(call->builder, "of '%.*s'", SHOWN(name)),
    };
    report_build_speedup(call->builder, message, true, first->estimate);
    report_build_focus(call->builder, message, &focus);
    put_varied(call, message, list, count, texts);
}

static int look_at_names(const struct report_builtin_call *call, const struct durations *durations,
                         const struct report_capture *capture, double elapsed) {
    struct nvtxt_slice *texts = report_name_texts(capture);
    uint32_t *longest = longest_of_names(call);
    struct varied *list = calloc(capture->name_count + 1, sizeof(*list));
    bool failed = !texts || !longest || !list;
    size_t count = 0;
    for (uint32_t name = 0; !failed && name < capture->name_count; name++) {
        bool varies = look_at_name(durations, name, elapsed, &list[count]);
        list[count].longest = longest[name];
        count += varies;
    }
    if (!failed && count > 0) {
        qsort(list, count, sizeof(*list), by_estimate);
        say_all(call, list, count, texts);
    }
    free(list);
    free(longest);
    free(texts);
    return failed ? nvtxt_origin(-ENOMEM) : 0;
}

int report_rule_high_variation(const struct report_builtin_call *call) {
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    const struct report_metric *elapsed;
    struct durations durations = {0};
    int r = report_rule_need(call, "capture__time_elapsed.sum", &elapsed);
    if (r != 0 || !elapsed) {
        return r;
    }
    r = collect(&durations, capture, report_metrics_scope(call->metrics));
    r = r ?: look_at_names(call, &durations, capture, (double)elapsed->value.u64);
    free(durations.starts);
    free(durations.values);
    return r;
}

// ---- TinyRanges ---------------------------------------------------------------------------------

// Those of each name of the scope.
struct tiny {
    size_t count;
    uint32_t first; // index of the event
};

static void say_tiny(const struct report_builtin_call *call, const struct tiny *most,
                     size_t tiny_count, size_t count) {
    struct report_builder *builder = call->builder;
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    struct nvtxt_slice name = report_build_text_of(builder, capture, most->first, TEXT_MOST),
                       link = report_build_range(builder, capture, most->first,
                                                 NVTXT_SLICE("such a one"));
    report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Tiny ranges"),
        report_build_format(builder,
                            "%zu of %zu ranges (%.1f%%) last less than 1 us: what they measure is "
                            "mostly their own cost. Most of them are '%.*s' (%zu): look at what is "
                            "around %.*s, and mark a larger piece of work.",
                            tiny_count, count,
                            report_rule_percent((double)tiny_count, (double)count), SHOWN(name),
                            most->count, SHOWN(link)));
}

int report_rule_tiny_ranges(const struct report_builtin_call *call) {
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    const struct report_scope *scope = report_metrics_scope(call->metrics);
    struct tiny *of_names = calloc(capture->name_count + 1, sizeof(*of_names)), *most = of_names;
    size_t count = 0, tiny_count = 0;
    if (!of_names) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < scope->event_count; i++) {
        const struct report_event *event = &capture->events[scope->events[i]];
        struct tiny *tiny = &of_names[event->name];
        bool timed = report_is_timed(event), is_tiny = timed && report_duration(event) < TINY_NS;
        count += timed;
        tiny_count += is_tiny;
        tiny->first = is_tiny && tiny->count == 0 ? scope->events[i] : tiny->first;
        tiny->count += is_tiny;
        most = tiny->count > most->count ? tiny : most;
    }
    if (count >= TINY_LEAST && tiny_count * 5 > count) {
        say_tiny(call, most, tiny_count, count);
    }
    free(of_names);
    return 0;
}

// ---- OutlierIterations --------------------------------------------------------------------------

// Words that lead to the iteration of an instance; itself without one.
static struct nvtxt_slice link_to_iteration(const struct report_builtin_call *call,
                                            const struct report_instance *instance,
                                            const char *words) {
    const struct report_iterations *all = &report_metrics_model(call->metrics)->iterations;
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].number == instance->id.number) {
            return report_build_range(call->builder, report_metrics_model(call->metrics)->capture,
                                      all->list[i].event, nvtxt_slice_of(words));
        }
    }
    return nvtxt_slice_of(words);
}

static void say_outliers(const struct report_builtin_call *call, const struct report_metric *found,
                         const struct report_metric *lengths, double median) {
    struct report_builder *builder = call->builder;
    const struct report_instance *longest = &lengths->instances[0];
    for (size_t i = 1; i < lengths->instance_count; i++) {
        const struct report_instance *one = &lengths->instances[i];
        longest = one->value.u64 > longest->value.u64 ? one : longest;
    }
    unsigned long long count = found->value.u64;
    struct nvtxt_slice middle = report_build_time(builder, median),
                       length = report_build_time(builder, (double)longest->value.u64),
                       link = link_to_iteration(call, longest, "the longest one");
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Outlier iterations"),
        report_build_format(builder,
                            "%llu of %zu iterations %s longer than 1.5 x the median of %.*s. Look "
                            "at %.*s (number %llu, %.*s): what does it do that the others do not? "
                            "nvtxt-report stats -r nvtx_iteration_sum shows all.",
                            count, lengths->instance_count, count == 1 ? "lasts" : "last",
                            SHOWN(middle), SHOWN(link), (unsigned long long)longest->id.number,
                            SHOWN(length)));
    const struct report_focus_metric focus = {
        .name = NVTXT_SLICE("iteration__outlier_count.sum"),
        .has_value = true,
        .value = found->value,
        .severity = REPORT_FOCUS_HIGH,
        .info = NVTXT_SLICE("iterations that last long"),
    };
    report_build_focus(builder, message, &focus);
}

int report_rule_outlier_iterations(const struct report_builtin_call *call) {
    const struct report_metric *found, *lengths = NULL, *median = NULL;
    int r = report_rule_need(call, "iteration__outlier_count.sum", &found);
    if (r != 0 || !found || found->value.u64 == 0) {
        return r;
    }
    r = report_rule_need(call, "iteration__time_duration_per_iteration.sum", &lengths);
    r = r ?: report_rule_need(call, "iteration__time_duration.med", &median);
    if (r == 0 && lengths && median && lengths->instance_count > 0) {
        say_outliers(call, found, lengths, median->value.real);
    }
    return r;
}

// ---- WarmUp -------------------------------------------------------------------------------------

// Twice the median, which is exact; `values` are put into another order.
static wide twice_median(uint64_t *values, size_t count) {
    uint64_t upper = report_nth(values, count, count / 2);
    uint64_t lower = count % 2 ? upper : report_nth(values, count, count / 2 - 1);
    return (wide)lower + upper;
}

static void say_warm_up(const struct report_builtin_call *call,
                        const struct report_metric *iterations, wide twice) {
    const struct report_instance *first = &iterations->instances[0];
    struct nvtxt_slice lasts = report_build_time(call->builder, (double)first->value.u64),
                       median = report_build_time(call->builder, (double)twice / 2),
                       link = link_to_iteration(call, first, "what it does");
    report_build_message(
        call->builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Warm-up"),
        report_build_format(call->builder,
                            "The first iteration lasts %.*s, the median of the other %zu is %.*s. "
                            "Look at %.*s only once, and leave it out of the figures: "
                            "--skip-iterations 1.",
                            SHOWN(lasts), iterations->instance_count - 1, SHOWN(median),
                            SHOWN(link)));
}

int report_rule_warm_up(const struct report_builtin_call *call) {
    const struct report_metric *iterations;
    int r = report_rule_need(call, "iteration__time_duration_per_iteration.sum", &iterations);
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
        say_warm_up(call, iterations, twice);
    }
    return 0;
}
