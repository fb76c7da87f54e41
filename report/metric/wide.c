// SPDX-License-Identifier: Apache-2.0
//
// A number becomes a double by its highest 64 bits, the last of them set if any lower bit is: the
// conversion of these rounds as the whole number would.
#include "report/metric/program.h"

#include <math.h>

#define WORDS 4

static void negate(uint64_t *words) {
    unsigned carry = 1;
    for (size_t i = 0; i < WORDS; i++) {
        words[i] = ~words[i] + carry;
        carry = carry && words[i] == 0;
    }
}

void report_wide_add(struct report_wide *sum, struct report_exact value) {
    uint64_t words[WORDS] = {(uint64_t)value.magnitude, (uint64_t)(value.magnitude >> 64), 0, 0};
    unsigned carry = 0;
    if (value.negative) {
        negate(words);
    }
    for (size_t i = 0; i < WORDS; i++) {
        unsigned __int128 word = (unsigned __int128)sum->words[i] + words[i] + carry;
        sum->words[i] = (uint64_t)word;
        carry = (unsigned)(word >> 64);
    }
}

bool report_wide_is_negative(const struct report_wide *sum) {
    return sum->words[WORDS - 1] >> 63;
}

bool report_wide_fits_64(const struct report_wide *sum) {
    return (sum->words[1] | sum->words[2] | sum->words[3]) == 0;
}

double report_wide_double(const struct report_wide *sum) {
    struct report_wide positive = *sum;
    if (report_wide_is_negative(sum)) {
        negate(positive.words);
    }
    size_t top = WORDS - 1;
    while (top > 0 && positive.words[top] == 0) {
        top--;
    }
    uint64_t high = positive.words[top];
    int shift = high ? __builtin_clzll(high) : 0;
    bool more = false;
    if (top > 0) {
        uint64_t next = positive.words[top - 1];
        high = shift ? high << shift | next >> (64 - shift) : high;
        more = (next << shift) != 0;
        for (size_t i = 0; i + 1 < top; i++) {
            more = more || positive.words[i];
        }
    } else {
        shift = 0;
    }
    double value = ldexp((double)(high | more), (int)(64 * top) - shift);
    return report_wide_is_negative(sum) ? -value : value;
}
