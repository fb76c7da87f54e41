// SPDX-License-Identifier: Apache-2.0
//
// What is known of a capture as a whole: capture__attribute_*.
#pragma once

#include "report/catalogue/figures.h"

// Sets value and na of an attribute. Returns 0 or -ENOMEM.
int report_attribute(struct report_figures *figures, enum report_catalogue_id id,
                     struct report_metric *metric);
