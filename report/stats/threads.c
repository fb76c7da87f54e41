// SPDX-License-Identifier: Apache-2.0
//
// What is said of threads: how busy each is, and its gaps. The selected events of a thread stand
// side by side, in order, so the figures are those of the model's scans.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/spans.h"
#include "report/model/spread.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

struct threads {
    struct report_table *table;
    const struct report_model *model;
    struct report_groups groups; // by thread
    uint32_t *order;             // threads with events, by PID, TID, store
    size_t count;
};

static uint32_t thread_of(const void *context, const struct report_event *event) {
    (void)context;
    return event->thread;
}

static int by_tid(const void *left, const void *right, void *context) {
    const struct report_thread *threads = context;
    const struct report_thread *a = &threads[*(const uint32_t *)left];
    const struct report_thread *b = &threads[*(const uint32_t *)right];
    return NVTXT_ORDER(a->global_tid, b->global_tid) ?: NVTXT_ORDER(a->store, b->store);
}

static int init(struct threads *threads, struct report_table *table,
                const struct report_model *model) {
    const struct report_capture *capture = model->capture;
    *threads = (struct threads){.table = table, .model = model};
    int r = report_groups_init(&threads->groups, model, capture->thread_count, thread_of, NULL);
    threads->order = malloc((capture->thread_count + 1) * sizeof(*threads->order));
    if (r != 0 || !threads->order) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < capture->thread_count; i++) {
        if (report_group_size(&threads->groups, i) > 0) {
            threads->order[threads->count++] = (uint32_t)i;
        }
    }
    qsort_r(threads->order, threads->count, sizeof(*threads->order), by_tid, capture->threads);
    return 0;
}

static void deinit(struct threads *threads) {
    report_groups_deinit(&threads->groups);
    free(threads->order);
}

static inline const uint32_t *events_of(const struct threads *threads, uint32_t thread) {
    return threads->groups.events + threads->groups.first[thread];
}

static struct report_cell pid_cell(const struct threads *threads, uint32_t index) {
    const struct report_capture *capture = threads->model->capture;
    return report_cell_uint(capture->processes[capture->threads[index].process].pid);
}

static struct report_cell tid_cell(const struct threads *threads, uint32_t index) {
    return report_cell_uint(report_tid(&threads->model->capture->threads[index]));
}

// --- how busy

static int put_thread(const struct threads *threads, uint32_t index) {
    const struct report_model *model = threads->model;
    const struct report_capture *capture = model->capture;
    const uint32_t *events = events_of(threads, index);
    size_t size = report_group_size(&threads->groups, index), ranges = 0, pushed = 0;
    uint32_t deepest = 0;
    for (size_t i = 0; i < size; i++) {
        const struct report_event *event = &capture->events[events[i]];
        ranges += report_is_range(event);
        pushed += event->kind == REPORT_PUSH_POP;
        deepest = model->depth[events[i]] > deepest ? model->depth[events[i]] : deepest;
    }
    uint64_t busy = report_busy(capture, events, size, REPORT_KIND(REPORT_PUSH_POP));
    struct nvtxt_slice name = capture->threads[index].name;
    double share = model->elapsed_ns > 0 ? 100.0 * (double)busy / (double)model->elapsed_ns : 0;
    const struct report_cell cells[] = {
        report_cell_real(share),
        report_cell_uint(busy),
        report_cell_uint(ranges),
        report_cell_uint(size - ranges),
        pushed > 0 ? report_cell_uint(deepest) : REPORT_NO_CELL,
        pid_cell(threads, index),
        tid_cell(threads, index),
        name.data ? report_cell_text(name) : REPORT_NO_CELL,
    };
    return report_table_add(threads->table, cells);
}

int report_nvtx_thread_sum(struct report_table *table, const struct report_model *model,
                           const struct report_stats_options *options) {
    struct threads threads;
    (void)options;
    int r = init(&threads, table, model);
    for (size_t i = 0; r == 0 && i < threads.count; i++) {
        r = put_thread(&threads, threads.order[i]);
    }
    deinit(&threads);
    // An open range is in no time, but it is a range, and one that others lie in.
    return r ?: report_note_open(table, model, REPORT_BOTH_KINDS, "counted, but not in the times");
}

// --- gaps

struct gap_row {
    uint32_t thread, place; // place: by PID, TID, store
    struct report_spread spread;
    struct report_gap longest; // the first of that length
};

static int by_gap(const void *left, const void *right) {
    const struct gap_row *a = left, *b = right;
    return NVTXT_ORDER(b->spread.sum, a->spread.sum) ?: NVTXT_ORDER(a->place, b->place);
}

// Fills a row when the thread has gaps.
static int find_gaps(const struct threads *threads, uint32_t place, struct gap_row *row) {
    uint32_t thread = threads->order[place];
    struct report_gap *gaps;
    size_t count;
    int r = report_gaps(threads->model->capture, events_of(threads, thread),
                        report_group_size(&threads->groups, thread), &gaps, &count);
    uint64_t *lengths = r == 0 ? malloc((count + 1) * sizeof(*lengths)) : NULL;
    if (!lengths) {
        free(gaps);
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < count; i++) {
        lengths[i] = gaps[i].length;
        row->longest = i == 0 || gaps[i].length > row->longest.length ? gaps[i] : row->longest;
    }
    row->thread = thread;
    row->place = place;
    row->spread = report_spread_of(lengths, count);
    free(lengths);
    free(gaps);
    return 0;
}

static int put_gaps(const struct threads *threads, const struct gap_row *row,
                    const struct nvtxt_slice *names) {
    const struct report_event *events = threads->model->capture->events;
    const struct report_cell cells[] = {
        report_cell_total(threads->table, row->spread.sum),
        report_cell_uint(row->spread.count),
        report_cell_real(row->spread.avg),
        report_cell_real(row->spread.median),
        report_cell_uint(row->spread.max),
        report_cell_int(row->longest.at),
        report_cell_text(names[events[row->longest.after].name]),
        report_cell_text(names[events[row->longest.before].name]),
        pid_cell(threads, row->thread),
        tid_cell(threads, row->thread),
    };
    return report_table_add(threads->table, cells);
}

int report_nvtx_gap_sum(struct report_table *table, const struct report_model *model,
                        const struct report_stats_options *options) {
    struct threads threads;
    size_t count = 0;
    (void)options;
    int r = init(&threads, table, model);
    struct nvtxt_slice *names = report_name_texts(model->capture);
    struct gap_row *rows = calloc(threads.count + 1, sizeof(*rows));
    table->owned = names; // the cells point into it
    r = names && rows ? r : nvtxt_origin(-ENOMEM);
    for (uint32_t i = 0; r == 0 && i < threads.count; i++) {
        r = find_gaps(&threads, i, &rows[count]);
        count += r == 0 && rows[count].spread.count > 0;
    }
    if (r == 0) {
        qsort(rows, count, sizeof(*rows), by_gap);
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = put_gaps(&threads, &rows[i], names);
    }
    free(rows);
    deinit(&threads);
    return r ?: report_note_open(table, model, REPORT_KIND(REPORT_PUSH_POP), "left out");
}
