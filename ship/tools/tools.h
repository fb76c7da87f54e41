// SPDX-License-Identifier: Apache-2.0
//
// ship/tools: what is asked of a fleet, and what keeps it in order: status and metrics of this
// host's store, pull (a host's rows back as a store), maintain (old days go). Each works on a
// connection that its caller opened. One thread.
#pragma once

#include "protocol/base/buf.h"
#include "ship/engine/schema.h"
#include "ship/tools/sessions.h"

// ---- Status (ship/tools/status.c, ship/tools/metrics.c) -----------------------------------------
//
// How far this host's store is shipped. It needs no running shipper.

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
    char node[256];    // through which it is asked, pg_node()
};

// Reads what the engine has of a store; `behind_rows` is what the caller found in the store itself.
enum failure_class status_read(struct pg *pg, int64_t store_id, int64_t behind_rows,
                               struct status *status);

// The lag as text; `none` when there is none.
void status_lag(const struct status *status, char *text, size_t size, const char *none);

// Writes it for people, a line each, or as one JSON object.
void status_write(struct nvtxt_buf *out, const struct status *status, bool as_json);

// Writes it for Prometheus. NULL: it could not be read; then there is nvtxt_ship_up alone, 0.
void metrics_write(struct nvtxt_buf *out, const struct status *status);

// ---- Old days (ship/tools/maintain.c) -----------------------------------------------------------

// For a timer on one machine, as the schema's owner. Makes the next seven days, and removes
// partitions, names, diagnostics and losses that are older than what is kept. Events that are no
// partitions, and their names, stay. `sessions`, zeroed before, are then shippers' transactions
// that are open and were not ended.
enum failure_class maintain_run(struct pg *pg, const struct schema_facts *facts, const char *schema,
                                struct sessions *sessions);

// ---- Pull (ship/tools/pull.c) -------------------------------------------------------------------
//
// A host's rows back as a plain store (nvtxt-ship(1), "pull"). The rows are read in one transaction
// that sees one moment, and none is kept: memory does not grow with them. Functions return an enum
// failure_class, with the sentence in `failure`.

// The store of a host, or with an identity; "" for any. FAILURE_NO_STORE: there is none.
// FAILURE_TARGET: there are several, and the sentence lists them.
enum failure_class pull_find(struct pg *pg, const char *host, const char *store, int64_t *store_id,
                             struct failure *failure);

struct pull_span {
    bool has_since, has_until;
    int64_t since_ns, until_ns; // by when rows were committed, both ends included
};

// Makes the file `path` with this mode. FAILURE_STORE when it cannot be written.
enum failure_class pull_store(struct pg *pg, const struct schema_facts *facts, int64_t store_id,
                              const struct pull_span *span, const char *path, uint32_t mode,
                              struct failure *failure);
