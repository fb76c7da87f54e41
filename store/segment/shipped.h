// SPDX-License-Identifier: Apache-2.0
//
// How far a shipper, a program that brings the store elsewhere, has come (nvtxt-ship(1)): it writes
// a file with the STORE_ID, a blank, and the number of the first segment that it has not shipped
// whole. Retention may wait for it (retention.h).
#pragma once

#include <stdint.h>

#include "protocol/base/slice.h"

enum store_shipped {
    STORE_SHIPPED_KNOWN,
    STORE_SHIPPED_OTHER, // of another store
    STORE_SHIPPED_WRONG, // not such a file
};

// What the text of the file says. `*number` is 0 unless it is known.
enum store_shipped store_shipped_parse(struct nvtxt_slice text, const char *store_id,
                                       uint64_t *number);

// Reads the file. Returns an enum store_shipped or -errno.
int store_shipped_read(const char *file, const char *store_id, uint64_t *number);
