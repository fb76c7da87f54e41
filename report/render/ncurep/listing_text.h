// SPDX-License-Identifier: Apache-2.0
//
// Results for people, as text or Markdown.
#pragma once

#include <stdbool.h>

#include "protocol/text/out.h"
#include "report/render/ncurep/listing_json.h"

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
