// SPDX-License-Identifier: Apache-2.0
//
// Colours: the named colours of CSS Color 4 and the two hexadecimal forms (nvtxt(5), "Arguments").
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

// Reads a colour name (any case), "#RRGGBB" or "#AARRGGBB" as 0xAARRGGBB; names and the short form
// have alpha 0xFF. Returns false for anything else.
bool nvtxt_color_parse(struct nvtxt_slice text, uint32_t *argb);

// The names in order, for nvtxt_near(); NULL after the last one. `context` is not used.
const char *nvtxt_color_name(const void *context, size_t index);
