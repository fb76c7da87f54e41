// SPDX-License-Identifier: Apache-2.0
//
// Events told apart by a key: which ids there are, and which events each has. One pass over the
// events for all groups together.
#pragma once

#include "report/catalogue/catalogue.h"
#include "report/model/model.h"

// In order of the id. What has no id for the key (no category, no source) is in no group.
struct report_key_groups {
    struct report_id *ids;
    size_t count;
    uint32_t *starts; // count + 1: group g is items[starts[g] .. starts[g + 1]), in order
    uint32_t *items;  // indexes of events in the model; of report_group_raws(): positions
    uint32_t *of;     // the group of each position, or REPORT_NONE; NULL: it may be in several
    const char *na;   // why there can be no groups; NULL: there can
};

// Groups events. Everything in `groups` is of the arena. Returns 0 or -ENOMEM.
int report_group(struct report_key_groups *groups, struct report_model *model,
                 const uint32_t *events, size_t count, enum report_key key,
                 struct store_arena *arena);

// How many groups there would be.
int report_group_count(struct report_model *model, const uint32_t *events, size_t event_count,
                       enum report_key key, size_t *count);

// Things that are no events: of each the raw number of the key, which is the index of a name,
// thread, process, domain, source, or iteration that is not left out (REPORT_NONE: of none). When
// the key is the line, it is an index in `ids`, of which several may be equal.
struct report_raws {
    const uint32_t *raws;
    size_t count;
    const struct report_id *ids;
    size_t id_count;
};

int report_group_raws(struct report_key_groups *groups, struct report_model *model,
                      const struct report_raws *raws, enum report_key key,
                      struct store_arena *arena);

// ---- Ids of groups ------------------------------------------------------------------------------

// What people and scripts call the index of a name, thread, source and so on: the id of a raw
// number of any key but the line. A text is of the capture or of the arena, with data NULL when
// memory is short.
struct report_id report_id_of(const struct report_model *model, enum report_key key, uint32_t raw,
                              struct store_arena *arena);

// Below, at or above 0: the order of ids of one kind.
int report_id_compare(const struct report_id *a, const struct report_id *b);

// FILE:LINE of a source; its text is of the arena, with data NULL when memory is short.
struct report_id report_line_id(const struct report_source *source, uint64_t line,
                                struct store_arena *arena);
