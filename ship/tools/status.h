// SPDX-License-Identifier: Apache-2.0
//
// ship/tools: what is asked of a fleet, and what keeps it in order: status and metrics of this
// host's store, pull (a host's rows back as a store), maintain (old days go). Each works on a
// connection that its caller opened. One thread.
//
// This header: how far this host's store is shipped. It needs no running shipper.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "ship/engine/pg.h"

struct status {
    const char *store;   // its UUID; borrowed
    int64_t segment;     // of the cursor
    int64_t event_row;   // likewise
    int64_t events;      // shipped so far
    int64_t behind_rows; // committed and not shipped
    // Since the last shipped commit; when no rows wait, since the last sign of life.
    double lag_seconds;
    bool has_lag; // false: there was none
    int64_t lost;
    char shipper[256]; // "": none
    bool is_known;     // the engine knows the store
};

// Reads what the engine has of a store; `behind_rows` is what the caller found in the store itself.
enum failure_class status_read(struct pg *pg, int64_t store_id, int64_t behind_rows,
                               struct status *status);

// The lag as text; `none` when there is none.
void status_lag(const struct status *status, char *text, size_t size, const char *none);

// Writes it for people, a line each, or as one JSON object.
void status_write(struct nvtxt_buf *out, const struct status *status, bool as_json);
