// SPDX-License-Identifier: Apache-2.0
//
// Tables of report/table. What a column has decides how its cells look: it is read before. A number
// stands twice, as programs read it and as people do; a text that a rule put there has its links.
#include "report/page/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/page/html.h"
#include "report/page/timeline.h"
#include "report/table/write.h"

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

static void put_text(struct nvtxt_out *out, const struct page_table *view,
                     const struct report_cell *cell, bool linked,
                     const struct report_rule_style *style) {
    page_raw(out, "<td>");
    page_emphasis(out, style && style->bold, style && style->italic, false);
    if (linked) {
        page_links(out, view->page, report_cell_slice(cell));
    } else {
        page_name(out, report_cell_slice(cell));
    }
    page_emphasis(out, style && style->bold, style && style->italic, true);
    page_raw(out, "</td>");
}

static void put_cell(struct nvtxt_out *out, const struct page_table *view,
                     const struct report_cell *cell, const struct report_column *column,
                     const struct page_figures *figures, const struct report_rule_style *style) {
    if (cell->kind == REPORT_CELL_EMPTY) {
        page_raw(out, "<td></td>");
    } else if (cell->kind == REPORT_CELL_TEXT) {
        put_text(out, view, cell, column->kind == REPORT_COLUMN_MIXED, style);
    } else {
        page_figure(out, figures, cell, style);
    }
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

// Whether its cells have their unit, so that the title needs none.
static bool is_time(const struct page_table *view, const struct report_column *column) {
    return base_of(view, column) ||
           (column->kind != REPORT_COLUMN_MOMENT && report_column_is_time(column));
}

static void put_title(struct nvtxt_out *out, const struct page_table *view,
                      const struct report_column *column, const struct page_figures *figures,
                      const struct report_rule_style *style) {
    struct nvtxt_slice title = nvtxt_slice_of(column->title);
    title.len -= is_time(view, column) ? strlen(" (ns)") : 0;
    bool bold = style && style->header_bold, italic = style && style->header_italic;
    page_raw(out, figures->any && !base_of(view, column) ? "<th scope=\"col\" class=\"n\""
                                                         : "<th scope=\"col\"");
    if (style && style->tooltip.len > 0) {
        page_attribute(out, "title", style->tooltip);
    }
    page_raw(out, ">");
    page_emphasis(out, bold, italic, false);
    if (column->kind == REPORT_COLUMN_MIXED) {
        page_name(out, title);
    } else {
        page_text(out, title);
    }
    page_emphasis(out, bold, italic, true);
    page_raw(out, "</th>");
}

static void put_titles(struct nvtxt_out *out, const struct report_table *table,
                       const struct page_table *view, const struct page_figures *figures) {
    const struct report_rule_style *styles = view->styles;
    put_widths(out, table, styles);
    page_raw(out, "<thead><tr>");
    for (size_t i = 0; i < table->column_count; i++) {
        put_title(out, view, &table->columns[i], &figures[i], styles ? &styles[i] : NULL);
    }
    page_raw(out, "</tr></thead><tbody>\n");
}

static void put_row(struct nvtxt_out *out, const struct report_table *table, size_t row,
                    const struct page_table *view, const struct page_figures *figures) {
    struct report_cell room[REPORT_TABLE_MADE];
    const struct report_cell *cells = report_table_cells(table, row, room);
    page_raw(out, "<tr");
    if (view->id) {
        nvtxt_out_format(out, " id=\"%s%" PRId64 "\"", view->id, cells[0].int64);
    }
    page_raw(out, ">");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct report_store *base = base_of(view, &table->columns[i]);
        if (base && cells[i].kind == REPORT_CELL_INT) {
            put_moment(out, cells[i].int64, base);
        } else {
            put_cell(out, view, &cells[i], &table->columns[i], &figures[i],
                     view->styles ? &view->styles[i] : NULL);
        }
    }
    page_raw(out, "</tr>\n");
}

// What the columns have, for the rows that are shown. NULL when memory is short.
static struct page_figures *look_at(const struct report_table *table,
                                    const struct page_table *view) {
    struct page_figures *figures = calloc(table->column_count + 1, sizeof(*figures));
    for (size_t i = 0; figures && i < table->column_count; i++) {
        const struct report_column *column = &table->columns[i];
        bool mixed = column->kind == REPORT_COLUMN_MIXED;
        figures[i] = (struct page_figures){.unit = is_time(view, column) ? "ns" : NULL,
                                           .most_decimals = mixed ? 0 : 1,
                                           .plain = mixed || column->kind == REPORT_COLUMN_ID};
    }
    for (size_t row = 0; figures && row < table->row_count && row < view->most; row++) {
        struct report_cell room[REPORT_TABLE_MADE];
        const struct report_cell *cells = report_table_cells(table, row, room);
        for (size_t i = 0; i < table->column_count; i++) {
            page_figures_see(&figures[i], &cells[i]);
        }
    }
    return figures;
}

void page_table(struct nvtxt_out *out, const struct report_table *table,
                const struct page_table *view) {
    struct page_figures *figures = look_at(table, view);
    if (!figures) {
        out->error = out->error ?: nvtxt_origin(-ENOMEM);
        return;
    }
    page_begin_region(out, "Table", NULL);
    if (view->caption.len > 0) {
        page_linked(out, view->page, "<caption>", view->caption, "</caption>");
    }
    put_titles(out, table, view, figures);
    for (size_t row = 0; row < table->row_count && row < view->most && !out->error; row++) {
        put_row(out, table, row, view, figures);
    }
    free(figures);
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
