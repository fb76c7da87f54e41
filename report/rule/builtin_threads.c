// SPDX-License-Identifier: Apache-2.0
//
// Rules about threads: how busy each is, when all are idle, whether two ever work at a time. Events
// are sorted by thread once for each rule; threads stand in the capture process by process.
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/model.h"
#include "report/model/spans.h"
#include "report/rule/builder.h"
#include "report/rule/rules.h"
#include "report/rule/rules_state.h"

#define TEAMS_SHOWN 10
#define TEXT_MOST 100 // bytes of a name in a sentence
#define PUSH_POP REPORT_KIND(REPORT_PUSH_POP)
#define SHOWN(text) (int)(text).len, (text).data

typedef unsigned __int128 wide;

struct look {
    const struct report_builtin_call *call;
    const struct report_capture *capture;
    const struct report_scope *scope;
    size_t *starts;   // owned; the events of thread t: events[starts[t]] to before starts[t + 1]
    uint32_t *events; // owned; in order
};

static void look_deinit(struct look *look) {
    free(look->starts);
    free(look->events);
}

// First starts[t + 2] counts the events of t; then starts[t + 1] is where its next one goes, and at
// the end where they end. Returns 0 or -ENOMEM; deinit in each case.
static int look_init(struct look *look, const struct report_builtin_call *call) {
    *look = (struct look){.call = call,
                          .capture = report_metrics_model(call->metrics)->capture,
                          .scope = report_metrics_scope(call->metrics)};
    size_t threads = look->capture->thread_count, count = look->scope->event_count;
    look->starts = calloc(threads + 2, sizeof(*look->starts));
    look->events = calloc(count + 1, sizeof(*look->events));
    if (!look->starts || !look->events) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < count; i++) {
        look->starts[look->capture->events[look->scope->events[i]].thread + 2]++;
    }
    for (size_t t = 2; t <= threads; t++) {
        look->starts[t] += look->starts[t - 1];
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t event = look->scope->events[i];
        look->events[look->starts[look->capture->events[event].thread + 1]++] = event;
    }
    return 0;
}

static size_t count_of(const struct look *look, uint32_t thread) {
    return look->starts[thread + 1] - look->starts[thread];
}

static const uint32_t *events_of(const struct look *look, uint32_t thread) {
    return look->events + look->starts[thread];
}

// The longest push/pop range among events, the first of several; REPORT_NONE: there is none.
static uint32_t longest_of(const struct look *look, const uint32_t *events, size_t count) {
    uint32_t longest = REPORT_NONE;
    for (size_t i = 0; i < count; i++) {
        if (look->capture->events[events[i]].kind == REPORT_PUSH_POP &&
            report_is_longer(look->capture, events[i], longest)) {
            longest = events[i];
        }
    }
    return longest;
}

static void add_focus(const struct look *look, size_t message, const char *name,
                      const struct report_value *value, const char *info) {
    const struct report_focus_metric focus = {
        .name = nvtxt_slice_of(name),
        .has_value = true,
        .value = *value,
        .severity = REPORT_FOCUS_HIGH,
        .info = nvtxt_slice_of(info),
    };
    report_build_focus(look->call->builder, message, &focus);
}

// ---- LoadImbalance ------------------------------------------------------------------------------

// The threads that are compared with each other: those of a process, or all that work within what
// --within names. Strangers that share a store have no load to share.
struct team {
    uint32_t process; // of the first thread
    uint32_t busiest; // thread
    size_t threads;   // with push/pop ranges
    uint64_t most;    // busy time, ns
    wide sum;
    double estimate; // percent of the elapsed time of the scope
};

struct teams {
    struct look look;
    bool together; // one team: --within
    double elapsed;
    struct team *list; // owned
    size_t count;
};

static double average_of(const struct team *team) {
    return (double)team->sum / (double)team->threads;
}

static bool is_unbalanced(const struct team *team) {
    wide most = (wide)team->most * team->threads;
    return team->threads >= 2 && (most - team->sum) * 4 > most;
}

static void join(struct teams *teams, uint32_t thread, uint64_t busy) {
    uint32_t process = teams->look.capture->threads[thread].process;
    struct team *team = teams->count > 0 ? &teams->list[teams->count - 1] : NULL;
    if (!team || (!teams->together && team->process != process)) {
        team = &teams->list[teams->count++];
        *team = (struct team){.process = process, .busiest = thread};
    }
    team->busiest = busy > team->most ? thread : team->busiest;
    team->most = busy > team->most ? busy : team->most;
    team->threads++;
    team->sum += busy;
}

static int by_estimate(const void *left, const void *right) {
    const struct team *a = left, *b = right;
    return NVTXT_ORDER(b->estimate, a->estimate) ?: NVTXT_ORDER(a->process, b->process);
}

// Keeps those that are unbalanced, the worst first.
static void find_unbalanced(struct teams *teams) {
    size_t kept = 0;
    for (uint32_t thread = 0; thread < teams->look.capture->thread_count; thread++) {
        const uint32_t *events = events_of(&teams->look, thread);
        size_t count = count_of(&teams->look, thread);
        if (longest_of(&teams->look, events, count) != REPORT_NONE) {
            join(teams, thread, report_busy(teams->look.capture, events, count, PUSH_POP));
        }
    }
    for (size_t i = 0; i < teams->count; i++) {
        struct team *team = &teams->list[i];
        if (is_unbalanced(team)) {
            team->estimate =
                report_rule_percent((double)team->most - average_of(team), teams->elapsed);
            teams->list[kept++] = *team;
        }
    }
    teams->count = kept;
    qsort(teams->list, kept, sizeof(*teams->list), by_estimate);
}

// Empty for a name that only says the number, as stores have it where nobody gave one.
static struct nvtxt_slice process_name(const struct report_process *process) {
    char number[32];
    snprintf(number, sizeof(number), "Process %u", process->pid);
    return nvtxt_slice_equal(process->name, nvtxt_slice_of(number)) ? (struct nvtxt_slice){"", 0}
                                                                    : process->name;
}

// "of process 7 'name'".
static struct nvtxt_slice whose(const struct teams *teams, const struct team *team) {
    const struct report_process *process = &teams->look.capture->processes[team->process];
    struct report_builder *builder = teams->look.call->builder;
    struct nvtxt_slice name = report_build_name(builder, process_name(process), TEXT_MOST);
    if (teams->together) {
        return NVTXT_SLICE("in the ranges of --within");
    }
    return name.len > 0
               ? report_build_format(builder, "of process %u '%.*s'", process->pid, SHOWN(name))
               : report_build_format(builder, "of process %u", process->pid);
}

static uint32_t longest_of_team(const struct teams *teams, const struct team *team) {
    return longest_of(&teams->look, events_of(&teams->look, team->busiest),
                      count_of(&teams->look, team->busiest));
}

static size_t say_unbalanced(const struct teams *teams) {
    const struct look *look = &teams->look;
    const struct team *worst = &teams->list[0];
    struct report_builder *builder = look->call->builder;
    uint32_t longest = longest_of_team(teams, worst);
    struct nvtxt_slice who = whose(teams, worst),
                       length = report_build_length_of(builder, look->capture, longest),
                       name = report_build_text_of(builder, look->capture, longest, TEXT_MOST),
                       link = report_build_range(builder, look->capture, longest,
                                                 NVTXT_SLICE("longest range"));
    struct nvtxt_slice most = report_build_time(builder, (double)worst->most);
    struct nvtxt_slice average = report_build_time(builder, average_of(worst));
    struct nvtxt_slice lead =
        teams->count > 1 ? report_build_format(builder,
                                               "In %zu processes some threads have much more to do "
                                               "than the others. The worst: the",
                                               teams->count)
                         : NVTXT_SLICE("The");
    return report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Load imbalance"),
        report_build_format(builder,
                            "%.*s busiest of the %zu threads %.*s works for %.*s, their average is "
                            "%.*s: the others wait, or have less to do. Look at its %.*s, '%.*s' "
                            "(%.*s): can another thread do a part of it?",
                            SHOWN(lead), worst->threads, SHOWN(who), SHOWN(most), SHOWN(average),
                            SHOWN(link), SHOWN(name), SHOWN(length)));
}

// Each process with a link to the longest range of its busiest thread.
static void put_teams(const struct teams *teams, size_t message) {
    static const struct nvtxt_slice header[] = {{"Process", 7},
                                                {"Threads", 7},
                                                {"Busiest (ns)", 12},
                                                {"Average (ns)", 12},
                                                {"Estimate (%)", 12}};
    static const enum report_column_kind kinds[] = {REPORT_COLUMN_MIXED, REPORT_COLUMN_NUMBER,
                                                    REPORT_COLUMN_NUMBER, REPORT_COLUMN_NUMBER,
                                                    REPORT_COLUMN_NUMBER};
    struct report_builder *builder = teams->look.call->builder;
    struct report_rule_table *table = report_build_table(
        builder, message, NVTXT_SLICE("Processes by what could be saved"), header, 5);
    report_build_kinds(table, kinds);
    for (size_t i = 0; table && i < teams->count && i < TEAMS_SHOWN; i++) {
        const struct team *team = &teams->list[i];
        const struct report_process *process = &teams->look.capture->processes[team->process];
        struct nvtxt_slice name = nvtxt_slice_cut(process_name(process), TEXT_MOST);
        struct nvtxt_slice text = report_build_format(builder, "%u%s%.*s", process->pid,
                                                      name.len > 0 ? " " : "", SHOWN(name));
        const struct report_cell cells[] = {
            report_cell_text(report_build_range(builder, teams->look.capture,
                                                longest_of_team(teams, team), text)),
            report_cell_uint(team->threads), report_cell_uint(team->most),
            report_cell_real(average_of(team)), report_cell_real(team->estimate)};
        report_build_row(builder, table, cells);
    }
}

int report_rule_load_imbalance(const struct report_builtin_call *call) {
    const struct report_metric *elapsed, *busy;
    int r = report_rule_need(call, "thread__busy_time_per_thread.max", &busy);
    r = r || !busy ? r : report_rule_need(call, "capture__time_elapsed.sum", &elapsed);
    if (r != 0 || !busy || !elapsed) {
        return r;
    }
    struct teams teams = {.together = call->wanted && call->wanted->within,
                          .elapsed = (double)elapsed->value.u64};
    r = look_init(&teams.look, call);
    teams.list = calloc(teams.look.capture->thread_count + 1, sizeof(*teams.list));
    r = r == 0 && !teams.list ? nvtxt_origin(-ENOMEM) : r;
    if (r == 0) {
        find_unbalanced(&teams);
    }
    if (r == 0 && teams.count > 0) {
        const struct report_value most = {.type = REPORT_U64, .u64 = teams.list[0].most};
        size_t message = say_unbalanced(&teams);
        report_build_speedup(call->builder, message, true, teams.list[0].estimate);
        add_focus(&teams.look, message, "thread__busy_time_per_thread.max", &most,
                  "the busy time of the busiest thread");
        if (teams.count > 1) {
            put_teams(&teams, message);
        }
    }
    free(teams.list);
    look_deinit(&teams.look);
    return r;
}

// ---- IdleGaps -----------------------------------------------------------------------------------

struct idle {
    wide total;
    size_t count;
    struct report_gap longest;
};

static void add_gaps(const struct look *look, uint32_t thread, struct idle *idle) {
    struct report_gap_walk walk = {look->capture, events_of(look, thread), count_of(look, thread),
                                   0, REPORT_NONE};
    struct report_gap gap;
    while (report_gap_next(&walk, &gap)) {
        idle->longest = idle->count == 0 || gap.length > idle->longest.length ? gap : idle->longest;
        idle->total += gap.length;
        idle->count++;
    }
}

static void say_idle(const struct look *look, const struct idle *idle, double elapsed,
                     const struct report_metric *time, const struct report_metric *busy) {
    struct report_builder *builder = look->call->builder;
    struct nvtxt_slice after = report_build_text_of(builder, look->capture, idle->longest.after,
                                                    TEXT_MOST),
                       before = report_build_text_of(builder, look->capture, idle->longest.before,
                                                     TEXT_MOST);
    struct nvtxt_slice total = report_build_time(builder, (double)idle->total),
                       longest = report_build_time(builder, (double)idle->longest.length),
                       link = report_build_range(builder, look->capture, idle->longest.before,
                                                 NVTXT_SLICE("the range after it"));
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Idle gaps"),
        report_build_format(builder,
                            "Threads are in no range for %.*s, %.1f%% of the elapsed time (gaps: "
                            "%zu). The longest one lasts %.*s, from '%.*s' to '%.*s': look at what "
                            "%.*s waited for. nvtxt-report stats -r nvtx_gap_sum shows all.",
                            SHOWN(total), report_rule_percent((double)idle->total, elapsed),
                            idle->count, SHOWN(longest), SHOWN(after), SHOWN(before), SHOWN(link)));
    double working = busy->value.type == REPORT_U64 ? (double)busy->value.u64 : busy->value.real;
    report_build_speedup(builder, message, false,
                         report_rule_percent((double)idle->total, (double)idle->total + working));
    add_focus(look, message, "gap__time_duration.sum", &time->value, "time without a range");
}

int report_rule_idle_gaps(const struct report_builtin_call *call) {
    const struct report_metric *elapsed = NULL, *time, *busy = NULL;
    struct look look = {0};
    struct idle idle = {0};
    int r = report_rule_need(call, "gap__time_duration.sum", &time);
    r = r || !time ? r : report_rule_need(call, "capture__time_elapsed.sum", &elapsed);
    r = r || !elapsed ? r : report_rule_need(call, "thread__busy_time_per_thread.sum", &busy);
    if (r != 0 || !busy || (time->value.type == REPORT_U64 && time->value.u64 == 0)) {
        return r;
    }
    r = look_init(&look, call);
    for (uint32_t thread = 0; r == 0 && thread < look.capture->thread_count; thread++) {
        add_gaps(&look, thread, &idle);
    }
    if (r == 0 && idle.total * 5 > elapsed->value.u64) {
        say_idle(&look, &idle, (double)elapsed->value.u64, time, busy);
    }
    look_deinit(&look);
    return r;
}

// ---- Serialized ---------------------------------------------------------------------------------

static void say_serialized(const struct look *look, size_t threads,
                           const struct report_metric *concurrency) {
    struct report_builder *builder = look->call->builder;
    uint32_t longest = longest_of(look, look->scope->events, look->scope->event_count);
    struct nvtxt_slice name = report_build_text_of(builder, look->capture, longest, TEXT_MOST),
                       length = report_build_length_of(builder, look->capture, longest),
                       link = report_build_range(builder, look->capture, longest,
                                                 NVTXT_SLICE("the longest range"));
    size_t message = report_build_message(
        builder, REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("Serialized threads"),
        report_build_format(
            builder,
            "%zu threads have ranges, but never two of them at the same time: they "
            "wait for each other, or one lock serves them all. Look at %.*s, '%.*s' "
            "(%.*s): what do the others wait for while it is open?",
            threads, SHOWN(link), SHOWN(name), SHOWN(length)));
    add_focus(look, message, "thread__concurrency.max", &concurrency->value, "threads at a time");
}

int report_rule_serialized(const struct report_builtin_call *call) {
    const struct look look = {.call = call,
                              .capture = report_metrics_model(call->metrics)->capture,
                              .scope = report_metrics_scope(call->metrics)};
    const struct report_metric *busy, *concurrency = NULL;
    int r = report_rule_need(call, "thread__busy_time_per_thread.max", &busy);
    r = r || !busy ? r : report_rule_need(call, "thread__concurrency.max", &concurrency);
    if (r == 0 && concurrency && busy->instance_count >= 2 && concurrency->value.u64 <= 1) {
        say_serialized(&look, busy->instance_count, concurrency);
    }
    return r;
}
