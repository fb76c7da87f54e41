// SPDX-License-Identifier: Apache-2.0
//
// A short list: the search for a user removes the callers that it passes and that have nothing
// left.
#include "daemon/control/callers.h"

#include <stdlib.h>

#define SECOND_NS INT64_C(1000000000)

static bool is_idle(const struct caller *caller, int64_t now_ns) {
    return caller->conns == 0 && caller->calls == 0 && now_ns - caller->second_ns >= SECOND_NS;
}

struct caller *callers_get(struct callers *callers, int64_t uid, int64_t now_ns) {
    struct caller **at = &callers->first;
    while (*at) {
        struct caller *caller = *at;
        if (caller->uid == uid) {
            return caller;
        }
        if (!is_idle(caller, now_ns)) {
            at = &caller->next;
            continue;
        }
        *at = caller->next;
        free(caller);
    }
    struct caller *caller = calloc(1, sizeof(*caller));
    if (caller) {
        caller->uid = uid;
        *at = caller;
    }
    return caller;
}

void callers_deinit(struct callers *callers) {
    while (callers->first) {
        struct caller *caller = callers->first;
        callers->first = caller->next;
        free(caller);
    }
}

bool caller_may_flush(struct caller *caller, uint64_t number, int64_t now_ns, int64_t *wait_ns) {
    if (caller->flush == number) {
        return true;
    }
    if (caller->flushes == 0 || now_ns - caller->second_ns >= SECOND_NS) {
        caller->second_ns = now_ns;
        caller->flushes = 0;
    }
    *wait_ns = caller->second_ns + SECOND_NS - now_ns;
    if (caller->flushes >= CALLERS_FLUSHES) {
        return false;
    }
    caller->flushes++;
    caller->flush = number;
    return true;
}
