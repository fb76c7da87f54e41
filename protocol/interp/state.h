// SPDX-License-Identifier: Apache-2.0
//
// The state of a source as a JSON value, so that a session can go on after any break. It holds
// everything that decides what later lines mean: variables, definitions, display name, waiting
// names, mapping, origin, default process, one-time warnings, counters and times. It holds open
// ranges only on request: the store keeps them as rows of their own.
#pragma once

#include <stdbool.h>

#include "protocol/base/buf.h"
#include "protocol/interp/interp.h"

// Appends the state, one JSON object without a line end, to `out`. Returns 0 or -ENOMEM.
int nvtxt_state_save(const struct nvtxt_interp *interp, bool with_open_ranges,
                     struct nvtxt_buf *out);

// A new interpreter that goes on where the saved one was. The configuration gives only what a
// state does not hold: limits and claim; set its clocks as those of a new one. Returns an
// nvtxt_restore_result (BAD for text that nvtxt_state_save() did not write) or -ENOMEM. `*interp`
// is set only when the result is RESTORED.
int nvtxt_state_restore(struct nvtxt_interp **interp, const struct nvtxt_source_config *config,
                        struct nvtxt_slice state);
