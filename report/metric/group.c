// SPDX-License-Identifier: Apache-2.0
//
// Each event has a raw number for a key: the index of its name, thread, source and so on. The raw
// numbers that occur get their ids; these are sorted, equal ones become one group; then a counting
// sort puts the events into their groups, each still in order. So a group costs nothing but its
// id.
#include "report/metric/group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// An id with the raw number that it comes from.
struct candidate {
    struct report_id id;
    uint32_t raw;
};

struct work {
    struct report_groups *groups;
    struct report_model *model;
    const uint32_t *events;
    size_t count;
    struct store_arena *arena;
    uint32_t *raws;     // of each event; REPORT_NONE: in no group
    uint32_t *to_group; // of each raw number
    struct candidate *candidates;
    uint32_t *categories; // raw numbers of categories are indexes here
};

int report_id_compare(const struct report_id *a, const struct report_id *b) {
    if (!a->is_text) {
        return (a->number > b->number) - (a->number < b->number);
    }
    size_t len = a->text.len < b->text.len ? a->text.len : b->text.len;
    int order = len ? memcmp(a->text.data, b->text.data, len) : 0;
    return order ? order : (a->text.len > b->text.len) - (a->text.len < b->text.len);
}

static struct report_id text_id(struct nvtxt_slice text) {
    return (struct report_id){.is_text = true, .text = text};
}

static struct report_id number_id(uint64_t number) {
    return (struct report_id){.number = number};
}

struct report_id report_name_id(const struct report_capture *capture, uint32_t name,
                                struct store_arena *arena) {
    struct nvtxt_slice domain = capture->domains[capture->names[name].domain];
    struct nvtxt_slice message = capture->messages[capture->names[name].message];
    struct nvtxt_slice text = {NULL, domain.len + 1 + message.len};
    char *bytes = store_arena_take(arena, text.len, 1);
    if (!bytes) {
        return text_id((struct nvtxt_slice){NULL, 0});
    }
    memcpy(bytes, domain.len ? domain.data : "", domain.len);
    bytes[domain.len] = ':';
    memcpy(bytes + domain.len + 1, message.len ? message.data : "", message.len);
    text.data = bytes;
    return text_id(text);
}

struct report_id report_thread_id(const struct report_capture *capture, uint32_t thread,
                                  struct store_arena *arena) {
    const struct report_thread *of = &capture->threads[thread];
    char text[32];
    int len = snprintf(text, sizeof text, "%" PRIu32 ":%" PRIu32,
                       capture->processes[of->process].pid, report_tid(of));
    const char *copy = store_arena_copy(arena, text, (size_t)len);
    return text_id((struct nvtxt_slice){copy, copy ? (size_t)len : 0});
}

static struct report_id id_of(struct work *work, enum report_key key, uint32_t raw) {
    const struct report_capture *capture = work->model->capture;
    switch (key) {
    case REPORT_KEY_NAME:
        return report_name_id(capture, raw, work->arena);
    case REPORT_KEY_THREAD:
        return report_thread_id(capture, raw, work->arena);
    case REPORT_KEY_PROCESS:
        return number_id(capture->processes[raw].pid);
    case REPORT_KEY_DOMAIN:
        return text_id(capture->domains[raw].len ? capture->domains[raw]
                                                 : NVTXT_SLICE("<default domain>"));
    case REPORT_KEY_CATEGORY:
        return number_id(work->categories[raw]);
    case REPORT_KEY_SOURCE:
        return number_id((uint64_t)capture->sources[raw].id);
    default: // REPORT_KEY_EVENT
        return number_id((uint64_t)capture->events[work->events[raw]].row);
    }
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// The distinct categories, sorted; their number.
static size_t collect_categories(struct work *work) {
    size_t count = 0;
    for (size_t i = 0; i < work->count; i++) {
        work->categories[i] = work->model->capture->events[work->events[i]].category;
    }
    qsort(work->categories, work->count, sizeof *work->categories, compare_numbers);
    for (size_t i = 0; i < work->count; i++) {
        if (count == 0 || work->categories[count - 1] != work->categories[i]) {
            work->categories[count++] = work->categories[i];
        }
    }
    return count;
}

static uint32_t category_index(const struct work *work, size_t count, uint32_t category) {
    const uint32_t *at =
        bsearch(&category, work->categories, count, sizeof category, compare_numbers);
    return category == 0 || !at ? REPORT_NONE : (uint32_t)(at - work->categories);
}

static uint32_t raw_of(const struct work *work, enum report_key key, size_t i, size_t raw_count) {
    const struct report_capture *capture = work->model->capture;
    const struct report_event *event = &capture->events[work->events[i]];
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
        return category_index(work, raw_count, event->category);
    case REPORT_KEY_SOURCE:
        return event->source;
    default: // REPORT_KEY_EVENT
        return (uint32_t)i;
    }
}

static size_t raw_numbers(struct work *work, enum report_key key) {
    const struct report_capture *capture = work->model->capture;
    switch (key) {
    case REPORT_KEY_NAME:
        return capture->name_count;
    case REPORT_KEY_THREAD:
        return capture->thread_count;
    case REPORT_KEY_PROCESS:
        return capture->process_count;
    case REPORT_KEY_DOMAIN:
        return capture->domain_count;
    case REPORT_KEY_CATEGORY:
        return collect_categories(work);
    case REPORT_KEY_SOURCE:
        return capture->source_count;
    default: // REPORT_KEY_EVENT
        return work->count;
    }
}

static int compare_candidates(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    int order = report_id_compare(&x->id, &y->id);
    return order ? order : (x->raw > y->raw) - (x->raw < y->raw);
}

// Gives the raw numbers that occur their groups. Events of two stores may have one row, and stay
// two.
static int number_groups(struct work *work, enum report_key key, size_t raw_count) {
    size_t used = 0;
    memset(work->to_group, 0, raw_count * sizeof *work->to_group);
    for (size_t i = 0; i < work->count; i++) {
        work->raws[i] = raw_of(work, key, i, raw_count);
        if (work->raws[i] != REPORT_NONE && !work->to_group[work->raws[i]]) {
            work->to_group[work->raws[i]] = 1;
            struct candidate *candidate = &work->candidates[used++];
            *candidate = (struct candidate){id_of(work, key, work->raws[i]), work->raws[i]};
            if (candidate->id.is_text && !candidate->id.text.data) {
                return -ENOMEM;
            }
        }
    }
    qsort(work->candidates, used, sizeof *work->candidates, compare_candidates);
    struct report_groups *groups = work->groups;
    groups->ids = store_arena_take(work->arena, (used + 1) * sizeof *groups->ids, 8);
    if (!groups->ids) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < used; i++) {
        const struct candidate *candidate = &work->candidates[i];
        if (i == 0 || key == REPORT_KEY_EVENT ||
            report_id_compare(&candidate->id, &candidate[-1].id) != 0) {
            groups->ids[groups->count++] = candidate->id;
        }
        work->to_group[candidate->raw] = (uint32_t)(groups->count - 1);
    }
    return 0;
}

static int fill_groups(struct work *work) {
    struct report_groups *groups = work->groups;
    groups->starts = store_arena_take(work->arena, (groups->count + 2) * sizeof(uint32_t), 4);
    groups->events = store_arena_take(work->arena, (work->count + 1) * sizeof(uint32_t), 4);
    if (!groups->starts || !groups->events) {
        return -ENOMEM;
    }
    // starts[g + 2] counts, then starts[g + 1] is where the next event of g goes.
    memset(groups->starts, 0, (groups->count + 2) * sizeof(uint32_t));
    for (size_t i = 0; i < work->count; i++) {
        if (work->raws[i] != REPORT_NONE && work->to_group[work->raws[i]] + 2 <= groups->count) {
            groups->starts[work->to_group[work->raws[i]] + 2]++;
        }
    }
    for (size_t g = 2; g <= groups->count; g++) {
        groups->starts[g] += groups->starts[g - 1];
    }
    for (size_t i = 0; i < work->count; i++) {
        if (work->raws[i] != REPORT_NONE) {
            groups->events[groups->starts[work->to_group[work->raws[i]] + 1]++] = work->events[i];
        }
    }
    return 0;
}

static int group_by_raw(struct work *work, enum report_key key) {
    size_t most = work->count + 1;
    work->categories = key == REPORT_KEY_CATEGORY ? malloc(most * sizeof(uint32_t)) : NULL;
    if (key == REPORT_KEY_CATEGORY && !work->categories) {
        return -ENOMEM;
    }
    size_t raw_count = raw_numbers(work, key);
    size_t ids = raw_count < work->count ? raw_count : work->count;
    work->raws = malloc(most * sizeof(uint32_t));
    work->to_group = malloc((raw_count + 1) * sizeof(uint32_t));
    work->candidates = malloc((ids + 1) * sizeof *work->candidates);
    int result = -ENOMEM;
    if (work->raws && work->to_group && work->candidates) {
        result = number_groups(work, key, raw_count);
        result = result ? result : fill_groups(work);
    }
    free(work->categories);
    free(work->raws);
    free(work->to_group);
    free(work->candidates);
    return result;
}

int report_group(struct report_groups *groups, struct report_model *model, const uint32_t *events,
                 size_t count, enum report_key key, struct store_arena *arena) {
    *groups = (struct report_groups){.na = NULL};
    struct work work = {
        .groups = groups, .model = model, .events = events, .count = count, .arena = arena};
    if (key == REPORT_KEY_ITERATION) {
        groups->na = "no iterations declared";
        return 0;
    }
    return group_by_raw(&work, key);
}
