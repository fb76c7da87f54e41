// SPDX-License-Identifier: Apache-2.0
//
// lib: libnvtxt, with which a program annotates itself (nvtxt.h). The lead is the life of the
// recording in a process: its first event, fork, exit. Recording is in lib/ring, sending in
// lib/send; here they are put together and taken apart. The room owns the calls and what the
// environment asks for. The calls run on the threads of the program: none of them waits, allocates
// on an event or changes errno.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(default)
#include "lib/nvtxt.h"
#pragma GCC visibility pop

#include "lib/ring/catalog.h"
#include "lib/send/sender.h"

extern struct sender life_sender;

// Sets the hooks of the recorder. It is the library's constructor; a call that comes even earlier
// is counted as lost.
void life_init(void);

// Starts the sender if it was put off. The caller promises to be in no signal handler; where it
// shows that this is not so, nothing is done. Under the recorder's lock.
void life_start_sender(void);

// Whether an event was recorded in this process, or its parent before it was forked.
bool life_has_begun(void);

// ---- Signal handlers ----------------------------------------------------------------------------

enum handler_trust {
    HANDLER_CALL,   // any call: where the stack cannot tell, it may be in a handler
    HANDLER_PROMISE // a call that no handler should make: only what the stack shows counts
};

// Whether the caller is outside of any signal handler. It may be called in one, but never by two
// threads at once.
bool handler_is_out(enum handler_trust trust);

// ---- What the calls share
// --------------------------------------------------------------------------

// Decides which domains are left out. The first call of all does, because that reads the
// environment. Returns whether events without a domain are left out.
bool api_decide(void);

// Whether events of a domain (NULL: none) are left out, which costs the one load.
static inline bool api_is_excluded(const struct nvtxt_domain *domain) {
    const struct nvtxt_domain *of = domain ?: &catalog_no_domain;
    uint8_t state = atomic_load_explicit(&of->state, memory_order_relaxed);
    return __builtin_expect(state != DOMAIN_RECORDED, 0) &&
           (state == DOMAIN_EXCLUDED || api_decide());
}

// Counts a call that has no meaning: a pop without a push, a name of no thread.
void api_ignore(void);

// The first sample of a counter in a domain gives it a row.
void api_name_counter(const struct nvtxt_domain *domain, const struct nvtxt_string *counter);
