// SPDX-License-Identifier: Apache-2.0
//
// The durations stand in one array, those of a name and kind side by side and sorted. The names
// are sorted, too, so one walk through two sides finds the pairs.
#include "report/diff/durations.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/spread.h"
#include "report/stats/group.h"

#define KINDS 2 // a group is a name and a kind

static uint32_t group_of(const void *context, const struct report_event *event) {
    (void)context;
    return report_is_timed(event) ? event->name * KINDS + (event->kind == REPORT_START_END)
                                  : REPORT_NONE;
}

static int by_value(const void *left, const void *right) {
    return NVTXT_ORDER(*(const uint64_t *)left, *(const uint64_t *)right);
}

int report_durations_compare(const struct report_durations_of *a,
                             const struct report_durations_of *b) {
    int order = nvtxt_slice_order(a->name, b->name);
    order = order ?: nvtxt_slice_order(a->domain, b->domain);
    return order ?: (int)a->kind - (int)b->kind;
}

static int by_name(const void *left, const void *right) {
    return report_durations_compare(left, right);
}

void report_durations_finish(struct report_durations *durations, struct report_durations_of *of,
                             size_t count) {
    const struct report_spread spread = report_spread_of(of->values, count);
    qsort(of->values, count, sizeof(*of->values), by_value);
    of->side.count = count;
    of->side.total = spread.sum;
    of->side.avg = spread.avg;
    of->side.med = spread.median;
    durations->total += spread.sum;
}

static void take_group(struct report_durations *durations, const struct report_model *model,
                       const struct report_groups *groups, size_t index) {
    const struct report_capture *capture = model->capture;
    const size_t first = groups->first[index], count = report_group_size(groups, index);
    const bool nests = index % KINDS == 0;
    struct report_durations_of *of = &durations->list[durations->count++];
    *of = (struct report_durations_of){
        .name = durations->names[index / KINDS],
        .domain = capture->domains[capture->names[index / KINDS].domain],
        .kind = nests ? REPORT_PUSH_POP : REPORT_START_END,
        .values = durations->values + first,
    };
    for (size_t i = 0; i < count; i++) {
        uint32_t event = groups->events[first + i];
        of->values[i] = report_duration(&capture->events[event]);
        of->side.self += nests ? model->self_ns[event] : of->values[i];
    }
    report_durations_finish(durations, of, count);
}

static void count_open(struct report_durations *durations, const struct report_model *model) {
    const unsigned both = REPORT_SELECTED | REPORT_OPEN;
    for (size_t i = 0; i < model->count; i++) {
        durations->open += (model->capture->events[i].flags & both) == both;
    }
}

int report_durations_reserve(struct report_durations *durations, size_t names, size_t values) {
    durations->values = malloc((values + 1) * sizeof(*durations->values));
    durations->list = calloc(names + 1, sizeof(*durations->list));
    return durations->values && durations->list ? 0 : nvtxt_origin(-ENOMEM);
}

void report_durations_sort(struct report_durations *durations) {
    if (durations->count > 0) {
        qsort(durations->list, durations->count, sizeof(*durations->list), by_name);
    }
}

int report_durations_init(struct report_durations *durations, const struct report_model *model) {
    const struct report_capture *capture = model->capture;
    struct report_groups groups;
    size_t used = 0;
    *durations = (struct report_durations){0};
    int r = report_groups_init(&groups, model, capture->name_count * KINDS, group_of, NULL);
    for (size_t i = 0; r == 0 && i < groups.group_count; i++) {
        used += report_group_size(&groups, i) > 0;
    }
    durations->names = report_name_texts(capture);
    r = r == 0 && !durations->names ? nvtxt_origin(-ENOMEM) : r;
    r = r ?: report_durations_reserve(durations, used, groups.first[groups.group_count]);
    for (size_t i = 0; r == 0 && i < groups.group_count; i++) {
        if (report_group_size(&groups, i) > 0) {
            take_group(durations, model, &groups, i);
        }
    }
    report_groups_deinit(&groups);
    if (r == 0) {
        report_durations_sort(durations);
        count_open(durations, model);
    }
    return r;
}

static int by_sample(const void *left, const void *right) {
    const struct report_diff_sample *a = left, *b = right;
    return nvtxt_slice_order(a->name, b->name);
}

// Kernels of one name are neighbours after sorting.
int report_durations_kernels_init(struct report_durations *durations,
                                  const struct report_diff_samples *samples) {
    *durations = (struct report_durations){.of_kernels = true};
    int r = report_durations_reserve(durations, samples->count, samples->count);
    if (r == 0 && samples->count > 0) {
        qsort(samples->items, samples->count, sizeof(*samples->items), by_sample);
    }
    for (size_t first = 0, i = 0; r == 0 && first < samples->count; first = i) {
        struct report_durations_of *of = &durations->list[durations->count++];
        *of = (struct report_durations_of){.name = samples->items[first].name,
                                           .domain = NVTXT_SLICE(""),
                                           .kind = REPORT_PUSH_POP,
                                           .values = durations->values + first};
        for (; i < samples->count && by_sample(&samples->items[first], &samples->items[i]) == 0;
             i++) {
            durations->values[i] = samples->items[i].ns;
            of->side.self += samples->items[i].ns;
        }
        report_durations_finish(durations, of, i - first);
    }
    return r;
}

void report_durations_deinit(struct report_durations *durations) {
    free(durations->list);
    free(durations->values);
    free(durations->names);
    free(durations->texts);
    *durations = (struct report_durations){0};
}
