// SPDX-License-Identifier: Apache-2.0
//
// A host's rows back as a plain store (nvtxt-ship(1), "pull"). The rows are read in one transaction
// that sees one moment, and none is kept: memory does not grow with them. Functions return an enum
// failure_class, with the sentence in `failure`.
#pragma once

#include <stdint.h>

#include "ship/engine/pg.h"
#include "ship/engine/schema.h"

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
