// SPDX-License-Identifier: Apache-2.0
//
// Makes a file as an export of Nsight Systems is: events and names of a store with times from 0 on,
// each text once in StringIds, tables alone. Events and names come in any number of calls; the file
// is written by store_nsys_copy_finish(), because only then its time 0 is known. Memory stays flat:
// SQLite keeps what it has no room for in temporary files without a name.
//
// It owns its connection, writes the one file that it is told to, and has no part in how that file
// gets its name. One thread. Functions return 0, a code of enum store_result or -errno; the
// sentence is in store_nsys_copy_error().
#pragma once

#include "store/read/read_event.h"

struct store_nsys_copy;
struct store_read_identity;

struct store_nsys_copy_options {
    bool has_origin;   // else time 0 is the smallest time of the events
    int64_t origin_ns; // Unix time of time 0
    bool all_names;    // names that no event bears, too
    bool gpu_tables;   // empty tables of GPU events
    // An export whose machine the copy names; NULL: this machine. Borrowed for the call.
    const struct store_read_identity *source;
};

// Begins a copy in the empty file `path`, which is the caller's; sentences call it `name`. NULL
// when memory is short; else the first call that can fail says what went wrong.
struct store_nsys_copy *store_nsys_copy_new(const char *path, const char *name);
void store_nsys_copy_free(struct store_nsys_copy *copy); // NULL is fine
const char *store_nsys_copy_error(const struct store_nsys_copy *copy);

// `late_first`: of events with the same times the one that comes last is the outer one. So it is
// in a store, where an inner range ends first; an export has the outer one first.
int store_nsys_copy_event(struct store_nsys_copy *copy, const struct store_read_event *event,
                          bool late_first);

// The last name of a thing counts, and the first time. Names of resources and counters are left
// out: an export has no table for them.
int store_nsys_copy_name(struct store_nsys_copy *copy, const struct store_read_name *name);

// Writes the file. STORE_UNFIT: an event lies before time 0 or too far after it, and nothing was
// written.
int store_nsys_copy_finish(struct store_nsys_copy *copy,
                           const struct store_nsys_copy_options *options);
