// SPDX-License-Identifier: Apache-2.0
//
// What can be served: ranges of actions with metrics, and the NVTX state of each action. A source
// of objects begins with this struct, and fills it in: captured for stores, profiled for report
// files of Nsight Compute.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/catalogue/value.h"
#include "report/model/model.h"
#include "report/select/selection.h"
#include "report/table/json.h"
#include "store/value/arena.h"

struct report_definitions;
struct report_launches;
struct report_metrics;
struct report_objects;

enum report_base { REPORT_BASE_FUNCTION, REPORT_BASE_DEMANGLED, REPORT_BASE_MANGLED };

// Indexes of ranges and actions are there: the caller looked. What a call makes is of `arena`. All
// that return an int return 0 or -ENOMEM, where nothing else is said.
struct report_objects_calls {
    size_t (*count)(const struct report_objects *objects, size_t range); // of its actions
    int (*range_name)(const struct report_objects *objects, size_t range, struct store_arena *arena,
                      struct nvtxt_slice *name);
    // An event has one name, whatever the base is.
    struct nvtxt_slice (*action_name)(const struct report_objects *objects, size_t range,
                                      size_t action, enum report_base base);
    // The names of all its metrics, until those of another action are asked; NULL after the last.
    int (*metric_names)(const struct report_objects *objects, size_t range, size_t action,
                        struct store_arena *arena, const char *const **names);
    // The metric, or NULL: the action has none of that name. Its unit and its description are not
    // of the arena: they live as long as the objects, since a column of `values` shows them after
    // the arena was used for other actions.
    int (*metric)(const struct report_objects *objects, size_t range, size_t action,
                  const char *name, struct store_arena *arena, const struct report_metric **metric);
    // The same of everything; all are NULL where there is none. What they give lives until
    // summary_done().
    int (*summary_name)(const struct report_objects *objects, struct store_arena *arena,
                        struct nvtxt_slice *name);
    int (*summary_names)(struct report_objects *objects, struct store_arena *arena,
                         const char *const **names);
    int (*summary)(struct report_objects *objects, const char *name,
                   const struct report_metric **metric);
    void (*summary_done)(struct report_objects *objects);
    // The actions of a range that filter expressions take, as `*count` ascending indexes. `key`
    // tells filters apart: the same one may be answered from what is kept. Also returns
    // NVTXT_WRONG.
    int (*by_nvtx)(struct report_objects *objects, size_t range,
                   const struct report_selection *filters, const char *key,
                   struct store_arena *arena, const uint32_t **actions, size_t *count,
                   struct report_fault *fault);
    // Writes the domains of its state as an array, the member `domains`.
    int (*state)(struct report_objects *objects, size_t range, size_t action,
                 struct store_arena *arena, struct report_json *json);
    // Writes an action as an event, the next element of an array. NULL: they are no events.
    void (*event)(struct report_objects *objects, size_t range, size_t action,
                  struct report_json *json);
    // See report_objects_set_scope() and report_objects_free().
    void (*set_scope)(struct report_objects *objects, struct report_metrics *metrics,
                      const struct report_definitions *definitions);
    void (*free)(struct report_objects *objects);
};

// In place of a range: the one action that a rule is about, where objects have it; see `has_scope`.
#define REPORT_RANGE_OF_SCOPE SIZE_MAX

struct report_objects {
    const struct report_objects_calls *calls;
    const char *kind;        // "nvtxt", "nsys", "ncu-rep"
    struct nvtxt_slice path; // as the caller named it
    size_t range_count;
    bool has_scope; // what a request says of everything is said of one action
};

// From now on what is said of everything, the summary, is said of these metrics: of a scope, which
// is a result for a report file. They are borrowed until the next call; `definitions` (NULL: none)
// are listed, too. NULL for both: of the whole capture; of a report file there is no summary then.
static inline void report_objects_set_scope(struct report_objects *objects,
                                            struct report_metrics *metrics,
                                            const struct report_definitions *definitions) {
    objects->calls->set_scope(objects, metrics, definitions);
}

static inline void report_objects_free(struct report_objects *objects) { // NULL is fine
    if (objects) {
        objects->calls->free(objects);
    }
}

// captured.c: the names of a summary: of all that is listed. See report_objects_calls.metric_names.
int report_objects_list(const struct report_definitions *definitions, struct store_arena *arena,
                        const char *const **names);

// ---- The events of stores -----------------------------------------------------------------------

// A range is a thread, an action an event. The model is borrowed, and has its selection; a thread
// without a selected event is no range.
// Returns 0 or -ENOMEM.
int report_captured_new(struct report_objects **objects, struct report_model *model);

// event_metrics.c: the metrics of one event: nvtxt-metrics(7), "METRICS OF AN EVENT".

// What may be asked for, in the order of the names.
struct report_event_metric_row {
    const char *name, *unit, *text;
    enum report_type type;
    const char *of; // which events have it
};
size_t report_event_metric_count(void);
struct report_event_metric_row report_event_metric_row(size_t i);

// What is made is of `arena`. `event` is an index in the order. Both return 0 or -ENOMEM.
// The names end with NULL; the metric is NULL when the event has none of that name.
int report_event_metric_names(const struct report_model *model, uint32_t event,
                              struct store_arena *arena, const char *const **names);
int report_event_metric(const struct report_model *model, uint32_t event, const char *name,
                        struct store_arena *arena, const struct report_metric **metric);

// The payload as a value: an integer below 0 is a double. False: there is none.
bool report_event_payload(const struct report_event *event, struct report_value *value);

// ---- A report file of Nsight Compute ------------------------------------------------------------

// A range is a pair of context and stream, an action a result that is looked at. There is no
// summary but that of a scope, and there are no events. The launches are borrowed. Returns 0 or
// -ENOMEM.
int report_profiled_new(struct report_objects **objects, struct report_launches *launches);
