// SPDX-License-Identifier: Apache-2.0
//
// A metric is a name and a value in two cells; what machines compare stands in data-metric and
// data-value. Charts with many instances show the first ones and say how many there are.
#include "report/page/parts.h"

#include "report/page/html.h"
#include "report/render/render_metric.h"

static void put_value(struct nvtxt_out *out, const struct report_value *value, const char *unit) {
    const struct report_cell cell = report_value_cell(value);
    char text[REPORT_VALUE_TEXT];
    page_raw(out,
             value->type == REPORT_STRING ? "<td data-value=\"" : "<td class=\"n\" data-value=\"");
    report_cell_write(out, &cell, page_text); // as JSON has it, without quotes
    page_raw(out, "\"");
    page_named(out, ">", nvtxt_slice_of(report_render_value(text, value, unit, REPORT_UNITS_AUTO)),
               "</td>");
}

// What a metric is called, at the head of its row or column.
static void put_title(struct nvtxt_out *out, const struct report_shown_metric *shown,
                      const char *scope) {
    const struct report_metric *metric = &shown->metric;
    nvtxt_out_format(out, "<th scope=\"%s\"", scope);
    page_attribute(out, "data-metric", nvtxt_slice_of(metric->name));
    page_attribute(out, "title", nvtxt_slice_of(metric->name));
    page_named(out, ">", nvtxt_slice_of(shown->label ?: metric->name), "</th>");
}

static void put_na(struct nvtxt_out *out, const struct report_metric *metric) {
    page_named(out, "<td class=\"na\">N/A: ", nvtxt_slice_of(metric->na), "</td>");
}

static void put_metric(struct nvtxt_out *out, const struct report_shown_metric *shown) {
    const struct report_metric *metric = &shown->metric;
    put_title(out, shown, "row");
    if (metric->na) {
        put_na(out, metric);
    } else {
        put_value(out, &metric->value, metric->unit);
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

// `order`: indexes of instances; NULL: as they stand.
static void put_instances(struct nvtxt_out *out, const struct report_shown_metric *shown,
                          const uint32_t *order, size_t count) {
    const struct report_metric *metric = &shown->metric;
    char digits[REPORT_ID_DIGITS];
    double most = report_instance_largest(metric);
    page_begin_region(out, shown->label ?: metric->name, NULL);
    page_raw(out, "<thead><tr><th scope=\"col\">Instance</th>");
    put_title(out, shown, "col");
    page_raw(out, "<td></td></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        const struct report_instance *of = &metric->instances[order ? order[i] : i];
        page_raw(out, "<tr>");
        page_cell(out, report_render_id(&of->id, digits));
        put_value(out, &of->value, metric->unit);
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
    page_raw(out, "\"/></svg>\n");
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
    const char *unit = item->metrics.items[0].metric.unit;
    page_begin_table(out, label, NULL, titles);
    for (size_t i = 0; i < item->bin_count; i++) {
        const struct report_value from = {.type = REPORT_DOUBLE, .real = item->bins[i].from};
        const struct report_value to = {.type = REPORT_DOUBLE, .real = item->bins[i].to};
        page_raw(out, "<tr>");
        put_value(out, &from, unit);
        put_value(out, &to, unit);
        page_cell_uint(out, item->bins[i].count);
        put_bar(out, (double)item->bins[i].count, (double)item->bin_most);
        page_raw(out, "</tr>\n");
    }
    page_end_table(out);
}

static void top_table(struct nvtxt_out *out, const struct report_shown_item *item,
                      const char *label) {
    const struct report_shown_metrics *metrics = &item->metrics;
    char digits[REPORT_ID_DIGITS];
    if (report_shown_is_empty_top(item)) {
        page_raw(out, "<p>none</p>\n");
        return;
    }
    if (metrics->count == 0 || metrics->items[0].metric.na || item->top_count == 0) {
        metric_bars(out, metrics, label);
        return;
    }
    page_begin_region(out, label, NULL);
    page_raw(out, "<thead><tr><th scope=\"col\">Instance</th>");
    for (size_t i = 0; i < metrics->count; i++) {
        put_title(out, &metrics->items[i], "col");
    }
    page_raw(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < item->top_count; i++) {
        const struct report_id *id = &metrics->items[0].metric.instances[item->top[i]].id;
        page_raw(out, "<tr>");
        page_cell(out, report_render_id(id, digits));
        for (size_t j = 0; j < metrics->count; j++) {
            const struct report_metric *metric = &metrics->items[j].metric;
            const struct report_instance *of = report_instance_find(metric, id);
            if (of) {
                put_value(out, &of->value, metric->unit);
            } else if (metric->na) {
                put_na(out, metric);
            } else {
                page_raw(out, "<td></td>");
            }
        }
        page_raw(out, "</tr>\n");
    }
    page_end_table(out);
}

void page_shown_item(struct nvtxt_out *out, const struct report_shown_item *item) {
    const char *label = item->label ?: item->type;
    page_raw(out, "<div class=\"item\"");
    page_attribute(out, "data-type", nvtxt_slice_of(item->type));
    page_named(out, "><p class=\"label\">", nvtxt_slice_of(label), "</p>\n");
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
