// SPDX-License-Identifier: Apache-2.0
//
// Calls of NVTXT, as the format nvtxt writes them: each event becomes lines that make exactly this
// row again. With the extension (writer->nvtx) texts have escapes; without it a text that cannot be
// written is changed as little as possible, and counted.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/format/export_fmt.h"

#define CALLS_COMMANDS 6

// The state of the format begins with it: what each command was defined with last.
struct export_calls {
    unsigned defined[CALLS_COMMANDS]; // 0: not yet
};

// The lines of an event: a range is opened and closed at once.
void calls_put_event(struct export_writer *writer, const struct store_read_event *event);

// Pieces of other calls. Each argument but the first begins with a comma.
void calls_put_string(struct nvtxt_out *out, const char *string); // as it is
void calls_put_number(struct nvtxt_out *out, int64_t number);
void calls_put_thread(struct nvtxt_out *out, uint64_t global_tid);
void calls_put_text(struct export_writer *writer, struct nvtxt_slice text); // quoted, no comma
void calls_assign(struct export_writer *writer, const char *name, struct nvtxt_slice text);

// A text that leaves no room for a call in its line goes into the variable M before the call.
// Returns true then; the call has the variable in its place.
bool calls_put_variable(struct export_writer *writer, struct nvtxt_slice text);
void calls_put_text_or_variable(struct export_writer *writer, struct nvtxt_slice text,
                                bool variable);

// JSON in a call, alone or beside a message of so many bytes: the same with the variable J.
bool calls_put_json_variable(struct export_writer *writer, struct nvtxt_slice json, size_t beside);
