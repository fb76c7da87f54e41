// SPDX-License-Identifier: Apache-2.0
//
// One source as everything in this room sees it: what it may do (its configuration), where its
// results go (the sink), and what is reported of it (the counters). Plain values.
#pragma once

#include "protocol/base/limits.h"
#include "protocol/interp/event.h"
#include "protocol/lang/commands.h"
#include "protocol/lang/diag.h"
#include "protocol/lang/timebase.h"

// Where results go; what has no function is not told. Each returns 0 or -errno. Values are borrowed
// for the call.
struct nvtxt_sink {
    int (*on_event)(void *context, const struct nvtxt_event *event);
    int (*on_name)(void *context, const struct nvtxt_name *name);
    int (*on_diag)(void *context, const struct nvtxt_diag *diag);
    void *context;
};

// What the outside says of processes: whether the source may use and name them. Each function gets
// `context`; texts are static, and go on a sentence that begins with the process.
#define NVTXT_WHY_SHARED                                                                           \
    "was used by two users, and neither can prove now that it is theirs: it has no name"

struct nvtxt_guard {
    // An event or an open range of the source is of the process. Returns 0; 1 when that takes away
    // the name that another user gave it; or -errno.
    int (*on_use)(void *context, uint32_t pid);
    // Why the source may not name the process, its threads and its categories; NULL: it may.
    const char *(*why_not_named)(void *context, uint32_t pid);
    // With a claim, and not for the processes of the configuration: why it may not use the process;
    // NULL: it may.
    const char *(*why_not_claimed)(void *context, uint32_t pid);
    void *context;
};

struct nvtxt_source_config {
    struct nvtxt_limits limits;
    uint32_t default_pid; // ProcessId where none is given; 0 for a file
    bool claim;           // refuse events of another process than these, if the guard says so
    uint32_t claimed_pid; // the sender
    uint32_t began_pid;   // who began the session that the sender has resumed; 0: nobody else
    int64_t opened_ns;    // realtime when the source was opened: names of a source that ends
                          // without an event stand there
    int64_t origin_ns;    // of TimeBase Relative: opened_ns of a live source; for a file what its
                          // user gave, else 0
    struct nvtxt_mapping mapping; // NONE unless given
    bool escapes;                 // in double quotes; see nvtxt_lex()
    bool levels;                  // payloads of markers are severities; an empty one is none
    bool nvtx;                    // the extension `nvtx` (nvtxt-protocol(7)); goes with escapes
    int64_t expiry_s; // how long a session can be resumed; 0: not said. It is only kept here
    // The token of the range that the source began under; "": none. It is only kept here, too.
    char parent[NVTXT_PARENT_BYTES + 1];
};

// Its bits of enum nvtxt_extension.
static inline unsigned nvtxt_source_extensions(const struct nvtxt_source_config *config) {
    return (config->levels ? NVTXT_LEVELS : 0u) | (config->nvtx ? NVTXT_NVTX : 0u);
}

// What is reported of a source at any moment.
struct nvtxt_counters {
    uint64_t lines; // all lines, blank ones and comments too
    uint64_t events;
    uint64_t warnings;
    uint64_t errors;
    bool has_time;    // first_ns and last_ns mean something
    int64_t first_ns; // smallest start of an event
    int64_t last_ns;  // largest end
};
