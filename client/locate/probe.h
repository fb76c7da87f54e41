// SPDX-License-Identifier: Apache-2.0
//
// Tries the places of a search: which daemon accepts, which store can be read, and which store a
// daemon says is its own. Nothing here waits longer than PROBE_ASK_MS, whatever a daemon does.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/common/term.h"
#include "client/locate/search.h"

#define PROBE_ASK_MS 3000

// Connects without waiting. Returns the descriptor, or -errno; -EAGAIN: the daemon is there, but
// its queue is full.
int probe_connect(const char *path);

// Tries the places up to the first one that accepts, or all of them, and notes each one's result;
// `won` is the first that accepts.
void probe_sockets(struct search *search, bool all);

// As above for stores, opened for reading.
void probe_stores(struct search *search, bool all);

// Asks the daemon behind a control socket where its store is. 0, or -errno.
int probe_ask_store(const char *control, char *store, size_t size);

// The stores in the order in which a program that was told none tries them: $NVTXT_STORE, that of
// `daemon` as it says at the control socket `control`, then the others. `daemon` is the place that
// accepted; NULL: none. A daemon at a usual place that does not say has the usual store. Returns 0,
// or the -errno of the question.
int probe_list_stores(struct search *stores, const struct search_place *daemon,
                      const char *control);

// The first of them that can be read, of the daemon that the search for one finds. What was named
// and cannot be read is warned of. Returns 0, or EX_NOINPUT after a sentence that names all.
int probe_find_store(struct term *term, char *store, size_t size);
