// SPDX-License-Identifier: Apache-2.0
//
// A section laid out for a scope: which metric stands where, with which value. What it points to
// lives as long as the metrics of the scope and the arena.
#pragma once

#include "report/section/shown.h"

#define REPORT_NOT_SHOWN 1

// Lays a section out. A metric that is missing becomes a warning, a required one an error. Returns
// 0, REPORT_NOT_SHOWN when the section's own filter does not match and nothing in it stands, or
// -ENOMEM.
int report_section_show(const struct report_show *show, const struct report_section_entry *entry,
                        struct report_shown_section *shown);

// Lays out an item that stands alone, in a file of its own. `body` gets its parts: none if a filter
// does not match. Returns 0 or -ENOMEM.
int report_item_show(const struct report_show *show, const char *file,
                     const struct report_section_item *said, struct report_shown_body *body);

// The instance of that id, or NULL.
const struct report_instance *report_instance_find(const struct report_metric *metric,
                                                   const struct report_id *id);

// The largest value of all instances, at least 0.
double report_instance_largest(const struct report_metric *metric);
