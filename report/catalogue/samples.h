// SPDX-License-Identifier: Apache-2.0
//
// The numbers that the roll-ups of a metric are made of: durations, self times, payloads, gaps, one
// for each thing, and told apart by a key.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/catalogue/catalogue.h"
#include "report/catalogue/figures.h"

// Sets `samples`; they live until others were asked for twice. Returns 0 or -ENOMEM.
int report_samples_get(struct report_figures *figures, const struct report_catalogue_metric *which,
                       const struct report_samples **samples);
