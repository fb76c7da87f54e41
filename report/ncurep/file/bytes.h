// SPDX-License-Identifier: Apache-2.0
//
// Bytes that grow by half as more of them come, up to a bound.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/ncurep/file/refusal.h"

struct report_bytes {
    char *data; // owned, from malloc()
    size_t len, room;
};

// Makes room for `wanted` in all, or for some more when it is 0; at most for `most` (0: no bound).
// Returns 0, REPORT_NCUREP_TOO_LARGE with a fault, or -ENOMEM.
int report_bytes_grow(struct report_bytes *bytes, size_t wanted, uint64_t most,
                      struct report_ncurep_fault *fault);
