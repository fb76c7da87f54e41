// SPDX-License-Identifier: Apache-2.0
//
// Tries sockets and stores: which daemon accepts, which store can be read, and who answers at a
// socket. Nothing here waits longer for one answer than its caller says, whatever a daemon does.
#pragma once

#include "client/locate/search.h"
#include "protocol/wire/reply.h"

#define PROBE_ASK_MS 3000

// Tries the places up to the first one that accepts, or all of them, and notes each one's result;
// `won` is the first that accepts.
void probe_sockets(struct search *search, bool all);

// The same for stores: can each be opened for reading?
void probe_stores(struct search *search, bool all);

// Whether a process has a socket at one of the places, which may accept. None is disturbed: no
// connection is made.
bool probe_is_there(const struct search *search);

// Whether a socket accepts, as search_note() takes it: a daemon with a full queue does.
int probe_accepts(const char *path);

enum probe_kind {
    PROBE_SILENT,  // it accepts and gives no answer that is understood: `why`
    PROBE_DATA,    // a data socket
    PROBE_OLD,     // a data socket of a daemon before 0.2.0, which says nothing more
    PROBE_CONTROL, // a control socket
};

struct probe_who {
    enum probe_kind kind;
    int why;                              // SILENT: a code of control_link, or -errno
    char control[NVTXT_REPLY_PATH_BYTES]; // DATA: what the daemon says; "": it does not
    char store[NVTXT_REPLY_PATH_BYTES];
};

// Asks who is at a socket of any kind, with a hello that leaves nothing behind in the daemon;
// `wait`: also while its queue of connections is full. Returns 0, or a code of control_link or
// -errno when it does not accept.
int probe_ask(const char *path, bool wait, int timeout_ms, struct probe_who *who);

// Asks a control socket where the data socket and the store of its daemon are; either may become
// "". Returns 0, a code of control_link, or -errno.
int probe_status(const char *control, char *data, char *store, size_t size);
