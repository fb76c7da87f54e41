// SPDX-License-Identifier: Apache-2.0
//
// report/diff: what two captures differ in, name by name, and a verdict (nvtxt-report(1), "DIFF").
// It owns the durations of both sides and the rows. One thread. It reads no store and writes no
// format.
//
// A name has changed if the medians differ by more than the gate, and chance hardly ever does that.
// With ten or more ranges on both sides the Mann-Whitney test says so (judge.c); with fewer the
// spans, from the least to the largest duration, have to stand apart. What may be chance is
// inconclusive.
#pragma once

#include "report/diff/durations.h"

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
    REPORT_DIFF_UNDECIDED, // the medians differ, which may be chance: "inconclusive"
    REPORT_DIFF_ADDED,     // only in NEW
    REPORT_DIFF_REMOVED,   // only in BASE
};

struct report_diff_row {
    struct nvtxt_slice name; // DOMAIN:MESSAGE, borrowed of the durations
    enum report_kind kind;
    struct report_diff_side base, new;
    bool has_delta; // false: a side without the name, or with a base of 0
    double delta_pct;
    bool has_z;
    double z; // above 0: NEW is slower
    enum report_diff_change change;
    size_t runs_needed; // UNDECIDED: with so many ranges on each side it would be decided
    bool decides;       // has a share of BASE's time that counts for the verdict
    const struct report_durations_of *sides[2]; // of BASE and NEW; NULL: that side lacks the name
};

#define REPORT_DIFF_REASON 1024
#define REPORT_DIFF_NAMED 8 // names in a reason, at most

struct report_diff {
    struct report_diff_row *rows; // owned; the largest change of summed self time first
    size_t row_count;
    enum report_diff_verdict verdict;
    size_t undecided;                // rows that are
    char reason[REPORT_DIFF_REASON]; // one sentence, with names as they are
    struct report_diff_named {
        size_t at, len; // bytes of the reason
    } named[REPORT_DIFF_NAMED];
    size_t named_count; // where it has names
    bool of_kernels;    // no row is a range
};

// `gate` is in percent. Both sides are borrowed as long as the diff is there. Deinit in each case.
// Returns 0 or -ENOMEM.
int report_diff_init(struct report_diff *diff, const struct report_durations *base,
                     const struct report_durations *new, double gate);
void report_diff_deinit(struct report_diff *diff);

const char *report_diff_verdict_name(enum report_diff_verdict verdict);
const char *report_diff_change_name(enum report_diff_change change);

// ---- One name (judge.c) -------------------------------------------------------------------------

// Compares a name that both sides have, and fills in the rest of its row.
void report_diff_judge(struct report_diff_row *row, const struct report_durations_of *base,
                       const struct report_durations_of *new, double gate);

// z of the two-sided Mann-Whitney test: normal approximation, ties corrected, no correction for
// continuity; 0 when all values are equal. Both arrays are sorted, and not empty.
double report_diff_mann_whitney(const uint64_t *base, size_t base_count, const uint64_t *new,
                                size_t new_count);

// ---- Its histograms (bins.c) --------------------------------------------------------------------

// How the durations of a name that both sides have are spread: over one axis for both, which is
// logarithmic, from the shortest to the longest duration of both sides. Bin i begins at low *
// (high / low)^(i / 24), where a low of 0 counts as 1; all shorter ones are in the first bin. If
// all are equal, they are in the bin in the middle.
#define REPORT_DIFF_BINS 24

struct report_diff_bins {
    uint64_t low, high;                 // ns
    size_t counts[2][REPORT_DIFF_BINS]; // of BASE and NEW
};

void report_diff_bins_fill(struct report_diff_bins *bins, const struct report_durations_of *base,
                           const struct report_durations_of *new);
