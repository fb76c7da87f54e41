// SPDX-License-Identifier: Apache-2.0
//
// Pieces of HTML. Texts of others go through page_text() or page_attribute() and nowhere else, so
// none of them can become an element, an attribute or a script. `bdi` keeps the direction of a text
// inside it.
#pragma once

#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/text/out.h"
#include "report/stats/table.h"

// Words of the program, with their tags, as they are.
static inline void page_raw(struct nvtxt_out *out, const char *html) {
    nvtxt_out_slice(out, nvtxt_slice_of(html));
}

// A text where text may stand. What is not UTF-8 becomes U+FFFD, NUL too.
void page_text(struct nvtxt_out *out, struct nvtxt_slice text);

// The same in <bdi>.
void page_name(struct nvtxt_out *out, struct nvtxt_slice text);

// ` name="value"`.
void page_attribute(struct nvtxt_out *out, const char *name, struct nvtxt_slice value);
void page_attribute_int(struct nvtxt_out *out, const char *name, int64_t value);

// A cell with a text or a number for people; `tag` is "td" or "th".
void page_cell(struct nvtxt_out *out, const char *tag, struct nvtxt_slice text);
void page_cell_uint(struct nvtxt_out *out, uint64_t value);

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

// A time as UTC; `base_ns` is added to it first, and what does not fit is the last time that does.
void page_utc(struct nvtxt_out *out, int64_t ns, int64_t base_ns);

// A bar as long as value / most, from 0 to 1; hidden from those who have the number as text.
void page_bar(struct nvtxt_out *out, double value, double most);

// ` data-value="value"`, as JSON has it; what is no number by its name.
void page_value(struct nvtxt_out *out, double value);

// A table of reports. At most `most` rows; a sentence says how many more there are. `id` is NULL or
// what the id of each row begins with: the first cell follows, which is a number.
void page_table(struct nvtxt_out *out, const struct report_table *table, size_t most,
                const char *id);
