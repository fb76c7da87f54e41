// SPDX-License-Identifier: Apache-2.0
//
// A round: rows of one segment from the cursor on, and the cursor, in one transaction.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ship/session.h"

// At most; but a single row may have more bytes.
#define ROUND_ROWS 32768
#define ROUND_BYTES (INT64_C(8) << 20)

struct round {
    bool changes; // in: also what changed without events
    bool more;    // out: there may be more at once
    bool wrote;   // out: there was something to write
    bool changed; // out: what changes was looked at
    int64_t events;
    int64_t behind;       // rows that are left
    struct store_gap gap; // rows that were removed before they were shipped; count 0: none
};

// Reads the link and ships what there is, up to the limits above. After a failure the transaction
// is rolled back; the next thing is session_seek(), or session_connect() when the connection may be
// of no use. FAILURE_AGAIN: a partition was made. FAILURE_NEW_STORE: another store goes on at
// its path, session_reopen().
enum failure_class round_run(struct session *session, struct round *round);
