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
#include "inject/text.h"

enum event_kind { EVENT_MARK, EVENT_PUSH, EVENT_START };

// Records an event. Returns the level of a push, as nvtxt_push_ex() does, or the id of a start.
uint64_t event_record(enum event_kind kind, const struct inject_domain *domain,
                      const struct abi_event *event);

// What a push or pop returns to the program.
static inline int event_level(int level) {
    return level >= 0 ? level : level == -ENOENT ? ABI_NONE_OPEN : ABI_NOT_TRACKED;
}

// The text of a message of these attributes, which may be a structure of any kind, as UTF-8; NULL:
// none. A wide one is on the stack of the calling function.
#define EVENT_TEXT(type, message)                                                                  \
    ({                                                                                             \
        int32_t type_ = (int32_t)(type);                                                           \
        union abi_message message_ = (message);                                                    \
        type_ == ABI_MESSAGE_WIDE &&message_.wide ? TEXT_OF_WIDE(message_.wide)                    \
                                                  : event_text(type_, message_);                   \
    })
static inline const char *event_text(int32_t type, union abi_message message) {
    if (type == ABI_MESSAGE_REGISTERED && message.handle) {
        return ((const struct inject_string *)message.handle)->text;
    }
    return type == ABI_MESSAGE_BYTES ? message.bytes : NULL;
}

// A message as the library behind us knows it.
static inline union abi_message event_message_chained(int32_t type, union abi_message message) {
    if (type == ABI_MESSAGE_REGISTERED) {
        message.handle = inject_string_chained(message.handle);
    }
    return message;
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

// Whether a member lies inside of a structure's size.
#define EVENT_HAS(attr, member)                                                                    \
    (offsetof(__typeof__(*(attr)), member) + sizeof((attr)->member) <= (attr)->size)
