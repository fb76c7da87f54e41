// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the name that somebody had in mind who wrote another one by a slip of one or two
// letters: a wrong one, one too many, one too few, or two the wrong way round.
#pragma once

#include <stddef.h>

#include "protocol/base/slice.h"

// The nearest of `names`, asked for from 0 on up to a NULL, if it is near enough; NULL when none
// is. Upper and lower case are the same. Of several that are equally near the first one; an empty
// name is none.
const char *nvtxt_near(struct nvtxt_slice word,
                       const char *(*names)(const void *context, size_t index),
                       const void *context);
