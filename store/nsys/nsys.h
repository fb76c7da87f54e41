// SPDX-License-Identifier: Apache-2.0
//
// store/nsys: SQLite exports of Nsight Systems. Recognizes one, reads what it says about itself,
// and adds events to it, whatever version made it. It adds rows and changes none that is there; the
// only thing that it adds to the schema is the table NVTX_EVENTS where the export has none (an
// export has only tables that had rows). It works on a copy that nobody else has open
// (store/copy/copy.h): there is no journal, so after a failure the copy can only be thrown away.
// One thread.
//
// Events come from an interpreter through a sink, in Unix time or already in the export's time; see
// struct store_nsys_place.
#pragma once

#include "protocol/interp/interp.h"
#include "store/nsys/nsys_facts.h"

struct store_nsys;

// Opens the export at `path` and begins; sentences call it `name`. Reads all of it, which takes
// seconds for a large one. The function that store_stranger_ask() set can stop this, and
// store_nsys_place(), with -EINTR. Returns STORE_DONE or what store_open() does, with a sentence in
// `error`.
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
