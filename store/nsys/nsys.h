// SPDX-License-Identifier: Apache-2.0
//
// Writing into an SQLite export of Nsight Systems, whatever version made it: rows are added, none
// that is there is changed, and nothing is added to the schema but the table NVTX_EVENTS itself
// where the export has none (an export has only tables that had rows). For a copy that nobody else
// has open (store/copy/copy.h): there is no journal, so after a failure the file can only be thrown
// away.
//
// Events come from an interpreter through a sink, on the timeline of Unix time or already on the
// export's; see struct store_foreign_place.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/interp.h"
#include "store/nsys/nsys_facts.h"
#include "store/nsys/nsys_place.h"

struct store_foreign;

// Opens the export at `path` and begins; sentences call it `name`. Reads all of it, which takes
// seconds for a large one: who is heeded (store/db/stranger.h) can stop it, and
// store_foreign_place(), with -EINTR. Returns STORE_DONE or what store_open() does, with a sentence
// in `error`.
int store_foreign_open(struct store_foreign **foreign, const char *path, const char *name,
                       char *error, size_t size);
void store_foreign_close(struct store_foreign *foreign); // without committing; NULL is fine

const struct store_export_facts *store_foreign_facts(const struct store_foreign *foreign);

// Once, before the first event. Returns STORE_DONE or a failure.
int store_foreign_place(struct store_foreign *foreign, const struct store_foreign_place *place);

// A sink that adds rows. Diagnostics are not kept. Its functions return -EIO or -ENOMEM; the
// sentence is in store_foreign_error().
void store_foreign_sink(struct store_foreign *foreign, struct nvtxt_sink *sink);

// Widens the session if asked to, and commits. Returns STORE_DONE or a failure.
int store_foreign_finish(struct store_foreign *foreign);

const struct store_foreign_counts *store_foreign_counts(const struct store_foreign *foreign);
const char *store_foreign_error(const struct store_foreign *foreign);
