// SPDX-License-Identifier: Apache-2.0
//
// A metric is a name and a value in two cells; what machines compare stands in data-metric and
// data-value. Charts with many instances show the first ones and say how many there are.
#include "report/page/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/page/html.h"
#include "report/render/render_metric.h"

static void put_value(struct nvtxt_out *out, const struct report_value *value,
                      const struct page_figures *figures) {
    const struct report_cell cell = report_value_cell(value);
    if (value->type == REPORT_STRING) {
        page_raw(out, "<td");
        page_attribute(out, "data-value", report_cell_slice(&cell));
        page_named(out, ">", report_cell_slice(&cell), "</td>");
    } else {
        page_figure(out, figures, &cell, NULL);
    }
}

static void see(struct page_figures *figures, const struct report_value *value) {
    const struct report_cell cell = report_value_cell(value);
    page_figures_see(figures, &cell);
}

// A value that has no others below it.
static void put_alone(struct nvtxt_out *out, const struct report_value *value, const char *unit) {
    struct page_figures figures = {.unit = unit};
    see(&figures, value);
    put_value(out, value, &figures);
}

// What a metric is called, at the head of its row, or of the column of what is below.
static void put_title(struct nvtxt_out *out, const struct report_shown_metric *shown,
                      const char *scope, const struct page_figures *below) {
    const struct report_metric *metric = &shown->metric;
    nvtxt_out_format(out, "<th scope=\"%s\"%s", scope, below && below->any ? " class=\"n\"" : "");
    page_attribute(out, "data-metric", nvtxt_slice_of(metric->name));
    page_attribute(out, "title", nvtxt_slice_of(metric->name));
    page_named(out, ">", nvtxt_slice_of(shown->label ?: metric->name), "</th>");
}

static void put_na(struct nvtxt_out *out, const struct report_metric *metric) {
    page_named(out, "<td class=\"na\">N/A: ", nvtxt_slice_of(metric->na), "</td>");
}

static void put_metric(struct nvtxt_out *out, const struct report_shown_metric *shown) {
    const struct report_metric *metric = &shown->metric;
    put_title(out, shown, "row", NULL);
    if (metric->na) {
        put_na(out, metric);
    } else {
        put_alone(out, &metric->value, metric->unit);
    }
}

static void put_grid(struct nvtxt_out *out, const struct report_shown_metrics *metrics,
                     const char *label, size_t rows, size_t across, const int64_t *cells) {
    page_begin_table(out, label, NULL, NULL);
    for (size_t row = 0; row < rows; row++) {
        page_raw(out, "<tr>");
        for (size_t column = 0; column < across; column++) {
            // Of a header: column by column.
            int64_t index = cells ? cells[row * across + column] : (int64_t)(column * rows + row);
            if (index >= 0 && (size_t)index < metrics->count) {
                put_metric(out, &metrics->items[index]);
            } else {
                page_raw(out, "<td></td><td></td>");
            }
        }
        page_raw(out, "</tr>\n");
    }
    page_end_table(out);
}

// ---- Instances ----------------------------------------------------------------------------------

static void put_bar(struct nvtxt_out *out, double value, double most) {
    page_raw(out, "<td class=\"bar\">");
    page_bar(out, value, most);
    page_raw(out, "</td>");
}

static void put_more(struct nvtxt_out *out, size_t all, size_t shown) {
    if (all > shown) {
        nvtxt_out_format(out, "<p>%zu more are not shown here.</p>\n", all - shown);
    }
}

// How instances look; `order`: their indexes; NULL: as they stand.
static struct page_figures figures_of(const struct report_metric *metric, const uint32_t *order,
                                      size_t count) {
    struct page_figures figures = {.unit = metric->unit};
    for (size_t i = 0; i < count; i++) {
        see(&figures, &metric->instances[order ? order[i] : i].value);
    }
    return figures;
}

static void put_instances(struct nvtxt_out *out, const struct report_shown_metric *shown,
                          const uint32_t *order, size_t count) {
    const struct report_metric *metric = &shown->metric;
    char digits[REPORT_ID_DIGITS];
    double most = report_instance_largest(metric);
    const struct page_figures figures = figures_of(metric, order, count);
    page_begin_region(out, shown->label ?: metric->name, NULL);
    page_raw(out, "<thead><tr><th scope=\"col\">Instance</th>");
    put_title(out, shown, "col", &figures);
    page_raw(out, "<td></td></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        const struct report_instance *of = &metric->instances[order ? order[i] : i];
        page_raw(out, "<tr>");
        page_cell(out, report_render_id(&of->id, digits));
        put_value(out, &of->value, &figures);
        put_bar(out, report_value_number(&of->value), most);
        page_raw(out, "</tr>\n");
    }
    page_end_table(out);
    put_more(out, metric->instance_count, count);
}

// Instances of metrics with ShowInstances, and notes.
static void put_below(struct nvtxt_out *out, const struct report_shown_metrics *metrics) {
    for (size_t i = 0; i < metrics->count; i++) {
        const struct report_shown_metric *shown = &metrics->items[i];
        const struct report_metric *metric = &shown->metric;
        size_t count = metric->instance_count;
        if (shown->show_instances && count > 0 && !metric->na) {
            page_named(out, "<p>", nvtxt_slice_of(shown->label ?: metric->name), "</p>\n");
            put_instances(out, shown, NULL, nvtxt_min(count, REPORT_PAGE_INSTANCES));
        }
        for (size_t j = 0; j < metric->note_count; j++) {
            page_raw(out, "<p>Note: ");
            page_text(out, nvtxt_slice_of(metric->name));
            page_named(out, ": ", nvtxt_slice_of(metric->notes[j]), "</p>\n");
        }
    }
}

// ---- Items --------------------------------------------------------------------------------------

static bool has_instances(const struct report_shown_metric *shown) {
    return shown->metric.instanced && !shown->metric.na && shown->metric.instance_count > 0;
}

static void metric_bars(struct nvtxt_out *out, const struct report_shown_metrics *metrics,
                        const char *label) {
    double most = report_metrics_largest(metrics);
    page_begin_table(out, label, NULL, NULL);
    for (size_t i = 0; i < metrics->count; i++) {
        page_raw(out, "<tr>");
        put_metric(out, &metrics->items[i]);
        put_bar(out, report_metric_number(&metrics->items[i].metric), most);
        page_raw(out, "</tr>\n");
    }
    page_end_table(out);
}

static void bar_chart(struct nvtxt_out *out, const struct report_shown_item *item,
                      const char *label) {
    const struct report_shown_metrics *metrics = &item->metrics;
    if (metrics->count != 1 || !has_instances(&metrics->items[0])) {
        metric_bars(out, metrics, label);
        return;
    }
    size_t count = metrics->items[0].metric.instance_count;
    bool ranked = item->kind == REPORT_ITEM_FLAME_GRAPH && item->top;
    put_instances(out, &metrics->items[0], ranked ? item->top : NULL,
                  ranked ? item->top_count : nvtxt_min(count, REPORT_PAGE_INSTANCES));
}

// A line of the instances' values; the table below has the numbers.
static void put_line(struct nvtxt_out *out, const struct report_shown_metric *shown) {
    const struct report_metric *metric = &shown->metric;
    double most = report_instance_largest(metric);
    const struct report_value top = {.type = REPORT_DOUBLE, .real = most};
    char text[REPORT_VALUE_TEXT];
    size_t count = metric->instance_count;
    if (count < 2 || !(most > 0)) {
        return;
    }
    nvtxt_out_format(
        out,
        "<svg class=\"line\" viewBox=\"0 0 640 120\" role=\"img\" aria-label=\"Line of "
        "%zu values\"><polyline fill=\"none\" stroke=\"currentColor\" points=\"",
        count);
    size_t step = count / 2000 + 1;
    for (size_t i = 0; i < count; i += step) {
        double value = report_value_number(&metric->instances[i].value);
        value = value > 0 ? value : 0;
        nvtxt_out_format(out, "%.1f,%.1f ", 640.0 * (double)i / (double)(count - 1),
                         118 - 116 * (value / most));
    }
    page_raw(out, "\"/></svg>\n<p class=\"axis\">The line goes from 0 to ");
    if (metric->unit && strcmp(metric->unit, "ns") == 0 && isfinite(most)) {
        page_time(out, most);
    } else {
        page_name(
            out, nvtxt_slice_of(report_render_value(text, &top, metric->unit, REPORT_UNITS_SHORT)));
    }
    page_raw(out, ".</p>\n");
}

static void line_chart(struct nvtxt_out *out, const struct report_shown_item *item,
                       const char *label) {
    for (size_t i = 0; i < item->metrics.count; i++) {
        struct report_shown_item one = *item;
        one.metrics = (struct report_shown_metrics){.items = &item->metrics.items[i], .count = 1};
        if (has_instances(&item->metrics.items[i])) {
            put_line(out, &item->metrics.items[i]);
        }
        bar_chart(out, &one, label);
    }
}

static void histogram(struct nvtxt_out *out, const struct report_shown_item *item,
                      const char *label) {
    static const char *const titles[] = {"From", "To", "Count", "", NULL};
    if (item->bin_count == 0) {
        metric_bars(out, &item->metrics, label);
        return;
    }
    struct page_figures figures = {.unit = item->metrics.items[0].metric.unit};
    for (size_t i = 0; i < item->bin_count; i++) {
        see(&figures, &(struct report_value){.type = REPORT_DOUBLE, .real = item->bins[i].from});
        see(&figures, &(struct report_value){.type = REPORT_DOUBLE, .real = item->bins[i].to});
    }
    page_begin_table(out, label, NULL, titles);
    for (size_t i = 0; i < item->bin_count; i++) {
        const struct report_value from = {.type = REPORT_DOUBLE, .real = item->bins[i].from};
        const struct report_value to = {.type = REPORT_DOUBLE, .real = item->bins[i].to};
        page_raw(out, "<tr>");
        put_value(out, &from, &figures);
        put_value(out, &to, &figures);
        page_cell_uint(out, item->bins[i].count);
        put_bar(out, (double)item->bins[i].count, (double)item->bin_most);
        page_raw(out, "</tr>\n");
    }
    page_end_table(out);
}

// The same of those instances of each metric that stand beside the top ones of the first. NULL when
// memory is short.
static struct page_figures *figures_of_top(const struct report_shown_item *item) {
    const struct report_shown_metrics *metrics = &item->metrics;
    struct page_figures *figures = calloc(metrics->count + 1, sizeof(*figures));
    for (size_t j = 0; figures && j < metrics->count; j++) {
        const struct report_metric *metric = &metrics->items[j].metric;
        figures[j].unit = metric->unit;
        for (size_t i = 0; i < item->top_count; i++) {
            const struct report_instance *of =
                report_instance_find(metric, &metrics->items[0].metric.instances[item->top[i]].id);
            if (of) {
                see(&figures[j], &of->value);
            }
        }
    }
    return figures;
}

static void put_top(struct nvtxt_out *out, const struct report_shown_metrics *metrics,
                    const struct report_id *id, const struct page_figures *figures) {
    char digits[REPORT_ID_DIGITS];
    page_raw(out, "<tr>");
    page_cell(out, report_render_id(id, digits));
    for (size_t j = 0; j < metrics->count; j++) {
        const struct report_metric *metric = &metrics->items[j].metric;
        const struct report_instance *of = report_instance_find(metric, id);
        if (of) {
            put_value(out, &of->value, &figures[j]);
        } else if (metric->na) {
            put_na(out, metric);
        } else {
            page_raw(out, "<td></td>");
        }
    }
    page_raw(out, "</tr>\n");
}

static void top_table(struct nvtxt_out *out, const struct report_shown_item *item,
                      const char *label) {
    const struct report_shown_metrics *metrics = &item->metrics;
    if (report_shown_is_empty_top(item)) {
        page_raw(out, "<p>none</p>\n");
        return;
    }
    if (metrics->count == 0 || metrics->items[0].metric.na || item->top_count == 0) {
        metric_bars(out, metrics, label);
        return;
    }
    struct page_figures *figures = figures_of_top(item);
    if (!figures) {
        out->error = out->error ?: nvtxt_origin(-ENOMEM);
        return;
    }
    page_begin_region(out, label, NULL);
    page_raw(out, "<thead><tr><th scope=\"col\">Instance</th>");
    for (size_t i = 0; i < metrics->count; i++) {
        put_title(out, &metrics->items[i], "col", &figures[i]);
    }
    page_raw(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < item->top_count; i++) {
        put_top(out, metrics, &metrics->items[0].metric.instances[item->top[i]].id, figures);
    }
    page_end_table(out);
    free(figures);
}

// The unit of a chart; empty: its metrics have several, and each figure has its own.
static const char *unit_of(const struct report_shown_item *item, struct page_figures *figures) {
    const struct report_shown_metrics *metrics = &item->metrics;
    const char *unit = metrics->count > 0 ? metrics->items[0].metric.unit : NULL;
    for (size_t i = 1; i < metrics->count; i++) {
        bool same = strcmp(metrics->items[i].metric.unit ?: "", unit ?: "") == 0;
        unit = same && strcmp(unit ?: "", "ns") != 0 ? unit : NULL;
    }
    *figures = (struct page_figures){.unit = unit};
    const struct report_metric *metric = metrics->count == 1 ? &metrics->items[0].metric : NULL;
    for (size_t i = 0; metric && i < metric->instance_count; i++) {
        see(figures, &metric->instances[i].value);
    }
    if (metric && metric->instance_count == 0 && !metric->na) {
        see(figures, &metric->value);
    }
    return page_figures_unit(figures);
}

static void put_label(struct nvtxt_out *out, const struct report_shown_item *item,
                      const char *label) {
    struct page_figures figures;
    bool chart = item->kind == REPORT_ITEM_BAR_CHART || item->kind == REPORT_ITEM_HISTOGRAM ||
                 item->kind == REPORT_ITEM_LINE_CHART;
    const char *unit = chart ? unit_of(item, &figures) : "";
    page_named(out, "><p class=\"label\">", nvtxt_slice_of(label), "");
    if (*unit) {
        page_raw(out, " (");
        page_name(out, nvtxt_slice_of(unit));
        page_raw(out, ")");
    }
    page_raw(out, "</p>\n");
}

void page_shown_item(struct nvtxt_out *out, const struct report_shown_item *item) {
    const char *label = item->label ?: item->type;
    page_raw(out, "<div class=\"item\"");
    page_attribute(out, "data-type", nvtxt_slice_of(item->type));
    put_label(out, item, label);
    if (item->kind == REPORT_ITEM_FOREIGN) {
        page_raw(out, "<p>not applicable</p>\n");
    } else if (item->metrics.count == 0) {
        page_raw(out, "<p>no metrics</p>\n");
    } else if (item->kind == REPORT_ITEM_TABLE) {
        put_grid(out, &item->metrics, label, item->rows, item->columns, item->cells);
    } else if (item->kind == REPORT_ITEM_HISTOGRAM) {
        histogram(out, item, label);
    } else if (item->kind == REPORT_ITEM_TOP_TABLE) {
        top_table(out, item, label);
    } else if (item->kind == REPORT_ITEM_LINE_CHART) {
        line_chart(out, item, label);
    } else {
        bar_chart(out, item, label);
    }
    put_below(out, &item->metrics);
    page_raw(out, "</div>\n");
}

// ---- A section ----------------------------------------------------------------------------------

static void put_header(struct nvtxt_out *out, const struct report_shown_section *shown) {
    size_t count = shown->header.count, rows = shown->header_rows;
    if (count > 0) {
        rows = rows == 0 || rows > count ? count : rows;
        put_grid(out, &shown->header, "Header", rows, (count + rows - 1) / rows, NULL);
        put_below(out, &shown->header);
    }
}

static void put_groups(struct nvtxt_out *out, const struct report_shown_section *shown) {
    for (size_t i = 0; i < shown->group_count; i++) {
        const struct report_shown_metrics *metrics = &shown->groups[i].metrics;
        if (metrics->count > 0) {
            put_grid(out, metrics, "Metrics", metrics->count, 1, NULL);
            put_below(out, metrics);
        }
    }
}

// Links to the articles of its rules; nothing without any.
static void put_rules(struct nvtxt_out *out, const struct report_page *page,
                      struct nvtxt_slice section) {
    bool any = false;
    for (size_t i = 0; i < page->results->count; i++) {
        const struct report_result *result = &page->results->results[i];
        if (!result->section.data || !nvtxt_slice_equal(result->section, section)) {
            continue;
        }
        page_raw(out, any ? "<li><a href=\"#rule-" : "<ul class=\"rules\">\n<li><a href=\"#rule-");
        any = true;
        page_text(out, result->identifier);
        page_named(out, "\">", result->name, "</a>: ");
        page_raw(out, report_rule_status_name(result->status));
        page_raw(out, "</li>\n");
    }
    page_raw(out, any ? "</ul>\n" : "");
}

static void put_section(struct nvtxt_out *out, const struct report_page *page,
                        const struct report_shown_section *shown) {
    const struct report_section *section = shown->entry->section;
    page_raw(out, "<section");
    page_attribute(out, "data-section", section->identifier.text);
    page_raw(out, " id=\"section-");
    page_text(out, section->identifier.text);
    page_named(out, "\"><h3>", section->display_name.text, "</h3>\n");
    if (report_has(&section->description)) {
        page_named(out, "<p>", section->description.text, "</p>\n");
    }
    put_header(out, shown);
    for (size_t i = 0; i < shown->body_count; i++) {
        const struct report_shown_body *body = &shown->bodies[i];
        if (body->display_name) {
            page_named(out, "<h4>", nvtxt_slice_of(body->display_name), "</h4>\n");
        }
        for (size_t j = 0; j < body->item_count; j++) {
            page_shown_item(out, &body->items[j]);
        }
    }
    put_groups(out, shown);
    put_rules(out, page, section->identifier.text);
    page_raw(out, "</section>\n");
}

void page_sections(struct nvtxt_out *out, const struct report_page *page) {
    for (size_t i = 0; i < page->section_count && !out->error; i++) {
        put_section(out, page, &page->sections[i]);
    }
    if (page->section_count == 0) {
        page_raw(out, "<p>No section is shown.</p>\n");
    }
}
