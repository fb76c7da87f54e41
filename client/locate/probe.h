// SPDX-License-Identifier: Apache-2.0
//
// Tries the places of a search: which daemon accepts, which store can be read, and which store a
// daemon says is its own. Nothing here waits longer than PROBE_ASK_MS, whatever a daemon does.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/locate/search.h"

#define PROBE_ASK_MS 3000

// Tries the places up to the first one that accepts, or all of them, and notes each one's result;
// `won` is the first that accepts.
void probe_sockets(struct search *search, bool all);

// As above for stores, opened for reading.
void probe_stores(struct search *search, bool all);

// Asks the daemon behind a control socket where its store is. Returns 0, a code of ctl_link, or
// -errno.
int probe_ask_store(const char *control, char *store, size_t size);

// The stores in the order in which a program that was told none tries them: $NVTXT_STORE, that of
// `daemon` as it says at the control socket `control`, then the others. `daemon` is the place that
// accepted; NULL: none. A daemon at a usual place that does not say has the usual store. Returns
// what the question did.
int probe_list_stores(struct search *stores, const struct search_place *daemon,
                      const char *control);

// The first of them that can be read, of the daemon that the search for one finds. What was named
// and cannot be read is warned of. NO_INPUT comes after a sentence that names all.
enum outcome probe_find_store(struct term *term, char *store, size_t size);
