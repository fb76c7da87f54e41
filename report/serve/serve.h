// SPDX-License-Identifier: Apache-2.0
//
// report/serve: what scripts ask, as requests and replies: nvtxt-report(1), "SERVE". It reads a
// request, finds the range, the action or the metric, and writes a reply. It owns the request at
// hand and what was computed for it. One thread. What is served comes from a source of objects
// (objects.h); it opens nothing and has no exit status.
//
// This header is the service: a line in, a line out.
#pragma once

#include "protocol/text/out.h"
#include "report/serve/objects.h"

#define REPORT_SERVE_LINE_BYTES ((size_t)1 << 20) // of a request, without its line feed

struct report_request;
struct report_serve;

// `objects` and `version` (of the program) are borrowed. Returns 0 or -ENOMEM.
int report_serve_new(struct report_serve **serve, struct report_objects *objects,
                     const char *version);
void report_serve_free(struct report_serve *serve); // NULL is fine

// Writes the reply to a line, ended by LF; of whatever bytes the line is. Returns 0 or -ENOMEM;
// then the reply is not whole.
int report_serve_line(struct report_serve *serve, struct nvtxt_slice line, struct nvtxt_out *out);

// The same of a request that was read already. Returns 0 with a whole reply, NVTXT_WRONG
// with nothing in `out`, or -ENOMEM.
int report_serve_request(struct report_serve *serve, struct report_request *request,
                         struct nvtxt_out *out);

// Writes the reply to a line that is longer than REPORT_SERVE_LINE_BYTES.
void report_serve_too_long(struct nvtxt_out *out);
