// SPDX-License-Identifier: Apache-2.0
//
// What a killed daemon left: sources without an end. Sessions and followed files stay as they are,
// to be resumed.
#pragma once

#include <stdint.h>

#include "store/batch.h"
#include "store/sessions.h"

#define STORE_RECOVER_AT_ONCE 100 // sources closed in one transaction

// Adds to `batch` the end of sources that nobody can go on with: open ones that are no session
// and no followed file, or one without a state. `*count` says how many: there may be more when it
// is STORE_RECOVER_AT_ONCE. Returns an SQLite result code.
int store_recover_read(struct store_sessions *sessions, int64_t now_ns, struct store_batch *batch,
                       int *count);
