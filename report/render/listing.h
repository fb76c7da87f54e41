// SPDX-License-Identifier: Apache-2.0
//
// The results of report files of Nsight Compute, and the ranges around them: "nvtx-state" and
// "SERVE" of nvtxt-report(1). What is written goes to the output of its caller at once.
#pragma once

#include <stdbool.h>

#include "protocol/text/out.h"
#include "report/ncurep/ncurep.h"
#include "report/ncurep/result.h"
#include "report/ncurep/state.h"
#include "report/table/json.h"

struct report_listed {
    uint64_t index; // of all results of the file
    const struct report_ncurep_result *result;
    const struct report_state *state;
};

// A file as an element of an array: up to the array of its results, an element of that, its end.
void report_listing_json_begin(struct report_json *json, const char *path,
                               const struct report_ncurep *report);
void report_listing_json_result(struct report_json *json, const struct report_listed *listed);
void report_listing_json_end(struct report_json *json);

// Results for people, as text or Markdown.

struct report_listing_text {
    struct nvtxt_out *out; // borrowed; it remembers a failure
    bool markdown;         // else text
    bool begun;            // a file stands before this one
};

// The head of a file, then each of its results.
void report_listing_text_begin(struct report_listing_text *listing, const char *path,
                               const struct report_ncurep *report);
void report_listing_text_result(const struct report_listing_text *listing,
                                const struct report_listed *listed);

// What is open in a domain of a result, as an object of JSON.

// {"id","name","pushPop":[RANGE],"startEnd":[RANGE]}: "nvtx-state" of nvtxt-report(1). With `serve`
// each RANGE has the members of "SERVE", too: "row" (null), "message" and "hasAttributes".
void report_render_state_json(struct report_json *json, const struct report_state *state,
                              const struct report_state_domain *domain, bool serve);
