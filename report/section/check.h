// SPDX-License-Identifier: Apache-2.0
//
// What is wrong in a section file beyond its format: identifiers, expressions of metric names, and
// metrics that do not exist.
#pragma once

#include "report/metric/definitions.h"
#include "report/section/section.h"

// Where a metric stands decides what its name may be.
enum report_metric_place {
    REPORT_IN_HEADER,
    REPORT_IN_GROUP, // MetricGroup, SourceMetrics
    REPORT_IN_BODY,
};

// Calls `visit` for each metric of the section, as they stand. It returns 0, or a value that ends
// the walk and is returned.
int report_section_each_metric(const struct report_section *section,
                               int (*visit)(void *context,
                                            const struct report_section_metric *metric,
                                            enum report_metric_place place),
                               void *context);

// "regex:", "group:", "breakdown:" or "pmsampling:", and what is after it; "" without a prefix.
const char *report_metric_prefix(struct nvtxt_slice name, struct nvtxt_slice *rest);

// Letters, digits, '_', '-', '.'; at least one.
bool report_is_identifier(struct nvtxt_slice text);

// Whether it is one; else adds an error.
bool report_identifier_check(struct nvtxt_slice text, const char *file, struct report_place at,
                             struct report_messages *messages);

// Adds an error for each fault. Returns 0 or -ENOMEM.
int report_section_check(const struct report_section *section, const char *file,
                         struct report_messages *messages);

// The same of an item that stands alone, in a file of its own.
int report_item_check(struct report_section_item *item, const char *file,
                      struct report_messages *messages);
