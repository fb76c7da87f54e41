// SPDX-License-Identifier: Apache-2.0
//
// The metrics of the catalogue, from the events of a scope.
#pragma once

#include "report/metric/catalogue.h"
#include "report/metric/state.h"

// Fills `metric` (its name is there already). What it points to is of metrics->arena. Returns 0 or
// -ENOMEM.
int report_compute(struct report_metrics *metrics, const struct report_catalogue_metric *which,
                   struct report_metric *metric);
