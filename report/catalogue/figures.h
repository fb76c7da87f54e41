// SPDX-License-Identifier: Apache-2.0
//
// What the metrics of a scope have in common while they are computed.
#pragma once

#include "report/catalogue/group.h"

// See report_samples_get(). Without a key there is one group.
struct report_samples {
    bool filled;
    enum report_catalogue_id id;
    enum report_key key;
    const char *na;    // why there are none; NULL: there may be
    const char *empty; // why a group without any has no average and the like
    bool real;
    bool ones;                   // all values are 1, and there is no array of them
    uint64_t *values;            // of group g: [starts[g] .. starts[g + 1])
    double *reals;               // instead of them
    const double *averages;      // beside `values`, when they are not the means of these
    const struct report_id *ids; // of the groups; NULL without a key
    const uint32_t *starts;
    size_t count; // groups
    struct store_arena arena;
};

// What an event is, a bit each, so that most figures look at one byte of it.
enum report_trait {
    REPORT_IS_EVENT = 1,
    REPORT_IS_MARK = 2,
    REPORT_IS_PUSH_POP = 4,
    REPORT_IS_START_END = 8,
    REPORT_IS_OPEN = 16,
    REPORT_IS_UNCLOSED = 32,
    REPORT_IS_BACKWARD = 64,
    REPORT_HAS_NUMBER = 128, // its payload
};

// The scope's events by their threads or processes, by index in the capture; two of one id in two
// stores stay two. Part p has events[starts[p] .. starts[p + 1]), in order.
struct report_parts {
    uint32_t *starts, *events;
    size_t count;
};

struct report_figures {
    struct report_model *model;       // borrowed; NULL: of a result, which computes none
    const struct report_scope *scope; // borrowed
    struct store_arena arena;         // of what the metrics point to
    struct store_arena kept;          // of groups
    struct report_key_groups groups[REPORT_KEY_EVENT + 1];
    bool grouped[REPORT_KEY_EVENT + 1];
    struct report_samples samples[4];       // the last without a key, with one; the same of counts
    uint64_t elapsed_ns;                    // from the smallest start to the largest start or end
    unsigned timed;                         // REPORT_KIND() of its ranges that have an end
    const uint8_t *traits;                  // of each event of the scope; NULL: not asked for yet
    struct report_parts threads, processes; // the same
};

void report_figures_init(struct report_figures *figures, struct report_model *model,
                         const struct report_scope *scope);
void report_figures_deinit(struct report_figures *figures);

// The scope's events by a key. Returns 0 or -ENOMEM.
int report_figures_groups(struct report_figures *figures, enum report_key key,
                          const struct report_key_groups **groups);

// enum report_trait of an event.
uint8_t report_traits_of(const struct report_event *event);

// The same of each of the scope's events, in their order. NULL when memory is short.
const uint8_t *report_figures_traits(struct report_figures *figures);

// `key` is the thread or the process. NULL when memory is short.
const struct report_parts *report_figures_parts(struct report_figures *figures,
                                                enum report_key key);

// Whether one of the stores is of nvtxtd, and no export.
bool report_has_store(const struct report_capture *capture);

// ---- Metrics ------------------------------------------------------------------------------------

// Sets value and na of an attribute, which is known of a capture as a whole: capture__attribute_*.
// Returns 0 or -ENOMEM.
int report_attribute(struct report_figures *figures, enum report_catalogue_id id,
                     struct report_metric *metric);

// A metric of the catalogue, from the events of the scope. Fills `metric` (its name is there
// already). What it points to is of figures->arena. Returns 0 or -ENOMEM.
int report_compute(struct report_figures *figures, const struct report_catalogue_metric *which,
                   struct report_metric *metric);

// ---- What roll-ups are made of ------------------------------------------------------------------

// Numbers that are no numbers of single events: gaps, intervals, busy times, iterations, counts of
// sources. Each item has the raw number of its key (report_group_raws()) and a value; where the
// samples are doubles, `values` has their bits. A user zeroes it first.
struct report_items {
    uint32_t *raws;
    uint64_t *values;
    double *averages; // beside `values`; NULL when the figure has none of its own
    size_t count, room;
    struct report_id *ids; // of raw numbers, when the key is the line; texts: of the samples
    size_t id_count;
};

void report_items_deinit(struct report_items *items);

// Collects the items of samples->id. Sets samples->na when there can be none, samples->empty, and
// samples->real. Returns 0 or -ENOMEM.
int report_items_collect(struct report_figures *figures, struct report_samples *samples,
                         struct report_items *items);

// The numbers that the roll-ups of a metric are made of: durations, self times, payloads, gaps, one
// for each thing, and told apart by a key. Sets `samples`; they live until others were asked for
// twice. Returns 0 or -ENOMEM.
int report_samples_get(struct report_figures *figures, const struct report_catalogue_metric *which,
                       const struct report_samples **samples);
