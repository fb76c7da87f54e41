// SPDX-License-Identifier: Apache-2.0
//
// Filters: what of a section stands for an architecture, a scope, a store (nvtxt-section(5),
// "FILTERS").
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/load/capture.h"
#include "report/section/section.h"

// What filters are compared with.
struct report_section_filter_view {
    uint32_t arch;                        // 0: none
    enum report_collection_scope scope;   // CAPTURE to DIFF, or LAUNCH: a result
    const struct report_capture *capture; // for HasTable; NULL: all are there, of a result none
};

// Two filters as one, field by field: `inner` wins. Both may be NULL. Lists are borrowed.
struct report_section_filters {
    const struct report_scalar *min_arch, *max_arch, *has_table, *importance; // NULL: not said
    const struct report_list *items, *scopes;                                 // NULL: not said
};
struct report_section_filters report_section_filter_join(const struct report_section_filter *outer,
                                                         const struct report_section_filter *inner);
struct report_section_filters
report_section_filter_join_more(struct report_section_filters outer,
                                const struct report_section_filter *inner);

bool report_section_filter_matches(const struct report_section_filters *filter,
                                   const struct report_section_filter_view *view);

// What of a metric stands: an option, the base, or nothing.
struct report_standing {
    const struct report_scalar *name;  // NULL: nothing
    const struct report_scalar *label; // may be absent
    bool required, optional;           // its Importance
};
struct report_standing report_section_filter_choose(const struct report_section_metric *metric,
                                                    struct report_section_filters outer,
                                                    const struct report_section_filter_view *view);
