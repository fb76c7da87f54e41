// SPDX-License-Identifier: Apache-2.0
//
// Results of the control socket as text for people: aligned, within 80 columns. A command that
// this version has no layout for is printed as JSON, so a newer daemon's commands work too.
#pragma once

#include <jansson.h>
#include <stdio.h>

// Text of others is printed without control characters.
void ctl_print(FILE *out, const char *command, const json_t *result);
