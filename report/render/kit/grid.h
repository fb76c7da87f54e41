// SPDX-License-Identifier: Apache-2.0
//
// Short texts in aligned columns, for people; or as a table of Markdown. And bars.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/text/out.h"
#include "store/value/arena.h"

struct report_grid_cell {
    struct nvtxt_slice text;
    bool name; // is cut when it is shown as text
};

struct report_grid {
    size_t columns;
    uint64_t right;                 // bit i: column i is aligned to the right
    struct report_grid_cell *cells; // owned
    size_t count, room;
    bool failed; // memory was short
    struct store_arena arena;
};

#define REPORT_BAR 40 // characters of the longest bar

void report_grid_init(struct report_grid *grid, size_t columns, uint64_t right);
void report_grid_deinit(struct report_grid *grid);

void report_grid_add(struct report_grid *grid, struct nvtxt_slice text);  // copies
void report_grid_name(struct report_grid *grid, struct nvtxt_slice text); // see kit/plain.h
static inline void report_grid_put(struct report_grid *grid, const char *text) {
    report_grid_add(grid, nvtxt_slice_of(text));
}

// A bar of '#' as long as value / most of REPORT_BAR; nothing for what is not above 0.
void report_grid_bar(struct report_grid *grid, double value, double most);

// Fills the last row with empty cells and writes all rows. Returns 0 or -ENOMEM.
int report_grid_text(struct report_grid *grid, struct nvtxt_out *out, size_t indent);
int report_grid_markdown(struct report_grid *grid, struct nvtxt_out *out); // row 0 has the titles
