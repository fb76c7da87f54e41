// SPDX-License-Identifier: Apache-2.0
//
// The durations of one side of a comparison, by name and kind: of the selected ranges of a model,
// of kernels, or of a baseline. Open ranges have none and are counted only.
#pragma once

#include "protocol/text/out.h"
#include "report/model/model.h"

// What is compared in place of ranges: durations of kernels.
struct report_diff_sample {
    struct nvtxt_slice name;
    uint64_t ns;
};

struct report_diff_samples {
    struct report_diff_sample *items; // they are put into another order
    size_t count;
};

struct report_diff_side {
    size_t count; // 0: the side has no range of the name
    double avg, med;
    unsigned __int128 total, self; // ns; the self time of start/end ranges is their total
};

// Those of one name and kind.
struct report_durations_of {
    struct nvtxt_slice name;   // DOMAIN:MESSAGE
    struct nvtxt_slice domain; // tells the message "A:b" from the message "b" of the domain "A"
    enum report_kind kind;     // PUSH_POP or START_END; of kernels PUSH_POP
    uint64_t *values;          // ns, sorted; `side.count` of them, at least one
    struct report_diff_side side;
};

struct report_durations {
    struct report_durations_of *list; // owned; by name, domain, kind
    size_t count;
    unsigned __int128 total;
    size_t open;     // selected open ranges: they are left out
    bool of_kernels; // no name is a range's
    // What `list` points to, owned.
    uint64_t *values;
    struct nvtxt_slice *names;
    char *texts; // of a baseline
};

// The model with its capture, or the texts of the samples, are borrowed as long as the durations
// are there. Deinit in each case. Return 0 or -ENOMEM.
int report_durations_init(struct report_durations *durations, const struct report_model *model);
int report_durations_kernels_init(struct report_durations *durations,
                                  const struct report_diff_samples *samples);
void report_durations_deinit(struct report_durations *durations); // fine when zeroed

// For who fills in a side: room for so many names and values; all names in their order. reserve()
// returns 0 or -ENOMEM.
int report_durations_reserve(struct report_durations *durations, size_t names, size_t values);
void report_durations_sort(struct report_durations *durations);

// The order of `list`: below 0, 0 or above 0.
int report_durations_compare(const struct report_durations_of *a,
                             const struct report_durations_of *b);

// Sorts the values of one name, fills in its figures but `self`, and counts them into the total.
void report_durations_finish(struct report_durations *durations, struct report_durations_of *of,
                             size_t count);

// ---- As a file (baseline.c) ---------------------------------------------------------------------
//
// A baseline: the durations of one side as a file, so that what is compared later needs no store of
// then. It has all that a comparison uses, each single duration: a diff with a baseline and one
// with the store that it was made of are the same. nvtxt-report(1), "DIFF", describes the format:
// one JSON object with a version.

// Writes the durations. The output remembers a failure.
void report_baseline_write(struct nvtxt_out *out, const struct report_durations *durations);

// Reads durations; `text` is not needed after it. Returns 0, NVTXT_WRONG with what is wrong in
// `sentence`, or -ENOMEM. Deinit in each case.
#define REPORT_BASELINE_SENTENCE 256
int report_baseline_read(struct report_durations *durations, struct nvtxt_slice text,
                         char sentence[REPORT_BASELINE_SENTENCE]);
