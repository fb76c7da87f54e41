// SPDX-License-Identifier: Apache-2.0
//
// Filter expressions made ready for a capture: every message and domain is looked at once, then
// matching is work on bits.
//
// All expressions share one row of bits. A push/pop expression with n names (and `+`) has n + 1 of
// them: bit k of its own is set while the first k names are found on the stack; the last one means
// that it matches. A start/end expression has a bit for each name and one that it matches.
#pragma once

#include "report/select/conditions.h"
#include "report/select/filter.h"

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
    size_t bits, words; // of a row
    size_t *row_at;     // of each bit: where its row is in a map (stack_bits.h); the last: its end
    uint64_t *stay;     // bits of push/pop expressions that any range leaves set: `*`
    uint64_t *any;      // bits that any range moves on: `+`
    uint64_t *always;   // final bits that are set for every event
    uint64_t *include;  // final bits of includes
    uint64_t *exclude;  // final bits of excludes
    uint64_t *names;    // a row for each class of messages: bits of the names that they are
    uint32_t *classes;  // of each message; 0: no name of any expression
    uint64_t *lanes;    // a row for each domain: bits set in an empty stack; all 0: no lanes
    uint64_t *ranges;   // a row for each domain: bits of start/end names
    bool *has_lanes;    // of each domain: some push/pop expression looks at it
    bool *has_ranges;   // of each domain: some start/end expression looks at it
};

// `selection` and `capture` are borrowed. Returns 0; NVTXT_WRONG with a fault for an
// expression that is too costly; or -ENOMEM. Deinit in each case.
int report_filter_set_init(struct report_filter_set *set, const struct report_capture *capture,
                           const struct report_selection *selection, struct report_fault *fault);
void report_filter_set_deinit(struct report_filter_set *set);

static inline const uint64_t *report_filter_set_row(const struct report_filter_set *set,
                                                    const uint64_t *rows, size_t index) {
    return rows + index * set->words;
}

// What one more range on a stack makes of a row of bits, as far as the words from `first` on go;
// `from` and `to` begin with that word, and may be the same.
static inline void report_filter_set_step(const struct report_filter_set *set, size_t first,
                                          size_t count, uint32_t class, const uint64_t *from,
                                          uint64_t *to) {
    const uint64_t *names = report_filter_set_row(set, set->names, class) + first;
    const uint64_t *any = set->any + first, *stay = set->stay + first;
    uint64_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t moving = from[i] & (names[i] | any[i]), staying = from[i] & stay[i];
        to[i] = moving << 1 | carry | staying;
        carry = moving >> 63;
    }
}

static inline bool report_bit(const uint64_t *row, size_t bit) {
    return row[bit / 64] >> (bit % 64) & 1;
}

// Whether a domain is one of the expression's.
bool report_filter_has_domain(const struct report_filter_set *set, size_t filter, uint32_t domain);

// ---- Which events they take ---------------------------------------------------------------------

// Goes over the events of a capture in order and says which of them the filter expressions take:
// by the state of each event, which is the stacks of all lanes of its thread and the start/end
// ranges that are open in its process, at its start, itself included (nvtxt-report(1), "THE
// MODEL").
//
// Sets bit i of `hits` (one for each event, zeroed) for each event that an include matches (or
// when there are none), and no exclude. Sets the final bits of those that matched any event in
// `seen`, a row of the set, zeroed. The events are in order. Returns 0 or -ENOMEM.
int report_sweep(const struct report_filter_set *set, uint64_t *hits, uint64_t *seen);

// ---- Why an option selects nothing --------------------------------------------------------------

struct report_outcome {
    const struct report_capture *capture;
    const struct report_selection *selection;
    const struct report_filter_set *filters;
    const uint64_t *seen; // final bits of filters that matched an event; NULL without filters
    unsigned fitted;      // enum report_selection_bit: those that some event fits
    size_t selected;      // events
    bool of_results;      // the capture has stacks of results, each different one once
};

// Writes one line, ended by LF, for each option that selects nothing, without a word before it:
// why, and what was perhaps meant. Nothing if there is nothing to say. Returns 0 or -ENOMEM.
int report_notes_write(const struct report_outcome *outcome, struct nvtxt_buf *notes);
