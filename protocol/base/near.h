// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the name that somebody wanted to write who left a part of it out, or made one or
// two slips. A slip is a wrong letter, one too many, one too few, or two the wrong way round.
#pragma once

#include <stddef.h>

#include "protocol/base/slice.h"

// The one name that contains the word, if it has four letters or more; else the nearest of the
// names, or NULL when none is near enough: no name is better than a wrong one. `names` is called
// with 0, 1, … until it returns NULL; it returns "" for an index without a name. Upper and lower
// case are the same. Of several that are equally near it is the first one.
const char *nvtxt_near(struct nvtxt_slice word,
                       const char *(*names)(const void *context, size_t index),
                       const void *context);
