// SPDX-License-Identifier: Apache-2.0
//
// The events of stores as objects: a range is a thread, an action an event.
#pragma once

#include "report/model/model.h"
#include "report/serve/objects.h"

struct report_definitions;
struct report_metrics;

// The model is borrowed, and has its selection; a thread without a selected event is no range.
// Returns 0 or -ENOMEM.
int report_captured_new(struct report_objects **objects, struct report_model *model);

// The summary is that of these metrics, which are borrowed until the next call; `definitions`
// (NULL: none) are listed, too. Without metrics (NULL) it is that of the whole capture.
void report_captured_summarize(struct report_objects *objects, struct report_metrics *metrics,
                               const struct report_definitions *definitions);

void report_captured_free(struct report_objects *objects); // NULL is fine
