// SPDX-License-Identifier: Apache-2.0
//
// Finds the daemon that a program uses: its data socket, its control socket, which may have any
// name, and its store. A daemon that was named is the only one that is asked. Only the daemon knows
// where its other files are: a file beside its socket may be another daemon's.
#pragma once

#include "client/common/term.h"
#include "client/locate/search.h"
#include "protocol/wire/reply.h"

struct found {
    struct search data, control;        // of the same daemons, in the same order
    int won;                            // the daemon that is used; -1: none
    char store[NVTXT_REPLY_PATH_BYTES]; // its store; "": it does not say
    int why;                            // ... why: a code of control_link, or -errno
    int silent;                         // it gives no answer, as `why` says; 0: it does
};

struct find_how {
    const char *named; // --socket: the data socket or the control socket; NULL: not given
    bool all;          // try all places, not only up to the first that accepts
    bool wait;         // for one that was named, also while its queue of connections is full
    bool no_store;     // the store is not wanted
    int timeout_ms;    // for its answer; -1: no limit
};

// Notes what came of each place that was tried.
void find_daemon(struct found *found, const struct find_how *how);

// Says so, and returns OUTCOME_USAGE, when what names the data socket cannot be a socket's path.
enum outcome find_check_path(struct term *term, const struct search *data);

// Says that no place of a search accepts: what was tried, and what to do about it. Returns as
// search_explain(). `term` NULL: nothing is said.
enum outcome find_say_none(struct term *term, const struct search *search);

// Lists the stores in the order in which a program tries them: $NVTXT_STORE alone; else that of a
// daemon that was named, alone; else that of the daemon that won, and the usual ones. A daemon at a
// usual place that does not say has the usual store. None: the named daemon is absent, or does not
// say.
void find_stores(const struct found *found, struct search *stores);

// Whether the store that won is known not to be the daemon's.
bool find_is_of_another(const struct found *found, const struct search *stores);

// Says that the daemon that was named does not say where its store is, or is absent; returns
// OUTCOME_NO_INPUT, or as search_explain().
enum outcome find_say_no_daemon(struct term *term, const struct found *found);

// Finds the store that a program reads when no option names one. `named` is --socket's value, or
// NULL. OUTCOME_NO_INPUT, for a named daemon also OUTCOME_NO_DAEMON, OUTCOME_FORBIDDEN or
// OUTCOME_USAGE, comes after a sentence that names all; `advice` says how the program is told of a
// store.
enum outcome find_store(struct term *term, const char *named, const char *advice, char *store,
                        size_t size);
