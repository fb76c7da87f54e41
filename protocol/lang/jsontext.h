// SPDX-License-Identifier: Apache-2.0
//
// Whether a text is one JSON value (RFC 8259), for the argument Json. Nothing is built and nothing
// is allocated: the interpreter only hands the text on.
#pragma once

#include <stddef.h>

#include "protocol/base/slice.h"

#define NVTXT_JSON_DEPTH 64 // arrays and objects within each other

// Looks at all of `text`, which is UTF-8. Returns NULL for one JSON value with blanks round it,
// else a sentence fragment that says what is wrong, with `*at` set to the byte where (from 0).
const char *nvtxt_json_fault(struct nvtxt_slice text, size_t *at);
