// SPDX-License-Identifier: Apache-2.0
//
// For people every part of a section is a table: metrics are rows of label and value, charts have a
// third column with bars. The JSON half is section_json.c.
#include "report/render/render_section.h"

#include <assert.h>
#include <stdio.h>

#include "protocol/base/origin.h"
#include "report/render/render_metric.h"
#include "report/table/plain.h"

#define CHART_LINES 50 // instances of a chart; what is more is counted

struct page {
    struct nvtxt_out *out;
    const struct report_section_view *view;
    size_t indent; // of tables
};

static void text(const struct page *page, const char *plain) {
    if (page->view->markdown) {
        report_plain_markdown(page->out, nvtxt_slice_of(plain));
    } else {
        report_plain_text(page->out, nvtxt_slice_of(plain));
    }
}

static enum report_units units_of(const struct page *page) {
    return page->view->base_units        ? REPORT_UNITS_BASE
           : report_screen_of(page->out) ? REPORT_UNITS_SHORT
                                         : REPORT_UNITS_AUTO;
}

// A headline: of a body (level 3) or an item (4).
static void headline(const struct page *page, unsigned level, const char *title) {
    static const char marks[] = "\n####";
    if (page->view->markdown) {
        nvtxt_out_bytes(page->out, marks, level + 1);
        NVTXT_OUT_LITERAL(page->out, " ");
    } else {
        report_plain_blanks(page->out, 2);
    }
    text(page, title);
    nvtxt_out_slice(page->out, page->view->markdown ? NVTXT_SLICE("\n\n") : NVTXT_SLICE("\n"));
}

// Writes a table of the page, and frees it.
static int finish_table(const struct page *page, struct report_table *table,
                        enum report_table_place place) {
    const struct report_table_view view = {.place = place,
                                           .indent = page->indent,
                                           .limit = page->view->limit,
                                           .full_names = page->view->full_names};
    int r = table->failed ? nvtxt_origin(-ENOMEM) : 0;
    if (r == 0 && page->view->markdown) {
        report_table_markdown(page->out, table, &view);
    } else if (r == 0) {
        report_table_text(page->out, table, &view);
    }
    report_table_deinit(table);
    return r;
}

// --- cells

static struct report_cell copy_cell(struct report_table *table, struct nvtxt_buf *text) {
    table->failed |= nvtxt_buf_failed(text);
    return report_cell_label(table, (struct nvtxt_slice){text->data, text->failed ? 0 : text->len});
}

static struct report_cell name_cell(const struct page *page, struct report_table *table,
                                    const struct report_shown_metric *shown) {
    struct nvtxt_buf name = {0};
    bool both = page->view->label && page->view->name;
    nvtxt_buf_add_string(&name, page->view->label ? shown->label : shown->metric.name);
    if (both) {
        nvtxt_buf_add_string(&name, " (");
        nvtxt_buf_add_string(&name, shown->metric.name);
        nvtxt_buf_add_string(&name, ")");
    }
    struct report_cell cell = copy_cell(table, &name);
    nvtxt_buf_deinit(&name);
    return cell;
}

static struct report_cell metric_cell(const struct page *page, struct report_table *table,
                                      const struct report_metric *metric) {
    const struct report_metric_view view = {
        .units = units_of(page),
        .instances = page->view->instances,
        .instance_ids = page->view->instance_ids,
        .full_names = page->view->markdown || page->view->full_names,
        .screen = report_screen_of(page->out),
    };
    struct nvtxt_buf all = {0};
    report_render_metric_text(&all, metric, &view);
    struct report_cell cell = copy_cell(table, &all);
    nvtxt_buf_deinit(&all);
    return cell;
}

static struct report_cell value_cell(struct report_table *table, const struct report_value *value,
                                     const char *unit, enum report_units units) {
    char text[REPORT_VALUE_TEXT];
    report_render_value(text, value, unit, units);
    return report_cell_label(table, nvtxt_slice_of(text));
}

static struct report_cell id_cell(struct report_table *table, const struct report_id *id) {
    char digits[REPORT_ID_DIGITS];
    return report_cell_label(table, report_render_id(id, digits));
}

// --- metrics

// Rows of `across` metrics each; `down`: column by column.
static void fill_metrics(const struct page *page, struct report_table *table,
                         const struct report_shown_metrics *metrics, size_t rows, bool down) {
    size_t across = table->column_count / 2;
    for (size_t row = 0; row < rows; row++) {
        struct report_cell *cells = report_table_row(table);
        for (size_t column = 0; cells && column < across; column++) {
            size_t index = down ? column * rows + row : row * across + column;
            if (index < metrics->count) {
                const struct report_shown_metric *shown = &metrics->items[index];
                cells[2 * column] = name_cell(page, table, shown);
                cells[2 * column + 1] = metric_cell(page, table, &shown->metric);
            }
        }
    }
}

// Whether a table has room on the screen, if there is one.
static bool has_room(const struct page *page, const struct report_table *table) {
    const struct report_screen *screen = report_screen_of(page->out);
    const struct report_table_view view = {.place = REPORT_TABLE_BARE, .indent = page->indent};
    return !screen || table->failed ||
           report_table_screen_width(page->out, table, &view) <= screen->width;
}

static int metric_grid(const struct page *page, const struct report_shown_metrics *metrics,
                       size_t rows, size_t across, bool down) {
    struct report_table table = {0};
    struct report_column *columns = report_table_columns(&table, 2 * across);
    for (size_t i = 0; columns && i < across; i++) {
        columns[2 * i] = (struct report_column){"Metric", REPORT_COLUMN_LABEL};
        columns[2 * i + 1] = (struct report_column){"Value", REPORT_COLUMN_LABEL};
    }
    fill_metrics(page, &table, metrics, rows, down);
    if (across > 1 && !has_room(page, &table)) {
        report_table_deinit(&table);
        return metric_grid(page, metrics, metrics->count, 1, false);
    }
    return finish_table(page, &table, REPORT_TABLE_BARE);
}

// The last column is for bars.
static const struct report_column instance_columns[] = {
    {"Instance", REPORT_COLUMN_TEXT}, {"Value", REPORT_COLUMN_VALUE}, {"", REPORT_COLUMN_BAR}};

// An instance, with a bar where there is a column for it.
static void add_instance(const struct page *page, struct report_table *table,
                         const struct report_metric *metric, const struct report_instance *instance,
                         double most) {
    struct report_cell *cells = report_table_row(table);
    if (cells) {
        cells[0] = id_cell(table, &instance->id);
        cells[1] = value_cell(table, &instance->value, metric->unit, units_of(page));
    }
    if (cells && table->column_count > 2) {
        cells[2] = report_cell_bar(report_value_number(&instance->value), most);
    }
}

// Instances of metrics with ShowInstances, and notes, below the values.
static int below(const struct page *page, const struct report_shown_metrics *metrics) {
    int r = 0;
    for (size_t i = 0; i < metrics->count && r == 0; i++) {
        const struct report_shown_metric *shown = &metrics->items[i];
        const struct report_metric *metric = &shown->metric;
        if (shown->show_instances && metric->instance_count > 0 && !metric->na) {
            struct report_table table;
            headline(page, 4, page->view->label ? shown->label : metric->name);
            report_table_init(&table, NULL, instance_columns, 2);
            for (size_t j = 0; j < metric->instance_count && !table.failed; j++) {
                add_instance(page, &table, metric, &metric->instances[j], 0);
            }
            r = finish_table(page, &table, REPORT_TABLE_BARE);
        }
        for (size_t j = 0; j < metric->note_count; j++) {
            nvtxt_out_slice(page->out, page->view->markdown ? NVTXT_SLICE("\nnote: ")
                                                            : NVTXT_SLICE("    note: "));
            text(page, metric->name);
            NVTXT_OUT_LITERAL(page->out, ": ");
            text(page, metric->notes[j]);
            NVTXT_OUT_LITERAL(page->out, "\n");
        }
    }
    return r;
}

// --- charts

// `order`: the indexes of the instances, `count` of them; NULL: the first ones, as they stand.
static int instance_bars(const struct page *page, const struct report_shown_metric *shown,
                         const uint32_t *order, size_t count) {
    const struct report_metric *metric = &shown->metric;
    struct report_table table;
    double most = report_instance_largest(metric);
    report_table_init(&table, NULL, instance_columns, 3);
    for (size_t i = 0; i < count && !table.failed; i++) {
        add_instance(page, &table, metric, &metric->instances[order ? order[i] : i], most);
    }
    struct report_cell *cells = metric->instance_count > count ? report_table_row(&table) : NULL;
    if (cells) {
        char more[64];
        snprintf(more, sizeof(more), "... %zu more", metric->instance_count - count);
        cells[0] = report_cell_copy(&table, nvtxt_slice_of(more));
    }
    return finish_table(page, &table, REPORT_TABLE_BARE);
}

static int metric_bars(const struct page *page, const struct report_shown_metrics *metrics) {
    static const struct report_column columns[] = {
        {"Metric", REPORT_COLUMN_LABEL}, {"Value", REPORT_COLUMN_VALUE}, {"", REPORT_COLUMN_BAR}};
    struct report_table table;
    double most = report_metrics_largest(metrics);
    report_table_init(&table, NULL, columns, 3);
    for (size_t i = 0; i < metrics->count; i++) {
        const struct report_shown_metric *shown = &metrics->items[i];
        struct report_cell *cells = report_table_row(&table);
        if (cells) {
            cells[0] = name_cell(page, &table, shown);
            cells[1] = metric_cell(page, &table, &shown->metric);
            cells[2] = report_cell_bar(report_metric_number(&shown->metric), most);
        }
    }
    return finish_table(page, &table, REPORT_TABLE_BARE);
}

static bool has_instances(const struct report_shown_metrics *metrics) {
    return metrics->count == 1 && metrics->items[0].metric.instanced &&
           !metrics->items[0].metric.na;
}

static int bar_chart(const struct page *page, const struct report_shown_metrics *metrics) {
    if (!has_instances(metrics)) {
        return metric_bars(page, metrics);
    }
    size_t count = metrics->items[0].metric.instance_count;
    size_t most = page->view->limit > 0 ? page->view->limit : CHART_LINES;
    return instance_bars(page, &metrics->items[0], NULL, nvtxt_min(count, most));
}

static int flame_graph(const struct page *page, const struct report_shown_item *item) {
    return has_instances(&item->metrics)
               ? instance_bars(page, &item->metrics.items[0], item->top, item->top_count)
               : metric_bars(page, &item->metrics);
}

static int line_chart(const struct page *page, const struct report_shown_metrics *metrics) {
    int r = 0;
    for (size_t i = 0; i < metrics->count && r == 0; i++) {
        const struct report_shown_metrics one = {.items = &metrics->items[i], .count = 1};
        r = bar_chart(page, &one);
    }
    return r;
}

static int histogram(const struct page *page, const struct report_shown_item *item) {
    static const struct report_column columns[] = {{"From", REPORT_COLUMN_VALUE},
                                                   {"To", REPORT_COLUMN_VALUE},
                                                   {"Count", REPORT_COLUMN_VALUE},
                                                   {"", REPORT_COLUMN_BAR}};
    struct report_table table;
    if (item->bin_count == 0) {
        return metric_grid(page, &item->metrics, item->metrics.count, 1, false);
    }
    const char *unit = item->metrics.items[0].metric.unit;
    report_table_init(&table, NULL, columns, 4);
    for (size_t i = 0; i < item->bin_count; i++) {
        const struct report_value from = {.type = REPORT_DOUBLE, .real = item->bins[i].from};
        const struct report_value to = {.type = REPORT_DOUBLE, .real = item->bins[i].to};
        const struct report_value count = {.type = REPORT_U64, .u64 = item->bins[i].count};
        struct report_cell *cells = report_table_row(&table);
        if (cells) {
            cells[0] = value_cell(&table, &from, unit, units_of(page));
            cells[1] = value_cell(&table, &to, unit, units_of(page));
            cells[2] = value_cell(&table, &count, "", REPORT_UNITS_BASE);
            cells[3] = report_cell_bar((double)count.u64, (double)item->bin_most);
        }
    }
    return finish_table(page, &table, REPORT_TABLE_BARE);
}

// On a screen a column of times has one unit.
static bool is_time_column(const struct page *page, const struct report_metric *metric) {
    return units_of(page) == REPORT_UNITS_SHORT && metric->unit && strcmp(metric->unit, "ns") == 0;
}

static const char *timed_title(struct report_table *table, const char *title) {
    char text[REPORT_TITLE];
    snprintf(text, sizeof(text), "%s (ns)", title);
    return report_cell_copy(table, nvtxt_slice_of(text)).text ?: "";
}

// The names of metrics are titles.
static void name_top_columns(const struct page *page, struct report_table *table,
                             const struct report_shown_metrics *metrics) {
    struct report_column *columns = report_table_columns(table, metrics->count + 1);
    for (size_t i = 0; columns && i <= metrics->count; i++) {
        struct report_cell name = {0};
        if (i > 0) {
            name = name_cell(page, table, &metrics->items[i - 1]);
        }
        columns[i] = (struct report_column){name.text ?: "",
                                            i > 0 ? REPORT_COLUMN_VALUE : REPORT_COLUMN_TEXT};
        if (i > 0 && is_time_column(page, &metrics->items[i - 1].metric)) {
            columns[i].title = timed_title(table, columns[i].title);
            columns[i].kind = REPORT_COLUMN_NUMBER;
        }
    }
}

static void fill_top_row(const struct page *page, struct report_table *table,
                         const struct report_shown_metrics *metrics, const struct report_id *id) {
    struct report_cell *cells = report_table_row(table);
    for (size_t i = 0; cells && i <= metrics->count; i++) {
        const struct report_metric *metric = i > 0 ? &metrics->items[i - 1].metric : NULL;
        const struct report_instance *of = metric ? report_instance_find(metric, id) : NULL;
        if (!metric) {
            cells[i] = id_cell(table, id);
        } else if (of && is_time_column(page, metric)) {
            cells[i] = report_value_cell(&of->value);
        } else if (of) {
            cells[i] = value_cell(table, &of->value, metric->unit, units_of(page));
        }
    }
}

static int top_table(const struct page *page, const struct report_shown_item *item) {
    const struct report_shown_metrics *metrics = &item->metrics;
    struct report_table table = {0};
    if (report_shown_is_empty_top(item)) {
        nvtxt_out_slice(page->out,
                        page->view->markdown ? NVTXT_SLICE("none\n") : NVTXT_SLICE("    none\n"));
        return 0;
    }
    if (metrics->count == 0 || metrics->items[0].metric.na || item->top_count == 0) {
        return metric_grid(page, metrics, metrics->count, 1, false);
    }
    name_top_columns(page, &table, metrics);
    for (size_t i = 0; i < item->top_count && !table.failed; i++) {
        fill_top_row(page, &table, metrics, &metrics->items[0].metric.instances[item->top[i]].id);
    }
    return finish_table(page, &table, REPORT_TABLE_WITHIN);
}

// --- the parts of a section

static int render_figures(const struct page *page, const struct report_shown_item *item) {
    switch (item->kind) {
    case REPORT_ITEM_TABLE:
        return metric_grid(page, &item->metrics, item->rows, item->columns, item->column_major);
    case REPORT_ITEM_BAR_CHART:
        return bar_chart(page, &item->metrics);
    case REPORT_ITEM_HISTOGRAM:
        return histogram(page, item);
    case REPORT_ITEM_TOP_TABLE:
        return top_table(page, item);
    case REPORT_ITEM_FLAME_GRAPH:
        return flame_graph(page, item);
    case REPORT_ITEM_TIMELINE:
        return metric_grid(page, &item->metrics, item->metrics.count, 1, false);
    case REPORT_ITEM_LINE_CHART:
        return line_chart(page, &item->metrics);
    case REPORT_ITEM_FOREIGN: // is told above
        break;
    }
    assert(false);
    return 0;
}

static int render_item(const struct page *page, const struct report_shown_item *item) {
    if (item->kind == REPORT_ITEM_FOREIGN) {
        char title[80];
        snprintf(title, sizeof(title), "%s: not applicable", item->type);
        headline(page, 4, title);
        return 0;
    }
    headline(page, 4, item->label ?: item->type);
    if (item->metrics.count == 0) {
        nvtxt_out_slice(page->out, page->view->markdown ? NVTXT_SLICE("no metrics\n")
                                                        : NVTXT_SLICE("    no metrics\n"));
        return 0;
    }
    return render_figures(page, item);
}

static int render_header(const struct page *page, const struct report_shown_section *shown) {
    size_t n = shown->header.count, rows = shown->header_rows;
    if (n == 0) {
        return 0;
    }
    rows = rows == 0 || rows > n ? n : rows;
    int r = metric_grid(page, &shown->header, rows, (n + rows - 1) / rows, true);
    return r ?: below(page, &shown->header);
}

static int render_body(const struct page *page, const struct report_shown_body *body) {
    int r = 0;
    if (body->display_name) {
        headline(page, 3, body->display_name);
    }
    for (size_t i = 0; i < body->item_count && r == 0; i++) {
        r = render_item(page, &body->items[i]);
        r = r ?: below(page, &body->items[i].metrics);
    }
    return r;
}

static int render_groups(const struct page *page, const struct report_shown_section *shown) {
    int r = 0;
    for (size_t i = 0; i < shown->group_count && r == 0; i++) {
        const struct report_shown_metrics *metrics = &shown->groups[i].metrics;
        if (metrics->count > 0) {
            headline(page, 4, "Metrics");
            r = metric_grid(page, metrics, metrics->count, 1, false);
            r = r ?: below(page, metrics);
        }
    }
    return r;
}

static void render_title(const struct page *page, const struct report_section *section) {
    NVTXT_OUT_LITERAL(page->out, "\n");
    report_screen_style(page->out, REPORT_STYLE_BOLD);
    nvtxt_out_slice(page->out,
                    page->view->markdown ? NVTXT_SLICE("## ") : NVTXT_SLICE("Section: "));
    text(page, section->display_name.text.data);
    NVTXT_OUT_LITERAL(page->out, " (");
    text(page, section->identifier.text.data);
    NVTXT_OUT_LITERAL(page->out, ")\n");
    bool described = report_has(&section->description);
    if (page->view->markdown) {
        NVTXT_OUT_LITERAL(page->out, "\n");
        if (described) {
            text(page, section->description.text.data);
            NVTXT_OUT_LITERAL(page->out, "\n\n");
        }
    } else if (described && page->view->descriptions) {
        report_plain_blanks(page->out, 2);
        text(page, section->description.text.data);
        NVTXT_OUT_LITERAL(page->out, "\n");
    }
}

int report_render_section(struct nvtxt_out *out, const struct report_shown_section *shown,
                          const struct report_section_view *view) {
    const struct page page = {out, view, view->markdown ? 0 : 4};
    render_title(&page, shown->entry->section);
    int r = view->no_header ? 0 : render_header(&page, shown);
    for (size_t i = 0; i < shown->body_count && r == 0 && !view->no_body; i++) {
        r = render_body(&page, &shown->bodies[i]);
    }
    return r == 0 && !view->no_body ? render_groups(&page, shown) : r;
}

int report_render_chart(struct nvtxt_out *out, const struct report_shown_item *item, size_t indent,
                        bool markdown, bool full_names) {
    const struct report_section_view view = {
        .markdown = markdown, .full_names = full_names, .label = true};
    const struct page page = {out, &view, indent};
    return render_figures(&page, item);
}

int report_render_metrics(struct nvtxt_out *out, const struct report_shown_metrics *metrics,
                          const struct report_section_view *view) {
    const struct page page = {out, view, view->markdown ? 0 : 4};
    nvtxt_out_slice(out,
                    view->markdown ? NVTXT_SLICE("\n## Metrics\n\n") : NVTXT_SLICE("\nMetrics\n"));
    int r = metric_grid(&page, metrics, metrics->count, 1, false);
    return r ?: below(&page, metrics);
}
