// SPDX-License-Identifier: Apache-2.0
//
// From a parsed call to what it means. Every argument comes from the call or, when the definition
// does not list it, from its variable or its default. Values are checked against their ranges, and
// times are moved to the timeline. Most calls of a stream differ only in what they list: so the
// static arguments are read once and kept (struct nvtxt_plan) until a variable or the definition
// changes.
#pragma once

#include "protocol/interp/source.h"
#include "protocol/lang/stmt.h"
#include "protocol/lang/symtab.h"

// The meaning of a call. Slices are views of the line, of variables, or of `digits`.
struct nvtxt_call {
    uint16_t given;   // bit set of nvtxt_arg: by the call or by a variable
    uint8_t timebase; // enum nvtxt_timebase
    bool bad_color;
    bool text_is_digits; // text is digits[0 .. text.len)
    bool domain_is_digits;
    uint32_t pid, tid;
    uint32_t category;
    uint32_t color;
    int64_t raw_time, raw_end; // Time or Start, and End, as written
    int64_t time, end;         // the same on the timeline
    int64_t range_id;
    struct nvtxt_slice text; // Message or Name
    struct nvtxt_slice domain;
    struct nvtxt_slice json;
    struct nvtxt_slice resource_kind;
    uint64_t handle;
    struct nvtxt_slice timebase_name;
    struct nvtxt_payload payload;
    char digits[NVTXT_INTEGER_TEXT]; // of a text that was given as an Integer
    char domain_digits[NVTXT_INTEGER_TEXT];
};

// A colour that a call gave as a text.
struct nvtxt_known_color {
    size_t len; // 0: none
    uint32_t color;
    char text[20]; // "lightgoldenrodyellow", the longest
};

#define NVTXT_KNOWN_COLORS 8

// The static arguments of one command. Zeroed: not made yet.
struct nvtxt_plan {
    bool made;
    bool faulty; // fault and fault_arg say why no call can have an effect
    enum nvtxt_diag_code fault;
    enum nvtxt_arg fault_arg;
    uint64_t static_changes; // of the variables when it was made
    uint16_t missing;        // required arguments that nothing gives
    struct nvtxt_call call;
    struct nvtxt_known_color colors[NVTXT_KNOWN_COLORS];
};

// What a call is resolved against.
struct nvtxt_call_context {
    const struct nvtxt_source_config *config;
    const struct nvtxt_guard *guard;         // NULL: none
    const struct nvtxt_clock_offset *clocks; // one per enum nvtxt_timebase
    const struct nvtxt_symtab *symtab;
    const struct nvtxt_cmddef *definition; // of the command
    struct nvtxt_plan *plan;               // of the command; remade here when it is stale
};

// Why the claim of the configuration does not allow the process; NULL: it does. `guard` may be
// NULL.
const char *nvtxt_why_not_claimed(const struct nvtxt_source_config *config,
                                  const struct nvtxt_guard *guard, uint32_t pid);

// Fills the diagnostic that says so.
void nvtxt_not_claimed(const struct nvtxt_source_config *config, uint32_t pid, const char *why,
                       uint32_t column, struct nvtxt_diag *diag);

// Returns 0, 1 with `diag` filled at the leftmost fault, or -ENOMEM. `call` is valid until the next
// assignment and while the line is.
int nvtxt_call_resolve(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                       struct nvtxt_call *call, struct nvtxt_diag *diag);

// The column of an argument's value, or of the command when the argument is static.
uint32_t nvtxt_call_column(const struct nvtxt_stmt *stmt, const struct nvtxt_cmddef *definition,
                           enum nvtxt_arg arg);
