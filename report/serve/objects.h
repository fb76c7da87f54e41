// SPDX-License-Identifier: Apache-2.0
//
// What can be served: ranges of actions with metrics, and the NVTX state of each action. A source
// of objects begins with this struct, and fills it in: captured.h for stores, profiled.h for report
// files of Nsight Compute.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/catalogue/value.h"
#include "report/render/kit/json.h"
#include "report/select/selection.h"
#include "store/value/arena.h"

struct report_objects;

enum report_base { REPORT_BASE_FUNCTION, REPORT_BASE_DEMANGLED, REPORT_BASE_MANGLED };

#define REPORT_OBJECTS_WRONG 1 // a result: the fault says what is wrong with a filter

// Indexes of ranges and actions are there: the caller looked. What a call makes is of `arena`. All
// that return an int return 0 or -ENOMEM, where nothing else is said.
struct report_objects_calls {
    size_t (*count)(const struct report_objects *objects, size_t range); // of its actions
    int (*range_name)(const struct report_objects *objects, size_t range, struct store_arena *arena,
                      struct nvtxt_slice *name);
    // An event has one name, whatever the base is.
    struct nvtxt_slice (*action_name)(const struct report_objects *objects, size_t range,
                                      size_t action, enum report_base base);
    // The names of all its metrics; NULL after the last one.
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
    // REPORT_OBJECTS_WRONG.
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
};

struct report_objects {
    const struct report_objects_calls *calls;
    const char *kind;        // "nvtxt", "nsys", "ncu-rep"
    struct nvtxt_slice path; // as the caller named it
    size_t range_count;
};
