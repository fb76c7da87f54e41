// SPDX-License-Identifier: Apache-2.0
//
// Pieces of OTLP's JSON (https://opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"):
// 64-bit numbers are strings, bytes of ids hexadecimal, members that have their default are left
// out.
#pragma once

#include "protocol/text/out.h"
#include "store/read/event_members.h"

struct export_nest;
struct export_nested;

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

// ---- Parents in other processes (otlp_parents.c)
// -------------------------------------------------

// Unkeyed, of a number, after `hash`.
uint64_t otlp_hash_number(uint64_t hash, uint64_t number);

// The id of a row's span; `segment` is the hash of its file.
uint64_t otlp_span_id(uint64_t segment, int64_t row);

struct otlp_parents {         // zeroed: empty
    struct otlp_parent *list; // owned
    size_t count, room;
    const struct store_parent **above; // owned; of what is in the nest, by its index
    size_t above_count, above_room;
    uint64_t *segments; // owned: the hash of each file
    size_t segment_count;
};
void otlp_parents_deinit(struct otlp_parents *parents);

// The hash of a file; files come in their order, more than once. Returns 0 or -ENOMEM.
int otlp_parents_add_segment(struct otlp_parents *parents, size_t file, uint64_t segment);

// Is shown each row that is looked at, after the nest has it. Returns 0 or -ENOMEM.
int otlp_parents_look(struct otlp_parents *parents, const struct store_named_event *row,
                      const struct export_nest *nest, bool is_wanted);

struct otlp_ancestry {
    uint64_t outermost; // the id of the first span of the trace
    uint64_t around;    // that of the next span around it that is written; 0: none
};

// Of a row with this id; `nested` is its place in the nest, or NULL.
struct otlp_ancestry otlp_parents_find(const struct otlp_parents *parents,
                                       const struct export_nest *nest,
                                       const struct store_named_event *row,
                                       const struct export_nested *nested, uint64_t id);
