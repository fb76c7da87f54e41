// SPDX-License-Identifier: Apache-2.0
//
// The text that people read, without control characters.
#pragma once

#include <stdbool.h>

#include "protocol/base/slice.h"
#include "protocol/text/out.h"

// The text on one line, as nvtxt_utf8_show() has it.
void report_plain_text(struct nvtxt_out *out, struct nvtxt_slice text);

// The number of characters that report_plain_text() writes.
size_t report_plain_width(struct nvtxt_slice text);

// A name, as text shows it: of more than REPORT_PLAIN_NAME characters these, U+2026 and the number
// of all of them; a colon at its beginning is not counted. And the number of characters that this
// is. A `full` one (--full-names) is never cut.
#define REPORT_PLAIN_NAME 200 // more than any name that people read, less than what fills a screen
void report_plain_name(struct nvtxt_out *out, struct nvtxt_slice name, bool full);
size_t report_plain_name_width(struct nvtxt_slice name, bool full);

// How many bytes of a name are shown, and what stands after them: "" when all are.
#define REPORT_PLAIN_NOTE 64
size_t report_plain_name_cut(struct nvtxt_slice name, bool full, char note[REPORT_PLAIN_NOTE]);

// The width of a column, so far `width`, with this text: a text of more than REPORT_PLAIN_COLUMN
// characters does not make all other rows as wide as itself.
#define REPORT_PLAIN_COLUMN 120
size_t report_plain_column(size_t width, struct nvtxt_slice text);

// The same as report_plain_text(), with a backslash before what Markdown reads as more than text.
void report_plain_markdown(struct nvtxt_out *out, struct nvtxt_slice text);

void report_plain_blanks(struct nvtxt_out *out, size_t count);
