// SPDX-License-Identifier: Apache-2.0
//
// Links in texts of rules: `@url:ADDRESS:TEXT@`, `@url:TEXT:ADDRESS@`, `@section:ID:TEXT@`,
// `@range:ROW:TEXT@`, `@time:NS:TEXT@`, `@source:FILE:LINE:TEXT@`, `@sass:ADDRESS:TEXT@`
// (nvtxt-rule(5), "LINKS"). What only looks like one is text.
#pragma once

#include <stdbool.h>

#include "protocol/base/slice.h"
#include "protocol/text/out.h"

enum report_link_kind {
    REPORT_LINK_URL, // http or https; other addresses are REPORT_LINK_NONE
    REPORT_LINK_SECTION,
    REPORT_LINK_RANGE,
    REPORT_LINK_TIME,
    REPORT_LINK_SOURCE,
    REPORT_LINK_NONE, // only its text counts
};

struct report_link {
    enum report_link_kind kind;
    struct nvtxt_slice target; // the address, identifier, row, time or file; a view
    struct nvtxt_slice line;   // digits; only of a source
    struct nvtxt_slice text;   // what people read
};

// The next link in `*rest`: `*before` is the text before it, `*rest` goes on after it. False at the
// end: then `*before` is all the rest.
bool report_link_next(struct nvtxt_slice *rest, struct nvtxt_slice *before,
                      struct report_link *link);

// An at sign that belongs to no link, whatever stands around it: texts of others have it instead of
// theirs where links may stand (report_build_name()). No UTF-8 has this byte.
#define REPORT_LINK_AT '\xFF'

// A byte of such a text. REPORT_LINK_AT itself becomes another byte that no UTF-8 has.
static inline char report_link_harmless(char byte) {
    return byte == '@' ? REPORT_LINK_AT : byte == REPORT_LINK_AT ? '\xFE' : byte;
}

// Writes a text without links with `put`, in pieces: these bytes are at signs.
void report_link_put(struct nvtxt_out *out, struct nvtxt_slice text,
                     void (*put)(struct nvtxt_out *out, struct nvtxt_slice text));

// Writes a text with `put`, in pieces: a link is its text.
void report_link_write(struct nvtxt_out *out, struct nvtxt_slice text,
                       void (*put)(struct nvtxt_out *out, struct nvtxt_slice text));
