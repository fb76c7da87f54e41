// SPDX-License-Identifier: Apache-2.0
//
// The rule about builds (nvtxt-report(1), "STATISTICS"). It speaks of each build of the capture on
// its own. Steps are those that the selection counts.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/builds.h"
#include "report/rule/builder.h"
#include "report/rule/rules_state.h"

#define IDLE_LEAST 10 // percent of the time of a build
#define SHOWN 10      // steps of a table
#define TEXT_MOST 200 // bytes of a name in a sentence
#define PUT(text) (int)(text).len, (text).data

struct ranked {
    uint32_t step; // index
    size_t count;
    uint64_t ns;
};

struct look {
    const struct report_builtin_call *call;
    const struct report_builds *builds;
    const struct report_build *build;
    const struct report_capture *capture;
    struct nvtxt_slice name; // of the build
    struct ranked *list;     // owned; room for all steps
};

static const struct report_event *event_of(const struct look *look, uint32_t step) {
    return &look->capture->events[look->builds->steps[step].event];
}

static struct nvtxt_slice text_of(const struct look *look, uint32_t step) {
    return report_build_text_of(look->call->builder, look->capture, look->builds->steps[step].event,
                                TEXT_MOST);
}

static bool is_leaf(const struct look *look, size_t step) {
    return look->builds->steps[step].below == 0 && report_is_timed(event_of(look, (uint32_t)step));
}

static int longest_first(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    return NVTXT_ORDER(b->ns, a->ns) ?: NVTXT_ORDER(a->step, b->step);
}

// Words of the program that lead to a step.
static struct nvtxt_slice link_to(const struct look *look, uint32_t step, const char *words) {
    return report_build_range(look->call->builder, look->capture, look->builds->steps[step].event,
                              nvtxt_slice_of(words));
}

// The first rows of the list, with their share of `whole`; each step leads to its range.
static void put_table(const struct look *look, size_t message, const char *title, size_t count,
                      uint64_t whole) {
    static const struct nvtxt_slice header[] = {
        {"Step", 4}, {"Count", 5}, {"Time (ns)", 9}, {"Share (%)", 9}};
    static const enum report_column_kind kinds[] = {REPORT_COLUMN_MIXED, REPORT_COLUMN_NUMBER,
                                                    REPORT_COLUMN_NUMBER, REPORT_COLUMN_NUMBER};
    struct report_builder *builder = look->call->builder;
    struct report_rule_table *table =
        report_build_table(builder, message, nvtxt_slice_of(title), header, 4);
    report_build_kinds(table, kinds);
    for (size_t i = 0; table && i < count && i < SHOWN; i++) {
        const struct ranked *ranked = &look->list[i];
        const struct report_cell cells[] = {
            report_cell_text(
                report_build_range(builder, look->capture, look->builds->steps[ranked->step].event,
                                   report_event_text(look->capture, event_of(look, ranked->step)))),
            report_cell_uint(ranked->count), report_cell_uint(ranked->ns),
            report_cell_real(report_rule_percent((double)ranked->ns, (double)whole))};
        report_build_row(builder, table, cells);
    }
}

// ---- Slots that were idle -----------------------------------------------------------------------

static void say_idle(const struct look *look, uint64_t alone, size_t count) {
    struct report_builder *builder = look->call->builder;
    uint64_t elapsed = (uint64_t)look->build->end - (uint64_t)look->build->start;
    struct nvtxt_slice first = text_of(look, look->list[0].step);
    struct nvtxt_slice link = link_to(look, look->list[0].step, "it");
    struct nvtxt_slice all = report_build_time(look->call->builder, (double)alone);
    struct nvtxt_slice longest = report_build_time(builder, (double)look->list[0].ns);
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Idle slots"),
        report_build_format(builder,
                            "'%.*s': only one of %u slots was busy for %.*s, %.1f%% of the time. "
                            "'%.*s' ran alone for %.*s: begin %.*s earlier, or make it shorter.",
                            PUT(look->name), look->build->slots, PUT(all),
                            report_rule_percent((double)alone, (double)elapsed), PUT(first),
                            PUT(longest), PUT(link)));
    // If the work of that time could be spread over all slots.
    report_build_speedup(
        builder, message, true,
        report_rule_percent((double)(alone - alone / look->build->slots), (double)elapsed));
    put_table(look, message, "Steps that ran alone", count, elapsed);
}

static int look_for_idle(struct look *look) {
    const struct report_build *build = look->build;
    struct report_slot_levels levels;
    int r = report_slot_levels_init(&levels, look->builds, build);
    uint64_t elapsed = (uint64_t)build->end - (uint64_t)build->start;
    size_t count = 0;
    for (size_t i = 0; r == 0 && i < build->count; i++) {
        if (levels.alone[i] > 0) {
            look->list[count++] = (struct ranked){(uint32_t)(build->first + i), 1, levels.alone[i]};
        }
    }
    qsort(look->list, count, sizeof(*look->list), longest_first);
    if (r == 0 && build->slots > 1 && levels.of[1] >= elapsed / (100 / IDLE_LEAST) && count > 0) {
        say_idle(look, levels.of[1], count);
    }
    report_slot_levels_deinit(&levels);
    return r;
}

// ---- The longest steps --------------------------------------------------------------------------

static void look_for_long(struct look *look) {
    struct report_builder *builder = look->call->builder;
    size_t count = 0;
    uint64_t busy = 0, longest = 0;
    for (size_t i = look->build->first; i < look->build->first + look->build->count; i++) {
        if (is_leaf(look, i)) {
            uint64_t ns = report_duration(event_of(look, (uint32_t)i));
            look->list[count++] = (struct ranked){(uint32_t)i, 1, ns};
            busy += ns;
        }
    }
    if (count <= SHOWN) {
        return;
    }
    qsort(look->list, count, sizeof(*look->list), longest_first);
    for (size_t i = 0; i < SHOWN; i++) {
        longest += look->list[i].ns;
    }
    struct nvtxt_slice text = report_build_time(builder, (double)longest),
                       link = link_to(look, look->list[0].step, "the longest one");
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Longest steps"),
        report_build_format(
            builder,
            "'%.*s': ten of %zu steps take %.*s, %.1f%% of all. Look at %.*s first: "
            "can it be split, or left out?",
            PUT(look->name), count, PUT(text), report_rule_percent((double)longest, (double)busy),
            PUT(link)));
    put_table(look, message, "Steps by time", count, busy);
}

// ---- Steps that ran again -----------------------------------------------------------------------

// The command of a step with its target, folder and status, as its sender wrote them; data NULL: it
// has none.
static struct nvtxt_slice command_of(const struct look *look, uint32_t step) {
    const struct report_event *event = event_of(look, step);
    return event->more == REPORT_NONE ? (struct nvtxt_slice){NULL, 0}
                                      : look->capture->more[event->more].json;
}

static int by_command(const void *left, const void *right, void *context) {
    const struct ranked *a = left, *b = right;
    int order = nvtxt_slice_order(command_of(context, a->step), command_of(context, b->step));
    return order ?: NVTXT_ORDER(a->step, b->step);
}

// Of each command the first step, with how often it ran, and the time of all runs but the first.
static size_t join_commands(struct look *look, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct ranked *last = kept > 0 ? &look->list[kept - 1] : NULL;
        struct nvtxt_slice command = command_of(look, look->list[i].step);
        if (last && nvtxt_slice_equal(command_of(look, last->step), command)) {
            last->count++;
            last->ns += report_duration(event_of(look, look->list[i].step));
        } else {
            look->list[kept++] = (struct ranked){look->list[i].step, 1, 0};
        }
    }
    size_t again = 0;
    for (size_t i = 0; i < kept; i++) {
        if (look->list[i].count > 1) {
            look->list[again++] = look->list[i];
        }
    }
    return again;
}

static void look_for_repeated(struct look *look) {
    struct report_builder *builder = look->call->builder;
    size_t count = 0;
    uint64_t ns = 0;
    for (size_t i = look->build->first; i < look->build->first + look->build->count; i++) {
        if (is_leaf(look, i) && command_of(look, (uint32_t)i).data) {
            look->list[count++] = (struct ranked){(uint32_t)i, 1, 0};
        }
    }
    qsort_r(look->list, count, sizeof(*look->list), by_command, look);
    count = join_commands(look, count);
    if (count == 0) {
        return;
    }
    qsort(look->list, count, sizeof(*look->list), longest_first);
    for (size_t i = 0; i < count; i++) {
        ns += look->list[i].ns;
    }
    struct nvtxt_slice text = report_build_time(builder, (double)ns),
                       first = text_of(look, look->list[0].step),
                       link = link_to(look, look->list[0].step, "the first run");
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Repeated steps"),
        report_build_format(
            builder,
            "'%.*s': %zu %s more than once with the same target in the same "
            "folder, '%.*s' %zu times. The repetitions take %.*s: look at what asks "
            "for %.*s.",
            PUT(look->name), count, count == 1 ? "command ran" : "commands ran", PUT(first),
            look->list[0].count, PUT(text), PUT(link)));
    put_table(look, message, "Commands that ran again, and the time of that", count,
              look->build->held_ns);
}

// ---- The rule -----------------------------------------------------------------------------------

static struct nvtxt_slice name_of(const struct look *look) {
    const struct report_build *build = look->build;
    char made[REPORT_SOURCE_NAME];
    struct nvtxt_slice name =
        build->run != REPORT_NONE
            ? report_event_text(look->capture, &look->capture->events[build->run])
            : report_source_name(&look->capture->sources[build->source], made);
    return report_build_name(look->call->builder, name, TEXT_MOST);
}

static int look_at(const struct report_builtin_call *call, const struct report_builds *builds) {
    struct look look = {.call = call, .builds = builds, .capture = builds->model->capture};
    look.list = malloc((builds->step_count + 1) * sizeof(*look.list));
    int r = look.list ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; r == 0 && i < builds->count; i++) {
        look.build = &builds->builds[i];
        look.name = name_of(&look);
        r = look_for_idle(&look);
        if (r == 0) {
            look_for_long(&look);
            look_for_repeated(&look);
        }
    }
    free(look.list);
    return r;
}

int report_rule_builds(const struct report_builtin_call *call) {
    const struct report_model *model = report_metrics_model(call->metrics);
    struct report_builds builds = {0};
    bool is_whole = report_metrics_scope(call->metrics)->kind == REPORT_SCOPE_CAPTURE;
    int r = is_whole ? report_builds_init(&builds, model) : 0;
    if (r == 0 && builds.count == 0) {
        report_build_status(call->builder, REPORT_RULE_NOT_APPLICABLE,
                            is_whole ? NVTXT_SLICE("no build was recorded with --steps")
                                     : NVTXT_SLICE("it speaks of the whole capture"));
    }
    r = r == 0 && builds.count > 0 ? look_at(call, &builds) : r;
    report_builds_deinit(&builds);
    return r;
}
