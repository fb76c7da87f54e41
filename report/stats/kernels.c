// SPDX-License-Identifier: Apache-2.0
//
// Kernels and the ranges that they belong to. The calls that started kernels are visited as time
// goes on, with the lanes of their threads; each range that is open at a call makes a pair with the
// kernel. Both tables are made from the pairs, in two different orders.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/model/lanes.h"
#include "report/model/spans.h"
#include "report/model/spread.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

struct pair {
    uint32_t event, kernel;
};

struct kernels {
    struct report_table *table;
    const struct report_model *model;
    const struct report_capture *capture;
    struct nvtxt_slice *names;
    struct report_lanes lanes;
    struct pair *pairs;
    size_t count, room;
    uint64_t *lengths; // of the pairs of a row
    struct row *rows;
    size_t row_count;
};

struct row { // of either table
    struct nvtxt_slice name;
    const struct report_thread *thread;
    struct nvtxt_slice kernel;
    struct report_spread spread; // of kernels; or of projections
    size_t ranges, operations;
    unsigned __int128 range_time;
    uint64_t levels, children;
};

// --- pairs

static int by_call(const void *left, const void *right, void *context) {
    const struct report_kernel *kernels = context;
    uint32_t places[] = {*(const uint32_t *)left, *(const uint32_t *)right};
    int order = NVTXT_ORDER(kernels[places[0]].call_start, kernels[places[1]].call_start);
    return order ?: NVTXT_ORDER(places[0], places[1]);
}

static int add_pair(struct kernels *kernels, uint32_t event, uint32_t kernel) {
    if (nvtxt_grow(&kernels->pairs, &kernels->room, kernels->count + 1, sizeof(*kernels->pairs)) <
        0) {
        return nvtxt_origin(-ENOMEM);
    }
    kernels->pairs[kernels->count++] = (struct pair){event, kernel};
    return 0;
}

// All push/pop ranges of the thread that are open at the call.
static int pair_kernel(struct kernels *kernels, uint32_t kernel) {
    const struct report_kernel *one = &kernels->capture->kernels[kernel];
    int r = 0;
    for (struct report_lane *lane = kernels->lanes.of_thread[one->thread]; lane && r == 0;
         lane = lane->next) {
        nvtxt_walk_move(&lane->walk, one->call_start);
        for (size_t i = 0; i < lane->walk.stacked && r == 0; i++) {
            uint32_t event = lane->walk.stack[i].id;
            if (event != NVTXT_WALK_GAP && report_is_timed(&kernels->capture->events[event])) {
                r = add_pair(kernels, event, kernel);
            }
        }
    }
    return r;
}

static int visit_calls(struct kernels *kernels, const uint32_t *calls, size_t count) {
    const struct report_capture *capture = kernels->capture;
    size_t event = 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        int64_t time = capture->kernels[calls[i]].call_start;
        for (; r == 0 && event < capture->event_count && capture->events[event].start <= time;
             event++) {
            if (capture->events[event].kind == REPORT_PUSH_POP) {
                struct report_lane *lane;
                r = report_lanes_begin(&kernels->lanes, (uint32_t)event, &lane);
            }
        }
        r = r ?: pair_kernel(kernels, calls[i]);
    }
    return r;
}

static int find_pairs(struct kernels *kernels) {
    const struct report_capture *capture = kernels->capture;
    uint32_t *calls = malloc((capture->kernel_count + 1) * sizeof(*calls));
    size_t count = 0;
    int r = calls ? report_lanes_init(&kernels->lanes, capture) : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        for (size_t i = 0; i < capture->kernel_count; i++) {
            if (capture->kernels[i].thread != REPORT_NONE) {
                calls[count++] = (uint32_t)i;
            }
        }
        qsort_r(calls, count, sizeof(*calls), by_call, capture->kernels);
        r = visit_calls(kernels, calls, count);
        report_lanes_deinit(&kernels->lanes);
    }
    free(calls);
    return r;
}

// --- rows

static const struct report_event *range_of(const struct report_capture *capture,
                                           const struct pair *pair) {
    return &capture->events[pair->event];
}

static uint64_t length_of(int64_t start, int64_t end) {
    return end > start ? (uint64_t)end - (uint64_t)start : 0;
}

// The pairs of a row of nvtx_kern_sum: those of a name, thread and kernel.
static int same_launches(const struct report_capture *capture, const struct pair *a,
                         const struct pair *b) {
    const struct report_event *x = range_of(capture, a), *y = range_of(capture, b);
    int by = NVTXT_ORDER(x->name, y->name) ?: NVTXT_ORDER(x->thread, y->thread);
    const struct report_kernel *kernels = capture->kernels;
    return by ?: NVTXT_ORDER(kernels[a->kernel].name, kernels[b->kernel].name);
}

// The pairs of a row of nvtx_gpu_proj_sum: those of a name.
static int same_name(const struct report_capture *capture, const struct pair *a,
                     const struct pair *b) {
    return NVTXT_ORDER(range_of(capture, a)->name, range_of(capture, b)->name);
}

static int by_launches(const void *left, const void *right, void *context) {
    const struct pair *a = left, *b = right;
    int by = same_launches(context, a, b);
    by = by ?: NVTXT_ORDER(a->event, b->event);
    return by ?: NVTXT_ORDER(a->kernel, b->kernel);
}

static int by_name(const void *left, const void *right, void *context) {
    const struct pair *a = left, *b = right;
    int by = same_name(context, a, b);
    by = by ?: NVTXT_ORDER(a->event, b->event);
    return by ?: NVTXT_ORDER(a->kernel, b->kernel);
}

static void begin_row(const struct kernels *kernels, const struct pair *pairs, struct row *row) {
    const struct report_event *range = range_of(kernels->capture, &pairs[0]);
    const struct report_kernel *kernel = &kernels->capture->kernels[pairs[0].kernel];
    *row = (struct row){.name = kernels->names[range->name],
                        .thread = &kernels->capture->threads[range->thread],
                        .kernel = kernels->capture->messages[kernel->name]};
}

static void add_launches(struct kernels *kernels, const struct pair *pairs, size_t count,
                         struct row *row) {
    for (size_t i = 0; i < count; i++) {
        const struct report_kernel *kernel = &kernels->capture->kernels[pairs[i].kernel];
        kernels->lengths[i] = length_of(kernel->start, kernel->end);
        row->ranges += i == 0 || pairs[i].event != pairs[i - 1].event;
    }
    row->spread = report_spread_of(kernels->lengths, count);
}

// A range's projection goes from the first start to the last end of its kernels.
static void add_projections(struct kernels *kernels, const struct pair *pairs, size_t count,
                            struct row *row) {
    const struct report_model *model = kernels->model;
    for (size_t i = 0, next; i < count; i = next) {
        uint32_t event = pairs[i].event;
        int64_t first = INT64_MAX, last = INT64_MIN;
        for (next = i; next < count && pairs[next].event == event; next++) {
            const struct report_kernel *kernel = &kernels->capture->kernels[pairs[next].kernel];
            first = kernel->start < first ? kernel->start : first;
            last = kernel->end > last ? kernel->end : last;
        }
        kernels->lengths[row->ranges++] = length_of(first, last);
        row->range_time += report_duration(&kernels->capture->events[event]);
        row->levels += model->depth[event];
        row->children += model->child_count[event];
    }
    row->operations = count;
    row->spread = report_spread_of(kernels->lengths, row->ranges);
}

static int by_total(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    int by = NVTXT_ORDER(b->spread.sum, a->spread.sum);
    by = by ?: nvtxt_slice_order(a->name, b->name);
    by = by ?: NVTXT_ORDER(a->thread->global_tid, b->thread->global_tid);
    by = by ?: NVTXT_ORDER(a->thread->store, b->thread->store);
    return by ?: nvtxt_slice_order(a->kernel, b->kernel);
}

struct kind { // of table
    int (*order)(const void *, const void *, void *);
    int (*same)(const struct report_capture *, const struct pair *, const struct pair *);
    void (*add)(struct kernels *, const struct pair *, size_t, struct row *);
    void (*put)(const struct kernels *, const struct row *, struct report_cell *);
};

static int make_rows(struct kernels *kernels, const struct kind *kind) {
    kernels->lengths = malloc((kernels->count + 1) * sizeof(*kernels->lengths));
    kernels->rows = malloc((kernels->count + 1) * sizeof(*kernels->rows));
    if (!kernels->lengths || !kernels->rows) {
        return nvtxt_origin(-ENOMEM);
    }
    if (kernels->count > 0) {
        qsort_r(kernels->pairs, kernels->count, sizeof(*kernels->pairs), kind->order,
                (void *)(uintptr_t)kernels->capture);
    }
    for (size_t i = 0, next; i < kernels->count; i = next) {
        const struct pair *pairs = &kernels->pairs[i];
        struct row *row = &kernels->rows[kernels->row_count++];
        for (next = i + 1; next < kernels->count; next++) {
            if (kind->same(kernels->capture, pairs, &kernels->pairs[next]) != 0) {
                break;
            }
        }
        begin_row(kernels, pairs, row);
        kind->add(kernels, pairs, next - i, row);
    }
    qsort(kernels->rows, kernels->row_count, sizeof(*kernels->rows), by_total);
    return 0;
}

// --- cells

static struct report_cell *put_spread(const struct report_spread *spread,
                                      struct report_cell *cells) {
    *cells++ = report_cell_real(spread->avg);
    *cells++ = report_cell_real(spread->median);
    *cells++ = report_cell_uint(spread->min);
    *cells++ = report_cell_uint(spread->max);
    *cells++ = report_cell_real(spread->stddev);
    return cells;
}

static void put_launches(const struct kernels *kernels, const struct row *row,
                         struct report_cell *cells) {
    *cells++ = report_cell_text(row->name);
    *cells++ = report_cell_text(NVTXT_SLICE("PushPop"));
    *cells++ = report_cell_uint(kernels->capture->processes[row->thread->process].pid);
    *cells++ = report_cell_uint(report_tid(row->thread));
    *cells++ = report_cell_uint(row->ranges);
    *cells++ = report_cell_uint(row->spread.count);
    *cells++ = report_cell_total(kernels->table, row->spread.sum);
    cells = put_spread(&row->spread, cells);
    *cells = report_cell_text(row->kernel);
}

static void put_projections(const struct kernels *kernels, const struct row *row,
                            struct report_cell *cells) {
    double ranges = (double)row->ranges;
    *cells++ = report_cell_text(row->name);
    *cells++ = report_cell_text(NVTXT_SLICE("PushPop"));
    *cells++ = report_cell_total(kernels->table, row->spread.sum);
    *cells++ = report_cell_total(kernels->table, row->range_time);
    *cells++ = report_cell_uint(row->ranges);
    cells = put_spread(&row->spread, cells);
    *cells++ = report_cell_uint(row->operations);
    *cells++ = report_cell_real((double)row->operations / ranges);
    *cells++ = report_cell_real((double)row->levels / ranges);
    *cells = report_cell_real((double)row->children / ranges);
}

static int note_stores(struct report_table *table, const struct report_capture *capture) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < capture->store_count; i++) {
        const struct nvtxt_slice *path = &capture->stores[i].path;
        const char *lack = capture->stores[i].kernels_lack;
        if (lack) {
            r = report_table_note(table, "no kernels: %.*s: %s", (int)path->len, path->data, lack);
        } else if (!capture->stores[i].has_kernels) {
            r = report_table_note(table, "no kernels: %.*s has no CUPTI tables", (int)path->len,
                                  path->data);
        }
    }
    return r;
}

static int fill_table(struct report_table *table, const struct report_model *model,
                      const struct kind *kind) {
    struct kernels kernels = {.table = table, .model = model, .capture = model->capture};
    table->owned = kernels.names = report_name_texts(model->capture); // the cells point into it
    int r = kernels.names ? find_pairs(&kernels) : nvtxt_origin(-ENOMEM);
    r = r ?: make_rows(&kernels, kind);
    for (size_t i = 0; r == 0 && i < kernels.row_count; i++) {
        struct report_cell *cells = report_table_row(table);
        if (cells) {
            kind->put(&kernels, &kernels.rows[i], cells);
        }
        r = cells ? 0 : nvtxt_origin(-ENOMEM);
    }
    free(kernels.pairs);
    free(kernels.lengths);
    free(kernels.rows);
    r = r ?: note_stores(table, model->capture);
    bool any = model->capture->kernel_count > 0;
    return r == 0 && any ? report_note_open(table, model, REPORT_KIND(REPORT_PUSH_POP), "left out")
                         : r;
}

int report_nvtx_kern_sum(struct report_table *table, const struct report_model *model,
                         const struct report_stats_options *options) {
    (void)options;
    return fill_table(table, model,
                      &(struct kind){by_launches, same_launches, add_launches, put_launches});
}

int report_nvtx_gpu_proj_sum(struct report_table *table, const struct report_model *model,
                             const struct report_stats_options *options) {
    (void)options;
    return fill_table(table, model,
                      &(struct kind){by_name, same_name, add_projections, put_projections});
}
