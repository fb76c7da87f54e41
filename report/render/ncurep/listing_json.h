// SPDX-License-Identifier: Apache-2.0
//
// report/render/ncurep: the results of report files of Nsight Compute, and the ranges around them,
// as JSON and as text: "nvtx-state" and "SERVE" of nvtxt-report(1). It owns nothing; what it writes
// goes to the output of its caller at once. One thread. It opens no file and selects nothing.
//
// This header is the JSON of nvtx-state.
#pragma once

#include "report/ncurep/ncurep.h"
#include "report/ncurep/result.h"
#include "report/ncurep/state.h"
#include "report/render/kit/json.h"

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
