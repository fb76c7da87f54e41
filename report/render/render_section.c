// SPDX-License-Identifier: Apache-2.0
//
// For people every part of a section is a grid: metrics are rows of label and value, charts have a
// third column with bars. The JSON half is section_json.c.
#include "report/render/render_section.h"

#include <stdio.h>

#include "protocol/base/buf.h"
#include "report/render/kit/grid.h"
#include "report/render/kit/plain.h"
#include "report/render/render_metric.h"
#include "report/render/render_rule.h"

#define CHART_LINES 50 // instances of a chart; what is more is counted

struct page {
    struct nvtxt_out *out;
    const struct report_section_view *view;
};

static void text(const struct page *page, const char *plain) {
    if (page->view->markdown) {
        report_plain_markdown(page->out, nvtxt_slice_of(plain));
    } else {
        report_plain_text(page->out, nvtxt_slice_of(plain));
    }
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

static int finish(const struct page *page, struct report_grid *grid) {
    int r = page->view->markdown ? report_grid_markdown(grid, page->out)
                                 : report_grid_text(grid, page->out, 4);
    report_grid_deinit(grid);
    return r;
}

// Titles are for Markdown, which has no table without.
static void titles(const struct page *page, struct report_grid *grid, size_t count,
                   const char *const *words) {
    for (size_t i = 0; page->view->markdown && i < count; i++) {
        report_grid_put(grid, words[i]);
    }
}

// --- metrics

static void put_name(const struct page *page, struct report_grid *grid,
                     const struct report_shown_metric *shown) {
    struct nvtxt_buf name = {0};
    bool both = page->view->label && page->view->name;
    nvtxt_buf_add_string(&name, page->view->label ? shown->label : shown->metric.name);
    if (both) {
        nvtxt_buf_add_string(&name, " (");
        nvtxt_buf_add_string(&name, shown->metric.name);
        nvtxt_buf_add_string(&name, ")");
    }
    grid->failed |= nvtxt_buf_failed(&name);
    report_grid_add(grid, (struct nvtxt_slice){name.data, name.failed ? 0 : name.len});
    nvtxt_buf_deinit(&name);
}

static void put_value(const struct page *page, struct report_grid *grid,
                      const struct report_shown_metric *shown) {
    const struct report_metric_view view = {page->view->base_units, page->view->instances,
                                            page->view->instance_ids, !page->view->markdown};
    struct nvtxt_buf all = {0};
    report_render_metric_text(&all, &shown->metric, &view);
    grid->failed |= nvtxt_buf_failed(&all);
    report_grid_add(grid, (struct nvtxt_slice){all.data, all.failed ? 0 : all.len});
    nvtxt_buf_deinit(&all);
}

static void put_instance(const struct page *page, struct report_grid *grid,
                         const struct report_metric *metric,
                         const struct report_instance *instance) {
    char value[REPORT_VALUE_TEXT];
    report_grid_put(grid, instance ? report_render_value(value, &instance->value, metric->unit,
                                                         page->view->base_units)
                                   : "");
}

// Rows of `across` metrics each; `down`: column by column.
static int metric_grid(const struct page *page, const struct report_shown_metrics *metrics,
                       size_t rows, size_t across, bool down) {
    static const char *const words[] = {"Metric", "Value"};
    struct report_grid grid;
    report_grid_init(&grid, across * 2, 0);
    for (size_t i = 0; i < across; i++) {
        titles(page, &grid, 2, words);
    }
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < across; column++) {
            size_t index = down ? column * rows + row : row * across + column;
            if (index < metrics->count) {
                put_name(page, &grid, &metrics->items[index]);
                put_value(page, &grid, &metrics->items[index]);
            } else {
                report_grid_put(&grid, "");
                report_grid_put(&grid, "");
            }
        }
    }
    return finish(page, &grid);
}

// Instances of metrics with ShowInstances, and notes, below the values.
static int below(const struct page *page, const struct report_shown_metrics *metrics) {
    int r = 0;
    for (size_t i = 0; i < metrics->count && r == 0; i++) {
        const struct report_shown_metric *shown = &metrics->items[i];
        const struct report_metric *metric = &shown->metric;
        if (shown->show_instances && metric->instance_count > 0 && !metric->na) {
            static const char *const words[] = {"Instance", "Value"};
            char digits[REPORT_ID_DIGITS];
            struct report_grid grid;
            headline(page, 4, page->view->label ? shown->label : metric->name);
            report_grid_init(&grid, 2, 2);
            titles(page, &grid, 2, words);
            for (size_t j = 0; j < metric->instance_count; j++) {
                report_grid_name(&grid, report_render_id(&metric->instances[j].id, digits));
                put_instance(page, &grid, metric, &metric->instances[j]);
            }
            r = finish(page, &grid);
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
    static const char *const words[] = {"Instance", "Value", ""};
    const struct report_metric *metric = &shown->metric;
    struct report_grid grid;
    char digits[REPORT_ID_DIGITS];
    double most = report_instance_largest(metric);
    report_grid_init(&grid, 3, 2);
    titles(page, &grid, 3, words);
    for (size_t i = 0; i < count; i++) {
        const struct report_instance *instance = &metric->instances[order ? order[i] : i];
        report_grid_name(&grid, report_render_id(&instance->id, digits));
        put_instance(page, &grid, metric, instance);
        report_grid_bar(&grid, report_value_number(&instance->value), most);
    }
    if (metric->instance_count > count) {
        char more[64];
        snprintf(more, sizeof(more), "... %zu more", metric->instance_count - count);
        report_grid_put(&grid, more);
    }
    return finish(page, &grid);
}

static int metric_bars(const struct page *page, const struct report_shown_metrics *metrics) {
    static const char *const words[] = {"Metric", "Value", ""};
    struct report_grid grid;
    double most = 0;
    for (size_t i = 0; i < metrics->count; i++) {
        double value =
            metrics->items[i].metric.na ? 0 : report_value_number(&metrics->items[i].metric.value);
        most = value > most ? value : most;
    }
    report_grid_init(&grid, 3, 2);
    titles(page, &grid, 3, words);
    for (size_t i = 0; i < metrics->count; i++) {
        const struct report_shown_metric *shown = &metrics->items[i];
        put_name(page, &grid, shown);
        put_value(page, &grid, shown);
        report_grid_bar(&grid, shown->metric.na ? 0 : report_value_number(&shown->metric.value),
                        most);
    }
    return finish(page, &grid);
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
    return instance_bars(page, &metrics->items[0], NULL, count < CHART_LINES ? count : CHART_LINES);
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
    static const char *const words[] = {"From", "To", "Count", ""};
    struct report_grid grid;
    uint64_t most = 0;
    if (item->bin_count == 0) {
        return metric_grid(page, &item->metrics, item->metrics.count, 1, false);
    }
    for (size_t i = 0; i < item->bin_count; i++) {
        most = item->bins[i].count > most ? item->bins[i].count : most;
    }
    const char *unit = item->metrics.items[0].metric.unit;
    report_grid_init(&grid, 4, 7);
    titles(page, &grid, 4, words);
    for (size_t i = 0; i < item->bin_count; i++) {
        char value[REPORT_VALUE_TEXT];
        const struct report_value from = {.type = REPORT_DOUBLE, .real = item->bins[i].from};
        const struct report_value to = {.type = REPORT_DOUBLE, .real = item->bins[i].to};
        const struct report_value count = {.type = REPORT_U64, .u64 = item->bins[i].count};
        report_grid_put(&grid, report_render_value(value, &from, unit, page->view->base_units));
        report_grid_put(&grid, report_render_value(value, &to, unit, page->view->base_units));
        report_grid_put(&grid, report_render_value(value, &count, "", true));
        report_grid_bar(&grid, (double)count.u64, (double)most);
    }
    return finish(page, &grid);
}

static int top_table(const struct page *page, const struct report_shown_item *item) {
    const struct report_shown_metrics *metrics = &item->metrics;
    struct report_grid grid;
    char digits[REPORT_ID_DIGITS];
    if (metrics->count == 0 || metrics->items[0].metric.na || item->top_count == 0) {
        return metric_grid(page, metrics, metrics->count, 1, false);
    }
    report_grid_init(&grid, metrics->count + 1, ~(uint64_t)1);
    report_grid_put(&grid, "");
    for (size_t i = 0; i < metrics->count; i++) {
        put_name(page, &grid, &metrics->items[i]);
    }
    for (size_t i = 0; i < item->top_count; i++) {
        const struct report_id *id = &metrics->items[0].metric.instances[item->top[i]].id;
        report_grid_name(&grid, report_render_id(id, digits));
        for (size_t j = 0; j < metrics->count; j++) {
            const struct report_metric *metric = &metrics->items[j].metric;
            put_instance(page, &grid, metric, report_instance_find(metric, id));
        }
    }
    return finish(page, &grid);
}

// --- the parts of a section

static int render_item(const struct page *page, const struct report_shown_item *item) {
    if (item->kind == REPORT_ITEM_FOREIGN) {
        char title[80];
        snprintf(title, sizeof(title), "%s: not applicable", item->type);
        headline(page, 4, title);
        return 0;
    }
    headline(page, 4, item->label ? item->label : item->type);
    if (item->metrics.count == 0) {
        nvtxt_out_slice(page->out, page->view->markdown ? NVTXT_SLICE("no metrics\n")
                                                        : NVTXT_SLICE("    no metrics\n"));
        return 0;
    }
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
    default:
        return line_chart(page, &item->metrics);
    }
}

static int render_header(const struct page *page, const struct report_shown_section *shown) {
    size_t n = shown->header.count, rows = shown->header_rows;
    if (n == 0) {
        return 0;
    }
    rows = rows == 0 || rows > n ? n : rows;
    int r = metric_grid(page, &shown->header, rows, (n + rows - 1) / rows, true);
    return r == 0 ? below(page, &shown->header) : r;
}

static int render_body(const struct page *page, const struct report_shown_body *body) {
    int r = 0;
    if (body->display_name) {
        headline(page, 3, body->display_name);
    }
    for (size_t i = 0; i < body->item_count && r == 0; i++) {
        r = render_item(page, &body->items[i]);
        r = r == 0 ? below(page, &body->items[i].metrics) : r;
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
            r = r == 0 ? below(page, metrics) : r;
        }
    }
    return r;
}

static void render_rules(const struct page *page, const struct report_results *results,
                         struct nvtxt_slice section) {
    for (size_t i = 0; results && i < results->count; i++) {
        const struct report_result *result = &results->results[i];
        bool none = !result->section.data;
        if (section.data ? none || !nvtxt_slice_equal(result->section, section) : !none) {
            continue;
        }
        if (page->view->markdown) {
            report_render_rule_markdown(page->out, result);
        } else {
            report_render_rule_text(page->out, result, page->view->rule_details);
        }
    }
}

static void render_title(const struct page *page, const struct report_section *section) {
    NVTXT_OUT_LITERAL(page->out, "\n");
    nvtxt_out_slice(page->out,
                    page->view->markdown ? NVTXT_SLICE("## ") : NVTXT_SLICE("Section: "));
    text(page, section->display_name.text.data);
    NVTXT_OUT_LITERAL(page->out, " (");
    text(page, section->identifier.text.data);
    NVTXT_OUT_LITERAL(page->out, ")\n");
    if (page->view->markdown) {
        NVTXT_OUT_LITERAL(page->out, "\n");
        if (report_has(&section->description)) {
            text(page, section->description.text.data);
            NVTXT_OUT_LITERAL(page->out, "\n\n");
        }
    }
}

int report_render_section(struct nvtxt_out *out, const struct report_shown_section *shown,
                          const struct report_results *results,
                          const struct report_section_view *view) {
    const struct page page = {out, view};
    const struct report_section *section = shown->entry->section;
    render_title(&page, section);
    int r = view->no_header ? 0 : render_header(&page, shown);
    for (size_t i = 0; i < shown->body_count && r == 0 && !view->no_body; i++) {
        r = render_body(&page, &shown->bodies[i]);
    }
    r = r == 0 && !view->no_body ? render_groups(&page, shown) : r;
    if (r == 0) {
        render_rules(&page, results, section->identifier.text);
    }
    return r;
}

int report_render_metrics(struct nvtxt_out *out, const struct report_shown_metrics *metrics,
                          const struct report_section_view *view) {
    const struct page page = {out, view};
    nvtxt_out_slice(out,
                    view->markdown ? NVTXT_SLICE("\n## Metrics\n\n") : NVTXT_SLICE("\nMetrics\n"));
    int r = metric_grid(&page, metrics, metrics->count, 1, false);
    return r == 0 ? below(&page, metrics) : r;
}

void report_render_other_rules(struct nvtxt_out *out, const struct report_results *results,
                               const struct report_section_view *view) {
    const struct page page = {out, view};
    bool any = false;
    for (size_t i = 0; i < results->count; i++) {
        any |= !results->results[i].section.data;
    }
    if (any) {
        nvtxt_out_slice(out, view->markdown ? NVTXT_SLICE("\n## Rules\n\n")
                                            : NVTXT_SLICE("\nRules without a section\n"));
        render_rules(&page, results, (struct nvtxt_slice){0});
    }
}
