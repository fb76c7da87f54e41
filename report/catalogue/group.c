// SPDX-License-Identifier: Apache-2.0
//
// Each item has a raw number for a key: the index of its name, thread, source and so on. The raw
// numbers that occur get their ids; these are sorted, equal ones become one group; then a counting
// sort puts the items into their groups, each still in order. So a group costs nothing but its id.
// The events of an iteration stand side by side, because events are in order of their start.
#include "report/catalogue/group.h"

#include <assert.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/hash.h"

// An id with the raw number that it comes from.
struct candidate {
    struct report_id id;
    uint32_t raw;
};

struct work {
    struct report_key_groups *groups;
    struct report_model *model;
    enum report_key key;
    const uint32_t *raws; // of each item; REPORT_NONE: in no group
    size_t count;
    size_t raw_count;            // raw numbers are below it
    const uint32_t *distinct;    // what the raw numbers stand for, when they were numbered anew
    const struct report_id *ids; // the same, when it is the line
    bool only_count;             // what belongs to the groups is not asked for
    struct store_arena *arena;
    uint32_t *to_group; // of each raw number
    struct candidate *candidates;
};

static struct report_id id_of(const struct work *work, uint32_t raw) {
    return work->key == REPORT_KEY_LINE
               ? work->ids[raw]
               : report_id_of(work->model, work->key, work->distinct ? work->distinct[raw] : raw,
                              work->arena);
}

static int compare_candidates(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    int order = report_id_compare(&x->id, &y->id);
    return order ?: NVTXT_ORDER(x->raw, y->raw);
}

// The ids of the raw numbers that occur; their number, or -ENOMEM.
static ssize_t collect(struct work *work) {
    size_t used = 0;
    memset(work->to_group, 0, work->raw_count * sizeof(*work->to_group));
    for (size_t i = 0; i < work->count; i++) {
        uint32_t raw = work->raws[i];
        if (raw != REPORT_NONE && !work->to_group[raw]) {
            work->to_group[raw] = 1;
            work->candidates[used] = (struct candidate){id_of(work, raw), raw};
            if (work->candidates[used].id.is_text && !work->candidates[used].id.text.data) {
                return nvtxt_origin(-ENOMEM);
            }
            used++;
        }
    }
    return (ssize_t)used;
}

// Events of two stores may have one row, and stay two; other ids that are equal are one group.
static int number_groups(struct work *work) {
    struct report_key_groups *groups = work->groups;
    ssize_t collected = collect(work);
    if (collected < 0) {
        return (int)collected;
    }
    size_t used = (size_t)collected;
    qsort(work->candidates, used, sizeof(*work->candidates), compare_candidates);
    groups->ids = store_arena_take(work->arena, (used + 1) * sizeof(*groups->ids), 8);
    if (!groups->ids) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < used; i++) {
        const struct candidate *candidate = &work->candidates[i];
        if (i == 0 || work->key == REPORT_KEY_EVENT ||
            report_id_compare(&candidate->id, &candidate[-1].id) != 0) {
            groups->ids[groups->count++] = candidate->id;
        }
        work->to_group[candidate->raw] = (uint32_t)(groups->count - 1);
    }
    return 0;
}

static int fill_groups(struct work *work) {
    struct report_key_groups *groups = work->groups;
    uint32_t *next = store_arena_take(work->arena, (groups->count + 2) * sizeof(uint32_t), 4);
    groups->items = store_arena_take(work->arena, (work->count + 1) * sizeof(uint32_t), 4);
    groups->of = store_arena_take(work->arena, (work->count + 1) * sizeof(uint32_t), 4);
    if (!next || !groups->items || !groups->of) {
        return nvtxt_origin(-ENOMEM);
    }
    // First next[g + 2] counts the items of g; then next[g + 1] is where its next item goes, and at
    // the end where it ends.
    memset(next, 0, (groups->count + 2) * sizeof(uint32_t));
    for (size_t i = 0; i < work->count; i++) {
        uint32_t raw = work->raws[i];
        groups->of[i] = raw == REPORT_NONE ? REPORT_NONE : work->to_group[raw];
        if (raw != REPORT_NONE && groups->of[i] + 1 < groups->count) {
            next[groups->of[i] + 2]++;
        }
    }
    for (size_t g = 2; g <= groups->count; g++) {
        next[g] += next[g - 1];
    }
    for (size_t i = 0; i < work->count; i++) {
        if (groups->of[i] != REPORT_NONE) {
            groups->items[next[groups->of[i] + 1]++] = (uint32_t)i;
        }
    }
    groups->starts = next;
    return 0;
}

static int group_raws(struct work *work) {
    size_t ids = work->raw_count < work->count ? work->raw_count : work->count;
    work->to_group = malloc((work->raw_count + 1) * sizeof(uint32_t));
    work->candidates = malloc((ids + 1) * sizeof(*work->candidates));
    int r = work->to_group && work->candidates ? number_groups(work) : nvtxt_origin(-ENOMEM);
    if (r == 0 && !work->only_count) {
        r = fill_groups(work);
    }
    free(work->to_group);
    free(work->candidates);
    return r;
}

static int compare_numbers(const void *a, const void *b) {
    return NVTXT_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

// The raw numbers that occur, sorted and each once; their number.
static size_t find_distinct(const struct work *work, uint32_t *distinct) {
    size_t all = 0, count = 0;
    for (size_t i = 0; i < work->count; i++) {
        distinct[all] = work->raws[i];
        all += work->raws[i] != REPORT_NONE;
    }
    qsort(distinct, all, sizeof(*distinct), compare_numbers);
    for (size_t i = 0; i < all; i++) {
        if (count == 0 || distinct[count - 1] != distinct[i]) {
            distinct[count++] = distinct[i];
        }
    }
    return count;
}

// Numbers the raw numbers anew, by their places among those that occur.
static int group_few(struct work *work) {
    uint32_t *distinct = malloc((work->count + 1) * sizeof(*distinct));
    uint32_t *raws = malloc((work->count + 1) * sizeof(*raws));
    int r = distinct && raws ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        size_t count = find_distinct(work, distinct);
        for (size_t i = 0; i < work->count; i++) {
            const uint32_t *at =
                bsearch(&work->raws[i], distinct, count, sizeof(*distinct), compare_numbers);
            raws[i] = at ? (uint32_t)(at - distinct) : REPORT_NONE;
        }
        work->raws = raws;
        work->raw_count = count;
        work->distinct = distinct;
        r = group_raws(work);
    }
    free(distinct);
    free(raws);
    return r;
}

// A table of all raw numbers would cost more than the few items of a small part of a capture; and
// categories may be any numbers.
static int group(struct work *work) {
    bool few = work->raw_count / 8 > work->count + 8;
    return few || work->key == REPORT_KEY_CATEGORY ? group_few(work) : group_raws(work);
}

static size_t raw_count_of(const struct report_model *model, enum report_key key) {
    const struct report_capture *capture = model->capture;
    return key == REPORT_KEY_NAME        ? capture->name_count
           : key == REPORT_KEY_THREAD    ? capture->thread_count
           : key == REPORT_KEY_PROCESS   ? capture->process_count
           : key == REPORT_KEY_DOMAIN    ? capture->domain_count
           : key == REPORT_KEY_SOURCE    ? capture->source_count
           : key == REPORT_KEY_ITERATION ? model->iterations.count
                                         : model->count;
}

int report_group_raws(struct report_key_groups *groups, struct report_model *model,
                      const struct report_raws *raws, enum report_key key,
                      struct store_arena *arena) {
    struct work work = {.groups = groups,
                        .model = model,
                        .key = key,
                        .raws = raws->raws,
                        .count = raws->count,
                        .ids = raws->ids,
                        .arena = arena};
    *groups = (struct report_key_groups){.na = NULL};
    work.raw_count = key == REPORT_KEY_LINE ? raws->id_count : raw_count_of(model, key);
    return group(&work);
}

static uint32_t raw_of(const struct report_capture *capture, uint32_t index, enum report_key key) {
    const struct report_event *event = &capture->events[index];
    switch (key) {
    case REPORT_KEY_NAME:
        return event->name;
    case REPORT_KEY_THREAD:
        return event->thread;
    case REPORT_KEY_PROCESS:
        return capture->threads[event->thread].process;
    case REPORT_KEY_DOMAIN:
        return capture->names[event->name].domain;
    case REPORT_KEY_CATEGORY:
        return event->category - 1; // 0, none, becomes REPORT_NONE
    case REPORT_KEY_SOURCE:
        return event->source;
    case REPORT_KEY_EVENT:
        return index;
    case REPORT_KEY_NONE:
    case REPORT_KEY_ITERATION:
    case REPORT_KEY_LINE:
        break;
    }
    assert(false); // of these an event may have several, or none
    return REPORT_NONE;
}

static bool has_file(const struct report_capture *capture) {
    for (size_t i = 0; i < capture->source_count; i++) {
        if (capture->sources[i].file.data) {
            return true;
        }
    }
    return false;
}

// A line of a source that events come from.
struct line {
    struct nvtxt_hash_node node;
    uint32_t source, line;
    uint32_t raw;
};

static struct line *add_line(struct work *work, struct nvtxt_hash *table, uint32_t source,
                             uint32_t number, struct report_id *id) {
    struct line *line = store_arena_make(work->arena, sizeof(*line));
    *id = report_line_id(&work->model->capture->sources[source], number, work->arena);
    uint64_t hash = nvtxt_hash_number((uint64_t)source << 32 | number);
    if (!line || !id->text.data || nvtxt_hash_add(table, &line->node, hash)) {
        return NULL;
    }
    line->source = source;
    line->line = number;
    line->raw = (uint32_t)work->raw_count++;
    return line;
}

// The raw numbers of lines are counted as they come.
static int number_lines(struct work *work, uint32_t *raws, const uint32_t *events,
                        struct report_id *ids, struct nvtxt_hash *table) {
    const struct report_capture *capture = work->model->capture;
    for (size_t i = 0; i < work->count; i++) {
        const struct report_event *event = &capture->events[events[i]];
        uint32_t number = report_event_line(capture, event), source = event->source;
        uint64_t hash = nvtxt_hash_number((uint64_t)source << 32 | number);
        struct line *line;
        raws[i] = REPORT_NONE;
        if (number == 0 || source == REPORT_NONE) {
            continue;
        }
        NVTXT_HASH_FIND(line, node, table, hash, line->source == source && line->line == number);
        line = line ?: add_line(work, table, source, number, &ids[work->raw_count]);
        if (!line) {
            return nvtxt_origin(-ENOMEM);
        }
        raws[i] = line->raw;
    }
    return 0;
}

static int group_by_line(struct work *work, uint32_t *raws, const uint32_t *events) {
    struct nvtxt_hash table = {NULL, 0, 0};
    struct report_id *ids = malloc((work->count + 1) * sizeof(*ids));
    int r = ids ? number_lines(work, raws, events, ids, &table) : nvtxt_origin(-ENOMEM);
    work->raws = raws;
    work->ids = ids;
    r = r ?: group(work);
    nvtxt_hash_deinit(&table);
    free(ids);
    return r;
}

static int group_events(struct work *work, uint32_t *raws, const uint32_t *events) {
    if (work->key == REPORT_KEY_LINE) {
        return group_by_line(work, raws, events);
    }
    for (size_t i = 0; i < work->count; i++) {
        raws[i] = raw_of(work->model->capture, events[i], work->key);
    }
    work->raws = raws;
    work->raw_count = raw_count_of(work->model, work->key);
    return group(work);
}

// The first of the events, which are in order, that is not before `index`.
static size_t first_from(const uint32_t *events, size_t count, uint32_t index) {
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (events[middle] < index) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

// An event may belong to several iterations that overlap.
static int group_by_iteration(struct work *work, const uint32_t *events) {
    const struct report_iterations *iterations = &work->model->iterations;
    struct report_key_groups *groups = work->groups;
    size_t all = 0, count = iterations->count;
    groups->na = iterations->declared ? NULL : "no iterations declared";
    for (size_t i = 0; i < count; i++) {
        all += first_from(events, work->count, iterations->list[i].end) -
               first_from(events, work->count, iterations->list[i].first);
    }
    groups->ids = store_arena_take(work->arena, (count + 1) * sizeof(*groups->ids), 8);
    groups->starts = store_arena_take(work->arena, (count + 1) * sizeof(uint32_t), 4);
    groups->items =
        all < UINT32_MAX ? store_arena_take(work->arena, (all + 1) * sizeof(uint32_t), 4) : NULL;
    if (!groups->ids || !groups->starts || !groups->items) {
        return nvtxt_origin(-ENOMEM);
    }
    groups->starts[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const struct report_iteration *iteration = &iterations->list[i];
        size_t from = first_from(events, work->count, iteration->first);
        size_t here = first_from(events, work->count, iteration->end) - from;
        if (here > 0) {
            memcpy(groups->items + groups->starts[i], events + from, here * sizeof(*events));
        }
        groups->ids[i] = (struct report_id){.number = iteration->number};
        groups->starts[i + 1] = groups->starts[i] + (uint32_t)here;
    }
    groups->count = count;
    return 0;
}

int report_group(struct report_key_groups *groups, struct report_model *model,
                 const uint32_t *events, size_t count, enum report_key key,
                 struct store_arena *arena) {
    *groups = (struct report_key_groups){.na = NULL};
    struct work work = {
        .groups = groups, .model = model, .key = key, .count = count, .arena = arena};
    if (key == REPORT_KEY_ITERATION) {
        return group_by_iteration(&work, events);
    }
    if (key == REPORT_KEY_LINE && !has_file(model->capture)) {
        groups->na = "no source file";
        return 0;
    }
    uint32_t *raws = malloc((count + 1) * sizeof(*raws));
    int r = raws ? group_events(&work, raws, events) : nvtxt_origin(-ENOMEM);
    free(raws);
    for (size_t i = 0; !r && i < groups->starts[groups->count]; i++) {
        groups->items[i] = events[groups->items[i]];
    }
    return r;
}

int report_group_count(struct report_model *model, const uint32_t *events, size_t event_count,
                       enum report_key key, size_t *count) {
    struct report_key_groups groups = {.count = 0};
    struct store_arena arena = {0};
    struct work work = {.groups = &groups,
                        .model = model,
                        .key = key,
                        .count = event_count,
                        .only_count = true,
                        .arena = &arena};
    uint32_t *raws = malloc((event_count + 1) * sizeof(*raws));
    int r = raws ? group_events(&work, raws, events) : nvtxt_origin(-ENOMEM);
    *count = groups.count;
    free(raws);
    store_arena_deinit(&arena);
    return r;
}
