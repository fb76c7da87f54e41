// SPDX-License-Identifier: Apache-2.0
//
// Puts what was read into its order.
#pragma once

#include "report/load/load_state.h"

// After the last file. Returns 0 or -ENOMEM.
int report_load_finish(struct report_load_state *load);
