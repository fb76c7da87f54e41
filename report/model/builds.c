// SPDX-License-Identifier: Apache-2.0
//
// Each step looks upwards, from what it is shown under, for the next step or run. What each event
// found is kept, so that no way is gone twice. Then steps are put side by side by build, in order:
// one sweep over them finds the times without a step below, since those come by their starts.
#include "report/model/builds.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

struct maker {
    struct report_builds *builds;
    const struct report_model *model;
    const struct report_capture *capture;
    size_t room;         // for builds
    uint8_t *is_run;     // owned; by event
    uint32_t *near;      // owned; by event: the step or run at or above it, or REPORT_NONE
    uint8_t *has_near;   // owned; by event
    uint32_t *of_source; // owned; the build of steps that lead to no run, or REPORT_NONE
    uint32_t *run_of;    // owned; the first run of each source, or REPORT_NONE
    uint32_t *run_above; // owned; by step: the run right above it, or REPORT_NONE
    uint32_t *way;       // owned; grows
    size_t way_room;
};

// ---- Runs and steps -----------------------------------------------------------------------------

static bool is_run_key(struct nvtxt_slice key) {
    static const char run[] = "run";
    size_t len = sizeof(run) - 1;
    return key.len >= len && memcmp(key.data, run, len) == 0 &&
           (key.len == len || key.data[len] == '-');
}

static void mark_runs(struct maker *maker) {
    const struct report_capture *capture = maker->capture;
    for (size_t i = 0; i < capture->key_count; i++) {
        const struct report_range_key *key = &capture->keys[i];
        if (key->event != REPORT_NONE && is_run_key(key->key)) {
            maker->is_run[key->event] = 1;
            if (maker->run_of[key->source] == REPORT_NONE) {
                maker->run_of[key->source] = key->event;
            }
        } else if (key->event != REPORT_NONE &&
                   capture->events[key->event].kind == REPORT_START_END) {
            maker->builds->step_of[key->event] = 0; // numbered below
            maker->builds->step_count++;
        }
    }
}

static void number_steps(struct maker *maker) {
    struct report_builds *builds = maker->builds;
    size_t count = 0;
    for (size_t i = 0; i < maker->model->count; i++) {
        if (builds->step_of[i] != REPORT_NONE) {
            builds->steps[count] = (struct report_build_step){
                .event = (uint32_t)i, .build = REPORT_NONE, .under = REPORT_NONE};
            builds->step_of[i] = (uint32_t)count++;
        }
    }
}

static int add_way(struct maker *maker, size_t *count, uint32_t event) {
    if (nvtxt_grow(&maker->way, &maker->way_room, *count + 1, sizeof(*maker->way)) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    maker->way[(*count)++] = event;
    return 0;
}

// The step or run at or above an event.
static int find_near(struct maker *maker, uint32_t event, uint32_t *near) {
    size_t count = 0;
    uint32_t at = event;
    int r = 0;
    while (r == 0 && at != REPORT_NONE && !maker->has_near[at] && !maker->is_run[at] &&
           maker->builds->step_of[at] == REPORT_NONE) {
        r = add_way(maker, &count, at);
        at = report_shown_under(maker->model, at);
    }
    *near = at != REPORT_NONE && maker->has_near[at] ? maker->near[at] : at;
    while (count > 0) {
        uint32_t passed = maker->way[--count];
        maker->near[passed] = *near;
        maker->has_near[passed] = 1;
    }
    return r;
}

// Sets what is above a step: a step or a run of the same source.
static int find_above(struct maker *maker, uint32_t step) {
    const struct report_event *events = maker->capture->events;
    struct report_build_step *of = &maker->builds->steps[step];
    uint32_t near = report_shown_under(maker->model, of->event);
    maker->run_above[step] = REPORT_NONE;
    int r = near == REPORT_NONE ? 0 : find_near(maker, near, &near);
    if (r != 0 || near == REPORT_NONE || events[near].source != events[of->event].source) {
        return r;
    }
    *(maker->is_run[near] ? &maker->run_above[step] : &of->under) =
        maker->is_run[near] ? near : maker->builds->step_of[near];
    return 0;
}

// ---- Builds -------------------------------------------------------------------------------------

// The build of a step that has no step above it; made when there is none yet.
static int build_of_top(struct maker *maker, uint32_t step, uint32_t *build) {
    struct report_builds *builds = maker->builds;
    uint32_t source = maker->capture->events[builds->steps[step].event].source;
    uint32_t run = maker->run_above[step];
    run = run != REPORT_NONE ? run : maker->run_of[source];
    uint32_t *place =
        run != REPORT_NONE ? &maker->builds->build_of_run[run] : &maker->of_source[source];
    if (*place == REPORT_NONE) {
        if (nvtxt_grow(&builds->builds, &maker->room, builds->count + 1, sizeof(*builds->builds)) <
            0) {
            return nvtxt_origin(-ENOMEM);
        }
        *place = (uint32_t)builds->count;
        builds->builds[builds->count++] = (struct report_build){.source = source, .run = run};
    }
    *build = *place;
    return 0;
}

// Goes up to a step whose build is known, or to the one right below the run.
static int find_build(struct maker *maker, uint32_t step) {
    struct report_build_step *steps = maker->builds->steps;
    size_t count = 0;
    uint32_t build = REPORT_NONE, at = step;
    int r = 0;
    while (r == 0 && (build = steps[at].build) == REPORT_NONE) {
        r = add_way(maker, &count, at);
        if (r == 0 && steps[at].under == REPORT_NONE) {
            r = build_of_top(maker, at, &build);
            break;
        }
        at = steps[at].under;
    }
    while (count > 0) {
        steps[maker->way[--count]].build = build;
    }
    return r;
}

static int by_build(const void *left, const void *right) {
    const struct report_build_step *a = left, *b = right;
    return NVTXT_ORDER(a->build, b->build) ?: NVTXT_ORDER(a->event, b->event);
}

// Puts the steps of a build side by side. `near` is free again: it keeps what is above, by event.
static void sort_steps(struct maker *maker) {
    struct report_builds *builds = maker->builds;
    struct report_build_step *steps = builds->steps;
    for (size_t i = 0; i < builds->step_count; i++) {
        uint32_t under = steps[i].under;
        maker->near[steps[i].event] = under == REPORT_NONE ? REPORT_NONE : steps[under].event;
    }
    qsort(steps, builds->step_count, sizeof(*steps), by_build);
    for (size_t i = 0; i < builds->step_count; i++) {
        builds->step_of[steps[i].event] = (uint32_t)i;
    }
    for (size_t i = 0; i < builds->step_count; i++) {
        uint32_t above = maker->near[steps[i].event];
        steps[i].under = above == REPORT_NONE ? REPORT_NONE : builds->step_of[above];
        if (steps[i].under != REPORT_NONE) {
            steps[steps[i].under].below++;
        }
    }
}

static void take_times(struct report_build *build, const struct report_event *event, bool first) {
    build->start = first || event->start < build->start ? event->start : build->start;
    build->end = first || event->end > build->end ? event->end : build->end;
}

static void bound_builds(const struct maker *maker) {
    const struct report_builds *builds = maker->builds;
    const struct report_event *events = maker->capture->events;
    for (size_t i = 0; i < builds->step_count; i++) {
        struct report_build *build = &builds->builds[builds->steps[i].build];
        build->first = build->count == 0 ? i : build->first;
        take_times(build, &events[builds->steps[i].event], build->count++ == 0);
    }
    for (size_t i = 0; i < builds->count; i++) {
        if (builds->builds[i].run != REPORT_NONE) {
            take_times(&builds->builds[i], &events[builds->builds[i].run], false);
        }
    }
}

static int find_builds(struct maker *maker) {
    struct report_builds *builds = maker->builds;
    int r = 0;
    number_steps(maker);
    for (size_t i = 0; r == 0 && i < builds->step_count; i++) {
        r = find_above(maker, (uint32_t)i);
    }
    for (size_t i = 0; r == 0 && i < builds->step_count; i++) {
        r = find_build(maker, (uint32_t)i);
    }
    if (r == 0) {
        sort_steps(maker);
        bound_builds(maker);
    }
    return r;
}

// ---- Times --------------------------------------------------------------------------------------

static void hold(struct report_builds *builds, uint32_t step, int64_t from, int64_t to) {
    builds->held[builds->held_count++] = (struct report_held){.from = from, .to = to, .step = step};
    builds->steps[step].held_ns += (uint64_t)to - (uint64_t)from;
}

// `until`: by step, to here its times are known.
static void hold_steps(struct report_builds *builds, const struct report_build *build,
                       int64_t *until) {
    const struct report_event *events = builds->model->capture->events;
    for (size_t i = build->first; i < build->first + build->count; i++) {
        const struct report_event *event = &events[builds->steps[i].event];
        until[i] = event->start;
        if (builds->steps[i].below == 0) {
            hold(builds, (uint32_t)i, event->start, event->end);
        }
    }
    for (size_t i = build->first; i < build->first + build->count; i++) {
        uint32_t under = builds->steps[i].under;
        if (under == REPORT_NONE) {
            continue;
        }
        const struct report_event *event = &events[builds->steps[i].event];
        const struct report_event *above = &events[builds->steps[under].event];
        int64_t from = event->start < above->end ? event->start : above->end;
        int64_t to = event->end < above->end ? event->end : above->end;
        if (from > until[under]) {
            hold(builds, under, until[under], from);
        }
        until[under] = to > until[under] ? to : until[under];
    }
    for (size_t i = build->first; i < build->first + build->count; i++) {
        int64_t end = events[builds->steps[i].event].end;
        if (builds->steps[i].below > 0 && until[i] < end) {
            hold(builds, (uint32_t)i, until[i], end);
        }
    }
}

static int by_from(const void *left, const void *right) {
    const struct report_held *a = left, *b = right;
    return NVTXT_ORDER(a->from, b->from) ?: NVTXT_ORDER(a->step, b->step);
}

static int by_to(const void *left, const void *right, void *context) {
    const struct report_held *held = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return NVTXT_ORDER(held[a].to, held[b].to) ?: NVTXT_ORDER(a, b);
}

// ---- Slots --------------------------------------------------------------------------------------

struct heap { // of free slots, the lowest one on top
    uint32_t *list;
    size_t count;
};

static void give(struct heap *heap, uint32_t slot) {
    size_t at = heap->count++;
    for (; at > 0 && heap->list[(at - 1) / 2] > slot; at = (at - 1) / 2) {
        heap->list[at] = heap->list[(at - 1) / 2];
    }
    heap->list[at] = slot;
}

static uint32_t take(struct heap *heap) {
    uint32_t top = heap->list[0], last = heap->list[--heap->count];
    size_t at = 0;
    for (size_t next; (next = 2 * at + 1) < heap->count; at = next) {
        next += next + 1 < heap->count && heap->list[next + 1] < heap->list[next];
        if (heap->list[next] >= last) {
            break;
        }
        heap->list[at] = heap->list[next];
    }
    heap->list[at] = last;
    return top;
}

// `ends`: the times of the build by their ends. One without length gives its slot back at once.
static void number_slots(struct report_builds *builds, struct report_build *build, uint32_t *ends,
                         uint32_t *room) {
    struct report_held *held = builds->held + build->first_held;
    struct heap free_slots = {.list = room};
    size_t over = 0, count = 0;
    for (uint32_t i = 0; i < build->held_count; i++) {
        if (held[i].to > held[i].from) {
            ends[count++] = i;
        }
    }
    qsort_r(ends, count, sizeof(*ends), by_to, held);
    for (size_t i = 0; i < build->held_count; i++) {
        while (over < count && held[ends[over]].to <= held[i].from) {
            give(&free_slots, held[ends[over++]].slot);
        }
        held[i].slot = free_slots.count > 0 ? take(&free_slots) : ++build->slots;
        if (held[i].to == held[i].from) {
            give(&free_slots, held[i].slot);
        }
        struct report_build_step *step = &builds->steps[held[i].step];
        step->slot = step->slot > 0 ? step->slot : held[i].slot;
        build->held_ns += (uint64_t)held[i].to - (uint64_t)held[i].from;
    }
}

static int find_slots(struct report_builds *builds) {
    size_t most = 2 * builds->step_count + 1;
    int64_t *until = malloc((builds->step_count + 1) * sizeof(*until));
    uint32_t *ends = malloc(most * sizeof(*ends)), *room = malloc(most * sizeof(*room));
    builds->held = malloc(most * sizeof(*builds->held));
    int r = until && ends && room && builds->held ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; r == 0 && i < builds->count; i++) {
        struct report_build *build = &builds->builds[i];
        build->first_held = builds->held_count;
        hold_steps(builds, build, until);
        build->held_count = builds->held_count - build->first_held;
        qsort(builds->held + build->first_held, build->held_count, sizeof(*builds->held), by_from);
        number_slots(builds, build, ends, room);
    }
    free(until);
    free(ends);
    free(room);
    return r;
}

// ---- All ----------------------------------------------------------------------------------------

static bool make_room(struct maker *maker) {
    size_t events = maker->model->count + 1, sources = maker->capture->source_count + 1;
    maker->builds->step_of = malloc(events * sizeof(uint32_t));
    maker->is_run = calloc(events, 1);
    maker->has_near = calloc(events, 1);
    maker->near = malloc(events * sizeof(uint32_t));
    maker->builds->build_of_run = malloc(events * sizeof(uint32_t));
    maker->of_source = malloc(sources * sizeof(uint32_t));
    maker->run_of = malloc(sources * sizeof(uint32_t));
    if (!maker->builds->step_of || !maker->is_run || !maker->has_near || !maker->near ||
        !maker->builds->build_of_run || !maker->of_source || !maker->run_of) {
        return false;
    }
    memset(maker->builds->step_of, 0xFF, events * sizeof(uint32_t));
    memset(maker->builds->build_of_run, 0xFF, events * sizeof(uint32_t));
    memset(maker->of_source, 0xFF, sources * sizeof(uint32_t));
    memset(maker->run_of, 0xFF, sources * sizeof(uint32_t));
    mark_runs(maker);
    maker->builds->steps = calloc(maker->builds->step_count + 1, sizeof(struct report_build_step));
    maker->run_above = malloc((maker->builds->step_count + 1) * sizeof(uint32_t));
    return maker->builds->steps && maker->run_above;
}

int report_builds_init(struct report_builds *builds, const struct report_model *model) {
    struct maker maker = {.builds = builds, .model = model, .capture = model->capture};
    *builds = (struct report_builds){.model = model};
    if (!model->parents.under) {
        return 0;
    }
    int r = make_room(&maker) ? find_builds(&maker) : nvtxt_origin(-ENOMEM);
    r = r ?: find_slots(builds);
    free(maker.is_run);
    free(maker.has_near);
    free(maker.near);
    free(maker.of_source);
    free(maker.run_of);
    free(maker.run_above);
    free(maker.way);
    return r;
}

void report_builds_deinit(struct report_builds *builds) {
    free(builds->builds);
    free(builds->steps);
    free(builds->held);
    free(builds->step_of);
    free(builds->build_of_run);
    *builds = (struct report_builds){0};
}
