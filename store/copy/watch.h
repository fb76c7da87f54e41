// SPDX-License-Identifier: Apache-2.0
//
// How the caller of a copy or a snapshot sees how far it is, and stops it.
#pragma once

#include <stdint.h>

// Called after every few megabytes. 0 goes on; anything else ends the copy, with STORE_STOPPED.
struct store_copy_watch {
    int (*on_step)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *context;
};
