// SPDX-License-Identifier: Apache-2.0
//
// The metrics that the catalogue does not have: defined ones and those of files. Only this room
// includes it.
#pragma once

#include "protocol/table/hash.h"
#include "report/metric/definitions.h"
#include "report/metric/expression.h"
#include "store/value/arena.h"

struct report_defined {
    struct nvtxt_hash_node node; // by name
    const char *name, *unit, *description;
    enum report_origin origin;
    enum report_aggregate aggregate;
    const void *owner;
    struct report_expression *expression; // owned; NULL of a file's metric
    struct report_metric metric;          // of a file
    size_t number;                        // order of addition
    // While cycles are looked for: how many definitions it needs one after the other, 0: not known
    // yet; and whether it is being looked at.
    unsigned height;
    bool on_path;
};

// The name of a definition whose filter does not match.
struct report_left_out {
    struct nvtxt_slice name;
    struct report_left_out *next;
};

struct report_definitions {
    struct report_defined **all; // owned; in order of addition
    size_t count, room;
    size_t added; // also those that were dropped
    struct nvtxt_hash table;
    struct store_arena arena; // texts and the metrics of files
    enum report_aggregate aggregate;
    char (*listed)[REPORT_METRIC_NAME_BYTES]; // the names of the catalogue; owned
    size_t listed_count;
    const struct report_given *given; // borrowed; NULL: the catalogue
    struct report_left_out *left_out; // of the arena
};

// NULL: there is none. `definitions` may be NULL.
struct report_defined *report_definitions_find(const struct report_definitions *definitions,
                                               struct nvtxt_slice name);

// Makes room for a definition of that name and puts it in. Returns 0, NVTXT_WRONG with a fault when
// the name is no name or there already, or -ENOMEM.
int report_definitions_put(struct report_definitions *definitions, struct nvtxt_slice name,
                           struct report_defined **defined, struct report_expression_fault *fault);

// Takes the newest one out again.
void report_definitions_take_back(struct report_definitions *definitions);

// Fills in a fault.
int report_definition_fault(struct report_expression_fault *fault, unsigned column,
                            const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
