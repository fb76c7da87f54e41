// SPDX-License-Identifier: Apache-2.0
//
// Ranks come from a selection (Hoare's, with the middle one of three as pivot), so the values are
// never sorted as a whole; after too many bad pivots a heap takes over. Squares of deviations are
// summed in long double about the mean, in a second pass.
#include "report/model/spread.h"

#include <math.h>

static void swap(uint64_t *a, uint64_t *b) {
    uint64_t value = *a;
    *a = *b;
    *b = value;
}

static void sift_down(uint64_t *heap, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1] > heap[child];
        if (heap[at] >= heap[child]) {
            return;
        }
        swap(&heap[at], &heap[child]);
    }
}

static void heap_sort(uint64_t *values, size_t count) {
    for (size_t i = count / 2; i-- > 0;) {
        sift_down(values, i, count);
    }
    for (size_t left = count; left > 1; left--) {
        swap(&values[0], &values[left - 1]);
        sift_down(values, 0, left - 1);
    }
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c) {
    if (a > b) {
        swap(&a, &b);
    }
    return c < a ? a : c > b ? b : c;
}

#define FEW 16

uint64_t report_nth(uint64_t *values, size_t count, size_t rank) {
    size_t from = 0, end = count;
    unsigned rounds = 0;
    while (end - from > FEW && rounds++ < 128) {
        uint64_t pivot = middle(values[from], values[from + (end - from) / 2], values[end - 1]);
        size_t low = from, high = end - 1;
        for (;;) {
            while (values[low] < pivot) {
                low++;
            }
            while (values[high] > pivot) {
                high--;
            }
            if (low >= high) {
                break;
            }
            swap(&values[low++], &values[high--]);
        }
        // All before `low` are at most the pivot, all from it on at least.
        if (rank < low) {
            end = low;
        } else {
            from = low;
        }
    }
    heap_sort(values + from, end - from);
    return values[rank];
}

size_t report_percentile_rank(size_t count, double percent) {
    // In long double 99.9 / 100 x 1000 is not above 999 by more than its own error; the bit that is
    // taken off is far below one part in the largest count.
    long double place = (long double)percent * (long double)count / 100;
    size_t rank = (size_t)ceill(place - place * 1e-15L);
    return rank == 0 ? 0 : rank > count ? count - 1 : rank - 1;
}

uint64_t report_percentile(uint64_t *values, size_t count, double percent) {
    return report_nth(values, count, report_percentile_rank(count, percent));
}

uint64_t report_largest(const uint64_t *values, size_t count) {
    uint64_t most = values[0];
    for (size_t i = 1; i < count; i++) {
        most = values[i] > most ? values[i] : most;
    }
    return most;
}

double report_median(uint64_t *values, size_t count) {
    if (count == 0) {
        return 0;
    }
    uint64_t upper = report_nth(values, count, count / 2);
    if (count % 2 != 0) {
        return (double)upper;
    }
    unsigned __int128 both = (unsigned __int128)upper + report_largest(values, count / 2);
    return (double)((long double)both / 2);
}

static long double mean_of(unsigned __int128 sum, size_t count) {
    return count > 0 ? (long double)sum / (long double)count : 0;
}

static unsigned __int128 sum_of(const uint64_t *values, size_t count) {
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

double report_average(const uint64_t *values, size_t count) {
    return (double)mean_of(sum_of(values, count), count);
}

static double deviation(const uint64_t *values, size_t count, long double mean) {
    long double squares = 0;
    for (size_t i = 0; i < count; i++) {
        long double off = (long double)values[i] - mean;
        squares += off * off;
    }
    return count < 2 ? 0 : (double)sqrtl(squares / (long double)(count - 1));
}

double report_deviation(const uint64_t *values, size_t count) {
    return deviation(values, count, mean_of(sum_of(values, count), count));
}

struct report_spread report_spread_of(uint64_t *values, size_t count) {
    struct report_spread spread = {.count = count};
    if (count == 0) {
        return spread;
    }
    spread.min = spread.max = values[0];
    for (size_t i = 0; i < count; i++) {
        spread.sum += values[i];
        spread.min = values[i] < spread.min ? values[i] : spread.min;
        spread.max = values[i] > spread.max ? values[i] : spread.max;
    }
    long double mean = mean_of(spread.sum, count);
    spread.avg = (double)mean;
    spread.stddev = deviation(values, count, mean);
    spread.median = report_median(values, count);
    return spread;
}
