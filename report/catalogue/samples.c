// SPDX-License-Identifier: Apache-2.0
//
// Two ways: a number of each event, put side by side for each group of the events; or items that
// are no events, such as gaps, which are grouped when all are there. The last samples are kept,
// because the roll-ups of one metric are asked for one after the other, often with counts between
// them: these have a place of their own.
#include "report/catalogue/figures.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

static const char *const no_ranges = "no ranges";

// The traits (figures.h) of an event that has a number for the metric: one of `any`, none of
// `none`.
struct wanted {
    uint8_t any, none;
};

#define RANGE (REPORT_IS_PUSH_POP | REPORT_IS_START_END)

static struct wanted wanted_of(enum report_catalogue_id id) {
    switch (id) {
    case REPORT_M_RANGE_COUNT:
        return (struct wanted){RANGE, 0};
    case REPORT_M_RANGE_DURATION:
        return (struct wanted){RANGE, REPORT_IS_OPEN};
    case REPORT_M_PUSHPOP_COUNT:
    case REPORT_M_DEPTH:
    case REPORT_M_CHILD_COUNT:
        return (struct wanted){REPORT_IS_PUSH_POP, 0};
    case REPORT_M_PUSHPOP_DURATION:
    case REPORT_M_SELF_TIME:
    case REPORT_M_CHILD_TIME:
        return (struct wanted){REPORT_IS_PUSH_POP, REPORT_IS_OPEN};
    case REPORT_M_STARTEND_COUNT:
        return (struct wanted){REPORT_IS_START_END, 0};
    case REPORT_M_STARTEND_DURATION:
        return (struct wanted){REPORT_IS_START_END, REPORT_IS_OPEN};
    case REPORT_M_MARK_COUNT:
        return (struct wanted){REPORT_IS_MARK, 0};
    case REPORT_M_OPEN_COUNT:
        return (struct wanted){REPORT_IS_OPEN, 0};
    case REPORT_M_UNCLOSED_COUNT:
        return (struct wanted){REPORT_IS_UNCLOSED, 0};
    case REPORT_M_BACKWARD_COUNT:
        return (struct wanted){REPORT_IS_BACKWARD, 0};
    case REPORT_M_PAYLOAD_VALUE:
    case REPORT_M_PAYLOAD_COUNT:
        return (struct wanted){REPORT_HAS_NUMBER, 0};
    default: // REPORT_M_EVENT_COUNT
        return (struct wanted){REPORT_IS_EVENT, 0};
    }
}

static inline bool is_wanted(struct wanted wanted, uint8_t traits) {
    return (traits & wanted.any) && !(traits & wanted.none);
}

// The number of an event that has one.
static uint64_t measure(const struct report_model *model, enum report_catalogue_id id,
                        uint32_t index) {
    const struct report_event *event = &model->capture->events[index];
    switch (id) {
    case REPORT_M_SELF_TIME:
        return model->self_ns[index];
    case REPORT_M_CHILD_TIME:
        return report_duration(event) - model->self_ns[index];
    case REPORT_M_DEPTH:
        return model->depth[index];
    case REPORT_M_CHILD_COUNT:
        return model->child_count[index];
    default:
        return report_duration(event);
    }
}

static double payload(const struct report_event *event) {
    switch (event->payload_kind) {
    case NVTXT_PAYLOAD_UINT64:
        return (double)(uint64_t)event->payload.int64;
    case NVTXT_PAYLOAD_FLOAT:
    case NVTXT_PAYLOAD_DOUBLE:
        return event->payload.real;
    default:
        return (double)event->payload.int64;
    }
}

static inline void put(struct report_samples *samples, const struct report_model *model,
                       uint32_t event, size_t at) {
    if (samples->real) {
        samples->reals[at] = payload(&model->capture->events[event]);
    } else {
        samples->values[at] = measure(model, samples->id, event);
    }
}

// What only stores of nvtxtd know.
static bool needs_store(const struct report_samples *samples) {
    return samples->id == REPORT_M_UNCLOSED_COUNT || samples->key == REPORT_KEY_SOURCE;
}

// Each event has one group at most, so that one walk in their order fills all groups.
struct walk {
    struct report_figures *figures;
    struct report_samples *samples;
    const struct report_key_groups *groups; // NULL: all events are in group 0
    const uint8_t *traits;
    struct wanted wanted;
};

// The group that the number of an event goes to; REPORT_NONE: it has none, or no group.
static inline uint32_t group_at(const struct walk *walk, size_t i) {
    if (!is_wanted(walk->wanted, walk->traits[i])) {
        return REPORT_NONE;
    }
    return walk->groups ? walk->groups->of[i] : 0;
}

static void count_numbers(const struct walk *walk, uint32_t *starts) {
    size_t count = walk->figures->scope->event_count, groups = walk->samples->count;
    memset(starts, 0, (groups + 1) * sizeof(*starts));
    for (size_t i = 0; i < count; i++) {
        uint32_t group = group_at(walk, i);
        if (group != REPORT_NONE) {
            starts[group + 1]++;
        }
    }
    for (size_t g = 0; g < groups; g++) {
        starts[g + 1] += starts[g];
    }
}

static int walk_numbers(const struct walk *walk, const uint32_t *starts) {
    const struct report_scope *scope = walk->figures->scope;
    size_t size = (walk->samples->count + 1) * sizeof(*starts);
    uint32_t *next = malloc(size);
    if (!next) {
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(next, starts, size);
    for (size_t i = 0; i < scope->event_count; i++) {
        uint32_t group = group_at(walk, i);
        if (group != REPORT_NONE) {
            put(walk->samples, walk->figures->model, scope->events[i], next[group]++);
        }
    }
    free(next);
    return 0;
}

// An event may be in several groups: they are walked one after the other.
static void of_groups(const struct walk *walk, uint32_t *starts) {
    const struct report_key_groups *groups = walk->groups;
    const struct report_model *model = walk->figures->model;
    uint32_t filled = 0;
    for (size_t g = 0; g < groups->count; g++) {
        starts[g] = filled;
        for (uint32_t i = groups->starts[g]; i < groups->starts[g + 1]; i++) {
            const struct report_event *event = &model->capture->events[groups->items[i]];
            if (is_wanted(walk->wanted, report_traits_of(event))) {
                if (!walk->samples->ones) {
                    put(walk->samples, model, groups->items[i], filled);
                }
                filled++;
            }
        }
    }
    starts[groups->count] = filled;
}

static int make_values(struct report_samples *samples, size_t count) {
    samples->values = store_arena_take(&samples->arena, (count + 1) * sizeof(uint64_t), 8);
    samples->reals = (double *)(void *)samples->values;
    return samples->values ? 0 : nvtxt_origin(-ENOMEM);
}

static int fill_numbers(const struct walk *walk) {
    struct report_samples *samples = walk->samples;
    const struct report_key_groups *groups = walk->groups;
    uint32_t *starts = store_arena_take(&samples->arena, (samples->count + 1) * sizeof(*starts), 4);
    samples->starts = starts;
    if (!starts) {
        return nvtxt_origin(-ENOMEM);
    }
    if (groups && !groups->of) {
        int r = samples->ones ? 0 : make_values(samples, groups->starts[groups->count]);
        if (!r) {
            of_groups(walk, starts);
        }
        return r;
    }
    count_numbers(walk, starts);
    if (samples->ones) {
        return 0;
    }
    int r = make_values(samples, starts[samples->count]);
    return r ?: walk_numbers(walk, starts);
}

static int from_events(struct report_figures *figures, struct report_samples *samples) {
    const struct report_key_groups *groups = NULL;
    int r = samples->key ? report_figures_groups(figures, samples->key, &groups) : 0;
    if (r) {
        return r;
    }
    samples->na = needs_store(samples) && !report_has_store(figures->model->capture)
                      ? "not in an export"
                  : groups ? groups->na
                           : NULL;
    if (samples->na) {
        return 0;
    }
    samples->count = groups ? groups->count : 1;
    samples->ids = groups ? groups->ids : NULL;
    const struct walk walk = {figures, samples, groups, report_figures_traits(figures),
                              wanted_of(samples->id)};
    return walk.traits ? fill_numbers(&walk) : nvtxt_origin(-ENOMEM);
}

// Puts the items into the groups of their key; without a key into one.
static int group_items(struct report_figures *figures, struct report_samples *samples,
                       const struct report_items *items) {
    struct report_key_groups groups = {.count = 1};
    uint32_t *starts = store_arena_take(&samples->arena, 2 * sizeof(*starts), 4);
    samples->values = store_arena_take(&samples->arena, (items->count + 1) * sizeof(uint64_t), 8);
    double *averages = NULL;
    if (items->averages) {
        averages = store_arena_take(&samples->arena, (items->count + 1) * sizeof(*averages), 8);
    }
    if (!starts || !samples->values || (items->averages && !averages)) {
        return nvtxt_origin(-ENOMEM);
    }
    starts[0] = 0;
    starts[1] = (uint32_t)items->count;
    groups.starts = starts;
    if (samples->key) {
        const struct report_raws raws = {items->raws, items->count, items->ids, items->id_count};
        int r = report_group_raws(&groups, figures->model, &raws, samples->key, &samples->arena);
        if (r) {
            return r;
        }
    }
    for (size_t i = 0; i < items->count; i++) {
        size_t item = groups.items ? groups.items[i] : i;
        samples->values[i] = items->values[item];
        if (averages) {
            averages[i] = items->averages[item];
        }
    }
    samples->averages = averages;
    samples->reals = (double *)(void *)samples->values;
    samples->ids = groups.ids;
    samples->starts = groups.starts;
    samples->count = groups.count;
    return 0;
}

static int from_items(struct report_figures *figures, struct report_samples *samples) {
    struct report_items items = {.count = 0};
    int r = report_items_collect(figures, samples, &items);
    if (!r && !samples->na) {
        r = group_items(figures, samples, &items);
    }
    report_items_deinit(&items);
    return r;
}

static bool is_count(enum report_catalogue_id id) {
    return id <= REPORT_M_BACKWARD_COUNT || id == REPORT_M_PAYLOAD_COUNT;
}

static int fill_samples(struct report_figures *figures, struct report_samples *samples) {
    samples->empty = no_ranges;
    samples->ones = is_count(samples->id);
    if (samples->id == REPORT_M_PAYLOAD_VALUE) {
        samples->real = true;
        samples->empty = "fewer than 1 instances";
        return from_events(figures, samples);
    }
    return samples->ones || samples->id <= REPORT_M_CHILD_COUNT ? from_events(figures, samples)
                                                                : from_items(figures, samples);
}

int report_samples_get(struct report_figures *figures, const struct report_catalogue_metric *which,
                       const struct report_samples **samples) {
    bool is_small = is_count(which->entry->id) || which->entry->id == REPORT_M_GAP_COUNT;
    struct report_samples *slot = &figures->samples[(which->key != REPORT_KEY_NONE) + 2 * is_small];
    *samples = slot;
    if (slot->filled && slot->id == which->entry->id && slot->key == which->key) {
        return 0;
    }
    struct store_arena arena = slot->arena;
    store_arena_reset(&arena, STORE_CHUNK_BYTES);
    *slot = (struct report_samples){.id = which->entry->id, .key = which->key, .arena = arena};
    int r = fill_samples(figures, slot);
    slot->filled = r == 0;
    return r;
}
