// SPDX-License-Identifier: Apache-2.0
//
// PCRE2 expressions: UTF, case-sensitive, searched anywhere. A text that is not UTF-8 is searched
// where it is. All work of one expression is bounded, so that no expression runs for long.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

struct report_regex;

enum report_regex_result {
    REPORT_REGEX_NO = 0,
    REPORT_REGEX_YES = 1,
    REPORT_REGEX_COSTLY = 2, // it reached its bound
};

#define REPORT_REGEX_SENTENCE 256

// Returns 0, 1 for an expression that PCRE2 refuses, with its sentence and the offset of the place
// in bytes, or -ENOMEM.
int report_regex_new(struct report_regex **regex, struct nvtxt_slice pattern,
                     char sentence[REPORT_REGEX_SENTENCE], size_t *offset);
void report_regex_free(struct report_regex *regex); // NULL is fine

// Returns a value of enum report_regex_result or -ENOMEM.
int report_regex_search(struct report_regex *regex, struct nvtxt_slice text);
