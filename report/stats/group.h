// SPDX-License-Identifier: Apache-2.0
//
// Events by group: those of one group side by side, in the order of the model. A group is a number,
// such as a name's.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"
#include "report/table/table.h"

struct report_groups {
    size_t group_count;
    size_t *first;    // group_count + 1: where the events of each group begin
    uint32_t *events; // indexes in the order of the model
};

// The group of an event, below the count; REPORT_NONE: it is left out.
typedef uint32_t report_group_function(const void *context, const struct report_event *event);

// Groups the selected events. Returns 0 or -ENOMEM; deinit in each case.
int report_groups_init(struct report_groups *groups, const struct report_model *model,
                       size_t group_count, report_group_function *group_of, const void *context);
void report_groups_deinit(struct report_groups *groups);

static inline size_t report_group_size(const struct report_groups *groups, size_t group) {
    return groups->first[group + 1] - groups->first[group];
}

// Adds notes of parents in other processes that are unknown, and of a cycle of them that was cut.
// `*said`: another table has them, so this one does not; it is set here. NULL: there is no other.
// Returns 0 or -ENOMEM.
int report_note_parents(struct report_table *table, const struct report_model *model, bool *said);

// The number of selected open ranges of these kinds (bits, see report/model/spans.h).
size_t report_count_open(const struct report_model *model, unsigned kinds);

// Adds a note that open ranges of these kinds are `what`, such as "left out", if any is selected.
// Returns 0 or -ENOMEM.
int report_note_open(struct report_table *table, const struct report_model *model, unsigned kinds,
                     const char *what);
