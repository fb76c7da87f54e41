// SPDX-License-Identifier: Apache-2.0
//
// Tries the places of a search: which daemon accepts, which store can be read, and which store a
// daemon calls its own. No function waits longer than PROBE_ASK_MS, whatever a daemon does.
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

// The same for stores: can each be opened for reading?
void probe_stores(struct search *search, bool all);

// Lists the stores in the order in which a program tries them when none is named: $NVTXT_STORE,
// that of `daemon` as it says on the control socket `control`, then the others. `daemon` is the
// place that accepted; NULL: none. A daemon at a usual place that does not answer has the usual
// store. Returns 0, a code of control_link, or -errno.
int probe_list_stores(struct search *stores, const struct search_place *daemon,
                      const char *control);

// Finds the first of them that can be read, after a search for the daemon. Warns of a store that
// was named and cannot be read. OUTCOME_NO_INPUT comes after a sentence that names all and ends in
// `advice`, how the program is told of a store.
enum outcome probe_find_store(struct term *term, const char *advice, char *store, size_t size);
