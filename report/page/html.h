// SPDX-License-Identifier: Apache-2.0
//
// Pieces of HTML. Texts of others go through page_text() or page_attribute() and nowhere else, so
// none of them can become an element, an attribute or a script. `bdi` keeps the direction of a text
// inside it.
#pragma once

#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/text/out.h"
#include "protocol/text/shown.h"

// Words of the program, with their tags, as they are.
static inline void page_raw(struct nvtxt_out *out, const char *html) {
    nvtxt_out_slice(out, nvtxt_slice_of(html));
}

// A text where text may stand. What is not UTF-8 becomes U+FFFD, NUL too.
void page_text(struct nvtxt_out *out, struct nvtxt_slice text);

// The same in <bdi>; page_named() between words of the program.
void page_name(struct nvtxt_out *out, struct nvtxt_slice text);
void page_named(struct nvtxt_out *out, const char *before, struct nvtxt_slice text,
                const char *after);

// ` name="value"`.
void page_attribute(struct nvtxt_out *out, const char *name, struct nvtxt_slice value);
void page_attribute_int(struct nvtxt_out *out, const char *name, int64_t value);

// A cell with a text or a number for people.
void page_cell(struct nvtxt_out *out, struct nvtxt_slice text);
void page_cell_uint(struct nvtxt_out *out, uint64_t value);

// The unit of times of which the largest is this one: as pages write it, with "µs".
struct nvtxt_shown_unit page_time_unit(double most_ns);

// A length of time with three digits and its unit: "4.98 ms". Of the second one the exact one is
// the title.
void page_time(struct nvtxt_out *out, double ns);
void page_length(struct nvtxt_out *out, uint64_t ns);

// A row of column titles; it ends with NULL.
void page_titles(struct nvtxt_out *out, const char *const *titles);

// A table that scrolls in a region of its own, with this name; `class` may be NULL. What stands
// before its rows follows, up to <tbody>.
void page_begin_region(struct nvtxt_out *out, const char *label, const char *class);

// The same up to its first row. `titles` may be NULL.
void page_begin_table(struct nvtxt_out *out, const char *label, const char *class,
                      const char *const *titles);
void page_end_table(struct nvtxt_out *out); // of both

// A fact in <dl class="facts">; its text follows.
void page_begin_fact(struct nvtxt_out *out, const char *what);
void page_end_fact(struct nvtxt_out *out);

// A bar as long as value / most, from 0 to 1; hidden from those who have the number as text.
void page_bar(struct nvtxt_out *out, double value, double most);

// Copies JSON so that it may stand in a script element.
void page_script_json(struct nvtxt_out *out, struct nvtxt_slice json);

// What the page lets a browser do: run that script, use that style, and ask for nothing. The hashes
// are those of page/embed.
void page_policy(struct nvtxt_out *out, const char *script_hash, const char *style_hash);

// Writes a page, whose places are names such as `{{title}}`: `put` writes what belongs there.
void page_fill(struct nvtxt_out *out, struct nvtxt_slice page,
               void (*put)(void *context, struct nvtxt_slice place), void *context);
