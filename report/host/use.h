// SPDX-License-Identifier: Apache-2.0
//
// One use of a rule file: what its process may ask, and what it has said so far. Only this room
// includes it.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "protocol/base/slice.h"
#include "protocol/text/out.h"
#include "report/rule/builder.h"
#include "report/rule/runner.h"
#include "report/section/show.h"
#include "report/serve/request.h"
#include "report/serve/serve.h"
#include "report/text/message.h"

#define REPORT_USE_BYTES ((size_t)64 << 20) // of what a rule says, and of what rules leave

// What rules of one scope leave for others: texts by identifier.
struct report_left {
    json_t *parents; // what a rule sent to its children; owned
    json_t *vault;   // of messages; owned
    size_t bytes;    // of both, with what was replaced
};

enum report_use_said { REPORT_USE_NOTHING, REPORT_USE_ALL, REPORT_USE_RAISED };

struct report_use {
    const char *file;                       // as it is shown
    const char *real;                       // as the process gets it
    struct nvtxt_slice text;                // of the file
    const char *version;                    // of nvtxt-report
    const struct report_program_call *call; // NULL: it is asked what it is
    struct report_left *left;
    struct report_serve *serve;     // figures and events; NULL without a call
    size_t arena_before;            // bytes of the builder's arena
    const struct report_show *show; // how charts are laid out; its scope is that of the call

    // While it is asked what it is.
    struct store_arena *arena;
    struct report_program *program;
    struct report_messages *messages;
    bool helper, bad;

    // What it said.
    enum report_use_said said;
    bool evaluated;           // evaluate() is over
    char not_applicable[512]; // why; empty: no reason so far
    bool stopped;             // ... and it was told so
    json_t *raised;           // the parameters of rule_raised; owned
    struct report_place at;   // where in the file
};

// Each takes its parameters, then writes a reply. They return as report_exchange's `answer`.
struct report_use_method {
    const char *name;
    int (*run)(struct report_use *use, struct report_request *request, struct nvtxt_out *out);
};

// NULL ends each.
extern const struct report_use_method report_use_begin_methods[];    // begin.c
extern const struct report_use_method report_use_control_methods[];  // control.c
extern const struct report_use_method report_use_frontend_methods[]; // frontend.c

// A reply without members. Returns 0.
int report_use_done(struct report_request *request, struct nvtxt_out *out);

// A text; empty without data when it is not there, or null. Returns 0 or NVTXT_WRONG.
int report_use_text(struct report_request *request, const char *name, struct nvtxt_slice *text);

// chart.c: adds the file of a chart beside the rule, one Item of the language of sections, as a
// table of the rule's newest message. Returns 0, NVTXT_WRONG, or -ENOMEM.
int report_use_chart(struct report_use *use, struct nvtxt_slice name,
                     struct report_request *request);

// What the text of a rule file says without being run, for lists and results when nothing can run
// it, or when it fails before it says its name:
//
// Whether a line of `text` begins with "def FUNCTION(". `*value` is what the function returns if
// that is a plain string without escapes, a view; else it has no data.
bool report_peek(struct nvtxt_slice text, const char *function, struct nvtxt_slice *value);
