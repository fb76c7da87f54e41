// SPDX-License-Identifier: Apache-2.0
//
// Rules about what was recorded: clocks, names, iterations. They look at each event of the scope
// once.
#include <stdlib.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "report/model/model.h"
#include "report/rule/builder.h"
#include "report/rule/rules_state.h"

#define DAY_NS ((int64_t)86400 * 1000000000)
#define MIXED_SHOWN 10
#define CANDIDATES 3
#define TEXT_MOST 200 // bytes of a name in a sentence
#define SHOWN(text) (int)(text).len, (text).data

// ---- ClockSuspicion -----------------------------------------------------------------------------

static bool is_early(const struct report_source *source, const struct report_event *event) {
    return event->start < nvtxt_time_plus(source->opened_ns, -DAY_NS);
}

// For each source the index of the event that was stored first; NULL when memory is short.
static uint32_t *first_events(const struct report_capture *capture) {
    uint32_t *first = malloc((capture->source_count + 1) * sizeof(*first));
    for (size_t i = 0; first && i < capture->source_count; i++) {
        first[i] = REPORT_NONE;
    }
    for (size_t i = 0; first && i < capture->event_count; i++) {
        const struct report_event *event = &capture->events[i];
        uint32_t known = event->source == REPORT_NONE ? REPORT_NONE : first[event->source];
        if (event->source != REPORT_NONE &&
            (known == REPORT_NONE || event->row < capture->events[known].row)) {
            first[event->source] = (uint32_t)i;
        }
    }
    return first;
}

// A journal, or a log with times in its lines: nvtxt-send has the clock of this machine, so without
// them its first line cannot be older than its session.
static bool has_own_times(const struct report_capture *capture, const uint32_t *first,
                          uint32_t source) {
    const struct report_source *of = &capture->sources[source];
    return of->has_levels && nvtxt_slice_equal(of->peer_comm, NVTXT_SLICE("nvtxt-send")) &&
           is_early(of, &capture->events[first[source]]);
}

// A file may hold any times: it was read when it was read. So may a log, but none that are to come.
static bool is_outside(const struct report_capture *capture, const uint32_t *first,
                       const struct report_event *event) {
    if (event->source == REPORT_NONE) {
        return false;
    }
    const struct report_source *source = &capture->sources[event->source];
    if (nvtxt_slice_equal(source->kind, NVTXT_SLICE("file"))) {
        return false;
    }
    return (is_early(source, event) && !has_own_times(capture, first, event->source)) ||
           (source->has_closed && event->end > nvtxt_time_plus(source->closed_ns, DAY_NS));
}

int report_rule_clock_suspicion(const struct report_builtin_call *call) {
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    const struct report_scope *scope = report_metrics_scope(call->metrics);
    uint32_t *first = first_events(capture);
    size_t backward = 0, outside = 0;
    if (!first) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < scope->event_count; i++) {
        const struct report_event *event = &capture->events[scope->events[i]];
        backward += (event->flags & REPORT_BACKWARD) != 0;
        outside += is_outside(capture, first, event);
    }
    free(first);
    if (backward > 0) {
        report_build_message(
            call->builder, REPORT_LEVEL_WARNING, NVTXT_SLICE("Backward ranges"),
            report_build_format(call->builder,
                                "They end before they start: %zu. Their duration counts as 0. The "
                                "clock of the program was set back, or its times are of different "
                                "clocks.",
                                backward));
    }
    if (outside > 0) {
        report_build_message(
            call->builder, REPORT_LEVEL_WARNING, NVTXT_SLICE("Times outside the session"),
            report_build_format(call->builder,
                                "Events of more than a day before or after their source was "
                                "open: %zu. Their clock may be another one.",
                                outside));
    }
    return 0;
}

// ---- MixedKinds ---------------------------------------------------------------------------------

// For each name a bit of each kind of the scope's events; NULL when memory is short.
static unsigned char *kinds_of_names(const struct report_capture *capture,
                                     const struct report_scope *scope) {
    unsigned char *kinds = calloc(capture->name_count + 1, 1);
    for (size_t i = 0; kinds && i < scope->event_count; i++) {
        const struct report_event *event = &capture->events[scope->events[i]];
        kinds[event->name] |= (unsigned char)(1 << event->kind);
    }
    return kinds;
}

static void add_name(const struct report_builtin_call *call, struct nvtxt_buf *text,
                     struct nvtxt_slice name, size_t most) {
    struct nvtxt_slice shown = report_build_name(call->builder, name, most);
    nvtxt_buf_add(text, shown.data, shown.len);
}

static void say_mixed(const struct report_builtin_call *call, const struct nvtxt_slice *mixed,
                      size_t count) {
    struct nvtxt_buf text = {0};
    for (size_t i = 0; i < count && i < MIXED_SHOWN; i++) {
        nvtxt_buf_add_string(&text, i > 0 ? ", '" : "'");
        add_name(call, &text, mixed[i], TEXT_MOST);
        nvtxt_buf_add_string(&text, "'");
    }
    nvtxt_buf_add_string(&text, count > MIXED_SHOWN ? " and more" : "");
    nvtxt_buf_add_string(&text, count == 1 ? " is the name" : " are the names");
    nvtxt_buf_add_string(&text, " of push/pop ranges and of start/end ranges: figures by name add "
                                "up both. Give them different names, or ask for one kind with "
                                "--kind.");
    call->builder->failed = call->builder->failed || nvtxt_buf_failed(&text);
    report_build_message(call->builder, REPORT_LEVEL_WARNING, NVTXT_SLICE("Mixed kinds"),
                         (struct nvtxt_slice){text.data, text.len});
    nvtxt_buf_deinit(&text);
}

static int by_text(const void *a, const void *b) {
    return nvtxt_slice_order(*(const struct nvtxt_slice *)a, *(const struct nvtxt_slice *)b);
}

int report_rule_mixed_kinds(const struct report_builtin_call *call) {
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    const unsigned both = 1 << REPORT_PUSH_POP | 1 << REPORT_START_END;
    unsigned char *kinds = kinds_of_names(capture, report_metrics_scope(call->metrics));
    struct nvtxt_slice *texts = report_name_texts(capture);
    size_t count = 0;
    int r = kinds && texts ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t name = 0; r == 0 && name < capture->name_count; name++) {
        if ((kinds[name] & both) == both) {
            texts[count++] = texts[name];
        }
    }
    if (r == 0 && count > 0) {
        qsort(texts, count, sizeof(*texts), by_text);
        say_mixed(call, texts, count);
    }
    free(texts);
    free(kinds);
    return r;
}

// ---- NoIterations -------------------------------------------------------------------------------

struct candidate {
    uint32_t name;
    size_t count;
    unsigned __int128 total;
};

static int by_total(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return NVTXT_ORDER(y->total, x->total) ?: NVTXT_ORDER(x->name, y->name);
}

// Names of ranges that lie on no other range, by their time; NULL when memory is short. An
// iteration comes more than once.
static struct candidate *find_candidates(const struct report_model *model,
                                         const struct report_scope *scope, size_t *count) {
    const struct report_capture *capture = model->capture;
    struct candidate *list = calloc(capture->name_count + 1, sizeof(*list));
    *count = 0;
    for (size_t i = 0; list && i < scope->event_count; i++) {
        const struct report_event *event = &capture->events[scope->events[i]];
        if (report_is_timed(event) && event->kind == REPORT_PUSH_POP &&
            model->depth[scope->events[i]] == 0) {
            list[event->name].name = event->name;
            list[event->name].count++;
            list[event->name].total += report_duration(event);
        }
    }
    for (size_t i = 0; list && i < capture->name_count; i++) {
        if (list[i].count >= 2) {
            list[(*count)++] = list[i];
        }
    }
    if (list && *count > 0) {
        qsort(list, *count, sizeof(*list), by_total);
    }
    return list;
}

// NAME or NAME@DOMAIN, as --iterations takes it.
static void add_marker(struct nvtxt_buf *text, const struct report_capture *capture,
                       uint32_t name) {
    struct nvtxt_slice parts[] = {capture->messages[capture->names[name].message],
                                  capture->domains[capture->names[name].domain]};
    for (size_t i = 0; i < 2 && (i == 0 || parts[1].len > 0); i++) {
        nvtxt_buf_add_string(text, i > 0 ? "@" : "");
        struct nvtxt_slice part = nvtxt_slice_cut(parts[i], TEXT_MOST);
        for (size_t at = 0; at < part.len; at++) {
            nvtxt_buf_add_string(text, part.data[at] == '@' ? "\\" : "");
            nvtxt_buf_add(text, part.data + at, 1);
        }
    }
}

static void say_candidates(const struct report_builtin_call *call, const struct candidate *list,
                           size_t count) {
    const struct report_capture *capture = report_metrics_model(call->metrics)->capture;
    struct nvtxt_buf text = {0}, marker = {0};
    nvtxt_buf_add_string(
        &text, "Figures by iteration need the name of the range that is one (--iterations).");
    nvtxt_buf_add_string(&text, count > 1 ? " Candidates: " : " A candidate: ");
    for (size_t i = 0; i < count && i < CANDIDATES; i++) {
        nvtxt_buf_add_string(&text, i > 0 ? ", --iterations '" : "--iterations '");
        add_marker(&marker, capture, list[i].name);
        add_name(call, &text, (struct nvtxt_slice){marker.data, marker.len}, marker.len);
        nvtxt_buf_clear(&marker);
        nvtxt_buf_add_string(&text, "' (");
        nvtxt_buf_add_uint(&text, list[i].count);
        nvtxt_buf_add_string(&text, " ranges)");
    }
    nvtxt_buf_add_string(&text, ".");
    call->builder->failed =
        call->builder->failed || nvtxt_buf_failed(&text) || nvtxt_buf_failed(&marker);
    nvtxt_buf_deinit(&marker);
    report_build_message(call->builder, REPORT_LEVEL_NONE, NVTXT_SLICE("No iterations"),
                         (struct nvtxt_slice){text.data, text.len});
    nvtxt_buf_deinit(&text);
}

int report_rule_no_iterations(const struct report_builtin_call *call) {
    const struct report_model *model = report_metrics_model(call->metrics);
    size_t count;
    if (model->iterations.declared) {
        return 0;
    }
    struct candidate *list = find_candidates(model, report_metrics_scope(call->metrics), &count);
    if (!list) {
        return nvtxt_origin(-ENOMEM);
    }
    if (count > 0) {
        say_candidates(call, list, count);
    }
    free(list);
    return 0;
}
