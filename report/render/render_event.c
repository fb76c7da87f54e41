// SPDX-License-Identifier: Apache-2.0
//
// An event of a capture is put back together as the reader of stores has it, with its names, and
// written by the function that nvtxt-export uses, so that both programs say the same.
#include "report/render/render.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "store/read/event_members.h"

int report_events_init(struct report_events *events, const struct report_model *model) {
    *events = (struct report_events){.model = model, .names = report_name_texts(model->capture)};
    return events->names ? 0 : nvtxt_origin(-ENOMEM);
}

void report_events_deinit(struct report_events *events) {
    free(events->names);
    free(events->selected);
    *events = (struct report_events){0};
}

#define ROW_BITS 40 // of the row within its segment

static enum nvtxt_event_type type_of(const struct report_event *event) {
    return event->kind == REPORT_MARK       ? NVTXT_EVENT_MARK
           : event->kind == REPORT_PUSH_POP ? NVTXT_EVENT_PUSH_POP
                                            : NVTXT_EVENT_START_END;
}

static struct store_read_event read_event(const struct report_capture *capture,
                                          const struct report_event *event) {
    struct store_read_event read = {
        .row = event->row & ((INT64_C(1) << ROW_BITS) - 1),
        .type = type_of(event),
        .start = event->start,
        .end = report_given_end(capture, event),
        .global_tid = capture->threads[event->thread].global_tid,
        .category = event->category,
        .color = event->color,
        .domain_id = capture->scopes[event->scope].id,
        .text = report_event_text(capture, event),
        .payload = {.kind = event->payload_kind},
    };
    if (event->payload_kind == NVTXT_PAYLOAD_DOUBLE || event->payload_kind == NVTXT_PAYLOAD_FLOAT) {
        read.payload.real = event->payload.real;
    } else {
        read.payload.int64 = event->payload.int64;
    }
    if (event->more != REPORT_NONE) {
        const struct report_more *more = &capture->more[event->more];
        read.json = more->json;
        read.ended_elsewhere = more->ended_elsewhere;
        read.end_global_tid = more->end_global_tid;
    }
    return read;
}

// A domain that nobody named has only the name that reports make of its id.
static bool is_named_domain(const struct report_domain_scope *scope, struct nvtxt_slice name) {
    char made[32];
    int len = snprintf(made, sizeof(made), "Domain %lld", (long long)scope->id);
    return scope->id != 0 && name.len > 0 &&
           !nvtxt_slice_equal(name, (struct nvtxt_slice){made, (size_t)len});
}

static void put_members(struct nvtxt_out *out, const struct report_capture *capture,
                        const struct report_event *event) {
    char made[REPORT_SOURCE_NAME];
    const struct store_read_event read = read_event(capture, event);
    const struct report_thread *thread = &capture->threads[event->thread];
    struct store_named_event named = {
        .event = &read,
        .process = capture->processes[thread->process].name,
        .thread = thread->name,
        .category = report_category_name(capture, event->scope, event->category),
        .utc_offset_ns = capture->stores[event->store].utc_base_ns,
        // In a store a range is open that has no row yet; its place is not one of events.
        .has_no_row = (event->flags & REPORT_OPEN) && capture->stores[event->store].ours,
        .long_as_text = true,
        .never_negative = true,
    };
    if (is_named_domain(&capture->scopes[event->scope], report_domain(capture, event))) {
        named.domain = report_domain(capture, event);
    }
    if (event->source != REPORT_NONE) {
        const struct report_source *source = &capture->sources[event->source];
        named.source_id = source->id;
        named.source = report_source_name(source, made);
        named.level = nvtxt_level_name(report_line_level(capture, event));
    }
    store_event_members(out, &named);
}

static void put_range_members(struct report_json *json, const struct report_model *model,
                              size_t index) {
    const struct report_event *event = &model->capture->events[index];
    if (event->kind == REPORT_START_END) {
        report_json_uint(json, "selfTime", report_duration(event));
        return;
    }
    report_json_uint(json, "depth", model->depth[index]);
    if (model->parent[index] != REPORT_NONE) {
        report_json_int(json, "parent", model->capture->events[model->parent[index]].row);
    }
    report_json_uint(json, "selfTime", model->self_ns[index]);
}

void report_event_json(struct report_events *events, struct nvtxt_out *out, size_t index) {
    const struct report_capture *capture = events->model->capture;
    const struct report_event *event = &capture->events[index];
    struct report_json json = {.out = out, .after_value = true};
    NVTXT_OUT_LITERAL(out, "{");
    put_members(out, capture, event);
    report_json_uint(&json, "store", event->store);
    report_json_int(&json, "row", event->row);
    report_json_slice(&json, "name", events->names[event->name]);
    if (event->flags & REPORT_OPEN) {
        report_json_bool(&json, "open", true);
    }
    if (report_is_range(event)) {
        put_range_members(&json, events->model, index);
    }
    NVTXT_OUT_LITERAL(out, "}");
}

// ---- As a table ---------------------------------------------------------------------------------

static const struct report_column columns[] = {
    {"Start (ns)", REPORT_COLUMN_MOMENT},
    {"Duration (ns)", REPORT_COLUMN_LENGTH},
    {"Kind", REPORT_COLUMN_TEXT},
    {"Depth", REPORT_COLUMN_NUMBER},
    {"PID", REPORT_COLUMN_ID},
    {"TID", REPORT_COLUMN_ID},
    {"Name", REPORT_COLUMN_TEXT},
    {"Row", REPORT_COLUMN_ID},
};

static void make_row(const void *context, size_t row, struct report_cell *cells) {
    const struct report_events *events = context;
    const struct report_model *model = events->model;
    const struct report_capture *capture = model->capture;
    uint32_t index = events->selected[row];
    const struct report_event *event = &capture->events[index];
    const struct report_thread *thread = &capture->threads[event->thread];
    cells[0] = report_cell_int(event->start);
    cells[1] = report_cell_uint((uint64_t)event->end - (uint64_t)event->start);
    cells[2] = report_cell_text(store_event_kind(type_of(event)));
    if (event->kind == REPORT_PUSH_POP) {
        cells[3] = report_cell_uint(model->depth[index]);
    }
    cells[4] = report_cell_uint(capture->processes[thread->process].pid);
    cells[5] = report_cell_uint(report_tid(thread));
    cells[6] = report_cell_text(events->names[event->name]);
    cells[7] = report_cell_int(event->row);
}

int report_events_table(struct report_events *events, struct report_table *table) {
    const struct report_model *model = events->model;
    report_table_init(table, NULL, columns, sizeof(columns) / sizeof(columns[0]));
    events->selected = malloc((model->selected + 1) * sizeof(*events->selected));
    if (!events->selected) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < model->count; i++) {
        if (model->capture->events[i].flags & REPORT_SELECTED) {
            events->selected[table->row_count++] = (uint32_t)i;
        }
    }
    table->make_row = make_row;
    table->context = events;
    return 0;
}
