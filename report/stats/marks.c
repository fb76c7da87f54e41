// SPDX-License-Identifier: Apache-2.0
//
// Marks by name. Within a name each process has its own row of marks, so the last start of each
// process is kept while the marks of one name are visited.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/spread.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

struct last { // mark of a process
    uint32_t name;
    int64_t start;
};

struct mark {
    struct nvtxt_slice name;
    uint64_t count;
    int64_t first, last;
    struct report_spread intervals;
};

struct marks {
    const struct report_model *model;
    struct report_groups groups;
    struct nvtxt_slice *names;
    struct last *lasts; // by process
    uint64_t *intervals;
    struct mark *rows;
    size_t row_count;
};

static uint32_t group_of(const void *context, const struct report_event *event) {
    (void)context;
    return event->kind == REPORT_MARK ? event->name : REPORT_NONE;
}

static int by_count(const void *left, const void *right) {
    const struct mark *a = left, *b = right;
    return NVTXT_ORDER(b->count, a->count) ?: nvtxt_slice_order(a->name, b->name);
}

static int make_room(struct marks *marks) {
    const struct report_capture *capture = marks->model->capture;
    size_t largest = 0, used = 0;
    for (size_t i = 0; i < marks->groups.group_count; i++) {
        size_t size = report_group_size(&marks->groups, i);
        largest = size > largest ? size : largest;
        used += size > 0;
    }
    marks->names = report_name_texts(capture);
    marks->lasts = malloc((capture->process_count + 1) * sizeof(*marks->lasts));
    marks->intervals = malloc((largest + 1) * sizeof(*marks->intervals));
    marks->rows = calloc(used + 1, sizeof(*marks->rows));
    if (!marks->names || !marks->lasts || !marks->intervals || !marks->rows) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < capture->process_count; i++) {
        marks->lasts[i].name = REPORT_NONE;
    }
    return 0;
}

static void take_name(struct marks *marks, uint32_t name, size_t size) {
    const struct report_capture *capture = marks->model->capture;
    const uint32_t *places = marks->groups.events + marks->groups.first[name];
    struct mark *mark = &marks->rows[marks->row_count++];
    size_t intervals = 0;
    for (size_t i = 0; i < size; i++) {
        const struct report_event *event = &capture->events[places[i]];
        struct last *last = &marks->lasts[capture->threads[event->thread].process];
        if (last->name == name) {
            marks->intervals[intervals++] = (uint64_t)event->start - (uint64_t)last->start;
        }
        *last = (struct last){name, event->start};
    }
    mark->name = marks->names[name];
    mark->count = size;
    mark->first = capture->events[places[0]].start;
    mark->last = capture->events[places[size - 1]].start;
    mark->intervals = report_spread_of(marks->intervals, intervals);
}

static int put_row(struct report_table *table, const struct mark *mark) {
    double seconds = (double)((long double)mark->last - (long double)mark->first) / 1e9;
    bool any = mark->intervals.count > 0;
    const struct report_cell cells[] = {
        report_cell_uint(mark->count),
        mark->last > mark->first ? report_cell_real((double)(mark->count - 1) / seconds)
                                 : REPORT_NO_CELL,
        any ? report_cell_real(mark->intervals.avg) : REPORT_NO_CELL,
        any ? report_cell_real(mark->intervals.median) : REPORT_NO_CELL,
        any ? report_cell_uint(mark->intervals.min) : REPORT_NO_CELL,
        any ? report_cell_uint(mark->intervals.max) : REPORT_NO_CELL,
        report_cell_int(mark->first),
        report_cell_int(mark->last),
        report_cell_text(mark->name),
    };
    return report_table_add(table, cells);
}

static int put_rows(struct marks *marks, struct report_table *table) {
    int r = 0;
    for (size_t i = 0; i < marks->groups.group_count; i++) {
        size_t size = report_group_size(&marks->groups, i);
        if (size > 0) {
            take_name(marks, (uint32_t)i, size);
        }
    }
    qsort(marks->rows, marks->row_count, sizeof(*marks->rows), by_count);
    for (size_t i = 0; r == 0 && i < marks->row_count; i++) {
        r = put_row(table, &marks->rows[i]);
    }
    return r;
}

int report_nvtx_mark_sum(struct report_table *table, const struct report_model *model,
                         const struct report_stats_options *options) {
    struct marks marks = {.model = model};
    (void)options;
    int r = report_groups_init(&marks.groups, model, model->capture->name_count, group_of, NULL);
    r = r ?: make_room(&marks);
    r = r ?: put_rows(&marks, table);
    report_groups_deinit(&marks.groups);
    free(marks.lasts);
    free(marks.intervals);
    free(marks.rows);
    table->owned = marks.names; // the cells point into it
    return r;
}
