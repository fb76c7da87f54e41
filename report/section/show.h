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

// The instance of that id, or NULL.
const struct report_instance *report_instance_find(const struct report_metric *metric,
                                                   const struct report_id *id);
