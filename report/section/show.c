// SPDX-License-Identifier: Apache-2.0
//
// Header, bodies and groups are laid out one after the other. A table is a grid of indexes into its
// metrics; a histogram counts instances exactly where they are integers, since a bin's bounds need
// not be numbers of a double.
#include "report/section/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/model/model.h"

#define TOP_ROWS 10
#define BINS 10

static const char *text_of(const struct report_scalar *scalar) {
    return report_has(scalar) ? scalar->text.data : NULL;
}

const struct report_instance *report_instance_find(const struct report_metric *metric,
                                                   const struct report_id *id) {
    for (size_t i = 0; i < metric->instance_count; i++) {
        if (report_id_equal(&metric->instances[i].id, id)) {
            return &metric->instances[i];
        }
    }
    return NULL;
}

double report_instance_largest(const struct report_metric *metric) {
    double most = 0;
    for (size_t i = 0; i < metric->instance_count; i++) {
        most = fmax(most, report_value_number(&metric->instances[i].value));
    }
    return most;
}

double report_metrics_largest(const struct report_shown_metrics *metrics) {
    double most = 0;
    for (size_t i = 0; i < metrics->count; i++) {
        most = fmax(most, report_metric_number(&metrics->items[i].metric));
    }
    return most;
}

// --- table

static int show_table(struct report_list_view *view, const struct report_section_table *table,
                      struct report_shown_item *item) {
    int r = report_list_add_all(view, &item->metrics, &table->metrics);
    size_t n = item->metrics.count, columns = (size_t)table->columns.integer;
    size_t rows = (n + columns - 1) / columns;
    rows = rows < (size_t)table->rows.integer ? (size_t)table->rows.integer : rows;
    item->columns = (uint32_t)columns;
    item->rows = (uint32_t)rows;
    item->column_major = table->order.integer == REPORT_COLUMN_MAJOR;
    item->cells =
        r == 0 ? store_arena_take(view->show->arena, (rows * columns + 1) * sizeof(*item->cells), 8)
               : NULL;
    if (!item->cells) {
        return r < 0 ? r : nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < rows * columns; i++) {
        item->cells[i] = -1;
    }
    for (size_t i = 0; i < n; i++) {
        size_t row = item->column_major ? i % rows : i / columns;
        size_t column = item->column_major ? i / rows : i % columns;
        item->cells[row * columns + column] = (int64_t)i;
    }
    return 0;
}

// --- histogram

struct bounds {
    bool integers;
    uint64_t least, most; // of integers
    double low, high;
    size_t count; // of values in them
};

static struct bounds bounds_of(const struct report_metric *metric) {
    struct bounds bounds = {.integers = report_type_is_integer(metric->type),
                            .least = UINT64_MAX,
                            .low = (double)INFINITY,
                            .high = -(double)INFINITY};
    for (size_t i = 0; i < metric->instance_count; i++) {
        const struct report_value *value = &metric->instances[i].value;
        double number = report_value_number(value);
        if (isfinite(number)) {
            bounds.low = number < bounds.low ? number : bounds.low;
            bounds.high = number > bounds.high ? number : bounds.high;
            bounds.count++;
        }
        if (bounds.integers) {
            bounds.least = value->u64 < bounds.least ? value->u64 : bounds.least;
            bounds.most = value->u64 > bounds.most ? value->u64 : bounds.most;
        }
    }
    return bounds;
}

// The bin of a value: the last one is closed.
static size_t bin_of(const struct bounds *bounds, const struct report_value *value, size_t bins) {
    size_t bin;
    if (bounds->integers) {
        uint64_t width = bounds->most - bounds->least;
        __extension__ unsigned __int128 scaled =
            (unsigned __int128)(value->u64 - bounds->least) * bins;
        bin = width == 0 ? bins : (size_t)(scaled / width);
    } else {
        double width = bounds->high / 2 - bounds->low / 2; // halves: their difference is finite
        double scaled = (value->real / 2 - bounds->low / 2) / width * (double)bins;
        bin = width > 0 && scaled < (double)bins ? (size_t)scaled : bins;
    }
    return bin < bins ? bin : bins - 1;
}

static int fill_bins(const struct report_show *show, const struct report_metric *metric,
                     size_t count, struct report_shown_item *item) {
    struct bounds bounds = bounds_of(metric);
    if (metric->na || metric->type == REPORT_STRING || bounds.count == 0) {
        return 0;
    }
    item->bins = store_arena_make(show->arena, count * sizeof(*item->bins));
    if (!item->bins) {
        return nvtxt_origin(-ENOMEM);
    }
    item->bin_count = count;
    double step = bounds.high / (double)count - bounds.low / (double)count;
    for (size_t i = 0; i < count; i++) {
        item->bins[i].from = bounds.low + step * (double)i;
        item->bins[i].to = i + 1 == count ? bounds.high : bounds.low + step * (double)(i + 1);
    }
    for (size_t i = 0; i < metric->instance_count; i++) {
        const struct report_value *value = &metric->instances[i].value;
        if (isfinite(report_value_number(value))) {
            uint64_t in_bin = ++item->bins[bin_of(&bounds, value, count)].count;
            item->bin_most = in_bin > item->bin_most ? in_bin : item->bin_most;
        }
    }
    return 0;
}

static int show_histogram(struct report_list_view *view, const struct report_histogram_chart *chart,
                          struct report_shown_item *item) {
    int r = report_list_add(view, &item->metrics, chart->metric);
    const struct report_axis *axis = chart->histogram_axis;
    size_t bins = axis && report_has(&axis->bin_count) ? (size_t)axis->bin_count.integer : BINS;
    if (r == 0 && item->metrics.count > 0) {
        r = fill_bins(view->show, &item->metrics.items[0].metric, bins, item);
    }
    return r;
}

// --- top table

// What is no number is less than every number.
static bool is_larger(const struct report_value *a, const struct report_value *b) {
    if (a->type <= REPORT_U64) {
        return a->u64 > b->u64;
    }
    double x = report_value_number(a), y = report_value_number(b);
    return x > y || (isnan(y) && !isnan(x));
}

// The largest in front; equals stay in their order.
static int by_size(const void *left, const void *right, void *metric) {
    const struct report_instance *instances = ((const struct report_metric *)metric)->instances;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (is_larger(&instances[a].value, &instances[b].value)) {
        return -1;
    }
    return is_larger(&instances[b].value, &instances[a].value) ? 1 : NVTXT_ORDER(a, b);
}

// Finds the `rows` largest instances of the first metric.
static int find_top(const struct report_show *show, struct report_shown_item *item, size_t rows) {
    if (item->metrics.count == 0) {
        return 0;
    }
    struct report_metric *metric = &item->metrics.items[0].metric;
    size_t count = metric->instance_count;
    rows = rows < count ? rows : count;
    item->rows = (uint32_t)rows;
    item->top = store_arena_take(show->arena, (rows + 1) * sizeof(*item->top), 8);
    uint32_t *all = malloc((count + 1) * sizeof(*all));
    if (!item->top || !all) {
        free(all);
        return nvtxt_origin(-ENOMEM);
    }
    // Whoever sent no bad line is none of those that sent most of them.
    bool any = strcmp(metric->unit ?: "", "diagnostic") != 0;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (any || report_value_number(&metric->instances[i].value) > 0) {
            all[found++] = (uint32_t)i;
        }
    }
    qsort_r(all, found, sizeof(*all), by_size, metric);
    rows = rows < found ? rows : found;
    memcpy(item->top, all, rows * sizeof(*all));
    item->top_count = rows;
    item->rows = (uint32_t)rows;
    free(all);
    return 0;
}

// The source of an id, or NULL: it has another store's number beside it, or is none.
static const struct report_source *source_of(const struct report_capture *capture,
                                             const struct report_id *id, bool *alone) {
    const struct report_source *found = NULL;
    char made[REPORT_SOURCE_NAME], other[REPORT_SOURCE_NAME];
    for (size_t i = 0; i < capture->source_count && !id->is_text; i++) {
        found = (uint64_t)capture->sources[i].id == id->number ? &capture->sources[i] : found;
    }
    *alone = true;
    for (size_t i = 0; found && i < capture->source_count; i++) {
        const struct report_source *source = &capture->sources[i];
        *alone =
            *alone && (source == found || !nvtxt_slice_equal(report_source_name(source, made),
                                                             report_source_name(found, other)));
    }
    return found;
}

// People know sources by their names. One that is not alone with its name keeps its number, too.
static int name_source(const struct report_show *show, struct report_id *id) {
    const struct report_capture *capture = report_metrics_model(show->metrics)->capture;
    char made[REPORT_SOURCE_NAME], number[32] = "";
    bool alone;
    const struct report_source *source = source_of(capture, id, &alone);
    if (!source) {
        return 0;
    }
    struct nvtxt_slice name = report_source_name(source, made);
    if (!alone) {
        snprintf(number, sizeof(number), " (source %lld)", (long long)source->id);
    }
    size_t len = strlen(number);
    char *text = store_arena_take(show->arena, name.len + len + 1, 1);
    if (!text) {
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(text, name.data, name.len);
    memcpy(text + name.len, number, len + 1);
    *id = (struct report_id){.is_text = true, .text = {text, name.len + len}};
    return 0;
}

static int name_sources(const struct report_show *show, struct report_shown_metrics *metrics) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < metrics->count; i++) {
        struct report_metric *metric = &metrics->items[i].metric;
        size_t size = metric->instance_count * sizeof(*metric->instances);
        if (!strstr(metric->name, "_per_source") || size == 0 ||
            !report_metrics_model(show->metrics)) {
            continue;
        }
        struct report_instance *named = store_arena_take(show->arena, size, 16);
        if (!named) {
            return nvtxt_origin(-ENOMEM);
        }
        memcpy(named, metric->instances, size);
        for (size_t k = 0; r == 0 && k < metric->instance_count; k++) {
            r = name_source(show, &named[k].id);
        }
        metric->instances = named;
    }
    return r;
}

static int show_top_table(struct report_list_view *view, const struct report_top_table *table,
                          struct report_shown_item *item) {
    size_t rows = report_has(&table->rows) ? (size_t)table->rows.integer : TOP_ROWS;
    int r = report_list_add_all(view, &item->metrics, &table->metrics);
    r = r ?: name_sources(view->show, &item->metrics);
    return r ?: find_top(view->show, item, rows);
}

// --- the others

static int show_line_chart(struct report_list_view *view, const struct report_line_chart *chart,
                           struct report_shown_item *item) {
    int r = report_list_add_all(view, &item->metrics, &chart->metrics);
    if (r == 0 && chart->highlight_x) {
        struct report_shown_metrics highlights = {0};
        r = report_list_add_all(view, &highlights, &chart->highlight_x->metrics);
    }
    return r;
}

static int show_flame_graph(struct report_list_view *view, struct report_shown_item *item) {
    struct report_section_metric self = {.at = {1, 1}};
    self.name.at = self.at;
    self.name.text = NVTXT_SLICE("pushpop__self_time_per_name.sum");
    view->any = true;
    int r = report_list_add(view, &item->metrics, &self);
    return r ?: find_top(view->show, item, TOP_ROWS);
}

static int show_timeline(struct report_list_view *view, const struct report_timeline *timeline,
                         struct report_shown_item *item) {
    int r = 0;
    for (size_t i = 0; i < timeline->groups.count; i++) {
        const struct report_timeline_group *group = timeline->groups.items[i];
        for (size_t j = 0; j < group->rows.count && r == 0; j++) {
            const struct report_metric_row *row = group->rows.items[j];
            r = report_list_add_all(view, &item->metrics, &row->metrics);
        }
    }
    return r;
}

#define WIDGETS (7 + REPORT_FOREIGN_WIDGETS)

// The parts of an item, in the order of its fields. Returns 0 when that part is not there.
static bool find_part(const struct report_section_item *said, size_t index,
                      struct report_shown_item *item) {
    const struct {
        const void *there;
        const struct report_scalar *label;
        const char *type;
    } parts[] = {
        {said->table, said->table ? &said->table->label : NULL, "Table"},
        {said->bar_chart, said->bar_chart ? &said->bar_chart->label : NULL, "BarChart"},
        {said->histogram_chart, said->histogram_chart ? &said->histogram_chart->label : NULL,
         "HistogramChart"},
        {said->line_chart, said->line_chart ? &said->line_chart->label : NULL, "LineChart"},
        {said->top_table, said->top_table ? &said->top_table->label : NULL, "TopTable"},
        {said->flame_graph, said->flame_graph ? &said->flame_graph->label : NULL, "FlameGraph"},
        {said->timeline, said->timeline ? &said->timeline->label : NULL, "Timeline"},
    };
    *item = (struct report_shown_item){0};
    if (index >= REPORT_ITEM_FOREIGN) {
        item->kind = REPORT_ITEM_FOREIGN;
        item->type = report_foreign_names[index - REPORT_ITEM_FOREIGN];
        return report_has(&said->foreign[index - REPORT_ITEM_FOREIGN]);
    }
    item->kind = (enum report_item_kind)index;
    item->type = parts[index].type;
    item->label = parts[index].there ? text_of(parts[index].label) : NULL;
    return parts[index].there != NULL;
}

static int show_part(struct report_list_view *view, const struct report_section_item *said,
                     struct report_shown_item *item) {
    switch (item->kind) {
    case REPORT_ITEM_TABLE:
        return show_table(view, said->table, item);
    case REPORT_ITEM_BAR_CHART:
        return report_list_add_all(view, &item->metrics, &said->bar_chart->metrics);
    case REPORT_ITEM_HISTOGRAM:
        return show_histogram(view, said->histogram_chart, item);
    case REPORT_ITEM_LINE_CHART:
        return show_line_chart(view, said->line_chart, item);
    case REPORT_ITEM_TOP_TABLE:
        return show_top_table(view, said->top_table, item);
    case REPORT_ITEM_FLAME_GRAPH:
        return show_flame_graph(view, item);
    case REPORT_ITEM_TIMELINE:
        return show_timeline(view, said->timeline, item);
    case REPORT_ITEM_FOREIGN:
        break;
    }
    view->any = true;
    return 0;
}

// An item whose own filter does not match is left out whole.
static int show_item(struct report_list_view *view, const struct report_section_item *said,
                     struct report_shown_body *body) {
    struct report_section_filters outer = view->filter;
    struct report_section_filters filter = report_section_filter_join_more(outer, said->filter);
    if (said->filter && !report_section_filter_matches(&filter, view->show->view)) {
        return 0;
    }
    view->filter = filter;
    int r = 0;
    for (size_t i = 0; i < WIDGETS && r == 0; i++) {
        struct report_shown_item *item = &body->items[body->item_count];
        if (find_part(said, i, item)) {
            body->item_count++;
            r = show_part(view, said, item);
        }
    }
    view->filter = outer;
    return r;
}

int report_item_show(const struct report_show *show, const char *file,
                     const struct report_section_item *said, struct report_shown_body *body) {
    struct report_list_view view = {.show = show, .file = file};
    view.filter = report_section_filter_join(NULL, NULL);
    *body = (struct report_shown_body){
        .items = store_arena_make(show->arena, (WIDGETS + 1) * sizeof(*body->items))};
    int r = body->items ? show_item(&view, said, body) : nvtxt_origin(-ENOMEM);
    return r == 0 && show->messages->failed ? nvtxt_origin(-ENOMEM) : r;
}

static int show_bodies(struct report_list_view *view, const struct report_section *section,
                       struct report_shown_section *shown) {
    struct store_arena *arena = view->show->arena;
    shown->bodies = store_arena_make(arena, (section->bodies.count + 1) * sizeof(*shown->bodies));
    int r = shown->bodies ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; i < section->bodies.count && r == 0; i++) {
        const struct report_section_body *said = section->bodies.items[i];
        struct report_shown_body *body = &shown->bodies[shown->body_count++];
        size_t most = said->items.count * WIDGETS + 1;
        body->display_name = text_of(&said->display_name);
        body->items = store_arena_make(arena, most * sizeof(*body->items));
        r = body->items ? 0 : nvtxt_origin(-ENOMEM);
        for (size_t j = 0; j < said->items.count && r == 0; j++) {
            r = show_item(view, said->items.items[j], body);
        }
    }
    return r;
}

static int show_groups(struct report_list_view *view, const struct report_list *groups,
                       struct report_shown_section *shown) {
    int r = 0;
    for (size_t i = 0; i < groups->count && r == 0; i++) {
        const struct report_metric_group *said = groups->items[i];
        struct report_shown_group *group = &shown->groups[shown->group_count++];
        group->order = (uint32_t)said->order.integer;
        r = report_list_add_all(view, &group->metrics, &said->metrics);
    }
    return r;
}

// Groups of one order stay as they are in the file.
static void sort_groups(struct report_shown_group *groups, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct report_shown_group group = groups[i];
        size_t at = i;
        for (; at > 0 && groups[at - 1].order > group.order; at--) {
            groups[at] = groups[at - 1];
        }
        groups[at] = group;
    }
}

int report_section_show(const struct report_show *show, const struct report_section_entry *entry,
                        struct report_shown_section *shown) {
    const struct report_section *section = entry->section;
    struct report_list_view view = {.show = show, .file = entry->file->path};
    view.filter = report_section_filter_join(NULL, section->filter);
    *shown = (struct report_shown_section){.entry = entry};
    size_t groups = section->metrics.count + section->source_metrics.count + 1;
    shown->groups = store_arena_make(show->arena, groups * sizeof(*shown->groups));
    int r = shown->groups ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0 && section->header) {
        shown->header_rows = (uint32_t)section->header->rows.integer;
        r = report_list_add_all(&view, &shown->header, &section->header->metrics);
    }
    r = r ?: show_bodies(&view, section, shown);
    view.skip_unlabelled = true;
    r = r ?: show_groups(&view, &section->metrics, shown);
    r = r ?: show_groups(&view, &section->source_metrics, shown);
    sort_groups(shown->groups, shown->group_count);
    if (r < 0 || show->messages->failed) {
        return r < 0 ? r : nvtxt_origin(-ENOMEM);
    }
    bool matches = report_section_filter_matches(&view.filter, show->view);
    return matches || view.any ? 0 : REPORT_NOT_SHOWN;
}
