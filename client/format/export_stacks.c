// SPDX-License-Identifier: Apache-2.0
//
// Sorts the ranges by thread and start, the longer first, and gives them their lanes; then sorts
// them by lane and goes through them once. Of two ranges with the same times the one that came
// later is the outer one: it ended later.
#include "client/format/export_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/format/export_lanes.h"
#include "protocol/base/hash.h"

struct name { // of a frame
    struct nvtxt_hash_node node;
    uint32_t number;
    size_t len;
    char data[];
};

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
    struct nvtxt_hash by_text;
    struct name **names; // owned, each
    uint32_t name_count, name_room;
    struct nvtxt_hash by_tid;
    struct thread **threads; // owned, each
    uint32_t thread_count, thread_room;
    struct range *ranges; // owned
    uint32_t range_count, range_room;
    uint32_t *open; // owned: the ranges that are open during the visit, the outermost first
    uint32_t open_count, open_room;
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
    for (uint32_t i = 0; i < stacks->name_count; i++) {
        free(stacks->names[i]);
    }
    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        free_thread(stacks->threads[i]);
    }
    nvtxt_hash_deinit(&stacks->by_text);
    nvtxt_hash_deinit(&stacks->by_tid);
    free(stacks->names);
    free(stacks->threads);
    free(stacks->ranges);
    free(stacks->open);
    free(stacks);
}

// Room for one more of `size` bytes. Returns 0 or -ENOMEM, also when numbers run out.
static int grow(void *array, uint32_t count, uint32_t *room, size_t size) {
    void **at = array;
    if (count < *room) {
        return 0;
    }
    if (*room > UINT32_MAX / 2) {
        return -ENOMEM;
    }
    uint32_t more = *room ? *room * 2 : 64;
    void *grown = realloc(*at, more * size);
    if (!grown) {
        return -ENOMEM;
    }
    *at = grown;
    *room = more;
    return 0;
}

// ---- Taking rows --------------------------------------------------------------------------------

static int frame_of(struct export_stacks *stacks, struct nvtxt_slice text, uint32_t *frame) {
    uint64_t hash = nvtxt_hash_bytes(text);
    struct name *name;
    NVTXT_HASH_FIND(name, node, &stacks->by_text, hash,
                    nvtxt_slice_equal((struct nvtxt_slice){name->data, name->len}, text));
    if (name) {
        *frame = name->number;
        return 0;
    }
    if (grow(&stacks->names, stacks->name_count, &stacks->name_room, sizeof(*stacks->names)) < 0) {
        return -ENOMEM;
    }
    name = malloc(sizeof(*name) + text.len);
    if (!name || nvtxt_hash_add(&stacks->by_text, &name->node, hash) < 0) {
        free(name);
        return -ENOMEM;
    }
    name->number = *frame = stacks->name_count;
    name->len = text.len;
    memcpy(name->data, text.len ? text.data : "", text.len);
    stacks->names[stacks->name_count++] = name;
    return 0;
}

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
    return *copy ? 0 : -ENOMEM;
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
    if (grow(&stacks->threads, stacks->thread_count, &stacks->thread_room,
             sizeof(struct thread *)) < 0) {
        return -ENOMEM;
    }
    thread = new_thread(row, stacks->thread_count);
    if (!thread || nvtxt_hash_add(&stacks->by_tid, &thread->node, hash) < 0) {
        free_thread(thread);
        return -ENOMEM;
    }
    *number = stacks->thread_count;
    stacks->threads[stacks->thread_count++] = thread;
    return 0;
}

int export_stacks_add(struct export_stacks *stacks, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    struct range range = {.start = event->start,
                          .end = event->end > event->start ? event->end : event->start,
                          .order = stacks->range_count};
    if (event->type == NVTXT_EVENT_MARK) {
        return 0;
    }
    if (frame_of(stacks, event->text, &range.frame) < 0 ||
        thread_of(stacks, row, &range.thread) < 0 ||
        grow(&stacks->ranges, stacks->range_count, &stacks->range_room, sizeof(range)) < 0) {
        return -ENOMEM;
    }
    stacks->ranges[stacks->range_count++] = range;
    return 0;
}

uint32_t export_stacks_frames(const struct export_stacks *stacks) {
    return stacks->name_count;
}

struct nvtxt_slice export_stacks_frame(const struct export_stacks *stacks, uint32_t frame) {
    return (struct nvtxt_slice){stacks->names[frame]->data, stacks->names[frame]->len};
}

// ---- Sorting ------------------------------------------------------------------------------------

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int by_time(const void *one, const void *other) {
    const struct range *a = one;
    const struct range *b = other;
    int result = COMPARE(a->thread, b->thread);
    result = result ? result : COMPARE(a->lane, b->lane);
    result = result ? result : COMPARE(a->start, b->start);
    result = result ? result : COMPARE(b->end, a->end);
    return result ? result : COMPARE(b->order, a->order);
}

static int sort(struct export_stacks *stacks) {
    struct export_lanes lanes = {0};
    struct range *ranges = stacks->ranges;
    int result = 0;
    unsigned last = 0;
    if (stacks->range_count > 0) {
        qsort(ranges, stacks->range_count, sizeof(*ranges), by_time);
    }
    for (uint32_t i = 0; i < stacks->range_count && result == 0; i++) {
        result = export_lanes_place(&lanes, stacks->threads[ranges[i].thread]->global_tid,
                                    ranges[i].start, ranges[i].end, &ranges[i].lane);
        last = ranges[i].lane > last ? ranges[i].lane : last;
    }
    export_lanes_deinit(&lanes);
    if (result == 0 && last > 0) {
        qsort(ranges, stacks->range_count, sizeof(*ranges), by_time);
    }
    return result;
}

// ---- Sweeping -----------------------------------------------------------------------------------

struct sweep {
    struct export_stacks *stacks;
    const struct export_stacks_visitor *visitor;
    uint64_t cut;
};

// Closes what ends at `time` or before it.
static int close_until(struct sweep *sweep, int64_t time) {
    struct export_stacks *stacks = sweep->stacks;
    int result = 0;
    while (stacks->open_count > 0 && result == 0) {
        const struct range *top = &stacks->ranges[stacks->open[stacks->open_count - 1]];
        if (top->end > time) {
            break;
        }
        stacks->open_count--;
        result = sweep->visitor->close(sweep->visitor->context, top->frame, top->end);
    }
    return result;
}

static int open_range(struct sweep *sweep, uint32_t number) {
    struct export_stacks *stacks = sweep->stacks;
    struct range *range = &stacks->ranges[number];
    int result = close_until(sweep, range->start);
    if (result == 0 && stacks->open_count > 0) {
        const struct range *top = &stacks->ranges[stacks->open[stacks->open_count - 1]];
        sweep->cut += range->end > top->end;
        range->end = range->end < top->end ? range->end : top->end;
    }
    result =
        result ? result
               : grow(&stacks->open, stacks->open_count, &stacks->open_room, sizeof(*stacks->open));
    if (result == 0) {
        stacks->open[stacks->open_count++] = number;
        result = sweep->visitor->open(sweep->visitor->context, range->frame, range->start);
    }
    return result;
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
    int result = visitor->begin(visitor->context, &stack);
    for (uint32_t i = first; i < next && result == 0; i++) {
        result = open_range(sweep, i);
    }
    result = result ? result : close_until(sweep, INT64_MAX);
    sweep->stacks->open_count = 0;
    return result ? result : visitor->end(visitor->context);
}

int export_stacks_visit(struct export_stacks *stacks, const struct export_stacks_visitor *visitor,
                        uint64_t *cut) {
    struct sweep sweep = {.stacks = stacks, .visitor = visitor};
    const struct range *ranges = stacks->ranges;
    int result = sort(stacks);
    for (uint32_t first = 0, next; first < stacks->range_count && result == 0; first = next) {
        next = first + 1;
        while (next < stacks->range_count && ranges[next].thread == ranges[first].thread &&
               ranges[next].lane == ranges[first].lane) {
            next++;
        }
        result = sweep_stack(&sweep, first, next);
    }
    *cut = sweep.cut;
    return result;
}
