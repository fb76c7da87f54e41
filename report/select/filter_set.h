// SPDX-License-Identifier: Apache-2.0
//
// Filter expressions made ready for a capture: every message and domain is looked at once, then
// matching is work on bits.
//
// All expressions share one row of bits. A push/pop expression with n names (and `+`) has n + 1 of
// them: bit k of its own is set while the first k names are found on the stack; the last one means
// that it matches. A start/end expression has a bit for each name and one that it matches.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/load/capture.h"
#include "report/select/filter.h"
#include "report/select/selection.h"

struct report_set_filter {
    const struct report_filter *filter; // borrowed
    bool exclude;
    size_t first, final; // bits
};

struct report_filter_set {
    const struct report_capture *capture; // borrowed
    struct report_set_filter *filters;    // includes, then excludes
    size_t count;
    size_t includes;
    size_t words;      // of a row of bits
    uint64_t *stay;    // bits of push/pop expressions that any range leaves set: `*`
    uint64_t *any;     // bits that any range moves on: `+`
    uint64_t *always;  // final bits that are set for every event
    uint64_t *include; // final bits of includes
    uint64_t *exclude; // final bits of excludes
    uint64_t *names;   // a row for each class of messages: bits of the names that they are
    uint32_t *classes; // of each message; 0: no name of any expression
    uint64_t *lanes;   // a row for each domain: bits set in an empty stack; all 0: no lanes
    uint64_t *ranges;  // a row for each domain: bits of start/end names
    bool *has_lanes;   // of each domain: some push/pop expression looks at it
    bool *has_ranges;  // of each domain: some start/end expression looks at it
};

// `selection` and `capture` are borrowed. Returns 0; REPORT_SELECT_WRONG with a fault for an
// expression that is too costly; or -ENOMEM. Deinit in each case.
int report_filter_set_init(struct report_filter_set *set, const struct report_capture *capture,
                           const struct report_selection *selection, struct report_fault *fault);
void report_filter_set_deinit(struct report_filter_set *set);

static inline const uint64_t *report_filter_set_row(const struct report_filter_set *set,
                                                    const uint64_t *rows, size_t index) {
    return rows + index * set->words;
}

static inline bool report_bit(const uint64_t *row, size_t bit) {
    return row[bit / 64] >> (bit % 64) & 1;
}

// Whether a domain is one of the expression's.
bool report_filter_has_domain(const struct report_filter_set *set, size_t filter, uint32_t domain);
