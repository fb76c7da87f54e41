// SPDX-License-Identifier: Apache-2.0
//
// client/locate: where the daemon and the store are. search lists the places in their order, probe
// tries them, control_link asks a question on a control socket. One thread. Nothing here starts a
// daemon or writes a file, and a question is given up after a time that its caller names.
//
// What is named is used: a place that --socket, --store, $NVTXT_SOCKET or $NVTXT_STORE names is the
// only one. Where nothing is named there is one order for all programs: the user's own daemon
// ($XDG_RUNTIME_DIR, /tmp/nvtxtd-UID), then the system's. For root, whose own daemon is the
// system's, that one comes first. This module opens nothing.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/common/outcome.h"

#define SEARCH_MOST 4

enum search_state {
    SEARCH_UNTRIED,
    SEARCH_GOOD,      // it accepts or can be read
    SEARCH_ABSENT,    // nothing there can be used
    SEARCH_FORBIDDEN, // it is there, but not for us
    SEARCH_FULL,      // a daemon is there, but its queue of connections is full
    SEARCH_TOO_LONG,  // for a Unix socket
    SEARCH_FOREIGN,   // in /tmp our folder belongs to somebody else: nothing in it is used
    SEARCH_OTHER,     // another daemon's, not the one that was found
};

struct search_place {
    const char *whose; // "--socket", "$NVTXT_SOCKET", "yours", "the system's", "the daemon's"
    bool is_named;     // by an option, the environment or a daemon
    char path[PATH_MAX];
    enum search_state state;
    int error; // of ABSENT and FORBIDDEN; a negative errno
};

struct search {
    struct search_place places[SEARCH_MOST]; // in the order in which they are tried
    size_t count;
    int won; // index of the place that is used; -1: none yet
};

// The places of data sockets and of stores. `named` is the option's value, or NULL.
void search_data(struct search *search, const char *named);
void search_stores(struct search *search, const char *named);

// The places of the control sockets beside these data sockets, where a daemon makes them by
// default: one for each, in the same order.
void search_control(struct search *search, const struct search *data);

// Whether an option or the environment names the one place that there is.
bool search_is_named(const struct search *search);

// Puts the store that a daemon calls its own before the others; `alone`: in their stead.
void search_put_store(struct search *search, const char *path, bool alone);

// The file of that name in the folder of a socket.
void search_beside(const char *socket, const char *name, char *path, size_t size);

// False for a path that no Unix socket can have: empty, or longer than NVTXT_SOCKET_BYTES.
bool search_socket_fits(const char *path);

// Why a place is not used, as in "No such file or directory". Lives as long as strerror()'s.
const char *search_why(const struct search_place *place);

// Notes the result of a try: 0, -errno, or a positive code when the queue is full.
void search_note(struct search_place *place, int r);

// "A: why" for one place, else "A (why), B (why) or C (why)"; returns `text`, cut to `size`.
const char *search_list(const struct search *search, char *text, size_t size);

// For when no place accepts: writes what was tried, without a full stop, and what to do about it,
// which begins with a small letter; "" for a place that was named and is absent. Each is cut to its
// size. Returns OUTCOME_FORBIDDEN when one was forbidden, else OUTCOME_NO_DAEMON.
enum outcome search_explain(const struct search *search, char *text, size_t size, char *advice,
                            size_t advice_size);
