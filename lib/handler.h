// SPDX-License-Identifier: Apache-2.0
//
// Whether a call may be in a signal handler.
#pragma once

#include <stdbool.h>

enum handler_trust {
    HANDLER_CALL,   // any call: where the stack cannot tell, it may be in a handler
    HANDLER_PROMISE // a call that no handler should make: only what the stack shows counts
};

// Whether the caller is outside of any signal handler. It may be called in one, but never by two
// threads at once.
bool handler_is_out(enum handler_trust trust);
