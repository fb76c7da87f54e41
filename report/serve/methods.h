// SPDX-License-Identifier: Apache-2.0
//
// The methods of requests: nvtxt-report(1), "SERVE".
#pragma once

#include "protocol/text/out.h"
#include "report/serve/objects.h"
#include "report/serve/request.h"
#include "store/value/arena.h"

#define REPORT_SERVE_PROTOCOL 1

struct report_service {
    struct report_objects *objects; // borrowed
    const char *version;            // borrowed
    struct store_arena arena;       // of the request at hand
};

// Runs the method of the request. Returns 0 with a whole reply in `out`, REPORT_REQUEST_REFUSED
// with nothing in it, or -ENOMEM.
int report_service_run(struct report_service *service, struct report_request *request,
                       struct nvtxt_out *out);
