// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a list of a section: chosen by their filters, their prefixes expanded, computed.
#pragma once

#include "report/section/shown.h"

// What is the same for all lists of a section.
struct report_list_view {
    const struct report_show *show;
    const char *file;
    struct report_joined_filter filter; // around the metrics
    bool skip_unlabelled;               // of groups: an empty Label is computed, not shown
    bool any;                           // set: a metric stands
};

// Adds a metric with all that its name stands for. Returns 0 or -ENOMEM.
int report_list_add(struct report_list_view *view, struct report_shown_metrics *to,
                    const struct report_section_metric *metric);

// Adds all metrics of a list.
int report_list_add_all(struct report_list_view *view, struct report_shown_metrics *to,
                        const struct report_list *metrics);
