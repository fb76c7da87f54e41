// SPDX-License-Identifier: Apache-2.0
//
// Each range on the stack of a lane has the bits of the stack from the bottom up to it, so the
// state of a lane is that of its top, and a pop is free. A stack knows the first end among a range
// and those under it. Only if ranges cross does a heap say which one closes first: it stays as a
// gap, and the bits above it are made again as far as they change. Start/end ranges are counted by
// name in each process and domain, with such a heap.
//
// Events of one start and thread stand side by side in the order. First their ranges are put on
// the stacks, then the events are judged: each sees what came before it in its own lane, and all of
// the other lanes.
#include "report/select/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP UINT32_MAX // the class of what is over, but not on top

struct open_range {
    int64_t start, end;
    uint32_t value; // a class, or a place of a stack
};

struct heap {
    struct open_range *list; // by end, then start; [0] closes first
    size_t count, room;
};

struct entry {
    int64_t end;
    int64_t first_end; // the smallest of this one and those under it; unless ranges cross
    uint32_t class;
};

struct lane {
    struct lane *next; // of the same thread
    uint32_t domain;
    size_t depth, room;
    struct entry *stack;
    uint64_t *states; // a row for each entry
    bool crossed;     // until the stack is empty: ranges cross
    struct heap open; // then: the places of all entries that are no gaps
};

// The start/end ranges of a process and domain that some expression names.
struct group {
    struct group *next; // of the same process
    uint32_t domain;
    struct heap open;  // their classes
    uint32_t *counts;  // of open ranges, by bit
    uint64_t *matches; // a row: final bits of expressions with all names open
};

struct sweep {
    const struct report_filter_set *set;
    struct lane **lanes;   // the first of each thread
    struct group **groups; // the first of each process
    uint64_t *own;         // a row for each event of a run: the state of its own lane
    size_t own_room;
    uint64_t *state, *made; // rows
    uint64_t *taken, *seen;
};

static const uint64_t *row_of(const struct sweep *sweep, const uint64_t *rows, size_t index) {
    return report_filter_set_row(sweep->set, rows, index);
}

// ---- Open ranges --------------------------------------------------------------------------------

static bool closes_before(const struct open_range *a, const struct open_range *b) {
    return a->end != b->end ? a->end < b->end : a->start < b->start;
}

static int heap_add(struct heap *open, struct open_range range) {
    if (open->count == open->room) {
        size_t room = open->room > 0 ? 2 * open->room : 16;
        struct open_range *list = realloc(open->list, room * sizeof(*list));
        if (!list) {
            return -ENOMEM;
        }
        open->list = list;
        open->room = room;
    }
    size_t at = open->count++;
    for (; at > 0 && closes_before(&range, &open->list[(at - 1) / 2]); at = (at - 1) / 2) {
        open->list[at] = open->list[(at - 1) / 2];
    }
    open->list[at] = range;
    return 0;
}

static struct open_range heap_take(struct heap *open) {
    struct open_range *list = open->list;
    struct open_range first = list[0], last = list[--open->count];
    size_t at = 0;
    for (size_t below; (below = 2 * at + 1) < open->count; at = below) {
        below += below + 1 < open->count && closes_before(&list[below + 1], &list[below]);
        if (!closes_before(&list[below], &last)) {
            break;
        }
        list[at] = list[below];
    }
    list[at] = last;
    return first;
}

// ---- Lanes --------------------------------------------------------------------------------------

// The bits after one more range on a stack.
static void step(const struct report_filter_set *set, const uint64_t *from, uint32_t class,
                 uint64_t *to) {
    const uint64_t *names = report_filter_set_row(set, set->names, class);
    uint64_t carry = 0;
    for (size_t i = 0; i < set->words; i++) {
        uint64_t moving = from[i] & (names[i] | set->any[i]);
        to[i] = moving << 1 | carry | (from[i] & set->stay[i]);
        carry = moving >> 63;
    }
}

// The bits of the lowest `depth` ranges.
static const uint64_t *lane_state(const struct sweep *sweep, const struct lane *lane,
                                  size_t depth) {
    return depth > 0 ? row_of(sweep, lane->states, depth - 1)
                     : row_of(sweep, sweep->set->lanes, lane->domain);
}

// The bits of a place, from those below it.
static void make_state(const struct sweep *sweep, const struct lane *lane, size_t at,
                       uint64_t *to) {
    const uint64_t *under = lane_state(sweep, lane, at);
    if (lane->stack[at].class == GAP) {
        memcpy(to, under, sweep->set->words * sizeof(*to));
    } else {
        step(sweep->set, under, lane->stack[at].class, to);
    }
}

static void lane_put(const struct sweep *sweep, struct lane *lane, size_t at, int64_t end,
                     uint32_t class) {
    struct entry *entry = &lane->stack[at];
    int64_t under = at > 0 ? entry[-1].first_end : INT64_MAX;
    *entry = (struct entry){end, end < under ? end : under, class};
    make_state(sweep, lane, at, lane->states + at * sweep->set->words);
}

// ---- Lanes with ranges that cross ---------------------------------------------------------------

// Closes the gaps, and finds out anew which range closes first.
static int close_gaps(const struct sweep *sweep, struct lane *lane) {
    size_t kept = 0;
    int result = 0;
    lane->open.count = 0;
    for (size_t i = 0; i < lane->depth && result == 0; i++) {
        struct entry entry = lane->stack[i];
        if (entry.class != GAP) {
            result = heap_add(&lane->open,
                              (struct open_range){.end = entry.end, .value = (uint32_t)kept});
            lane_put(sweep, lane, kept++, entry.end, entry.class);
        }
    }
    lane->depth = kept;
    return result;
}

// What is over below the top becomes a gap. The bits above it mostly stay as they are soon.
static void leave_gap(const struct sweep *sweep, struct lane *lane, size_t at) {
    size_t words = sweep->set->words, size = words * sizeof(*sweep->made);
    lane->stack[at].class = GAP;
    for (size_t i = at; i < lane->depth; i++) {
        uint64_t *state = lane->states + i * words;
        make_state(sweep, lane, i, sweep->made);
        if (memcmp(state, sweep->made, size) == 0) {
            break;
        }
        memcpy(state, sweep->made, size);
    }
}

static void move_crossed(const struct sweep *sweep, struct lane *lane, int64_t now) {
    while (lane->open.count > 0 && lane->open.list[0].end <= now) {
        leave_gap(sweep, lane, heap_take(&lane->open).value);
        while (lane->depth > 0 && lane->stack[lane->depth - 1].class == GAP) {
            lane->depth--;
        }
    }
    lane->crossed = lane->depth > 0;
}

// ---- All lanes ----------------------------------------------------------------------------------

// Takes away what is over at `now`.
static int lane_move(const struct sweep *sweep, struct lane *lane, int64_t now) {
    int result = 0;
    if (!lane->crossed) {
        while (lane->depth > 0 && lane->stack[lane->depth - 1].end <= now) {
            lane->depth--;
        }
        if (lane->depth == 0 || lane->stack[lane->depth - 1].first_end > now) {
            return 0;
        }
        result = close_gaps(sweep, lane);
    }
    if (result == 0) {
        move_crossed(sweep, lane, now);
    }
    return result;
}

static int lane_grow(const struct sweep *sweep, struct lane *lane) {
    size_t room = lane->room > 0 ? 2 * lane->room : 16;
    struct entry *stack = realloc(lane->stack, room * sizeof(*stack));
    lane->stack = stack ? stack : lane->stack;
    uint64_t *states = realloc(lane->states, room * sweep->set->words * sizeof(*states));
    lane->states = states ? states : lane->states;
    if (!stack || !states) {
        return -ENOMEM;
    }
    lane->room = room;
    return 0;
}

static int lane_push(const struct sweep *sweep, struct lane *lane, int64_t end, uint32_t class) {
    int result = 0;
    if (lane->depth == lane->room && lane->crossed && lane->open.count < lane->depth / 2) {
        result = close_gaps(sweep, lane);
    } else if (lane->depth == lane->room) {
        result = lane_grow(sweep, lane);
    }
    if (result == 0 && lane->crossed) {
        result =
            heap_add(&lane->open, (struct open_range){.end = end, .value = (uint32_t)lane->depth});
    }
    if (result == 0) {
        lane_put(sweep, lane, lane->depth++, end, class);
    }
    return result;
}

static struct lane *find_lane(struct sweep *sweep, uint32_t thread, uint32_t domain) {
    struct lane *lane = sweep->lanes[thread];
    while (lane && lane->domain != domain) {
        lane = lane->next;
    }
    if (!lane && (lane = calloc(1, sizeof(*lane)))) {
        lane->domain = domain;
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

// A range without length is still open at its own start.
static void group_move(const struct sweep *sweep, struct group *group, int64_t now) {
    const struct heap *open = &group->open;
    while (open->count > 0 && open->list[0].end <= now && open->list[0].start < now) {
        group_count(sweep, group, heap_take(&group->open).value, false);
    }
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
    if (!group ||
        heap_add(&group->open, (struct open_range){event->start, event->end, class}) != 0) {
        return -ENOMEM;
    }
    group_count(sweep, group, class, true);
    return 0;
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
    if (count > sweep->own_room) {
        size_t room = count > 2 * sweep->own_room ? count : 2 * sweep->own_room;
        uint64_t *own = realloc(sweep->own, room * words * sizeof(*own));
        if (!own) {
            return -ENOMEM;
        }
        sweep->own = own;
        sweep->own_room = room;
    }
    int result = 0;
    for (struct lane *lane = sweep->lanes[events->thread]; lane && result == 0; lane = lane->next) {
        result = lane_move(sweep, lane, events->start);
    }
    for (size_t i = 0; i < count && result == 0; i++) {
        uint32_t domain, class = sweep->set->classes[capture->names[events[i].name].message];
        if (!is_in_lane(sweep, &events[i], &domain)) {
            continue;
        }
        struct lane *lane = find_lane(sweep, events->thread, domain);
        if (!lane) {
            return -ENOMEM;
        }
        step(sweep->set, lane_state(sweep, lane, lane->depth), class, sweep->own + i * words);
        if (events[i].end > events[i].start) {
            result = lane_push(sweep, lane, events[i].end, class);
        }
    }
    return result;
}

static void judge(struct sweep *sweep, const struct report_event *event, const uint64_t *own) {
    const struct report_filter_set *set = sweep->set;
    uint32_t domain, process = set->capture->threads[event->thread].process;
    bool in_lane = is_in_lane(sweep, event, &domain);
    memcpy(sweep->state, set->always, set->words * sizeof(*sweep->state));
    for (const struct lane *lane = sweep->lanes[event->thread]; lane; lane = lane->next) {
        bool is_own = in_lane && lane->domain == domain;
        const uint64_t *state = is_own ? own : lane_state(sweep, lane, lane->depth);
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
        sweep->taken[index / 64] |= UINT64_C(1) << (index % 64);
    }
}

// Events of one start and thread.
static int take_run(struct sweep *sweep, const struct report_event *events, size_t count) {
    int result = push_run(sweep, events, count);
    for (size_t i = 0; i < count && result == 0; i++) {
        judge(sweep, &events[i], sweep->own + i * sweep->set->words);
    }
    return result;
}

// Events of one start.
static int take_time(struct sweep *sweep, const struct report_event *events, size_t count) {
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        result = open_range(sweep, &events[i]);
    }
    for (size_t i = 0, next; i < count && result == 0; i = next) {
        for (next = i + 1; next < count && events[next].thread == events[i].thread;) {
            next++;
        }
        result = take_run(sweep, &events[i], next - i);
    }
    return result;
}

static void free_all(struct sweep *sweep) {
    const struct report_capture *capture = sweep->set->capture;
    for (size_t i = 0; sweep->lanes && i < capture->thread_count; i++) {
        for (struct lane *lane = sweep->lanes[i], *next; lane; lane = next) {
            next = lane->next;
            free(lane->stack);
            free(lane->states);
            free(lane->open.list);
            free(lane);
        }
    }
    for (size_t i = 0; sweep->groups && i < capture->process_count; i++) {
        for (struct group *group = sweep->groups[i], *next; group; group = next) {
            next = group->next;
            free(group->open.list);
            free(group->counts);
            free(group->matches);
            free(group);
        }
    }
    free(sweep->lanes);
    free(sweep->groups);
    free(sweep->own);
    free(sweep->state);
    free(sweep->made);
}

int report_sweep(const struct report_filter_set *set, uint64_t *taken, uint64_t *seen) {
    const struct report_capture *capture = set->capture;
    struct sweep sweep = {.set = set, .taken = taken, .seen = seen};
    sweep.lanes = calloc(capture->thread_count + 1, sizeof(struct lane *));
    sweep.groups = calloc(capture->process_count + 1, sizeof(struct group *));
    sweep.state = calloc(set->words + 1, sizeof(*sweep.state));
    sweep.made = calloc(set->words + 1, sizeof(*sweep.made));
    int result = sweep.lanes && sweep.groups && sweep.state && sweep.made ? 0 : -ENOMEM;
    const struct report_event *events = capture->events;
    for (size_t i = 0, next; i < capture->event_count && result == 0; i = next) {
        for (next = i + 1; next < capture->event_count && events[next].start == events[i].start;) {
            next++;
        }
        result = take_time(&sweep, &events[i], next - i);
    }
    free_all(&sweep);
    return result;
}
