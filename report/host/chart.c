// SPDX-License-Identifier: Apache-2.0
//
// The file of a chart. An item is laid out as in a section. What has bars there has rows here: one
// for each value, each instance or each bin.
#include "report/host/use.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/section/check.h"
#include "report/text/files.h"
#include "report/text/parse.h"
#include "store/value/arena.h"

#define MOST_ROWS 1000 // of instances

struct chart {
    struct report_builder *builder;
    size_t message;
    struct nvtxt_slice title;
};

// ---- Cells --------------------------------------------------------------------------------------

static struct report_cell value_cell(const struct report_value *value) {
    if (value->type == REPORT_STRING) {
        return report_cell_text(value->string);
    }
    if (value->type <= REPORT_U64 && value->u64 <= INT64_MAX) {
        return report_cell_int((int64_t)value->u64);
    }
    return report_cell_real(report_value_number(value));
}

static struct report_cell id_cell(const struct report_id *id) {
    return id->is_text ? report_cell_text(id->text) : report_cell_int((int64_t)id->number);
}

static struct report_cell metric_cell(const struct report_metric *metric) {
    return metric->na ? (struct report_cell){0} : value_cell(&metric->value);
}

// ---- Tables -------------------------------------------------------------------------------------

static struct report_rule_table *begin_table(const struct chart *chart, const char *const *names,
                                             size_t count) {
    struct nvtxt_slice header[4];
    for (size_t i = 0; i < count; i++) {
        header[i] = nvtxt_slice_of(names[i]);
    }
    return report_build_table(chart->builder, chart->message, chart->title, header, count);
}

static void put_values(const struct chart *chart, const struct report_shown_item *item) {
    static const char *const names[] = {"Metric", "Id", "Value", "Unit"};
    struct report_rule_table *table = begin_table(chart, names, 4);
    for (size_t i = 0; table && i < item->metrics.count; i++) {
        const struct report_shown_metric *shown = &item->metrics.items[i];
        const struct report_metric *metric = &shown->metric;
        bool all = shown->show_instances || item->kind != REPORT_ITEM_TABLE;
        struct report_cell cells[] = {report_cell_text(nvtxt_slice_of(report_shown_label(shown))),
                                      {.kind = REPORT_CELL_EMPTY},
                                      metric_cell(metric),
                                      report_cell_text(nvtxt_slice_of(metric->unit))};
        report_build_row(chart->builder, table, cells);
        size_t count = all && !metric->na ? metric->instance_count : 0;
        for (size_t j = 0; j < count && j < MOST_ROWS; j++) {
            cells[1] = id_cell(&metric->instances[j].id);
            cells[2] = value_cell(&metric->instances[j].value);
            report_build_row(chart->builder, table, cells);
        }
    }
}

static void put_bins(const struct chart *chart, const struct report_shown_item *item) {
    static const char *const names[] = {"From", "To", "Count"};
    struct report_rule_table *table = begin_table(chart, names, 3);
    for (size_t i = 0; table && i < item->bin_count; i++) {
        const struct report_cell cells[] = {report_cell_real(item->bins[i].from),
                                            report_cell_real(item->bins[i].to),
                                            report_cell_int((int64_t)item->bins[i].count)};
        report_build_row(chart->builder, table, cells);
    }
}

// A column for each metric, a row for each of the largest instances of the first one.
static int put_top(const struct chart *chart, const struct report_shown_item *item) {
    size_t columns = item->metrics.count + 1;
    struct store_arena *arena = chart->builder->arena;
    struct nvtxt_slice *header = store_arena_make(arena, columns * sizeof(*header));
    struct report_cell *cells = store_arena_make(arena, columns * sizeof(*cells));
    if (!header || !cells) {
        return nvtxt_origin(-ENOMEM);
    }
    header[0] = NVTXT_SLICE("Id");
    for (size_t i = 1; i < columns; i++) {
        header[i] = nvtxt_slice_of(report_shown_label(&item->metrics.items[i - 1]));
    }
    struct report_rule_table *table =
        report_build_table(chart->builder, chart->message, chart->title, header, columns);
    for (size_t row = 0; table && row < item->top_count; row++) {
        const struct report_id *id = &item->metrics.items[0].metric.instances[item->top[row]].id;
        cells[0] = id_cell(id);
        for (size_t i = 1; i < columns; i++) {
            const struct report_instance *found =
                report_instance_find(&item->metrics.items[i - 1].metric, id);
            cells[i] = found ? value_cell(&found->value) : (struct report_cell){0};
        }
        report_build_row(chart->builder, table, cells);
    }
    return 0;
}

// What has bars or lines is drawn so by those that can.
static int draw(const struct chart *chart, const struct report_shown_item *item) {
    struct report_result *result = chart->builder->result;
    struct report_shown_item *copy = store_arena_take(chart->builder->arena, sizeof(*copy), 8);
    bool drawn = item->kind == REPORT_ITEM_BAR_CHART || item->kind == REPORT_ITEM_LINE_CHART ||
                 item->kind == REPORT_ITEM_HISTOGRAM;
    if (!copy) {
        return nvtxt_origin(-ENOMEM);
    }
    *copy = *item;
    if (drawn && result->table_count > 0 && item->metrics.count > 0) {
        ((struct report_rule_table *)(uintptr_t)&result->tables[result->table_count - 1])->chart =
            copy;
    }
    return 0;
}

static int put_item(struct chart *chart, const struct report_shown_item *item) {
    chart->title = nvtxt_slice_of(item->label ?: item->type);
    switch (item->kind) {
    case REPORT_ITEM_HISTOGRAM:
        put_bins(chart, item);
        return 0;
    case REPORT_ITEM_TOP_TABLE:
    case REPORT_ITEM_FLAME_GRAPH:
        return put_top(chart, item);
    case REPORT_ITEM_TABLE:
    case REPORT_ITEM_BAR_CHART:
    case REPORT_ITEM_LINE_CHART:
    case REPORT_ITEM_TIMELINE:
    case REPORT_ITEM_FOREIGN:
        break;
    }
    put_values(chart, item);
    return 0;
}

// ---- The file -----------------------------------------------------------------------------------

static int refuse_file(struct report_request *request, const struct report_messages *messages,
                       enum report_request_code code, const char *path) {
    const struct report_file_message *first = messages->count > 0 ? messages->items : NULL;
    const char *text = first ? first->text : "";
    if (first && first->at.line > 0) {
        return report_request_refuse(request, code, "%.300s:%u: %.300s", path, first->at.line,
                                     text);
    }
    return report_request_refuse(request, code, "%.300s: %.300s", path, text);
}

static int show(struct report_use *use, const char *path, const struct report_section_item *said,
                struct report_messages *messages) {
    struct report_builder *builder = use->call->builder;
    struct report_show how = *use->show;
    struct report_shown_body body;
    how.metrics = use->call->metrics;
    how.arena = builder->arena;
    how.messages = messages;
    int r = report_item_show(&how, path, said, &body);
    struct chart chart = {.builder = builder};
    if (r == 0 && builder->result->message_count == 0) {
        report_build_message(builder, REPORT_LEVEL_NONE, NVTXT_SLICE(""),
                             nvtxt_slice_of(body.item_count > 0 && body.items[0].label
                                                ? body.items[0].label
                                                : "A chart"));
    }
    chart.message = builder->result->message_count > 0 ? builder->result->message_count - 1 : 0;
    for (size_t i = 0; r == 0 && i < body.item_count; i++) {
        r = put_item(&chart, &body.items[i]);
        r = r ?: draw(&chart, &body.items[i]);
    }
    return r;
}

int report_use_chart(struct report_use *use, struct nvtxt_slice name,
                     struct report_request *request) {
    char path[PATH_MAX];
    const char *slash = strrchr(use->real, '/');
    struct report_messages messages = {0};
    struct nvtxt_slice text;
    void *said = NULL;
    if (name.len == 0 || memchr(name.data, '/', name.len) || name.len > NAME_MAX) {
        return report_request_refuse(request, REPORT_NOT_FOUND, "'%.*s' is no file beside the rule",
                                     (int)(name.len < 200 ? name.len : 200), name.data);
    }
    snprintf(path, sizeof(path), "%.*s/%.*s", (int)(slash - use->real), use->real, (int)name.len,
             name.data);
    const struct report_file file = {.path = path};
    struct store_arena *arena = use->call->builder->arena;
    int r = report_file_read(&file, arena, &text, &messages);
    if (r > 0) {
        r = refuse_file(request, &messages, REPORT_NOT_FOUND, path);
    } else if (r == 0) {
        r = report_text_parse(&report_item_type, text, path, arena, &messages, &said);
        r = r ?: report_item_check(said, path, &messages);
        r = r > 0 || (r == 0 && messages.errors > 0)
                ? refuse_file(request, &messages, REPORT_BAD_PARAMS, path)
                : r;
    }
    r = r ?: show(use, path, said, &messages);
    report_messages_deinit(&messages);
    return r;
}
