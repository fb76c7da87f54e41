// SPDX-License-Identifier: Apache-2.0
//
// report/render/kit: what every format is written with: JSON value by value, text in aligned
// columns, texts without control characters, numbers for people. It owns nothing but what one call
// needs; every function puts bytes into the output of its caller, which remembers a failure. One
// thread. It knows no table, metric or section.
//
// This header is the text that people read: messages without control characters, numbers with
// grouped digits.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/text/out.h"

// The text on one line, as nvtxt_utf8_show() has it.
void report_plain_text(struct nvtxt_out *out, struct nvtxt_slice text);

// The number of characters that report_plain_text() writes.
size_t report_plain_width(struct nvtxt_slice text);

// A name, as text shows it: of more than REPORT_PLAIN_NAME characters these, U+2026 and the number
// of all of them; a colon at its beginning is not counted. And the number of characters that this
// is. With report_plain_full_names, which a program sets at its start, no name is cut.
#define REPORT_PLAIN_NAME 200 // more than any name that people read, less than what fills a screen
extern bool report_plain_full_names;
void report_plain_name(struct nvtxt_out *out, struct nvtxt_slice name);
size_t report_plain_name_width(struct nvtxt_slice name);

// How many bytes of a name that is shown, and what stands after them: "" when all are.
#define REPORT_PLAIN_NOTE 64
size_t report_plain_name_cut(struct nvtxt_slice name, char note[REPORT_PLAIN_NOTE]);

// At most `width` characters (1 or more), the last one U+2026 when something is cut off.
void report_plain_cut(struct nvtxt_out *out, struct nvtxt_slice text, size_t width);

// The width of a column, so far `width`, with this text: a text of more than REPORT_PLAIN_COLUMN
// characters does not make all other rows as wide as itself.
#define REPORT_PLAIN_COLUMN 120
size_t report_plain_column(size_t width, struct nvtxt_slice text);

// The same as report_plain_text(), with a backslash before what Markdown reads as more than text.
void report_plain_markdown(struct nvtxt_out *out, struct nvtxt_slice text);

void report_plain_blanks(struct nvtxt_out *out, size_t count);

#define REPORT_PLAIN_NUMBER 448 // 309 digits, their commas, sign, decimal and NUL

// "1,234,567" and "-1,234.5" into `text`; returns the length. Without a finite value: "inf",
// "-inf", "nan".
size_t report_plain_uint(char text[REPORT_PLAIN_NUMBER], uint64_t value);
size_t report_plain_int(char text[REPORT_PLAIN_NUMBER], int64_t value);
size_t report_plain_real(char text[REPORT_PLAIN_NUMBER], double value);
