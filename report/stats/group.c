// SPDX-License-Identifier: Apache-2.0
//
// A counting sort: one pass counts, a second puts each event into its place.
#include "report/stats/group.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/spans.h"

static uint32_t group_at(const struct report_model *model, size_t index,
                         report_group_function *group_of, const void *context) {
    const struct report_event *event = &model->capture->events[index];
    return event->flags & REPORT_SELECTED ? group_of(context, event) : REPORT_NONE;
}

// `first` has the place of the next event of each group while they are put, which is one group
// further on than what it has in the end.
static void put_events(struct report_groups *groups, const struct report_model *model,
                       report_group_function *group_of, const void *context) {
    for (size_t i = 0; i < model->count; i++) {
        uint32_t group = group_at(model, i, group_of, context);
        if (group != REPORT_NONE) {
            groups->events[groups->first[group + 1]++] = (uint32_t)i;
        }
    }
}

int report_groups_init(struct report_groups *groups, const struct report_model *model,
                       size_t group_count, report_group_function *group_of, const void *context) {
    size_t total = 0;
    *groups = (struct report_groups){.group_count = group_count};
    groups->first = calloc(group_count + 2, sizeof(*groups->first));
    if (!groups->first) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < model->count; i++) {
        uint32_t group = group_at(model, i, group_of, context);
        if (group != REPORT_NONE) {
            groups->first[group + 2]++;
            total++;
        }
    }
    for (size_t i = 2; i < group_count + 2; i++) {
        groups->first[i] += groups->first[i - 1];
    }
    groups->events = malloc((total + 1) * sizeof(*groups->events));
    if (!groups->events) {
        return nvtxt_origin(-ENOMEM);
    }
    put_events(groups, model, group_of, context);
    return 0;
}

void report_groups_deinit(struct report_groups *groups) {
    free(groups->first);
    free(groups->events);
    *groups = (struct report_groups){0};
}

size_t report_count_open(const struct report_model *model, unsigned kinds) {
    size_t open = 0;
    for (size_t i = 0; model->open_selected > 0 && i < model->count; i++) {
        const struct report_event *event = &model->capture->events[i];
        unsigned both = REPORT_SELECTED | REPORT_OPEN;
        open += (event->flags & both) == both && (REPORT_KIND(event->kind) & kinds) != 0;
    }
    return open;
}

int report_note_parents(struct report_table *table, const struct report_model *model, bool *said) {
    size_t unknown = model->parents.unknown;
    if (said && *said) {
        return 0;
    }
    if (said) {
        *said = true;
    }
    int r = unknown == 0 ? 0
                         : report_table_note(table,
                                             "the parent of %zu %s in another process is unknown: "
                                             "%s outermost here",
                                             unknown, unknown == 1 ? "event" : "events",
                                             unknown == 1 ? "it is" : "they are");
    if (r == 0 && model->parents.was_cycle) {
        r = report_table_note(table, "parents in other processes form a cycle, which was cut");
    }
    return r;
}

int report_note_open(struct report_table *table, const struct report_model *model, unsigned kinds,
                     const char *what) {
    size_t open = report_count_open(model, kinds);
    return open == 0 ? 0
                     : report_table_note(table, "%zu open %s %s: %s no end", open,
                                         open == 1 ? "range is" : "ranges are", what,
                                         open == 1 ? "it has" : "they have");
}
