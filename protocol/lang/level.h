// SPDX-License-Identifier: Apache-2.0
//
// How severe a line of a log is: the eight levels of syslog(3), from 0 (emerg) to 7 (debug), which
// are the payloads of markers in a session with levels (nvtxt-protocol(7)).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"

#define NVTXT_LEVELS 8
#define NVTXT_LEVEL_NONE (-1)

// The name of a level as NVTXT_TIMELINE has it: emerg, alert, crit, err, warning, notice, info,
// debug. NULL for any other number.
const char *nvtxt_level_name(int64_t level);

// The level that a word stands for, in any case: its name, or another common one such as "error"
// or "warn". NVTXT_LEVEL_NONE when it stands for none.
int nvtxt_level_find(struct nvtxt_slice word);
