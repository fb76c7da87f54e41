// SPDX-License-Identifier: Apache-2.0
//
// The pattern of a text: what differs from one line of a log to the next becomes '#'. The rules are
// those of nvtxt-report(1), "LOGS". Nearly every pattern is the pattern of itself.
#pragma once

#include <stdbool.h>

#include "protocol/base/slice.h"

#define REPORT_MASK_BYTES 1000 // of a text that are looked at
#define REPORT_MASK_ROOM (REPORT_MASK_BYTES / 2 * 3 + 8)
#define REPORT_MASK_PLACES 32 // of a text that are remembered

struct report_mask {
    struct nvtxt_slice text; // as given; borrowed, at most REPORT_MASK_BYTES of it
    size_t len;
    char pattern[REPORT_MASK_ROOM];
    size_t place_count;                            // at most REPORT_MASK_PLACES
    struct nvtxt_slice places[REPORT_MASK_PLACES]; // of the text, in order: what became '#'
};

// Makes the pattern of a text of UTF-8. A longer text is cut, and U+2026 stands for the rest.
void report_mask(struct report_mask *mask, struct nvtxt_slice text);

static inline struct nvtxt_slice report_mask_pattern(const struct report_mask *mask) {
    return (struct nvtxt_slice){mask->pattern, mask->len};
}

// Whether what was masked is a number, such as -1.5e3 or 1,234.5; then `*value` is that.
bool report_mask_number(struct nvtxt_slice place, double *value);

// ---- For mask.c: things that begin at a place and are masked as a whole (mask_things.c) ---------

static inline bool report_mask_is_word(char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

// How many bytes the thing at `at` has: a time, a UUID, an address, a hexadecimal number with 0x.
// Before `at` stands no letter or digit. 0: there is none.
size_t report_mask_thing(const char *at, const char *end);

// The same of an address of IPv6 alone.
size_t report_mask_ipv6(const char *at, const char *end);
