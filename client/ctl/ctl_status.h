// SPDX-License-Identifier: Apache-2.0
//
// The result of `status` for people.
#pragma once

#include <jansson.h>
#include <stdio.h>

// `key: value`, in the daemon's order, two of them a line where they are short.
void ctl_print_status(FILE *out, const json_t *result);
