// SPDX-License-Identifier: Apache-2.0
//
// The NVTX state of an event: which ranges are open at its start, itself included, in its thread
// and process; nvtxt-report(1), "THE MODEL". Any event may be asked for, in any order.
#pragma once

#include "report/model/model.h"
#include "report/render/kit/json.h"
#include "store/value/arena.h"

struct report_open_ranges;

// The model is borrowed. Returns 0 or -ENOMEM.
int report_open_ranges_new(struct report_open_ranges **open, const struct report_model *model);
void report_open_ranges_free(struct report_open_ranges *open); // NULL is fine

// Writes the member "domains": [{"id","name","pushPop":[RANGE],"startEnd":[RANGE]}], by id; stacks
// from the bottom. Uses `arena`. Returns 0 or -ENOMEM.
int report_open_ranges_write(const struct report_open_ranges *open, uint32_t event,
                             struct store_arena *arena, struct report_json *json);
