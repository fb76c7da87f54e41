// SPDX-License-Identifier: Apache-2.0
//
// The file that tells nvtxtd how far its store is shipped (nvtxtd.conf(5), ShippedFile): the
// STORE_ID, a blank, and the number of the first segment that is not wholly shipped.
#pragma once

#include <stdint.h>

// Replaces the file in one step. Returns 0 or -errno.
int position_write(const char *path, const char *store_id, uint64_t segment);
