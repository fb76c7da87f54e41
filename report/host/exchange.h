// SPDX-License-Identifier: Apache-2.0
//
// The requests of a rule and their replies, while its process runs: lines of JSON, one at a time.
// What the rule asks is answered by the caller.
#pragma once

#include <stddef.h>

#include "protocol/text/out.h"
#include "report/serve/request.h"

struct report_child;

#define REPORT_EXCHANGE_LINE_BYTES ((size_t)1 << 20) // of a request, without its line feed
#define REPORT_EXCHANGE_GRACE_MS 1000                // to end, for one that closed its socket
#define REPORT_EXCHANGE_LOST_STATUS 76               // of rule_host.py, when its socket is gone

enum report_exchange_end {
    REPORT_EXCHANGE_DONE = 0, // the caller said so
    REPORT_EXCHANGE_LATE,
    REPORT_EXCHANGE_ENDED, // the process ended by itself
    REPORT_EXCHANGE_BAD,   // no request, or none that can be read
};

// Of `answer`: the reply is whole, and the last one.
enum { REPORT_EXCHANGE_NO_MORE = NVTXT_WRONG + 1 };

struct report_exchange {
    struct report_child *child;
    // Answers a request. Returns 0 with a whole reply in `out`, NO_MORE, NVTXT_WRONG
    // with nothing in it, or -ENOMEM.
    int (*answer)(void *context, struct report_request *request, struct nvtxt_out *out);
    void *context;
};

// Answers until there is an end. Returns one of enum report_exchange_end, -EINTR after a signal, or
// -errno.
int report_exchange_run(const struct report_exchange *exchange);
