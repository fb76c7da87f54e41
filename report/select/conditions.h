// SPDX-License-Identifier: Apache-2.0
//
// All options of a selection but the filter expressions, made ready for a capture. Each event is
// asked which of them it fits.
#pragma once

#include "report/select/selection.h"

// One bit for each option, whatever the number of its values. SPAN is --since, --until and --last.
enum report_selection_bit {
    REPORT_FITS_DOMAINS = 1,
    REPORT_FITS_WITHIN = 2,
    REPORT_FITS_SPAN = 4,
    REPORT_FITS_PIDS = 8,
    REPORT_FITS_TIDS = 16,
    REPORT_FITS_SOURCES = 32,
    REPORT_FITS_KINDS = 64,
    REPORT_FITS_CATEGORIES = 128,
    REPORT_FITS_COLORS = 256,
    REPORT_FITS_MATCH = 512,
    REPORT_FITS_PAYLOADS = 1024,
    REPORT_FITS_DURATIONS = 2048,
    REPORT_FITS_LEVEL = 4096,
    REPORT_FITS_ALL = 8191,
};

struct report_conditions {
    const struct report_capture *capture;     // borrowed
    const struct report_selection *selection; // borrowed
    int64_t *since_ns, *until_ns;             // of each store, in its own times
    uint8_t *domains;                         // of each: bits that it fits
    uint16_t *threads;                        // of each: PIDS and TIDS
    uint8_t *sources;                         // of each: 1 if it fits
    uint8_t *names;       // of each: 1 if it is one of --within; NULL without that option
    uint8_t *messages;    // of each: 1 if it fits --match; NULL without that option
    size_t at;            // events that --within has looked at
    int64_t within_until; // an event that starts before it is within a range
    bool has_category, category_fits; // of the category that was looked at last
    uint32_t scope, category;
};

// `since_ns` and `until_ns` are those of report_selection_span(). Returns 0; NVTXT_WRONG
// with a fault for a --match that is too costly and for a --source that names nothing; or -ENOMEM.
// Deinit in each case. Of a capture in parts (`part`) more sources may come: a --source that names
// nothing yet is no fault.
int report_conditions_init(struct report_conditions *conditions,
                           const struct report_capture *capture,
                           const struct report_selection *selection, int64_t since_ns,
                           int64_t until_ns, bool part, struct report_fault *fault);
void report_conditions_deinit(struct report_conditions *conditions);

// The bits of enum report_selection_bit that an event fits. Asked for each event in turn, in order.
unsigned report_conditions_fit(struct report_conditions *conditions, size_t event);
