// SPDX-License-Identifier: Apache-2.0
//
// The test walks through the two sorted pieces: equal values share the mean of their ranks. With
// few values it says nothing. Then chance alone puts all values of one side below all of the other
// once in C(n + m, n) times, and two narrow spans that are far apart are seldom chance either.
#include <math.h>

#include "report/diff/diff.h"

#define TESTED 10         // ranges on both sides, from which on they are tested
#define LEAST_GATE 2.0    // percent, without the test
#define SIGNIFICANT 2.576 // |z| at 1 %
#define RARE 100          // chance does it once in so many times
#define NARROW 3          // ranges on each side whose span says something

double report_diff_mann_whitney(const uint64_t *base, size_t base_count, const uint64_t *new,
                                size_t new_count) {
    long double n1 = (long double)base_count, n2 = (long double)new_count, n = n1 + n2;
    long double ranks = 0, ties = 0, before = 0; // ranks of NEW; sum of t^3 - t
    for (size_t i = 0, k = 0; i < base_count || k < new_count;) {
        uint64_t value = k == new_count || (i < base_count && base[i] < new[k]) ? base[i] : new[k];
        size_t i_end = i, k_end = k;
        while (i_end < base_count && base[i_end] == value) {
            i_end++;
        }
        while (k_end < new_count && new[k_end] == value) {
            k_end++;
        }
        long double equal = (long double)(i_end - i + k_end - k);
        ranks += (long double)(k_end - k) * (before + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
        before += equal;
        i = i_end;
        k = k_end;
    }
    long double u = ranks - n2 * (n2 + 1) / 2;
    long double variance = n > 1 ? n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1))) : 0;
    return variance > 0 ? (double)((u - n1 * n2 / 2) / sqrtl(variance)) : 0;
}

static uint64_t span(const struct report_durations_of *of) {
    return of->values[of->side.count - 1] - of->values[0];
}

// How far the spans are from each other; 0: they meet.
static uint64_t gap(const struct report_durations_of *base, const struct report_durations_of *new) {
    uint64_t base_end = base->values[base->side.count - 1];
    uint64_t new_end = new->values[new->side.count - 1];
    return base_end < new->values[0]   ? new->values[0] - base_end
           : new_end < base->values[0] ? base->values[0] - new_end
                                       : 0;
}

// Whether C(n + m, n) is RARE or more. Each product is such a number itself, so it is exact.
static bool is_rare(size_t n, size_t m) {
    size_t few = n < m ? n : m, many = n < m ? m : n;
    uint64_t ways = 1;
    for (size_t i = 1; i <= few && ways < RARE && many < RARE; i++) {
        ways = ways * (many + i) / i;
    }
    return few > 0 && (ways >= RARE || many >= RARE);
}

static bool is_apart(const struct report_durations_of *base,
                     const struct report_durations_of *new) {
    uint64_t wide = span(base) > span(new) ? span(base) : span(new);
    uint64_t between = gap(base, new);
    bool narrow = base->side.count >= NARROW && new->side.count >= NARROW &&between >= wide;
    return between > 0 && (narrow || is_rare(base->side.count, new->side.count));
}

// If the spans stay apart, a few more are enough; else there have to be enough for the test.
static size_t runs_needed(const struct report_durations_of *base,
                          const struct report_durations_of *new) {
    size_t n = base->side.count, m = new->side.count, runs = 1;
    if (gap(base, new) == 0) {
        return TESTED;
    }
    while (!is_rare(n > runs ? n : runs, m > runs ? m : runs)) {
        runs++;
    }
    return runs;
}

void report_diff_judge(struct report_diff_row *row, const struct report_durations_of *base,
                       const struct report_durations_of *new, double gate) {
    bool tested = base->side.count >= TESTED && new->side.count >= TESTED;
    double before = base->side.med, after = new->side.med;
    double least = tested || gate > LEAST_GATE ? gate : LEAST_GATE;
    bool differs = before != after;
    row->has_delta = before > 0 || !differs;
    row->delta_pct = differs && row->has_delta ? 100 * (after - before) / before : 0;
    differs = row->has_delta ? fabs(row->delta_pct) > least : differs;
    row->change = after > before ? REPORT_DIFF_SLOWER : REPORT_DIFF_FASTER;
    if (tested) {
        row->has_z = true;
        row->z =
            report_diff_mann_whitney(base->values, base->side.count, new->values, new->side.count);
        differs = differs && fabs(row->z) >= SIGNIFICANT;
    } else if (differs && !is_apart(base, new)) {
        row->change = REPORT_DIFF_UNDECIDED;
        row->runs_needed = runs_needed(base, new);
    }
    row->change = differs ? row->change : REPORT_DIFF_SAME;
}
