// SPDX-License-Identifier: Apache-2.0
//
// What the text of a rule file says without being run, for lists and results when nothing can run
// it, or when it fails before it says its name.
#pragma once

#include <stdbool.h>

#include "protocol/base/slice.h"

// Whether a line of `text` begins with "def FUNCTION(". `*value` is what the function returns if
// that is a plain string without escapes, a view; else it has no data.
bool report_peek(struct nvtxt_slice text, const char *function, struct nvtxt_slice *value);
