// SPDX-License-Identifier: Apache-2.0
//
// The attributes of an event: what of them is recorded, and what of them the library behind us
// gets. A member counts when it lies inside of `size`; types that we do not know are as if they
// were not there.
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/abi.h"
#include "inject/handles.h"

enum event_kind { EVENT_MARK, EVENT_PUSH, EVENT_START };

// Records an event. Returns the level of a push, as nvtxt_push_ex() does, or the id of a start.
uint64_t event_record(enum event_kind kind, const struct inject_domain *domain,
                      const struct abi_event *event);

// What a push or pop returns to the program.
static inline int event_level(int level) {
    return level >= 0 ? level : level == -ENOENT ? ABI_NONE_OPEN : ABI_NOT_TRACKED;
}

// Attributes with handles of the library behind us in them.
struct event_copy {
    union {
        struct abi_event event;
        char bytes[256];
    };
    _Alignas(16) char payloads[4096];
};

// `event` itself when there is no handle in it, else what was put together at `copy`.
const struct abi_event *event_chained(const struct inject_domain *domain,
                                      const struct abi_event *event, struct event_copy *copy);

// Whether a message of this type and place lies inside of a structure's size.
#define EVENT_HAS(attr, member)                                                                    \
    (offsetof(__typeof__(*(attr)), member) + sizeof((attr)->member) <= (attr)->size)
