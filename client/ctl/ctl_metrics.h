// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-ctl metrics`: the daemon's text as it is, for Prometheus.
#pragma once

#include <jansson.h>

struct term;

// Prints the text of the result, or puts it into the file `output` (NULL: prints). The file appears
// whole, under a name that no collector looks at before, with mode 0644. Returns 0, or EX_PROTOCOL,
// EX_CANTCREAT or EX_IOERR after a sentence.
int ctl_metrics_print(struct term *term, const json_t *result, const char *output);
