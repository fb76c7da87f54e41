// SPDX-License-Identifier: Apache-2.0
//
// What is named in an export: threads, processes, domains and categories. Private to store/nsys.
//
// Functions return SQLite result codes.
#pragma once

#include <stdint.h>

#include "protocol/interp/event.h"

struct store_nsys;

// Reads what the export has named already. Call it when the place is known.
int store_nsys_names_load(struct store_nsys *nsys);

// Makes sure that a thread and its process have rows and names.
int store_nsys_see_thread(struct store_nsys *nsys, uint64_t tid);

// The id of a display name in a process. Adds the row that names it, at the time `at`.
int store_nsys_domain(struct store_nsys *nsys, struct nvtxt_slice name, uint32_t pid, uint64_t tid,
                      int64_t at, int64_t *id);

int store_nsys_name(struct store_nsys *nsys, const struct nvtxt_name *name);
