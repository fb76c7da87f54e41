// SPDX-License-Identifier: Apache-2.0
//
// The NVTX state of an event: which ranges are open at its start, itself included, in its thread
// and process; nvtxt-report(1), "THE MODEL". Any event may be asked for, in any order.
#pragma once

#include "report/model/model.h"
#include "report/table/json.h"
#include "store/value/arena.h"

struct report_placed {
    uint64_t group; // of a push/pop range: thread and domain; of a start/end range: process
    uint32_t event;
};

struct report_placed_ranges {   // of a kind
    struct report_placed *list; // owned; by group, then in order
    size_t count;
    int64_t *ends; // owned: ends[leaves + i] of list[i], above them the largest of two
    size_t leaves; // a power of two
};

struct report_open_ranges {
    const struct report_model *model; // borrowed
    struct report_placed_ranges push_pop, start_end;
    struct report_domain_scope *scopes; // those of the capture by process, domain and id; owned
    uint64_t looks;                     // nodes that were looked at; tests look at it
};

// The model is borrowed. Returns 0 or -ENOMEM.
int report_open_ranges_new(struct report_open_ranges **open, const struct report_model *model);
void report_open_ranges_free(struct report_open_ranges *open); // NULL is fine

// Writes the member "domains": [{"id","name","pushPop":[RANGE],"startEnd":[RANGE]}], by id; stacks
// from the bottom. Uses `arena`. Returns 0 or -ENOMEM.
int report_open_ranges_write(struct report_open_ranges *open, uint32_t event,
                             struct store_arena *arena, struct report_json *json);
