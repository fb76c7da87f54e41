// SPDX-License-Identifier: Apache-2.0
//
// Sorts the ranges by thread and start, the longer first, and gives them their lanes; then sorts
// them by lane and goes through them once. Of two ranges with the same times the one that came
// later is the outer one: it ended later.
#include "client/format/export_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lane/export_lanes.h"
#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"
#include "protocol/table/walk.h"

struct thread {
    struct nvtxt_hash_node node;
    uint32_t number;
    uint64_t global_tid;
    char *process, *thread; // owned
    size_t process_len, thread_len;
};

struct range {
    int64_t start, end;
    uint32_t frame;
    uint32_t thread;
    uint32_t order; // in which it was added
    uint32_t lane;
};

struct export_stacks {
    struct nvtxt_texts frames;
    struct nvtxt_hash by_tid;
    struct thread **threads; // owned, each
    uint32_t thread_count;
    size_t thread_room;
    struct range *ranges; // owned
    uint32_t range_count;
    size_t range_room;
    struct export_kin *kin; // owned
    size_t kin_count, kin_room;
    struct nvtxt_map kin_of;    // the index by the order of the range
    struct nvtxt_map parent_of; // the frame by the number of the parent
};

struct export_stacks *export_stacks_new(void) {
    return calloc(1, sizeof(struct export_stacks));
}

static void free_thread(struct thread *thread) {
    if (thread) {
        free(thread->process);
        free(thread->thread);
        free(thread);
    }
}

void export_stacks_free(struct export_stacks *stacks) {
    if (!stacks) {
        return;
    }
    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        free_thread(stacks->threads[i]);
    }
    nvtxt_texts_deinit(&stacks->frames);
    nvtxt_hash_deinit(&stacks->by_tid);
    free(stacks->threads);
    free(stacks->ranges);
    free(stacks->kin);
    nvtxt_map_deinit(&stacks->kin_of);
    nvtxt_map_deinit(&stacks->parent_of);
    free(stacks);
}

// ---- Taking rows --------------------------------------------------------------------------------

static int copy_label(struct nvtxt_slice name, const char *what, uint32_t number, char **copy,
                      size_t *len) {
    char label[32];
    if (!name.data || name.len == 0) {
        snprintf(label, sizeof(label), "%s %u", what, number);
        name = nvtxt_slice_of(label);
    }
    *copy = malloc(name.len);
    *len = name.len;
    if (*copy) {
        memcpy(*copy, name.data, name.len);
    }
    return *copy ? 0 : nvtxt_origin(-ENOMEM);
}

static struct thread *new_thread(const struct store_named_event *row, uint32_t number) {
    struct thread *thread = calloc(1, sizeof(*thread));
    uint64_t tid = row->event->global_tid;
    if (!thread ||
        copy_label(row->process, "Process", store_event_pid(tid), &thread->process,
                   &thread->process_len) < 0 ||
        copy_label(row->thread, "Thread", store_event_tid(tid), &thread->thread,
                   &thread->thread_len) < 0) {
        free_thread(thread);
        return NULL;
    }
    thread->global_tid = tid;
    thread->number = number;
    return thread;
}

static int thread_of(struct export_stacks *stacks, const struct store_named_event *row,
                     uint32_t *number) {
    uint64_t hash = nvtxt_hash_number(row->event->global_tid);
    struct thread *thread;
    NVTXT_HASH_FIND(thread, node, &stacks->by_tid, hash,
                    thread->global_tid == row->event->global_tid);
    if (thread) {
        *number = thread->number;
        return 0;
    }
    if (nvtxt_grow(&stacks->threads, &stacks->thread_room, stacks->thread_count + 1,
                   sizeof(struct thread *)) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    thread = new_thread(row, stacks->thread_count);
    if (!thread || nvtxt_hash_add(&stacks->by_tid, &thread->node, hash) < 0) {
        free_thread(thread);
        return nvtxt_origin(-ENOMEM);
    }
    *number = stacks->thread_count;
    stacks->threads[stacks->thread_count++] = thread;
    return 0;
}

// All parents above a range have frames, each once.
static int add_parents(struct export_stacks *stacks, const struct store_parent *parent) {
    uint32_t frame;
    int r = 0;
    for (size_t i = 0; r == 0 && parent && i < EXPORT_KIN_MOST; i++, parent = parent->up) {
        if (!nvtxt_map_get(&stacks->parent_of, parent->number, &frame)) {
            r = nvtxt_texts_number(&stacks->frames, parent->text, &frame) < 0
                    ? nvtxt_origin(-ENOMEM)
                    : nvtxt_map_set(&stacks->parent_of, parent->number, frame);
        }
    }
    return r;
}

static int add_kin(struct export_stacks *stacks, const struct store_named_event *row) {
    const struct store_parent *parent = row->parent && row->parent->is_known ? row->parent : NULL;
    if (!parent && !row->as_parent) {
        return 0;
    }
    if (nvtxt_grow(&stacks->kin, &stacks->kin_room, stacks->kin_count + 1, sizeof(*stacks->kin)) <
        0) {
        return nvtxt_origin(-ENOMEM);
    }
    stacks->kin[stacks->kin_count] = (struct export_kin){parent, row->as_parent};
    int r = nvtxt_map_set(&stacks->kin_of, stacks->range_count, (uint32_t)stacks->kin_count++);
    r = r ?: add_parents(stacks, parent);
    return r ?: add_parents(stacks, row->as_parent);
}

static const struct export_kin *kin_of(const struct export_stacks *stacks, uint32_t order) {
    uint32_t index;
    bool has = stacks->kin_count > 0 && nvtxt_map_get(&stacks->kin_of, order, &index);
    return has ? &stacks->kin[index] : NULL;
}

uint32_t export_stacks_frame_of(const struct export_stacks *stacks,
                                const struct store_parent *parent) {
    uint32_t frame = 0;
    (void)nvtxt_map_get(&stacks->parent_of, parent->number, &frame);
    return frame;
}

int export_stacks_add(struct export_stacks *stacks, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    struct range range = {.start = event->start,
                          .end = event->end > event->start ? event->end : event->start,
                          .order = stacks->range_count};
    if (event->type == NVTXT_EVENT_MARK) {
        return 0;
    }
    if (stacks->range_count == UINT32_MAX ||
        nvtxt_texts_number(&stacks->frames, event->text, &range.frame) < 0 ||
        thread_of(stacks, row, &range.thread) < 0 || add_kin(stacks, row) < 0 ||
        nvtxt_grow(&stacks->ranges, &stacks->range_room, stacks->range_count + 1, sizeof(range)) <
            0) {
        return nvtxt_origin(-ENOMEM);
    }
    stacks->ranges[stacks->range_count++] = range;
    return 0;
}

uint32_t export_stacks_frames(const struct export_stacks *stacks) {
    return (uint32_t)stacks->frames.count;
}

struct nvtxt_slice export_stacks_frame(const struct export_stacks *stacks, uint32_t frame) {
    return nvtxt_texts_at(&stacks->frames, frame);
}

// ---- Sorting ------------------------------------------------------------------------------------

static int by_time(const void *one, const void *other) {
    const struct range *a = one;
    const struct range *b = other;
    int r = NVTXT_ORDER(a->thread, b->thread);
    r = r ?: NVTXT_ORDER(a->lane, b->lane);
    r = r ?: NVTXT_ORDER(a->start, b->start);
    r = r ?: NVTXT_ORDER(b->end, a->end);
    return r ?: NVTXT_ORDER(b->order, a->order);
}

static int sort_ranges(struct export_stacks *stacks) {
    struct export_lanes lanes = {0};
    struct range *ranges = stacks->ranges;
    int r = 0;
    unsigned last = 0;
    if (stacks->range_count > 0) {
        qsort(ranges, stacks->range_count, sizeof(*ranges), by_time);
    }
    for (uint32_t i = 0; i < stacks->range_count && r == 0; i++) {
        r = export_lanes_place(&lanes, stacks->threads[ranges[i].thread]->global_tid,
                               ranges[i].start, ranges[i].end, &ranges[i].lane);
        last = ranges[i].lane > last ? ranges[i].lane : last;
    }
    export_lanes_deinit(&lanes);
    if (r == 0 && last > 0) {
        qsort(ranges, stacks->range_count, sizeof(*ranges), by_time);
    }
    return r;
}

// ---- Sweeping -----------------------------------------------------------------------------------

struct sweep {
    struct export_stacks *stacks;
    const struct export_stacks_visitor *visitor;
    struct nvtxt_walk open; // frames
    uint64_t cut;
};

// Closes what ends at `time` or before it.
static int close_until(struct sweep *sweep, int64_t time) {
    const struct nvtxt_open *due;
    int r = 0;
    while (r == 0 && (due = nvtxt_walk_due(&sweep->open, time))) {
        r = sweep->visitor->close(sweep->visitor->context, due->id, due->end);
        nvtxt_walk_leave(&sweep->open);
    }
    return r;
}

static int open_range(struct sweep *sweep, const struct range *range) {
    int64_t end = range->end;
    int r = close_until(sweep, range->start);
    if (r == 0 && sweep->open.count > 0 && end > nvtxt_walk_top(&sweep->open)->end) {
        end = nvtxt_walk_top(&sweep->open)->end;
        sweep->cut++;
    }
    r = r ?: nvtxt_walk_begin(&sweep->open, end, range->frame);
    return r
               ?: sweep->visitor->open(sweep->visitor->context, range->frame, range->start, end,
                                       kin_of(sweep->stacks, range->order));
}

// The ranges of one stack, from `first` on and before `next`.
static int sweep_stack(struct sweep *sweep, uint32_t first, uint32_t next) {
    const struct range *ranges = sweep->stacks->ranges;
    const struct thread *thread = sweep->stacks->threads[ranges[first].thread];
    const struct export_stacks_visitor *visitor = sweep->visitor;
    struct export_stack stack = {.process = {thread->process, thread->process_len},
                                 .thread = {thread->thread, thread->thread_len},
                                 .lane = ranges[first].lane,
                                 .start = ranges[first].start,
                                 .end = ranges[first].end};
    for (uint32_t i = first; i < next; i++) {
        stack.end = ranges[i].end > stack.end ? ranges[i].end : stack.end;
    }
    int r = visitor->begin(visitor->context, &stack);
    for (uint32_t i = first; i < next && r == 0; i++) {
        r = open_range(sweep, &ranges[i]);
    }
    r = r ?: close_until(sweep, INT64_MAX);
    return r ?: visitor->end(visitor->context);
}

int export_stacks_visit(struct export_stacks *stacks, const struct export_stacks_visitor *visitor,
                        uint64_t *cut) {
    struct sweep sweep = {.stacks = stacks, .visitor = visitor};
    const struct range *ranges = stacks->ranges;
    int r = sort_ranges(stacks);
    for (uint32_t first = 0, next; first < stacks->range_count && r == 0; first = next) {
        next = first + 1;
        while (next < stacks->range_count && ranges[next].thread == ranges[first].thread &&
               ranges[next].lane == ranges[first].lane) {
            next++;
        }
        r = sweep_stack(&sweep, first, next);
    }
    nvtxt_walk_deinit(&sweep.open);
    *cut = sweep.cut;
    return r;
}
