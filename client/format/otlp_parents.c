// SPDX-License-Identifier: Apache-2.0
//
// The way up from a span through its parents in other processes. A parent is written after its
// children, but its id comes from its file and row, which are known; and what is around it in its
// own thread was found out when the rows were looked at.
#include <stdlib.h>

#include "client/format/export_nest.h"
#include "client/format/otlp_parts.h"
#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"

// A range that is the parent of others, by the parent's number.
struct otlp_parent {
    uint64_t outermost; // the id of its trace's first span; 0: not looked for yet
    uint32_t nested;    // its index in the nest; EXPORT_NEST_NONE: it is in none
    bool is_shown, is_wanted;
};

void otlp_parents_deinit(struct otlp_parents *parents) {
    free(parents->list);
    free(parents->above);
    free(parents->segments);
    *parents = (struct otlp_parents){0};
}

uint64_t otlp_hash_number(uint64_t hash, uint64_t number) {
    char bytes[8];
    for (size_t i = 0; i < sizeof(bytes); i++, number >>= 8) {
        bytes[i] = (char)(number & 255);
    }
    return nvtxt_hash_stored(hash, (struct nvtxt_slice){bytes, sizeof(bytes)});
}

uint64_t otlp_span_id(uint64_t segment, int64_t row) {
    return otlp_hash_number(segment, (uint64_t)row) ?: 1; // no id is 0
}

int otlp_parents_add_segment(struct otlp_parents *parents, size_t file, uint64_t segment) {
    if (file >= parents->segment_count) {
        uint64_t *last =
            nvtxt_add(&parents->segments, &parents->segment_count, sizeof(*parents->segments));
        if (!last) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    parents->segments[file] = segment;
    return 0;
}

// ---- Looking ------------------------------------------------------------------------------------

// Room up to an index, zeroed.
static int reach(void *list, size_t *count, size_t *room, size_t index, size_t size) {
    char **items = list;
    if (index < *count) {
        return 0;
    }
    if (nvtxt_grow(list, room, index + 1, size) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    memset(*items + *count * size, 0, (index + 1 - *count) * size);
    *count = index + 1;
    return 0;
}

int otlp_parents_look(struct otlp_parents *parents, const struct store_named_event *row,
                      const struct export_nest *nest, bool is_wanted) {
    bool is_nested = row->event->type != NVTXT_EVENT_START_END;
    int r = 0;
    if (row->parent && is_nested) {
        r = reach(&parents->above, &parents->above_count, &parents->above_room, nest->count - 1,
                  sizeof(*parents->above));
        if (r == 0) {
            parents->above[nest->count - 1] = row->parent;
        }
    }
    if (row->as_parent && r == 0) {
        uint32_t number = row->as_parent->number;
        r = reach(&parents->list, &parents->count, &parents->room, number, sizeof(*parents->list));
        if (r == 0) {
            parents->list[number] = (struct otlp_parent){
                .nested = is_nested ? (uint32_t)nest->count - 1 : EXPORT_NEST_NONE,
                .is_shown = true,
                .is_wanted = is_wanted};
        }
    }
    return r;
}

// ---- Climbing -----------------------------------------------------------------------------------

static struct otlp_parent *find(const struct otlp_parents *parents,
                                const struct store_parent *parent) {
    struct otlp_parent *found =
        parent->number < parents->count ? &parents->list[parent->number] : NULL;
    return found && found->is_shown ? found : NULL;
}

static const struct store_parent *above_of(const struct otlp_parents *parents, uint32_t nested) {
    return nested < parents->above_count ? parents->above[nested] : NULL;
}

// One step up: to what is above a parent, past what is around it in its thread. The ids of both
// change as far as they are found.
static const struct store_parent *step(const struct otlp_parents *parents,
                                       const struct export_nested *items,
                                       const struct store_parent *at,
                                       struct otlp_ancestry *ancestry) {
    const struct otlp_parent *parent = find(parents, at);
    uint32_t nested = parent ? parent->nested : EXPORT_NEST_NONE;
    uint64_t id = otlp_span_id(parents->segments[at->file], at->row);
    if (ancestry->around == 0 && parent && parent->is_wanted) {
        ancestry->around = id;
    }
    ancestry->outermost = id;
    if (nested == EXPORT_NEST_NONE) {
        return at->up;
    }
    if (ancestry->around == 0 && items[nested].around != EXPORT_NEST_NONE) {
        ancestry->around = items[items[nested].around].id;
    }
    ancestry->outermost = items[items[nested].outermost].id;
    return items[nested].outermost == nested ? at->up : above_of(parents, items[nested].outermost);
}

// Where threads have ranges of several sources, the ways through lanes may go round, though those
// of the parents alone never do: so no more parents that were looked at come than there are.
static void climb(const struct otlp_parents *parents, const struct export_nested *items,
                  const struct store_parent *first, struct otlp_ancestry *ancestry) {
    const struct store_parent *at = first;
    size_t left = parents->count + 1;
    while (at && at->is_known && left > 0) {
        const struct otlp_parent *parent = find(parents, at);
        left -= parent != NULL;
        if (parent && parent->outermost && ancestry->around) {
            ancestry->outermost = parent->outermost;
            break;
        }
        at = step(parents, items, at, ancestry);
    }
    // All on the way have the same trace.
    struct otlp_ancestry same = {.around = 1};
    for (at = first; at && at->is_known; at = step(parents, items, at, &same)) {
        struct otlp_parent *parent = find(parents, at);
        if (!parent || parent->outermost) {
            break;
        }
        parent->outermost = ancestry->outermost;
    }
}

struct otlp_ancestry otlp_parents_find(const struct otlp_parents *parents,
                                       const struct export_nest *nest,
                                       const struct store_named_event *row,
                                       const struct export_nested *nested, uint64_t id) {
    const struct export_nested *items = nest->items;
    struct otlp_ancestry ancestry = {.outermost = nested ? items[nested->outermost].id : id};
    if (nested && nested->around != EXPORT_NEST_NONE) {
        ancestry.around = items[nested->around].id;
    }
    climb(parents, items, nested ? above_of(parents, nested->outermost) : row->parent, &ancestry);
    return ancestry;
}
