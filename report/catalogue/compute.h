// SPDX-License-Identifier: Apache-2.0
//
// The metrics of the catalogue, from the events of a scope.
#pragma once

#include "report/catalogue/catalogue.h"
#include "report/catalogue/figures.h"

// Fills `metric` (its name is there already). What it points to is of figures->arena. Returns 0 or
// -ENOMEM.
int report_compute(struct report_figures *figures, const struct report_catalogue_metric *which,
                   struct report_metric *metric);
