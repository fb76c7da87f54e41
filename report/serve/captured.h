// SPDX-License-Identifier: Apache-2.0
//
// The events of stores as objects: a range is a thread, an action an event.
#pragma once

#include "report/model/model.h"
#include "report/serve/objects.h"

// The model is borrowed, and has its selection; a thread without a selected event is no range.
// Returns 0 or -ENOMEM.
int report_captured_new(struct report_objects **objects, struct report_model *model);
void report_captured_free(struct report_objects *objects); // NULL is fine
