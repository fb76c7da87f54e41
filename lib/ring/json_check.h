// SPDX-License-Identifier: Apache-2.0
//
// Whether bytes are one JSON value as the daemon takes it (nvtxt(5), "Json"): what is not would
// draw a diagnostic, and the program that gave it could not see that.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define JSON_DEPTH 64u // of arrays and objects

// True for one value of RFC 8259 with white space around it. The bytes are valid UTF-8.
bool json_check(const char *text, size_t len);
