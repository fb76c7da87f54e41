// SPDX-License-Identifier: Apache-2.0
//
// The cells are kept until the last one is there: only then is the width of each column known. No
// line ends with blanks.
#include "report/render/kit/grid.h"

#include <errno.h>
#include <stdlib.h>

#include "report/render/kit/plain.h"

void report_grid_init(struct report_grid *grid, size_t columns, uint64_t right) {
    *grid = (struct report_grid){.columns = columns, .right = right};
}

void report_grid_deinit(struct report_grid *grid) {
    free(grid->cells);
    store_arena_deinit(&grid->arena);
    *grid = (struct report_grid){0};
}

void report_grid_add(struct report_grid *grid, struct nvtxt_slice text) {
    if (grid->count == grid->room) {
        size_t room = grid->room ? grid->room * 2 : 64;
        struct report_grid_cell *cells = realloc(grid->cells, room * sizeof(*cells));
        if (!cells) {
            grid->failed = true;
            return;
        }
        grid->cells = cells;
        grid->room = room;
    }
    const char *copy = store_arena_copy(&grid->arena, text.data, text.len);
    grid->failed |= copy == NULL;
    grid->cells[grid->count++] = (struct report_grid_cell){.text = {copy, copy ? text.len : 0}};
}

void report_grid_name(struct report_grid *grid, struct nvtxt_slice text) {
    size_t before = grid->count;
    report_grid_add(grid, text);
    if (grid->count > before) {
        grid->cells[before].name = true;
    }
}

void report_grid_bar(struct report_grid *grid, double value, double most) {
    static const char bar[REPORT_BAR + 1] = "########################################";
    double length = most > 0 && value > 0 ? value / most * REPORT_BAR + 0.5 : 0;
    size_t count = !(length < REPORT_BAR) ? REPORT_BAR : (size_t)length;
    report_grid_add(grid, (struct nvtxt_slice){bar, most > 0 && value > 0 ? count : 0});
}

static void complete(struct report_grid *grid) {
    while (!grid->failed && grid->count % grid->columns != 0) {
        report_grid_put(grid, "");
    }
}

static size_t width_of(const struct report_grid_cell *cell) {
    return cell->name ? report_plain_name_width(cell->text) : report_plain_width(cell->text);
}

// A row of empty cells is left out.
static void write_row(const struct report_grid *grid, struct nvtxt_out *out,
                      const struct report_grid_cell *cells, const size_t *widths, size_t indent) {
    size_t last = grid->columns;
    while (last > 0 && cells[last - 1].text.len == 0) {
        last--;
    }
    report_plain_blanks(out, last > 0 ? indent : 0);
    for (size_t i = 0; i < last; i++) {
        size_t own = width_of(&cells[i]);
        size_t blanks = widths[i] > own ? widths[i] - own : 0;
        bool right = i < 64 && (grid->right >> i & 1) != 0;
        report_plain_blanks(out, right ? blanks : 0);
        (cells[i].name ? report_plain_name : report_plain_text)(out, cells[i].text);
        report_plain_blanks(out, i + 1 == last ? 0 : right ? 2 : blanks + 2);
    }
    nvtxt_out_bytes(out, "\n", last > 0);
}

int report_grid_text(struct report_grid *grid, struct nvtxt_out *out, size_t indent) {
    complete(grid);
    size_t *widths = calloc(grid->columns, sizeof(*widths));
    if (!widths || grid->failed) {
        free(widths);
        return -ENOMEM;
    }
    for (size_t i = 0; i < grid->count; i++) {
        size_t *width = &widths[i % grid->columns];
        *width = report_plain_column(*width, grid->cells[i].text);
    }
    for (size_t i = 0; i < grid->count; i += grid->columns) {
        write_row(grid, out, grid->cells + i, widths, indent);
    }
    free(widths);
    return 0;
}

static void write_rule(const struct report_grid *grid, struct nvtxt_out *out) {
    for (size_t i = 0; i < grid->columns; i++) {
        bool right = i < 64 && (grid->right >> i & 1) != 0;
        nvtxt_out_slice(out, right ? NVTXT_SLICE("| ---: ") : NVTXT_SLICE("| --- "));
    }
    NVTXT_OUT_LITERAL(out, "|\n");
}

int report_grid_markdown(struct report_grid *grid, struct nvtxt_out *out) {
    complete(grid);
    for (size_t i = 0; i < grid->count && !grid->failed; i += grid->columns) {
        for (size_t j = 0; j < grid->columns; j++) {
            NVTXT_OUT_LITERAL(out, "| ");
            report_plain_markdown(out, grid->cells[i + j].text);
            NVTXT_OUT_LITERAL(out, " ");
        }
        NVTXT_OUT_LITERAL(out, "|\n");
        if (i == 0) {
            write_rule(grid, out);
        }
    }
    return grid->failed ? -ENOMEM : 0;
}
