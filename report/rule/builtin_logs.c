// SPDX-License-Identifier: Apache-2.0
//
// The rule about logs. Patterns of bad lines are counted in the span, and those of all lines in the
// time before it; both are bounded. Where nobody gave a span, the last tenth of the time is it.
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "report/logs/patterns.h"
#include "report/model/model.h"
#include "report/rule/builder.h"
#include "report/rule/rules.h"
#include "report/rule/rules_state.h"

#define BAD 3           // err and worse
#define TERRIBLE 2      // crit and worse: an error, not a warning
#define TENTH 10        // the part of the time that is the span when none was asked for
#define PATTERNS 20     // of a finding that are shown
#define SHOWN_BYTES 200 // of a pattern in a sentence

struct bursts {
    const struct report_builtin_call *call;
    const struct report_capture *capture;
    const struct report_scope *scope;
    int64_t since_ns, until_ns;      // the span
    struct report_patterns *bad;     // owned; bad lines of the span
    struct report_patterns *earlier; // owned; lines before it, unless they were given
    const struct report_patterns *before;
    double now_ns, before_ns;
    size_t found, fresh; // patterns; those that are new
    int worst;
    struct nvtxt_slice first; // the most frequent one
    struct report_rule_table *table;
};

static bool is_bad(int level) {
    return level != NVTXT_LEVEL_NONE && level <= BAD;
}

static uint64_t bad_lines(const struct report_pattern *pattern) {
    uint64_t lines = 0;
    for (int level = 0; pattern && level <= BAD; level++) {
        lines += pattern->levels[level];
    }
    return lines;
}

// ---- The span and the time before it ------------------------------------------------------------

// Finds out when lines came. False: no line is bad, so there is nothing to look for.
static bool find_times(const struct bursts *bursts, int64_t *first, int64_t *last) {
    bool any = false, bad = false;
    for (size_t i = 0; i < bursts->scope->event_count; i++) {
        const struct report_event *event = &bursts->capture->events[bursts->scope->events[i]];
        if (report_is_line(bursts->capture, event)) {
            *first = !any || event->start < *first ? event->start : *first;
            *last = !any || event->start > *last ? event->start : *last;
            any = true;
            bad = bad || is_bad(report_line_level(bursts->capture, event));
        }
    }
    return bad;
}

static void choose_span(struct bursts *bursts, int64_t first, int64_t last) {
    const struct report_rules_wanted *wanted = bursts->call->wanted;
    bursts->before = wanted ? wanted->before : NULL;
    bursts->until_ns = last;
    if (bursts->before) {
        bursts->since_ns = wanted->since_ns;
        bursts->until_ns = wanted->until_ns < INT64_MAX ? wanted->until_ns : last;
        first = report_patterns_scale(bursts->before)->first;
    } else {
        bursts->since_ns = last - (int64_t)(((uint64_t)last - (uint64_t)first) / TENTH);
    }
    bursts->now_ns = (double)bursts->until_ns - (double)bursts->since_ns;
    bursts->before_ns = (double)bursts->since_ns - (double)first;
}

static int count_lines(struct bursts *bursts) {
    bool split = !bursts->before;
    int r = report_patterns_new(&bursts->bad, REPORT_PATTERNS_KEPT);
    r = r ?: split ? report_patterns_new(&bursts->earlier, REPORT_PATTERNS_KEPT) : 0;
    for (size_t i = 0; r == 0 && i < bursts->scope->event_count; i++) {
        const struct report_event *event = &bursts->capture->events[bursts->scope->events[i]];
        if (!report_is_line(bursts->capture, event)) {
            continue;
        }
        if (event->start < bursts->since_ns) {
            r = split ? report_patterns_add(bursts->earlier, bursts->capture, event) : 0;
        } else if (is_bad(report_line_level(bursts->capture, event))) {
            r = report_patterns_add(bursts->bad, bursts->capture, event);
        }
    }
    bursts->before = bursts->before ?: bursts->earlier;
    return r;
}

// ---- What is said -------------------------------------------------------------------------------

// A pattern of which no bad line came before is new.
static bool is_finding(const struct bursts *bursts, const struct report_pattern *pattern,
                       uint64_t before) {
    return before == 0 ||
           report_is_burst(pattern->count, bursts->now_ns, before, bursts->before_ns);
}

static void put_row(struct bursts *bursts, const struct report_pattern *pattern, uint64_t before) {
    double times = (double)pattern->count * bursts->before_ns / ((double)before * bursts->now_ns);
    struct report_builder *builder = bursts->call->builder;
    const struct report_cell cells[] = {
        report_cell_text(before == 0 ? NVTXT_SLICE("new")
                                     : report_build_format(builder, "%.3g times", times)),
        report_cell_text(nvtxt_slice_of(nvtxt_level_name(report_pattern_worst(pattern)))),
        report_cell_uint(pattern->count),
        report_cell_uint(before),
        report_cell_text(report_build_name(builder, pattern->text, pattern->text.len)),
    };
    if (bursts->table) {
        report_build_row(builder, bursts->table, cells);
    }
}

static void look_at(struct bursts *bursts, const struct report_pattern *pattern) {
    uint64_t before = bad_lines(report_patterns_find(bursts->before, pattern->text));
    if (!is_finding(bursts, pattern, before)) {
        return;
    }
    int worst = report_pattern_worst(pattern);
    bursts->first = bursts->found == 0 ? pattern->text : bursts->first;
    bursts->worst = bursts->found == 0 || worst < bursts->worst ? worst : bursts->worst;
    bursts->found++;
    bursts->fresh += before == 0;
}

static void say(struct bursts *bursts, struct report_pattern *const *list, size_t count) {
    static const struct nvtxt_slice header[] = {
        {"Burst", 5}, {"Level", 5}, {"Lines", 5}, {"Before", 6}, {"Pattern", 7}};
    struct report_builder *builder = bursts->call->builder;
    struct nvtxt_slice first = report_build_name(builder, bursts->first, SHOWN_BYTES);
    bool cut = first.len < bursts->first.len;
    size_t message = report_build_message(
        builder, bursts->worst <= TERRIBLE ? REPORT_LEVEL_ERROR : REPORT_LEVEL_WARNING,
        NVTXT_SLICE("Error burst"),
        report_build_format(builder,
                            "Patterns of lines of level err or worse that are new: %zu, that come "
                            "%d times as often as before or more: %zu. The most frequent one: "
                            "'%.*s%s'. See its lines with: nvtxt-report logs --pattern PATTERN.",
                            bursts->fresh, REPORT_BURST_TIMES, bursts->found - bursts->fresh,
                            (int)first.len, first.data, cut ? "…" : ""));
    bursts->table = report_build_table(builder, message, NVTXT_SLICE("Patterns"), header, 5);
    for (size_t i = 0, shown = 0; i < count && shown < PATTERNS; i++) {
        uint64_t before = bad_lines(report_patterns_find(bursts->before, list[i]->text));
        if (is_finding(bursts, list[i], before)) {
            put_row(bursts, list[i], before);
            shown++;
        }
    }
}

static void judge(struct bursts *bursts) {
    if (!(bursts->before_ns >= bursts->now_ns) || report_patterns_lines(bursts->before) == 0) {
        report_build_status(bursts->call->builder, REPORT_RULE_NOT_APPLICABLE,
                            NVTXT_SLICE("lines are known of a shorter time before the span than "
                                        "the span is"));
        return;
    }
    size_t count;
    struct report_pattern *const *list =
        report_patterns_list(bursts->bad, REPORT_PATTERNS_KEPT, &count);
    for (size_t i = 0; i < count; i++) {
        look_at(bursts, list[i]);
    }
    if (bursts->found > 0) {
        say(bursts, list, count);
    }
}

int report_rule_error_burst(const struct report_builtin_call *call) {
    struct bursts bursts = {.call = call,
                            .capture = report_metrics_model(call->metrics)->capture,
                            .scope = report_metrics_scope(call->metrics)};
    int64_t first = 0, last = 0;
    if (!find_times(&bursts, &first, &last)) {
        return 0;
    }
    if (call->wanted && call->wanted->since_ns > INT64_MIN && !call->wanted->before) {
        report_build_status(call->builder, REPORT_RULE_NOT_APPLICABLE,
                            NVTXT_SLICE("with these options the lines before the span are not "
                                        "read"));
        return 0;
    }
    choose_span(&bursts, first, last);
    int r = count_lines(&bursts);
    if (r == 0) {
        judge(&bursts);
    }
    report_patterns_free(bursts.bad);
    report_patterns_free(bursts.earlier);
    return r;
}
