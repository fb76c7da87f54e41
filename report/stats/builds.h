// SPDX-License-Identifier: Apache-2.0
//
// What the reports of builds share: the builds of a model, with the names of their steps.
#pragma once

#include "report/model/builds.h"
#include "report/stats/reports.h"

struct report_building {
    struct report_builds builds;
    struct report_table *table;                 // borrowed
    const struct report_stats_options *options; // borrowed
    struct nvtxt_slice *names;                  // of the table
};

// Adds a note when there is no build. Returns 0 or -ENOMEM; call the end after both, with that.
int report_building_init(struct report_building *building, struct report_table *table,
                         const struct report_model *model,
                         const struct report_stats_options *options);
// Adds the notes about parents. Returns `r` if it is not 0; else 0 or -ENOMEM.
int report_building_end(struct report_building *building, int r);

// The name of a step or a run, without the colon of the default domain.
struct nvtxt_slice report_step_text(const struct report_building *building, uint32_t event);

// The name of the run, else that of the source. Empty when memory is short.
struct report_cell report_build_cell(struct report_building *building,
                                     const struct report_build *build);

// A text with two blanks a level before it, of 40 levels at most.
struct report_cell report_indented(struct report_table *table, struct nvtxt_slice text,
                                   uint32_t depth);

// Whether figures count the step: it is selected.
bool report_step_counts(const struct report_building *building,
                        const struct report_build_step *step);

// In percent; empty for nothing of nothing.
struct report_cell report_share(uint64_t part, uint64_t whole);
