// SPDX-License-Identifier: Apache-2.0
//
// Prints results of the control socket as text for people: aligned, within 80 columns. The result
// of a command without a layout here is printed as JSON, so commands of a newer daemon work too.
#pragma once

#include <jansson.h>
#include <stdio.h>

// Control characters in texts of unknown origin are not printed.
void ctl_print(FILE *out, const char *command, const json_t *result);
