// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them, and as programs do where they are text. What is not finite is a word
// everywhere: "inf", "-inf" or "nan".
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/text/out.h"

#define REPORT_NUMBER 448 // 309 digits, their commas, sign, decimals and NUL

// "inf", "-inf" or "nan"; NULL: it is finite.
const char *report_number_word(double value);

// "1,234,567" and, with one decimal, "-1,234.5" into `text`; returns the length.
size_t report_number_uint(char text[REPORT_NUMBER], uint64_t value);
size_t report_number_int(char text[REPORT_NUMBER], int64_t value);
size_t report_number_real(char text[REPORT_NUMBER], double value);
size_t report_number_fixed(char text[REPORT_NUMBER], double value, int decimals); // with so many

// At most `decimals` (1 or more), none of them a zero at the end: "0.5", "12". Without commas.
size_t report_number_short(char text[REPORT_NUMBER], double value, int decimals);

// At most three decimals, rounded half away from zero, with commas; beyond 9e15 all digits of the
// double, without.
size_t report_number_rounded(char text[REPORT_NUMBER], double value);

// value / unit, a power of ten: its exact decimals, at least one.
size_t report_number_over(char text[REPORT_NUMBER], uint64_t value, uint64_t unit);

// The digits of a value, at the end of `text`.
#define REPORT_NUMBER_WIDE 40
struct nvtxt_slice report_number_wide(char text[REPORT_NUMBER_WIDE], unsigned __int128 value);

// The shortest text that reads back as the same, or the word.
void report_number_write(struct nvtxt_out *out, double value);
