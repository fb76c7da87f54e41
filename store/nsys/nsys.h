// SPDX-License-Identifier: Apache-2.0
//
// Writing into an SQLite export of Nsight Systems, whatever version made it: rows are added, none
// that is there is changed, and nothing is added to the schema but the table NVTX_EVENTS itself
// where the export has none (an export has only tables that had rows). For a copy that nobody else
// has open (store/copy/copy.h): there is no journal, so after a failure the file can only be thrown
// away.
//
// Events come from an interpreter through a sink, on the timeline of Unix time or already on the
// export's; see struct store_nsys_place.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/interp.h"
#include "store/nsys/nsys_facts.h"
#include "store/nsys/nsys_place.h"

struct store_nsys;

// Opens the export at `path` and begins; sentences call it `name`. Reads all of it, which takes
// seconds for a large one: who is heeded (store/db/stranger.h) can stop it, and
// store_nsys_place(), with -EINTR. Returns STORE_DONE or what store_open() does, with a sentence
// in `error`.
int store_nsys_open(struct store_nsys **nsys, const char *path, const char *name, char *error,
                    size_t size);
void store_nsys_close(struct store_nsys *nsys); // without committing; NULL is fine

const struct store_export_facts *store_nsys_facts(const struct store_nsys *nsys);

// Once, before the first event. Returns STORE_DONE or a failure.
int store_nsys_place(struct store_nsys *nsys, const struct store_nsys_place *place);

// A sink that adds rows. Diagnostics are not kept. Its functions return a negative errno; the
// sentence is in store_nsys_error().
void store_nsys_sink(struct store_nsys *nsys, struct nvtxt_sink *sink);

// Widens the session if asked to, and commits. Returns STORE_DONE or a failure.
int store_nsys_finish(struct store_nsys *nsys);

const struct store_nsys_counts *store_nsys_counts(const struct store_nsys *nsys);
const char *store_nsys_error(const struct store_nsys *nsys);
