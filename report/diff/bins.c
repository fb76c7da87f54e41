// SPDX-License-Identifier: Apache-2.0
//
// The durations of a side are sorted, so the axis is known from their ends.
#include <math.h>

#include "report/diff/diff.h"

static size_t bin_of(const struct report_diff_bins *bins, uint64_t ns) {
    double low = bins->low > 0 ? (double)bins->low : 1, high = (double)bins->high;
    if (bins->low == bins->high) {
        return REPORT_DIFF_BINS / 2;
    }
    if ((double)ns <= low || high <= low) {
        return 0;
    }
    size_t bin = (size_t)(log((double)ns / low) / log(high / low) * REPORT_DIFF_BINS);
    return nvtxt_min(bin, REPORT_DIFF_BINS - 1);
}

void report_diff_bins_fill(struct report_diff_bins *bins, const struct report_durations_of *base,
                           const struct report_durations_of *new) {
    const struct report_durations_of *const sides[2] = {base, new};
    const uint64_t base_high = base->values[base->side.count - 1];
    const uint64_t new_high = new->values[new->side.count - 1];
    *bins = (struct report_diff_bins){
        .low = nvtxt_min(base->values[0], new->values[0]),
        .high = nvtxt_max(base_high, new_high),
    };
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < sides[side]->side.count; i++) {
            bins->counts[side][bin_of(bins, sides[side]->values[i])]++;
        }
    }
}
