// SPDX-License-Identifier: Apache-2.0
//
// Pieces of OTLP's JSON (https://opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"):
// 64-bit numbers are strings, bytes of ids hexadecimal, members that have their default are left
// out.
#pragma once

#include "protocol/text/out.h"
#include "store/read/event_members.h"

// ---- Attributes (otlp_value.c) ------------------------------------------------------------------

// One more member of a list that begins with '[': a comma where it is not the first. The output is
// never flushed while it has members.
void otlp_comma(struct nvtxt_out *out);

void otlp_put_text(struct nvtxt_out *out, const char *key, struct nvtxt_slice text);
void otlp_put_int(struct nvtxt_out *out, const char *key, int64_t value);

// What an event has beside its text and times: category, colour, payload, JSON, level, the thread
// that ended it.
void otlp_put_event(struct nvtxt_out *out, const struct store_named_event *row);

// Writes one JSON value as an AnyValue, object and array as lists of their members; a text that is
// none as a string.
void otlp_put_json(struct nvtxt_out *out, struct nvtxt_slice text);

// ---- Requests (otlp_request.c) ------------------------------------------------------------------

// Lines that receivers take with the settings that they come with: half of the 1 MiB that a
// collector reads as one line. Only a span that is longer by itself makes a longer line.
#define OTLP_REQUEST_BYTES ((size_t)512 * 1024)

// Spans that wait for their request. A request has spans of one process and one domain.
struct otlp_requests {
    struct nvtxt_out text;     // owned; never written, it grows
    struct otlp_waiting *rows; // owned: one for each span
    size_t count;
    struct nvtxt_slice host; // borrowed; empty: not known
};

int otlp_requests_init(struct otlp_requests *requests);    // 0 or -ENOMEM
void otlp_requests_deinit(struct otlp_requests *requests); // fine when zeroed

// The span that was put into `text` last is complete. The names in `row` must live until the spans
// are written. True: it is time to write them.
bool otlp_requests_add(struct otlp_requests *requests, const struct store_named_event *row);

// Writes and forgets all spans, a request a line. Returns 0, or the first failure of `text`.
int otlp_requests_write(struct otlp_requests *requests, struct nvtxt_out *out);
