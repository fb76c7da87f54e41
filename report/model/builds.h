// SPDX-License-Identifier: Apache-2.0
//
// Builds: what `nvtxt-send --steps` recorded, as steps below a run, and the job slots that they
// held. A step is a start/end range that has a key and is no run; a run has the key "run", or one
// that begins with "run-". nvtxt-report(1), "BUILDS", has the rules. It owns its arrays; all of it
// comes from all that is loaded, selected or not.
//
// A step holds a slot while none of the steps directly below it runs: a leaf always, the step of a
// sub-make while that reads its makefile. So the times that steps hold slots are their own times,
// and no moment of a slot belongs to two steps.
#pragma once

#include "report/model/model.h"

struct report_build_step {
    uint32_t event;   // in the order of the model
    uint32_t build;   // index of a build
    uint32_t under;   // index of the step below which it is, or REPORT_NONE: the run
    uint32_t below;   // how many steps are directly below it
    uint32_t slot;    // that of its first time, from 1; 0: it never holds one
    uint64_t held_ns; // in all its times
};

// A time in which a step holds a slot.
struct report_held {
    int64_t from, to;
    uint32_t step; // index
    uint32_t slot; // from 1: the lowest one that is free at `from`
};

struct report_build {
    uint32_t source;               // of its steps
    uint32_t run;                  // event; REPORT_NONE: it has not ended, or was killed
    int64_t start, end;            // of the run and all steps
    size_t first, count;           // its steps, in order
    size_t first_held, held_count; // their times, by `from`, then step
    uint32_t slots;                // the most that were held at a time
    uint64_t held_ns;              // by all steps
};

struct report_builds {
    const struct report_model *model; // borrowed
    struct report_build *builds;      // as their first steps come
    size_t count;
    struct report_build_step *steps;
    size_t step_count;
    struct report_held *held;
    size_t held_count;
    // By event: the index of its step, and the build whose run it is, or REPORT_NONE. Both NULL
    // where no event has a parent in another process.
    uint32_t *step_of, *build_of_run;
};

// Returns 0 or -ENOMEM; deinit is fine after both.
int report_builds_init(struct report_builds *builds, const struct report_model *model);
void report_builds_deinit(struct report_builds *builds); // fine when zeroed

// How long how many slots of a build were held, by steps that are selected.
struct report_slot_levels {
    uint64_t *of; // owned; ns by number of slots, from 0 to `slots` of the build
    uint64_t
        *alone; // owned; by step, from the first one of the build: ns in which no other held one
};

// Returns 0 or -ENOMEM; deinit is fine after both.
int report_slot_levels_init(struct report_slot_levels *levels, const struct report_builds *builds,
                            const struct report_build *build);
void report_slot_levels_deinit(struct report_slot_levels *levels);
