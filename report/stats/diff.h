// SPDX-License-Identifier: Apache-2.0
//
// What the ranges of two captures differ in, name by name, and a verdict (nvtxt-report(1), "diff").
// With ten or more ranges on both sides the medians are compared, and the Mann-Whitney test has to
// agree that they differ; with fewer the means are.
#pragma once

#include "report/model/model.h"

// What is compared in place of ranges: durations of kernels. The names are borrowed as long as the
// diff is there.
struct report_diff_sample {
    struct nvtxt_slice name;
    uint64_t ns;
};

struct report_diff_samples {
    struct report_diff_sample *items; // they are put into another order
    size_t count;
};

enum report_diff_verdict {
    REPORT_DIFF_NEUTRAL,
    REPORT_DIFF_IMPROVEMENT,
    REPORT_DIFF_REGRESSION,
    REPORT_DIFF_INCONCLUSIVE,
};

enum report_diff_change {
    REPORT_DIFF_SAME,
    REPORT_DIFF_SLOWER,
    REPORT_DIFF_FASTER,
    REPORT_DIFF_ADDED,   // only in NEW
    REPORT_DIFF_REMOVED, // only in BASE
};

struct report_diff_side {
    size_t count; // 0: the side has no range of the name
    double avg, med;
    unsigned __int128 total, self; // ns; the self time of start/end ranges is their total
};

struct report_diff_row {
    struct nvtxt_slice name; // DOMAIN:MESSAGE, in the memory of the diff
    enum report_kind kind;
    struct report_diff_side base, new;
    bool has_delta; // false: a side without the name, or with a base of 0
    double delta_pct;
    bool has_z;
    double z; // above 0: NEW is slower
    enum report_diff_change change;
    bool decides; // has a share of BASE's time that counts for the verdict
};

#define REPORT_DIFF_REASON 512

struct report_diff {
    struct report_diff_row *rows; // the largest change of summed self time first
    size_t row_count;
    enum report_diff_verdict verdict;
    char reason[REPORT_DIFF_REASON]; // one sentence, with names as they are
    size_t open_base, open_new;      // open ranges that were left out
    bool of_kernels;                 // no row is a range
    struct nvtxt_slice *names[2];
};

// `gate` is in percent. Both models are borrowed for the call; the rows do not point into them.
// Deinit in each case. Return 0 or -ENOMEM.
int report_diff_init(struct report_diff *diff, const struct report_model *base,
                     const struct report_model *new, double gate);
int report_diff_kernels_init(struct report_diff *diff, const struct report_diff_samples *base,
                             const struct report_diff_samples *new, double gate);
void report_diff_deinit(struct report_diff *diff);

const char *report_diff_verdict_name(enum report_diff_verdict verdict);
const char *report_diff_change_name(enum report_diff_change change);

// z of the two-sided Mann-Whitney test: normal approximation, ties corrected, no correction for
// continuity; 0 when all values are equal. Both arrays are sorted, and not empty.
double report_mann_whitney(const uint64_t *base, size_t base_count, const uint64_t *new,
                           size_t new_count);
