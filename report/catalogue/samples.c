// SPDX-License-Identifier: Apache-2.0
//
// Two ways: a number of each event, put side by side for each group of the events; or items that
// are no events, such as gaps, which are grouped when all are there. The last samples are kept,
// because the roll-ups of one metric are asked for one after the other.
#include "report/catalogue/samples.h"

#include <errno.h>
#include <stdlib.h>

#include "report/catalogue/items.h"

static const char *const no_ranges = "no ranges";

static bool is_kind(const struct report_event *event, enum report_catalogue_id id) {
    switch (id) {
    case REPORT_M_RANGE_COUNT:
    case REPORT_M_RANGE_DURATION:
        return event->kind != REPORT_MARK;
    case REPORT_M_PUSHPOP_COUNT:
    case REPORT_M_PUSHPOP_DURATION:
    case REPORT_M_SELF_TIME:
    case REPORT_M_CHILD_TIME:
    case REPORT_M_DEPTH:
    case REPORT_M_CHILD_COUNT:
        return event->kind == REPORT_PUSH_POP;
    case REPORT_M_STARTEND_COUNT:
    case REPORT_M_STARTEND_DURATION:
        return event->kind == REPORT_START_END;
    case REPORT_M_MARK_COUNT:
        return event->kind == REPORT_MARK;
    case REPORT_M_OPEN_COUNT:
        return event->flags & REPORT_OPEN;
    case REPORT_M_UNCLOSED_COUNT:
        return event->flags & REPORT_UNCLOSED;
    case REPORT_M_BACKWARD_COUNT:
        return event->flags & REPORT_BACKWARD;
    default: // REPORT_M_EVENT_COUNT, payloads
        return true;
    }
}

// Whether an event has a number for the metric, and which.
static bool measure(const struct report_model *model, enum report_catalogue_id id, uint32_t index,
                    uint64_t *value) {
    const struct report_event *event = &model->capture->events[index];
    *value = 1;
    if (!is_kind(event, id)) {
        return false;
    }
    switch (id) {
    case REPORT_M_RANGE_DURATION:
    case REPORT_M_PUSHPOP_DURATION:
    case REPORT_M_STARTEND_DURATION:
        *value = report_duration(event);
        return !(event->flags & REPORT_OPEN);
    case REPORT_M_SELF_TIME:
        *value = model->self_ns[index];
        return !(event->flags & REPORT_OPEN);
    case REPORT_M_CHILD_TIME:
        *value = report_duration(event) - model->self_ns[index];
        return !(event->flags & REPORT_OPEN);
    case REPORT_M_DEPTH:
        *value = model->depth[index];
        return true;
    case REPORT_M_CHILD_COUNT:
        *value = model->child_count[index];
        return true;
    default:
        return true;
    }
}

static bool payload(const struct report_event *event, double *value) {
    switch (event->payload_kind) {
    case NVTXT_PAYLOAD_UINT64:
        *value = (double)(uint64_t)event->payload.int64;
        return true;
    case NVTXT_PAYLOAD_INT64:
    case NVTXT_PAYLOAD_UINT32:
    case NVTXT_PAYLOAD_INT32:
        *value = (double)event->payload.int64;
        return true;
    case NVTXT_PAYLOAD_FLOAT:
    case NVTXT_PAYLOAD_DOUBLE:
        *value = event->payload.real;
        return true;
    default:
        return false;
    }
}

static void take_event(struct report_samples *samples, const struct report_model *model,
                       uint32_t index, size_t *filled) {
    uint64_t value;
    double real;
    if (samples->id == REPORT_M_PAYLOAD_VALUE || samples->id == REPORT_M_PAYLOAD_COUNT) {
        if (payload(&model->capture->events[index], &real)) {
            if (samples->real) {
                samples->reals[*filled] = real;
            } else {
                samples->values[*filled] = 1;
            }
            (*filled)++;
        }
    } else if (measure(model, samples->id, index, &value)) {
        samples->values[(*filled)++] = value;
    }
}

// What only stores of nvtxtd know.
static bool needs_store(const struct report_samples *samples) {
    return samples->id == REPORT_M_UNCLOSED_COUNT || samples->key == REPORT_KEY_SOURCE;
}

static int from_events(struct report_figures *figures, struct report_samples *samples) {
    const struct report_scope *scope = figures->scope;
    static const struct report_groups none;
    const struct report_groups *groups = &none;
    int result = samples->key ? report_figures_groups(figures, samples->key, &groups) : 0;
    samples->na = needs_store(samples) && !report_has_store(figures->model->capture)
                      ? "not in an export"
                      : groups->na;
    if (result || samples->na) {
        return result;
    }
    samples->count = samples->key ? groups->count : 1;
    size_t all = samples->key ? groups->starts[groups->count] : scope->event_count, filled = 0;
    uint32_t *starts = store_arena_take(&samples->arena, (samples->count + 1) * sizeof *starts, 4);
    samples->values = store_arena_take(&samples->arena, (all + 1) * sizeof(uint64_t), 8);
    if (!starts || !samples->values) {
        return -ENOMEM;
    }
    samples->reals = (double *)(void *)samples->values;
    for (size_t g = 0; g < samples->count; g++) {
        const uint32_t *events = samples->key ? groups->items + groups->starts[g] : scope->events;
        size_t count = samples->key ? groups->starts[g + 1] - groups->starts[g] : all;
        starts[g] = (uint32_t)filled;
        for (size_t i = 0; i < count; i++) {
            take_event(samples, figures->model, events[i], &filled);
        }
    }
    starts[samples->count] = (uint32_t)filled;
    samples->starts = starts;
    samples->ids = samples->key ? groups->ids : NULL;
    return 0;
}

// Puts the items into the groups of their key; without a key into one.
static int group_items(struct report_figures *figures, struct report_samples *samples,
                       const struct report_items *items) {
    struct report_groups groups = {.count = 1};
    uint32_t *starts = store_arena_take(&samples->arena, 2 * sizeof *starts, 4);
    samples->values = store_arena_take(&samples->arena, (items->count + 1) * sizeof(uint64_t), 8);
    double *averages = NULL;
    if (items->averages) {
        averages = store_arena_take(&samples->arena, (items->count + 1) * sizeof *averages, 8);
    }
    if (!starts || !samples->values || (items->averages && !averages)) {
        return -ENOMEM;
    }
    starts[0] = 0;
    starts[1] = (uint32_t)items->count;
    groups.starts = starts;
    if (samples->key) {
        const struct report_raws raws = {items->raws, items->count, items->ids, items->id_count};
        int result =
            report_group_raws(&groups, figures->model, &raws, samples->key, &samples->arena);
        if (result) {
            return result;
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
    int result = report_items_collect(figures, samples, &items);
    if (!result && !samples->na) {
        result = group_items(figures, samples, &items);
    }
    report_items_deinit(&items);
    return result;
}

static int fill(struct report_figures *figures, struct report_samples *samples) {
    samples->empty = no_ranges;
    switch (samples->id) {
    case REPORT_M_PAYLOAD_VALUE:
        samples->real = true;
        samples->empty = "fewer than 1 instances";
        return from_events(figures, samples);
    default:
        return samples->id <= REPORT_M_CHILD_COUNT || samples->id == REPORT_M_PAYLOAD_COUNT
                   ? from_events(figures, samples)
                   : from_items(figures, samples);
    }
}

int report_samples_get(struct report_figures *figures, const struct report_catalogue_metric *which,
                       const struct report_samples **samples) {
    struct report_samples *slot = &figures->samples[which->key != REPORT_KEY_NONE];
    *samples = slot;
    if (slot->filled && slot->id == which->entry->id && slot->key == which->key) {
        return 0;
    }
    struct store_arena arena = slot->arena;
    store_arena_reset(&arena, STORE_CHUNK_BYTES);
    *slot = (struct report_samples){.id = which->entry->id, .key = which->key, .arena = arena};
    int result = fill(figures, slot);
    slot->filled = result == 0;
    return result;
}
