// SPDX-License-Identifier: Apache-2.0
//
// What text has of a cell, whatever it is written to. Numbers become digits; the text of a link
// stands for it.
#include <inttypes.h>
#include <stdio.h>

#include "protocol/base/origin.h"
#include "report/table/links.h"
#include "report/table/plain.h"
#include "report/table/write.h"

static void put_without_links(struct nvtxt_out *out, struct nvtxt_slice text) {
    report_link_write(out, text, nvtxt_out_slice);
}

// The text of a link stands for it.
static struct nvtxt_slice show_mixed(struct nvtxt_out *scratch, const struct report_cell *cell) {
    if (!scratch->data && nvtxt_out_init(scratch, -1) != 0) {
        scratch->error = nvtxt_origin(-ENOMEM);
        return (struct nvtxt_slice){"", 0};
    }
    scratch->len = 0;
    report_cell_write(scratch, cell, put_without_links);
    return (struct nvtxt_slice){scratch->data, scratch->len};
}

struct nvtxt_slice report_cell_show(struct report_cell_room *room, const struct report_table *table,
                                    size_t column, const struct report_cell *cell,
                                    const struct report_table_view *view) {
    const enum report_column_kind kind = table->columns[column].kind;
    char *number = room->number;
    bool id = kind == REPORT_COLUMN_ID;
    size_t len = 0;
    if (kind == REPORT_COLUMN_MIXED) {
        return show_mixed(&room->scratch, cell);
    }
    if (cell->kind != REPORT_CELL_EMPTY && report_table_is_divided(table, column, view)) {
        len = report_number_real(number, report_cell_divided(cell, view->unit_ns));
        return (struct nvtxt_slice){number, len};
    }
    switch ((enum report_cell_kind)cell->kind) {
    case REPORT_CELL_EMPTY:
        break;
    case REPORT_CELL_TEXT:
        return report_cell_slice(cell);
    case REPORT_CELL_REAL:
        len = report_number_real(number, cell->real);
        break;
    case REPORT_CELL_UINT:
        len = id ? (size_t)snprintf(number, REPORT_NUMBER, "%" PRIu64, cell->uint64)
                 : report_number_uint(number, cell->uint64);
        break;
    case REPORT_CELL_INT:
        len = id ? (size_t)snprintf(number, REPORT_NUMBER, "%" PRId64, cell->int64)
                 : report_number_int(number, cell->int64);
        break;
    }
    return (struct nvtxt_slice){number, len};
}

// Numbers stand at the right.
bool report_cell_is_right(const struct report_column *column, const struct report_cell *cell) {
    switch (column->kind) {
    case REPORT_COLUMN_TEXT:
    case REPORT_COLUMN_LABEL:
    case REPORT_COLUMN_BAR:
        return false;
    case REPORT_COLUMN_NUMBER:
    case REPORT_COLUMN_SHARE:
    case REPORT_COLUMN_MOMENT:
    case REPORT_COLUMN_LENGTH:
    case REPORT_COLUMN_ID:
    case REPORT_COLUMN_VALUE:
        return true;
    case REPORT_COLUMN_MIXED:
        return cell && report_cell_is_number(cell);
    }
    return false;
}

void report_table_put_more(struct nvtxt_out *out, const struct report_table *table,
                           const struct report_table_view *view) {
    char number[REPORT_NUMBER];
    if (report_table_more(table, view) > 0) {
        report_number_uint(number, report_table_more(table, view));
        report_plain_blanks(out, view->indent);
        report_screen_style(out, REPORT_STYLE_DIM);
        nvtxt_out_format(out, "\xE2\x80\xA6 %s more (--limit 0)\n", number);
    }
}
