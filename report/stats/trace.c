// SPDX-License-Identifier: Apache-2.0
//
// One row for each push/pop range. The stacks come from the lanes, which see every range that is
// loaded, also those that get no row. A name with two blanks a level is one text: a name that needs
// no blanks is the same text as the name.
#include <inttypes.h>

#include "protocol/base/buf.h"
#include "protocol/base/origin.h"
#include "report/model/lanes.h"
#include "report/model/spans.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

struct trace {
    struct report_table *table;
    const struct report_model *model;
    struct nvtxt_slice *names;
    struct report_lanes lanes;
    struct nvtxt_buf text;
};

// `:1:2`, the rows from the bottom to the range itself.
static struct report_cell stack_cell(struct trace *trace, const struct nvtxt_walk *walk) {
    nvtxt_buf_clear(&trace->text);
    for (size_t i = 0; i < walk->stacked; i++) {
        if (walk->stack[i].id != NVTXT_WALK_GAP) {
            nvtxt_buf_add(&trace->text, ":", 1);
            nvtxt_buf_add_int(&trace->text, trace->model->capture->events[walk->stack[i].id].row);
        }
    }
    return report_cell_copy(trace->table, (struct nvtxt_slice){trace->text.data, trace->text.len});
}

static struct report_cell tree_cell(struct trace *trace, struct nvtxt_slice name, uint32_t depth) {
    if (depth == 0) {
        return report_cell_text(name);
    }
    nvtxt_buf_clear(&trace->text);
    for (uint32_t i = 0; i < depth; i++) {
        nvtxt_buf_add(&trace->text, "  ", 2);
    }
    nvtxt_buf_add(&trace->text, name.data, name.len);
    return report_cell_copy(trace->table, (struct nvtxt_slice){trace->text.data, trace->text.len});
}

static int put_row(struct trace *trace, uint32_t event, const struct nvtxt_walk *walk) {
    const struct report_model *model = trace->model;
    const struct report_event *range = &model->capture->events[event];
    const struct report_thread *thread = &model->capture->threads[range->thread];
    uint64_t self = model->self_ns[event];
    struct report_cell *cells = report_table_row(trace->table);
    if (!cells) {
        return nvtxt_origin(-ENOMEM);
    }
    cells[0] = report_cell_int(range->start);
    cells[1] = report_cell_int(report_given_end(model->capture, range));
    cells[2] = report_cell_uint(report_duration(range));
    cells[3] = report_cell_uint(report_duration(range) - self);
    cells[4] = report_cell_uint(self);
    cells[5] = report_cell_text(trace->names[range->name]);
    cells[6] = report_cell_uint(model->capture->processes[thread->process].pid);
    cells[7] = report_cell_uint(report_tid(thread));
    cells[8] = report_cell_uint(model->depth[event]);
    cells[9] = report_cell_uint(model->child_count[event]);
    cells[10] = report_cell_int(range->row);
    if (model->parent[event] != REPORT_NONE) {
        cells[11] = report_cell_int(model->capture->events[model->parent[event]].row);
    }
    cells[12] = stack_cell(trace, walk);
    cells[13] = tree_cell(trace, trace->names[range->name], model->depth[event]);
    bool failed = nvtxt_buf_failed(&trace->text) || cells[12].kind == REPORT_CELL_EMPTY ||
                  cells[13].kind == REPORT_CELL_EMPTY;
    return failed ? nvtxt_origin(-ENOMEM) : 0;
}

static int put_rows(struct trace *trace) {
    const struct report_event *events = trace->model->capture->events;
    int r = 0;
    for (size_t i = 0; r == 0 && i < trace->model->count; i++) {
        if (events[i].kind != REPORT_PUSH_POP) {
            continue;
        }
        struct report_lane *lane;
        r = report_lanes_begin(&trace->lanes, (uint32_t)i, &lane);
        if (r == 0 && report_is_timed(&events[i])) {
            r = put_row(trace, (uint32_t)i, &lane->walk);
        }
    }
    return r;
}

int report_nvtx_pushpop_trace(struct report_table *table, const struct report_model *model,
                              const struct report_stats_options *options) {
    struct trace trace = {
        .table = table, .model = model, .names = report_name_texts(model->capture)};
    (void)options;
    table->owned = trace.names; // the cells point into it
    if (!trace.names) {
        return nvtxt_origin(-ENOMEM);
    }
    int r = report_lanes_init(&trace.lanes, model->capture);
    if (r == 0) {
        r = put_rows(&trace);
        report_lanes_deinit(&trace.lanes);
    }
    nvtxt_buf_deinit(&trace.text);
    return r ?: report_note_open(table, model, REPORT_KIND(REPORT_PUSH_POP), "left out");
}
