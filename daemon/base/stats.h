// SPDX-License-Identifier: Apache-2.0
//
// The totals of the daemon since its start. One X-macro makes the struct, the names in `status` and
// `metrics`, and their meaning. Loop thread only; what the writer counts it publishes itself
// (daemon/writer/bqueue.h).
#pragma once

#include <stdint.h>

// X(name, meaning)
#define STATS(X)                                                                                   \
    X(connections_total, "Data connections accepted.")                                             \
    X(connections_refused, "Data connections refused: a quota, a bad hello, a busy session.")      \
    X(connections_unheard, "Data connections refused without a reply: too many in a second.")      \
    X(sessions_new, "Sessions that were started.")                                                 \
    X(sessions_resumed, "Sessions that were resumed.")                                             \
    X(sessions_ended, "Sessions that ended in order.")                                             \
    X(sessions_expired, "Sessions that were closed because nobody resumed them.")                  \
    X(files_new, "Sources of followed files that began.")                                          \
    X(files_ended, "Sources of followed files that ended.")                                        \
    X(bytes, "Bytes read from data connections and followed files.")                               \
    X(lines, "Lines taken into batches.")                                                          \
    X(events, "Events taken into batches.")                                                        \
    X(warnings, "Warnings.")                                                                       \
    X(errors, "Errors in lines.")                                                                  \
    X(batches, "Batches handed to the writer.")                                                    \
    X(pauses, "Times that reading stopped because the memory budget was used up.")                 \
    X(slow_readers, "Clients that were disconnected because they did not read their replies.")

struct stats {
#define X(name, meaning) uint64_t name;
    STATS(X)
#undef X
};
