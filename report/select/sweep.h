// SPDX-License-Identifier: Apache-2.0
//
// Goes over the events of a capture in order and says which of them the filter expressions take:
// by the state of each event, which is the stacks of all lanes of its thread and the start/end
// ranges that are open in its process, at its start, itself included (nvtxt-report(1), "THE
// MODEL").
#pragma once

#include <stdint.h>

#include "report/select/filter_set.h"

// Sets bit i of `taken` (one for each event, zeroed) for each event that an include matches (or
// when there are none), and no exclude. Sets the final bits of those that matched any event in
// `seen`, a row of the set, zeroed. The events are in order. Returns 0 or -ENOMEM.
int report_sweep(const struct report_filter_set *set, uint64_t *taken, uint64_t *seen);
