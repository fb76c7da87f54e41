// SPDX-License-Identifier: Apache-2.0
//
// What is said of threads: how busy each is, and its gaps. The selected events of a thread stand
// side by side, in order, so the figures are those of the model's scans.
#include <errno.h>
#include <stdlib.h>

#include "report/model/name_text.h"
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
    if (a->global_tid != b->global_tid) {
        return a->global_tid < b->global_tid ? -1 : 1;
    }
    return (a->store > b->store) - (a->store < b->store);
}

static int init(struct threads *threads, struct report_table *table,
                const struct report_model *model) {
    const struct report_capture *capture = model->capture;
    *threads = (struct threads){.table = table, .model = model};
    int rc = report_groups_init(&threads->groups, model, capture->thread_count, thread_of, NULL);
    threads->order = malloc((capture->thread_count + 1) * sizeof(*threads->order));
    if (rc != 0 || !threads->order) {
        return -ENOMEM;
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

static void put_ids(const struct threads *threads, uint32_t index, struct report_cell *cells) {
    const struct report_thread *thread = &threads->model->capture->threads[index];
    cells[0] = report_cell_uint(threads->model->capture->processes[thread->process].pid);
    cells[1] = report_cell_uint(report_tid(thread));
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
    struct report_cell *cells = report_table_row(threads->table);
    if (!cells) {
        return -ENOMEM;
    }
    cells[0] = report_cell_real(
        model->elapsed_ns > 0 ? 100.0 * (double)busy / (double)model->elapsed_ns : 0);
    cells[1] = report_cell_uint(busy);
    cells[2] = report_cell_uint(ranges);
    cells[3] = report_cell_uint(size - ranges);
    if (pushed > 0) {
        cells[4] = report_cell_uint(deepest);
    }
    put_ids(threads, index, &cells[5]);
    if (capture->threads[index].name.data) {
        cells[7] = report_cell_text(capture->threads[index].name);
    }
    return 0;
}

// An open range is in no time, but it is a range, and one that others lie in.
static int note_open(struct report_table *table, const struct report_model *model) {
    size_t open = report_count_open(model, REPORT_BOTH_KINDS);
    return open == 0
               ? 0
               : report_table_note(table, "%zu open %s counted, but not in the times: %s no end",
                                   open, open == 1 ? "range is" : "ranges are",
                                   open == 1 ? "it has" : "they have");
}

int report_nvtx_thread_sum(struct report_table *table, const struct report_model *model,
                           const struct report_stats_options *options) {
    struct threads threads;
    (void)options;
    int rc = init(&threads, table, model);
    for (size_t i = 0; rc == 0 && i < threads.count; i++) {
        rc = put_thread(&threads, threads.order[i]);
    }
    deinit(&threads);
    return rc == 0 ? note_open(table, model) : rc;
}

// --- gaps

struct gap_row {
    uint32_t thread, place; // place: by PID, TID, store
    struct report_spread spread;
    struct report_gap longest; // the first of that length
};

static int by_gap(const void *left, const void *right) {
    const struct gap_row *a = left, *b = right;
    if (a->spread.sum != b->spread.sum) {
        return a->spread.sum > b->spread.sum ? -1 : 1;
    }
    return (a->place > b->place) - (a->place < b->place);
}

// Fills a row when the thread has gaps.
static int find_gaps(const struct threads *threads, uint32_t place, struct gap_row *row) {
    uint32_t thread = threads->order[place];
    struct report_gap *gaps;
    size_t count;
    int rc = report_gaps(threads->model->capture, events_of(threads, thread),
                         report_group_size(&threads->groups, thread), &gaps, &count);
    uint64_t *lengths = rc == 0 ? malloc((count + 1) * sizeof(*lengths)) : NULL;
    if (!lengths) {
        free(gaps);
        return -ENOMEM;
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
    struct report_cell *cells = report_table_row(threads->table);
    if (!cells) {
        return -ENOMEM;
    }
    cells[0] = report_cell_total(threads->table, row->spread.sum);
    cells[1] = report_cell_uint(row->spread.count);
    cells[2] = report_cell_real(row->spread.avg);
    cells[3] = report_cell_real(row->spread.median);
    cells[4] = report_cell_uint(row->spread.max);
    cells[5] = report_cell_int(row->longest.at);
    cells[6] = report_cell_text(names[events[row->longest.after].name]);
    cells[7] = report_cell_text(names[events[row->longest.before].name]);
    put_ids(threads, row->thread, &cells[8]);
    return 0;
}

int report_nvtx_gap_sum(struct report_table *table, const struct report_model *model,
                        const struct report_stats_options *options) {
    struct threads threads;
    size_t count = 0;
    (void)options;
    int rc = init(&threads, table, model);
    struct nvtxt_slice *names = report_name_texts(model->capture);
    struct gap_row *rows = calloc(threads.count + 1, sizeof(*rows));
    table->owned = names; // the cells point into it
    rc = names && rows ? rc : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < threads.count; i++) {
        rc = find_gaps(&threads, i, &rows[count]);
        count += rc == 0 && rows[count].spread.count > 0;
    }
    if (rc == 0) {
        qsort(rows, count, sizeof(*rows), by_gap);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = put_gaps(&threads, &rows[i], names);
    }
    free(rows);
    deinit(&threads);
    return rc == 0 ? report_note_open(table, model, REPORT_KIND(REPORT_PUSH_POP)) : rc;
}
