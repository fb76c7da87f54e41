// SPDX-License-Identifier: Apache-2.0
//
// Each range on the stack of a lane has the bits of the stack from the bottom up to it, so the
// state of a lane is that of its top, and a pop is free. Only while ranges of a lane cross, the
// bits of its whole stack come from a tree (stack_bits.h). Start/end ranges are counted by name in
// each process and domain.
//
// Events of one start and thread stand side by side in the order. First their ranges are put on
// the stacks, then the events are judged: each sees what came before it in its own lane, and all of
// the other lanes.

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/select/stack_bits.h"

#define WORK_A_RANGE 4 // rows that are made again, on average, before a lane has a tree

struct lane {
    struct lane *next; // of the same thread
    uint32_t domain;
    struct nvtxt_walk walk; // of classes
    uint64_t *states;       // a row for each place; while the lane is mapped, the first is all
    size_t room;
    size_t pushed, work;           // ranges, and rows that were made again
    bool is_mapped;                // until the stack is empty
    struct report_stack_bits bits; // then
};

// The start/end ranges of a process and domain that some expression names.
struct group {
    struct group *next; // of the same process
    uint32_t domain;
    struct nvtxt_walk walk; // of classes
    int64_t now;            // what was over at this time has left
    uint32_t *counts;       // of open ranges, by bit
    uint64_t *matches;      // a row: final bits of expressions with all names open
};

struct sweep {
    const struct report_filter_set *set;
    struct lane **lanes;   // the first of each thread
    struct group **groups; // the first of each process
    uint64_t *own;         // a row for each event of a run: the state of its own lane
    size_t own_room;
    uint64_t *state; // a row
    uint64_t *hits, *seen;
};

static const uint64_t *row_of(const struct sweep *sweep, const uint64_t *rows, size_t index) {
    return report_filter_set_row(sweep->set, rows, index);
}

// ---- Lanes --------------------------------------------------------------------------------------

static const uint64_t *empty_state(const struct sweep *sweep, const struct lane *lane) {
    return row_of(sweep, sweep->set->lanes, lane->domain);
}

// The bits of a lane's stack.
static const uint64_t *lane_state(const struct sweep *sweep, const struct lane *lane) {
    if (lane->walk.count == 0) {
        return empty_state(sweep, lane);
    }
    return row_of(sweep, lane->states, lane->is_mapped ? 0 : lane->walk.stacked - 1);
}

// Makes the bits of the places from `from` on again, to where they are as before; of all of them
// when the ranges have new places.
static void remake_states(const struct sweep *sweep, struct lane *lane, size_t from, bool all) {
    const struct report_filter_set *set = sweep->set;
    for (size_t i = from; i < lane->walk.stacked; i++) {
        const uint64_t *under =
            i > 0 ? row_of(sweep, lane->states, i - 1) : empty_state(sweep, lane);
        uint64_t *state = lane->states + i * set->words;
        if (lane->walk.stack[i].id == NVTXT_WALK_GAP) {
            memcpy(sweep->state, under, set->words * sizeof(*state));
        } else {
            report_filter_set_step(set, 0, set->words, lane->walk.stack[i].id, under, sweep->state);
        }
        if (!all && memcmp(state, sweep->state, set->words * sizeof(*state)) == 0) {
            return;
        }
        memcpy(state, sweep->state, set->words * sizeof(*state));
        lane->work++;
    }
}

// Takes away the range of a lane that ends first. From too much work on the lane has a tree.
static int lane_pop(const struct sweep *sweep, struct lane *lane) {
    if (lane->is_mapped) {
        int r = report_stack_bits_leave(&lane->bits, &lane->walk);
        lane->is_mapped = lane->walk.count > 0;
        return r;
    }
    size_t place = (size_t)(nvtxt_walk_due(&lane->walk, INT64_MAX) - lane->walk.stack);
    bool all = nvtxt_walk_leave(&lane->walk);
    remake_states(sweep, lane, all ? 0 : place, all);
    if (lane->work <= lane->pushed * WORK_A_RANGE) {
        return 0;
    }
    lane->is_mapped = lane->walk.count > 0;
    return report_stack_bits_build(&lane->bits, &lane->walk);
}

// Takes away what is over at `now`.
static int lane_move(const struct sweep *sweep, struct lane *lane, int64_t now) {
    int r = 0;
    while (r == 0 && nvtxt_walk_due(&lane->walk, now)) {
        r = lane_pop(sweep, lane);
    }
    if (r == 0 && lane->is_mapped) {
        report_stack_bits_after(&lane->bits, empty_state(sweep, lane), lane->states);
    }
    return r;
}

static int lane_push(const struct sweep *sweep, struct lane *lane, int64_t end, uint32_t class) {
    const struct report_filter_set *set = sweep->set;
    size_t place = lane->walk.stacked;
    int r = nvtxt_grow(&lane->states, &lane->room, place + 1, set->words * sizeof(*lane->states));
    if (r == 0 && !lane->is_mapped) {
        report_filter_set_step(set, 0, set->words, class, lane_state(sweep, lane),
                               lane->states + place * set->words);
    }
    lane->pushed++;
    r = r ?: nvtxt_walk_begin(&lane->walk, end, class);
    if (r == 0 && lane->is_mapped) {
        r = report_stack_bits_begin(&lane->bits, &lane->walk);
        report_stack_bits_after(&lane->bits, empty_state(sweep, lane), lane->states);
    }
    return r;
}

static struct lane *find_lane(struct sweep *sweep, uint32_t thread, uint32_t domain) {
    struct lane *lane = sweep->lanes[thread];
    while (lane && lane->domain != domain) {
        lane = lane->next;
    }
    if (!lane && (lane = calloc(1, sizeof(*lane)))) {
        lane->domain = domain;
        lane->bits.set = sweep->set;
        lane->next = sweep->lanes[thread];
        sweep->lanes[thread] = lane;
    }
    return lane;
}

// ---- Start/end ranges ---------------------------------------------------------------------------

static void find_matches(const struct sweep *sweep, struct group *group) {
    const struct report_filter_set *set = sweep->set;
    const uint64_t *mine = row_of(sweep, set->ranges, group->domain);
    memset(group->matches, 0, set->words * sizeof(*group->matches));
    for (size_t i = 0; i < set->count; i++) {
        const struct report_set_filter *of = &set->filters[i];
        bool all = !of->filter->is_push_pop && report_bit(mine, of->first);
        for (size_t bit = of->first; all && bit < of->final; bit++) {
            all = group->counts[bit] > 0;
        }
        if (all) {
            group->matches[of->final / 64] |= UINT64_C(1) << (of->final % 64);
        }
    }
}

// One range more or less of the names of a class.
static void group_count(const struct sweep *sweep, struct group *group, uint32_t class,
                        bool opens) {
    const struct report_filter_set *set = sweep->set;
    const uint64_t *names = row_of(sweep, set->names, class);
    const uint64_t *mine = row_of(sweep, set->ranges, group->domain);
    bool changed = false;
    for (size_t i = 0; i < set->words; i++) {
        for (uint64_t left = names[i] & mine[i]; left != 0; left &= left - 1) {
            uint32_t *count = &group->counts[i * 64 + (size_t)__builtin_ctzll(left)];
            changed |= *count == (opens ? 0 : 1);
            *count += opens ? 1 : UINT32_MAX;
        }
    }
    if (changed) {
        find_matches(sweep, group);
    }
}

// Takes away what is over, once a time: a range without length is open at its own start.
static void group_move(const struct sweep *sweep, struct group *group, int64_t now) {
    for (const struct nvtxt_open *due;
         now > group->now && (due = nvtxt_walk_due(&group->walk, now));) {
        uint32_t class = due->id;
        nvtxt_walk_leave(&group->walk);
        group_count(sweep, group, class, false);
    }
    group->now = now;
}

static struct group *find_group(struct sweep *sweep, uint32_t process, uint32_t domain) {
    struct group *group = sweep->groups[process];
    while (group && group->domain != domain) {
        group = group->next;
    }
    if (group || !(group = calloc(1, sizeof(*group)))) {
        return group;
    }
    group->domain = domain;
    group->now = INT64_MIN;
    group->counts = calloc(sweep->set->words * 64, sizeof(*group->counts));
    group->matches = calloc(sweep->set->words, sizeof(*group->matches));
    group->next = sweep->groups[process];
    sweep->groups[process] = group;
    return group->counts && group->matches ? group : NULL;
}

static int open_range(struct sweep *sweep, const struct report_event *event) {
    const struct report_capture *capture = sweep->set->capture;
    const struct report_name *name = &capture->names[event->name];
    uint32_t class = sweep->set->classes[name->message];
    if (event->kind != REPORT_START_END || class == 0 || !sweep->set->has_ranges[name->domain]) {
        return 0;
    }
    struct group *group = find_group(sweep, capture->threads[event->thread].process, name->domain);
    if (!group) {
        return nvtxt_origin(-ENOMEM);
    }
    group_move(sweep, group, event->start);
    int r = nvtxt_walk_begin(&group->walk, event->end, class);
    if (r == 0) {
        group_count(sweep, group, class, true);
    }
    return r;
}

// ---- Events -------------------------------------------------------------------------------------

static bool is_in_lane(const struct sweep *sweep, const struct report_event *event,
                       uint32_t *domain) {
    *domain = sweep->set->capture->names[event->name].domain;
    return event->kind == REPORT_PUSH_POP && sweep->set->has_lanes[*domain];
}

// Puts the ranges of a run on their stacks. Keeps the state of its own lane for each.
static int push_run(struct sweep *sweep, const struct report_event *events, size_t count) {
    const struct report_capture *capture = sweep->set->capture;
    size_t words = sweep->set->words;
    int r = nvtxt_grow(&sweep->own, &sweep->own_room, count, words * sizeof(*sweep->own));
    for (struct lane *lane = sweep->lanes[events->thread]; lane && r == 0; lane = lane->next) {
        r = lane_move(sweep, lane, events->start);
    }
    for (size_t i = 0; i < count && r == 0; i++) {
        uint32_t domain, class = sweep->set->classes[capture->names[events[i].name].message];
        if (!is_in_lane(sweep, &events[i], &domain)) {
            continue;
        }
        struct lane *lane = find_lane(sweep, events->thread, domain);
        if (!lane) {
            return nvtxt_origin(-ENOMEM);
        }
        report_filter_set_step(sweep->set, 0, words, class, lane_state(sweep, lane),
                               sweep->own + i * words);
        if (events[i].end > events[i].start) {
            r = lane_push(sweep, lane, events[i].end, class);
        }
    }
    return r;
}

static void judge_event(struct sweep *sweep, const struct report_event *event,
                        const uint64_t *own) {
    const struct report_filter_set *set = sweep->set;
    uint32_t domain, process = set->capture->threads[event->thread].process;
    bool in_lane = is_in_lane(sweep, event, &domain);
    memcpy(sweep->state, set->always, set->words * sizeof(*sweep->state));
    for (const struct lane *lane = sweep->lanes[event->thread]; lane; lane = lane->next) {
        bool is_own = in_lane && lane->domain == domain;
        const uint64_t *state = is_own ? own : lane_state(sweep, lane);
        for (size_t i = 0; i < set->words; i++) {
            sweep->state[i] |= state[i];
        }
    }
    for (struct group *group = sweep->groups[process]; group; group = group->next) {
        group_move(sweep, group, event->start);
        for (size_t i = 0; i < set->words; i++) {
            sweep->state[i] |= group->matches[i];
        }
    }
    uint64_t included = set->includes == 0, excluded = 0;
    for (size_t i = 0; i < set->words; i++) {
        sweep->seen[i] |= sweep->state[i] & (set->include[i] | set->exclude[i]);
        included |= sweep->state[i] & set->include[i];
        excluded |= sweep->state[i] & set->exclude[i];
    }
    size_t index = (size_t)(event - set->capture->events);
    if (included != 0 && excluded == 0) {
        sweep->hits[index / 64] |= UINT64_C(1) << (index % 64);
    }
}

// Events of one start and thread.
static int take_run(struct sweep *sweep, const struct report_event *events, size_t count) {
    int r = push_run(sweep, events, count);
    for (size_t i = 0; i < count && r == 0; i++) {
        judge_event(sweep, &events[i], sweep->own + i * sweep->set->words);
    }
    return r;
}

// Events of one start.
static int take_time(struct sweep *sweep, const struct report_event *events, size_t count) {
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        r = open_range(sweep, &events[i]);
    }
    for (size_t i = 0, next; i < count && r == 0; i = next) {
        for (next = i + 1; next < count && events[next].thread == events[i].thread;) {
            next++;
        }
        r = take_run(sweep, &events[i], next - i);
    }
    return r;
}

static void free_all(struct sweep *sweep) {
    const struct report_capture *capture = sweep->set->capture;
    for (size_t i = 0; sweep->lanes && i < capture->thread_count; i++) {
        for (struct lane *lane = sweep->lanes[i], *next; lane; lane = next) {
            next = lane->next;
            nvtxt_walk_deinit(&lane->walk);
            report_stack_bits_deinit(&lane->bits);
            free(lane->states);
            free(lane);
        }
    }
    for (size_t i = 0; sweep->groups && i < capture->process_count; i++) {
        for (struct group *group = sweep->groups[i], *next; group; group = next) {
            next = group->next;
            nvtxt_walk_deinit(&group->walk);
            free(group->counts);
            free(group->matches);
            free(group);
        }
    }
    free(sweep->lanes);
    free(sweep->groups);
    free(sweep->own);
    free(sweep->state);
}

int report_sweep(const struct report_filter_set *set, uint64_t *hits, uint64_t *seen) {
    const struct report_capture *capture = set->capture;
    struct sweep sweep = {.set = set, .hits = hits, .seen = seen};
    sweep.lanes = calloc(capture->thread_count + 1, sizeof(struct lane *));
    sweep.groups = calloc(capture->process_count + 1, sizeof(struct group *));
    sweep.state = calloc(set->words + 1, sizeof(*sweep.state));
    int r = sweep.lanes && sweep.groups && sweep.state ? 0 : nvtxt_origin(-ENOMEM);
    const struct report_event *events = capture->events;
    for (size_t i = 0, next; i < capture->event_count && r == 0; i = next) {
        for (next = i + 1; next < capture->event_count && events[next].start == events[i].start;) {
            next++;
        }
        r = take_time(&sweep, &events[i], next - i);
    }
    free_all(&sweep);
    return r;
}
