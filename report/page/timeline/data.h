// SPDX-License-Identifier: Apache-2.0
//
// report/page/timeline: the data of the page's pictures. It owns the items that are drawn, what it
// computes while it writes them, and the thread that does so; that only reads the model. It knows
// no HTML but that it is read from a script element, and computes no figure that report/model
// knows.
//
// This header is the data: what the script draws, as one JSON object inside a script element. Names
// and tables are JSON; what each item has is in columns (column.h). No text of others can end the
// element: `<`, `>`, `&`, U+2028 and U+2029 are written as \u and four digits.
//
// The object: version, events, items, first, last, utcBase, domains, names, colors, categories,
// processes, threads, lanes, iterations, hidden (hidden.h; if events are merged), columns; flame
// (flame.h) stands after them.
// assets/data.js reads it.
#pragma once

#include "protocol/text/out.h"
#include "report/page/timeline/items.h"

// `*names`, which the caller frees, is the number of each name of the capture in `names`, or
// REPORT_NONE. Returns 0 or -ENOMEM; a failure of the output is in `out`.
int page_data(struct nvtxt_out *out, const struct report_model *model,
              const struct page_items *items, uint32_t **names);

// Copies JSON so that it may stand in a script element.
void page_script_json(struct nvtxt_out *out, struct nvtxt_slice json);
