// SPDX-License-Identifier: Apache-2.0
//
// Tables of report/table. What a column has decides how its cells look: a number stands twice, as
// programs read it and as people do; what a rule put there is as the rule said, with its links.
#include "report/page/parts.h"

#include <inttypes.h>
#include <string.h>

#include "report/page/html.h"
#include "report/page/timeline.h"
#include "report/table/number.h"
#include "report/table/write.h"

static void put_grouped(struct nvtxt_out *out, const struct report_cell *cell) {
    char text[REPORT_NUMBER] = "";
    if (cell->kind == REPORT_CELL_INT) {
        report_number_int(text, cell->int64);
    } else if (cell->kind == REPORT_CELL_UINT) {
        report_number_uint(text, cell->uint64);
    } else if (cell->kind == REPORT_CELL_REAL) {
        report_number_real(text, cell->real);
    }
    page_raw(out, text);
}

static void put_emphasis(struct nvtxt_out *out, bool bold, bool italic, bool end) {
    page_raw(out, bold ? end ? "</strong>" : "<strong>" : "");
    page_raw(out, italic ? end ? "</em>" : "<em>" : "");
}

// Of rules' tables only, so all kinds are mixed.
static void put_styled(struct nvtxt_out *out, const struct page_table *view,
                       const struct report_cell *cell, const struct report_rule_style *style) {
    page_raw(out, cell->kind == REPORT_CELL_TEXT ? "<td>" : "<td class=\"n\">");
    put_emphasis(out, style->bold, style->italic, false);
    if (cell->kind == REPORT_CELL_TEXT) {
        page_links(out, view->page, report_cell_slice(cell));
    } else {
        report_cell_write(out, cell, page_text);
    }
    put_emphasis(out, false, style->italic, true);
    put_emphasis(out, style->bold, false, true);
    page_raw(out, "</td>");
}

// Times at which something was are shown as such if the page knows from when they count.
static const struct report_store *base_of(const struct page_table *view,
                                          const struct report_column *column) {
    const struct report_page *page = view->page;
    bool has = column->kind == REPORT_COLUMN_MOMENT && page && page->model &&
               page_has_utc_base(page->model->capture);
    return has ? &page->model->capture->stores[0] : NULL;
}

static void put_moment(struct nvtxt_out *out, int64_t ns, const struct report_store *base) {
    nvtxt_out_format(out, "<td class=\"time\" data-value=\"%" PRId64 "\">", ns);
    page_instant(out, ns, base->utc_base_ns);
    page_raw(out, "</td>");
}

static void put_cell(struct nvtxt_out *out, const struct page_table *view,
                     const struct report_cell *cell, enum report_column_kind kind) {
    bool mixed = kind == REPORT_COLUMN_MIXED;
    if (cell->kind == REPORT_CELL_TEXT && !mixed) {
        page_cell(out, report_cell_slice(cell));
        return;
    }
    if (cell->kind == REPORT_CELL_TEXT) {
        page_linked(out, view->page, "<td>", report_cell_slice(cell), "</td>");
        return;
    }
    page_raw(out, "<td class=\"n\"");
    if (!mixed && cell->kind != REPORT_CELL_EMPTY) {
        page_raw(out, " data-value=\"");
        report_cell_write(out, cell, page_text);
        page_raw(out, "\"");
    }
    page_raw(out, ">");
    if (mixed || (kind == REPORT_COLUMN_ID && cell->kind != REPORT_CELL_REAL)) {
        report_cell_write(out, cell, page_text);
    } else {
        put_grouped(out, cell);
    }
    page_raw(out, "</td>");
}

// Widths stand in an attribute: the page allows no style of its own.
static void put_widths(struct nvtxt_out *out, const struct report_table *table,
                       const struct report_rule_style *styles) {
    bool any = false;
    for (size_t i = 0; styles && i < table->column_count; i++) {
        any |= styles[i].percent > 0;
    }
    for (size_t i = 0; any && i < table->column_count; i++) {
        page_raw(out, i == 0 ? "<colgroup><col" : "<col");
        if (styles[i].percent > 0) {
            page_raw(out, " width=\"");
            nvtxt_out_double(out, styles[i].percent);
            page_raw(out, "%\"");
        }
        page_raw(out, ">");
    }
    page_raw(out, any ? "</colgroup>" : "");
}

static void put_title(struct nvtxt_out *out, const struct page_table *view,
                      const struct report_column *column, const struct report_rule_style *style) {
    struct nvtxt_slice title = nvtxt_slice_of(column->title);
    title.len -= base_of(view, column) ? strlen(" (ns)") : 0;
    bool bold = style && style->header_bold, italic = style && style->header_italic;
    page_raw(out, "<th scope=\"col\"");
    if (style && style->tooltip.len > 0) {
        page_attribute(out, "title", style->tooltip);
    }
    page_raw(out, ">");
    put_emphasis(out, bold, italic, false);
    if (column->kind == REPORT_COLUMN_MIXED) {
        page_name(out, title);
    } else {
        page_text(out, title);
    }
    put_emphasis(out, false, italic, true);
    put_emphasis(out, bold, false, true);
    page_raw(out, "</th>");
}

static void put_titles(struct nvtxt_out *out, const struct report_table *table,
                       const struct page_table *view) {
    const struct report_rule_style *styles = view->styles;
    put_widths(out, table, styles);
    page_raw(out, "<thead><tr>");
    for (size_t i = 0; i < table->column_count; i++) {
        put_title(out, view, &table->columns[i], styles ? &styles[i] : NULL);
    }
    page_raw(out, "</tr></thead><tbody>\n");
}

static void put_row(struct nvtxt_out *out, const struct report_table *table, size_t row,
                    const struct page_table *view) {
    struct report_cell room[REPORT_TABLE_MADE];
    const struct report_cell *cells = report_table_cells(table, row, room);
    page_raw(out, "<tr");
    if (view->id) {
        nvtxt_out_format(out, " id=\"%s%" PRId64 "\"", view->id, cells[0].int64);
    }
    page_raw(out, ">");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct report_store *base = base_of(view, &table->columns[i]);
        if (view->styles) {
            put_styled(out, view, &cells[i], &view->styles[i]);
        } else if (base && cells[i].kind == REPORT_CELL_INT) {
            put_moment(out, cells[i].int64, base);
        } else {
            put_cell(out, view, &cells[i], table->columns[i].kind);
        }
    }
    page_raw(out, "</tr>\n");
}

void page_table(struct nvtxt_out *out, const struct report_table *table,
                const struct page_table *view) {
    page_begin_region(out, "Table", NULL);
    if (view->caption.len > 0) {
        page_linked(out, view->page, "<caption>", view->caption, "</caption>");
    }
    put_titles(out, table, view);
    for (size_t row = 0; row < table->row_count && row < view->most && !out->error; row++) {
        put_row(out, table, row, view);
    }
    page_end_table(out);
    size_t more =
        table->left_out + (table->row_count > view->most ? table->row_count - view->most : 0);
    if (more > 0) {
        nvtxt_out_format(out, "<p>%zu more rows are not shown here.</p>\n", more);
    }
    for (size_t i = 0; i < table->note_count; i++) {
        page_raw(out, "<p>Note: ");
        page_text(out, nvtxt_slice_of(table->notes[i]));
        page_raw(out, "</p>\n");
    }
}
