// SPDX-License-Identifier: Apache-2.0
//
// Tables are written as JSON into a buffer, which is copied with its dangerous bytes escaped
// whenever it is large. A column is one walk over the items. Names are numbered by how often they
// come, so that most numbers of the column are small.
#include "protocol/table/arrays.h"
#include "report/page/timeline.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/page/html.h"

#define FULL ((size_t)64 << 10) // of the buffer
#define TOGETHER 512            // numbers of a column

struct data {
    struct nvtxt_out *out, buffer;
    struct report_json json; // to the buffer
    const struct report_model *model;
    const struct page_items *items;
    struct page_columns *columns;
    struct page_hidden hidden;
    uint32_t *names; // the caller's: the number of a name; REPORT_NONE: not used
    uint32_t *order; // owned: names in the order of their numbers
    size_t name_count;
    struct nvtxt_map color_of;
    uint32_t *colors; // owned; distinct ones but 0
    size_t color_count, color_room;
    uint32_t color, color_index; // that was found last; 0: none
};

static const struct report_event *event_of(const struct data *data, size_t item) {
    return &data->model->capture->events[data->items->items[item].event];
}

// ---- The buffer ---------------------------------------------------------------------------------

static void drain(struct data *data) {
    page_script_json(data->out, (struct nvtxt_slice){data->buffer.data, data->buffer.len});
    data->buffer.len = 0;
}

static void drain_full(struct data *data) {
    if (data->buffer.len >= FULL) {
        drain(data);
    }
}

// ---- Names and colours --------------------------------------------------------------------------

struct ranked {
    uint32_t name;
    uint32_t count;
};

static int compare_ranked(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return NVTXT_ORDER(y->count, x->count) ?: NVTXT_ORDER(x->name, y->name);
}

// Names that only merged events have come after all others.
static void number_hidden(struct data *data) {
    for (size_t i = 0; i < data->hidden.count; i++) {
        uint32_t name = data->hidden.names[i].name;
        if (data->names[name] == REPORT_NONE) {
            data->order[data->name_count] = name;
            data->names[name] = (uint32_t)data->name_count++;
        }
    }
}

static int number_names(struct data *data) {
    size_t count = data->model->capture->name_count;
    struct ranked *ranked = malloc((count + 1) * sizeof(*ranked));
    data->names = malloc((count + 1) * sizeof(*data->names));
    data->order = malloc((count + 1) * sizeof(*data->order));
    if (!ranked || !data->names || !data->order) {
        free(ranked);
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < count; i++) {
        ranked[i] = (struct ranked){(uint32_t)i, 0};
        data->names[i] = REPORT_NONE;
    }
    for (size_t i = 0; i < data->items->count; i++) {
        ranked[event_of(data, i)->name].count++;
    }
    qsort(ranked, count, sizeof(*ranked), compare_ranked);
    for (; data->name_count < count && ranked[data->name_count].count > 0; data->name_count++) {
        data->order[data->name_count] = ranked[data->name_count].name;
        data->names[ranked[data->name_count].name] = (uint32_t)data->name_count;
    }
    free(ranked);
    number_hidden(data);
    return 0;
}

// Most events have the colour of the event before.
static bool find_color(struct data *data, uint32_t color) {
    uint32_t index;
    if (color != data->color && nvtxt_map_get(&data->color_of, color, &index)) {
        data->color = color;
        data->color_index = index;
    }
    return color == data->color;
}

static int add_color(struct data *data, uint32_t color) {
    if (color == 0 || find_color(data, color)) {
        return 0;
    }
    if (nvtxt_grow(&data->colors, &data->color_room, data->color_count + 1, sizeof(*data->colors)) <
        0) {
        return nvtxt_origin(-ENOMEM);
    }
    data->colors[data->color_count] = color;
    return nvtxt_map_set(&data->color_of, color, (uint32_t)data->color_count++);
}

static int number_colors(struct data *data) {
    int r = 0;
    for (size_t i = 0; i < data->items->count && r == 0; i++) {
        r = add_color(data, event_of(data, i)->color);
    }
    return r;
}

// ---- Tables -------------------------------------------------------------------------------------

static void put_names(struct data *data) {
    const struct report_capture *capture = data->model->capture;
    report_json_array(&data->json, "domains");
    for (size_t i = 0; i < capture->domain_count; i++) {
        report_json_slice(&data->json, NULL, capture->domains[i]);
        drain_full(data);
    }
    report_json_end_array(&data->json);
    report_json_array(&data->json, "names");
    for (size_t i = 0; i < data->name_count; i++) {
        const struct report_name *name = &capture->names[data->order[i]];
        report_json_array(&data->json, NULL);
        report_json_uint(&data->json, NULL, name->domain);
        report_json_slice(&data->json, NULL, capture->messages[name->message]);
        report_json_end_array(&data->json);
        drain_full(data);
    }
    report_json_end_array(&data->json);
}

static void put_colors(struct data *data) {
    report_json_array(&data->json, "colors");
    for (size_t i = 0; i < data->color_count; i++) {
        report_json_color(&data->json, NULL, data->colors[i]);
        drain_full(data);
    }
    report_json_end_array(&data->json);
}

static void put_categories(struct data *data) {
    const struct page_lanes *lanes = &data->items->lanes;
    report_json_array(&data->json, "categories");
    for (size_t i = 0; i < lanes->category_count; i++) {
        const struct page_category *category = &lanes->categories[i];
        report_json_object(&data->json, NULL);
        report_json_uint(&data->json, "id", category->id);
        report_json_slice(&data->json, "name",
                          report_category_name(lanes->capture, category->scope, category->id));
        report_json_end_object(&data->json);
        drain_full(data);
    }
    report_json_end_array(&data->json);
}

static void put_threads(struct data *data) {
    const struct report_capture *capture = data->model->capture;
    report_json_array(&data->json, "processes");
    for (size_t i = 0; i < capture->process_count; i++) {
        report_json_object(&data->json, NULL);
        report_json_uint(&data->json, "store", capture->processes[i].store);
        report_json_uint(&data->json, "pid", capture->processes[i].pid);
        report_json_slice(&data->json, "name", capture->processes[i].name);
        report_json_end_object(&data->json);
        drain_full(data);
    }
    report_json_end_array(&data->json);
    report_json_array(&data->json, "threads");
    for (size_t i = 0; i < capture->thread_count; i++) {
        report_json_object(&data->json, NULL);
        report_json_uint(&data->json, "process", capture->threads[i].process);
        report_json_uint(&data->json, "tid", report_tid(&capture->threads[i]));
        report_json_slice(&data->json, "name", capture->threads[i].name);
        report_json_end_object(&data->json);
        drain_full(data);
    }
    report_json_end_array(&data->json);
}

static void put_builds(struct data *data) {
    const struct report_builds *builds = &data->items->lanes.builds;
    const struct report_capture *capture = data->model->capture;
    char made[REPORT_SOURCE_NAME];
    if (builds->count == 0) {
        return;
    }
    report_json_array(&data->json, "builds");
    for (size_t i = 0; i < builds->count; i++) {
        const struct report_build *build = &builds->builds[i];
        bool has_run = build->run != REPORT_NONE;
        report_json_slice(&data->json, NULL,
                          has_run ? report_event_text(capture, &capture->events[build->run])
                                  : report_source_name(&capture->sources[build->source], made));
        drain_full(data);
    }
    report_json_end_array(&data->json);
}

static void put_lanes(struct data *data) {
    const struct page_lanes *lanes = &data->items->lanes;
    report_json_array(&data->json, "lanes");
    for (size_t i = 0; i < lanes->count; i++) {
        const struct page_lane *lane = &lanes->lanes[i];
        report_json_object(&data->json, NULL);
        report_json_uint(&data->json, "kind", lane->kind);
        report_json_uint(&data->json, "process", lane->process);
        if (lane->kind != REPORT_START_END) {
            report_json_uint(&data->json, "thread", lane->thread);
        }
        if (lane->kind == REPORT_PUSH_POP) {
            report_json_uint(&data->json, "domain", lane->domain);
        }
        if (lane->build != REPORT_NONE) {
            report_json_uint(&data->json, "build", lane->build);
            report_json_uint(&data->json, "job", lane->job);
        }
        if (lane->category != REPORT_NONE) {
            report_json_uint(&data->json, "category", lane->category);
        }
        report_json_end_object(&data->json);
        drain_full(data);
    }
    report_json_end_array(&data->json);
}

static void put_iterations(struct data *data) {
    const struct report_iterations *iterations = &data->model->iterations;
    const struct report_capture *capture = data->model->capture;
    if (!iterations->declared || iterations->count == 0) {
        report_json_null(&data->json, "iterations");
        return;
    }
    report_json_object(&data->json, "iterations");
    const struct report_event *marker = &capture->events[iterations->list[0].event];
    report_json_slice(&data->json, "name", report_event_text(capture, marker));
    report_json_array(&data->json, "items");
    for (size_t i = 0; i < iterations->count; i++) {
        const struct report_iteration *of = &iterations->list[i];
        report_json_array(&data->json, NULL);
        report_json_uint(&data->json, NULL, of->number);
        report_json_digits(&data->json, NULL, capture->events[of->event].start);
        report_json_digits(&data->json, NULL, capture->events[of->event].end);
        report_json_uint(&data->json, NULL, of->is_outlier);
        report_json_end_array(&data->json);
        drain_full(data);
    }
    report_json_end_array(&data->json);
    report_json_end_object(&data->json);
}

// ---- Columns ------------------------------------------------------------------------------------

static uint64_t length_of(const struct data *data, size_t item) {
    return (uint64_t)data->items->items[item].end - (uint64_t)event_of(data, item)->start;
}

static uint64_t start_value(struct data *data, size_t i) {
    int64_t before = i > 0 ? event_of(data, i - 1)->start : data->items->first;
    return (uint64_t)event_of(data, i)->start - (uint64_t)before;
}

static uint64_t duration_value(struct data *data, size_t i) {
    return length_of(data, i);
}

static uint64_t row_value(struct data *data, size_t i) {
    int64_t before = i > 0 ? event_of(data, i - 1)->row : 0;
    return page_zigzag((uint64_t)event_of(data, i)->row - (uint64_t)before);
}

static uint64_t name_value(struct data *data, size_t i) {
    return data->names[event_of(data, i)->name];
}

static uint64_t lane_value(struct data *data, size_t i) {
    return data->items->lanes.place[data->items->items[i].lane];
}

static uint64_t flags_value(struct data *data, size_t i) {
    unsigned flags = event_of(data, i)->flags;
    return flags & (REPORT_OPEN | REPORT_BACKWARD | REPORT_UNCLOSED);
}

static uint64_t level_value(struct data *data, size_t i) {
    return data->items->items[i].level;
}

static uint64_t depth_value(struct data *data, size_t i) {
    return data->model->depth[data->items->items[i].event];
}

static uint64_t parent_value(struct data *data, size_t i) {
    const struct page_item *item = &data->items->items[i];
    return item->parent == item->guess ? 0 : item->parent == REPORT_NONE ? 1 : i - item->parent + 1;
}

static uint64_t color_value(struct data *data, size_t i) {
    uint32_t color = event_of(data, i)->color;
    return color != 0 && find_color(data, color) ? (uint64_t)data->color_index + 1 : 0;
}

static uint64_t category_value(struct data *data, size_t i) {
    const struct report_event *event = event_of(data, i);
    uint64_t key = (uint64_t)event->scope << 32 | event->category;
    uint32_t index = 0;
    bool has = event->category != 0 && nvtxt_map_get(&data->items->lanes.by_category, key, &index);
    return has ? (uint64_t)index + 1 : 0;
}

// Where a start/end range was begun: its lane does not say that.
static uint64_t thread_value(struct data *data, size_t i) {
    const struct report_event *event = event_of(data, i);
    return event->kind == REPORT_START_END ? (uint64_t)event->thread + 1 : 0;
}

static bool has_trees(const struct data *data) {
    return data->model->parents.under != NULL;
}

// Of start/end ranges: whether trees show it.
static uint64_t tree_value(struct data *data, size_t i) {
    uint32_t event = data->items->items[i].event;
    return has_trees(data) && event_of(data, i)->kind == REPORT_START_END &&
           report_is_in_tree(data->model, event);
}

// Of outermost items in trees: how far before it that of another process stands which it is under,
// and 1 more.
static uint64_t under_value(struct data *data, size_t i) {
    const struct page_item *item = &data->items->items[i];
    uint32_t under = has_trees(data) ? data->model->parents.under[item->event] : REPORT_NONE;
    under = under == REPORT_NONE ? REPORT_NONE : data->items->item_of[under];
    bool has = item->parent == REPORT_NONE && under != REPORT_NONE &&
               report_is_in_tree(data->model, item->event);
    return has ? page_zigzag((uint64_t)i - (uint64_t)under) + 1 : 0;
}

static uint64_t merged_value(struct data *data, size_t i) {
    return data->items->items[i].merged;
}

// What the script cannot know from durations: where ranges cross, or children are not selected.
static int put_self(struct data *data) {
    const struct page_items *items = data->items;
    uint64_t *children = calloc(items->count + 1, sizeof(*children));
    if (!children) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < items->count; i++) {
        if (items->items[i].parent != REPORT_NONE) {
            children[items->items[i].parent] += length_of(data, i);
        }
    }
    page_column_begin(data->columns, "self");
    for (size_t i = 0; i < items->count; i++) {
        const struct report_event *event = event_of(data, i);
        bool counts = event->kind == REPORT_PUSH_POP && !(event->flags & REPORT_OPEN) &&
                      items->items[i].merged == 0;
        uint64_t self = data->model->self_ns[items->items[i].event];
        uint64_t guess = length_of(data, i) - children[i];
        uint64_t value = counts ? page_zigzag(self - guess) : 0;
        page_column_add(data->columns, &value, 1);
    }
    page_column_end(data->columns);
    free(children);
    return 0;
}

// Siblings whose parent is not selected: 1 of the first one, else the distance to the one before
// it, and 1 more.
static int put_kin(struct data *data) {
    const struct report_model *model = data->model;
    if (model->selected == model->count) {
        return 0;
    }
    uint32_t *latest = malloc((model->count + 1) * sizeof(*latest)); // by parent
    if (!latest) {
        return nvtxt_origin(-ENOMEM);
    }
    memset(latest, 0xFF, (model->count + 1) * sizeof(*latest)); // REPORT_NONE
    page_column_begin(data->columns, "kin");
    for (size_t i = 0; i < data->items->count; i++) {
        const struct page_item *item = &data->items->items[i];
        uint32_t parent = model->parent[item->event];
        uint64_t value = 0;
        if (item->parent == REPORT_NONE && parent != REPORT_NONE) {
            value = latest[parent] == REPORT_NONE ? 1 : i - latest[parent] + 1;
            latest[parent] = (uint32_t)i;
        }
        page_column_add(data->columns, &value, 1);
    }
    page_column_end(data->columns);
    free(latest);
    return 0;
}

static int put_columns(struct data *data) {
    static const struct {
        const char *name;
        uint64_t (*value)(struct data *data, size_t i);
    } columns[] = {
        {"start", start_value}, {"duration", duration_value}, {"row", row_value},
        {"name", name_value},   {"lane", lane_value},         {"flags", flags_value},
        {"depth", depth_value}, {"parent", parent_value},     {"category", category_value},
        {"color", color_value}, {"merged", merged_value},     {"thread", thread_value},
        {"level", level_value}, {"tree", tree_value},         {"under", under_value},
    };
    for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
        page_column_begin(data->columns, columns[c].name);
        for (size_t from = 0; from < data->items->count; from += TOGETHER) {
            uint64_t values[TOGETHER];
            size_t count = nvtxt_min(data->items->count - from, TOGETHER);
            for (size_t i = 0; i < count; i++) {
                values[i] = columns[c].value(data, from + i);
            }
            page_column_add(data->columns, values, count);
        }
        page_column_end(data->columns);
    }
    int r = put_kin(data);
    return r ?: put_self(data);
}

// ---- The object ---------------------------------------------------------------------------------

// An export may not say what its times count from, and two stores may count from two times.
bool page_has_utc_base(const struct report_capture *capture) {
    for (size_t i = 0; i < capture->store_count; i++) {
        const struct report_store *store = &capture->stores[i];
        if ((!store->ours && store->utc_base_ns == 0) ||
            store->utc_base_ns != capture->stores[0].utc_base_ns) {
            return false;
        }
    }
    return capture->store_count > 0;
}

static void put_utc_base(struct data *data) {
    const struct report_capture *capture = data->model->capture;
    if (page_has_utc_base(capture)) {
        report_json_digits(&data->json, "utcBase", capture->stores[0].utc_base_ns);
    } else {
        report_json_null(&data->json, "utcBase");
    }
}

static int put_object(struct data *data) {
    struct report_json *json = &data->json;
    report_json_object(json, NULL);
    report_json_int(json, "version", 1);
    report_json_uint(json, "events", data->model->selected);
    report_json_uint(json, "loaded", data->model->count);
    report_json_uint(json, "items", data->items->count);
    report_json_digits(&data->json, "first", data->items->first);
    report_json_digits(&data->json, "last", data->items->last);
    put_utc_base(data);
    put_names(data);
    put_colors(data);
    put_categories(data);
    put_threads(data);
    put_builds(data);
    put_lanes(data);
    put_iterations(data);
    page_hidden_put(json, &data->hidden, data->names);
    report_json_object(json, "columns");
    drain(data);
    int r = put_columns(data);
    report_json_end_object(json);
    report_json_end_object(json);
    drain(data);
    return r;
}

static int prepare(struct data *data) {
    data->columns = page_columns_new(data->out);
    int r = data->columns ? nvtxt_out_init(&data->buffer, -1) : nvtxt_origin(-ENOMEM);
    r = r ?: page_hidden_init(&data->hidden, data->model, data->items);
    r = r ?: number_names(data);
    return r ?: number_colors(data);
}

int page_data(struct nvtxt_out *out, const struct report_model *model,
              const struct page_items *items, uint32_t **names) {
    struct data data = {.out = out, .model = model, .items = items};
    report_json_init(&data.json, &data.buffer);
    int r = prepare(&data);
    r = r ?: put_object(&data);
    r = r == 0 && data.buffer.error != 0 ? data.buffer.error : r;
    page_columns_free(data.columns);
    nvtxt_out_deinit(&data.buffer);
    nvtxt_map_deinit(&data.color_of);
    page_hidden_deinit(&data.hidden);
    free(data.colors);
    *names = data.names;
    free(data.order);
    return r;
}
