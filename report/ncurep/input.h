// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a report file, decompressed if they are compressed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/ncurep/refusal.h"

// Reads all of a file. Returns 0 (the bytes are owned by the caller, from malloc()), a code of
// enum report_ncurep_result_code with a fault, or -errno.
int report_ncurep_read(const char *path, const struct report_ncurep_options *options, char **bytes,
                       size_t *len, struct report_ncurep_fault *fault);
