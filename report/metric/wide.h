// SPDX-License-Identifier: Apache-2.0
//
// Integers that are wider than 64 bits: the exact result of one operation on two of 64 bits, and
// exact sums of any number of these.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_exact {
    bool negative; // never of 0
    unsigned __int128 magnitude;
};

// A sum: two's complement, lowest word first. 2^64 results do not make it overflow.
struct report_wide {
    uint64_t words[4];
};

void report_wide_add(struct report_wide *sum, struct report_exact value);
bool report_wide_is_negative(const struct report_wide *sum);
bool report_wide_fits_64(const struct report_wide *sum); // is in 0 ... 2^64 - 1

// The nearest double, ties to even: rounded once.
double report_wide_double(const struct report_wide *sum);
double report_exact_double(struct report_exact value);
