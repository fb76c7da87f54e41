// SPDX-License-Identifier: Apache-2.0
//
// One table has a line for each metric, with the kinds of events that have it.
#include "report/serve/objects.h"

#include <string.h>

#include "protocol/base/origin.h"

#define RANGES (1 << REPORT_PUSH_POP | 1 << REPORT_START_END)
#define ALL (RANGES | 1 << REPORT_MARK)
#define NOT_TIMED "no ranges" // of an open range

struct making {
    const struct report_model *model;
    uint32_t index;
    const struct report_event *event;
    struct store_arena *arena;
    struct report_metric *metric;
};

// ---- Values -------------------------------------------------------------------------------------

static int put_text(struct making *making, struct nvtxt_slice text) {
    making->metric->value.string = text;
    return 0;
}

static int put_number(struct making *making, uint64_t number) {
    making->metric->value.u64 = number;
    return 0;
}

// A time below 0 is a double: no unsigned integer has it.
static int put_time(struct making *making, int64_t time) {
    if (time >= 0) {
        return put_number(making, (uint64_t)time);
    }
    making->metric->type = REPORT_DOUBLE;
    making->metric->value = (struct report_value){.type = REPORT_DOUBLE, .real = (double)time};
    return 0;
}

static int put_duration(struct making *making, uint64_t duration) {
    making->metric->na = making->event->flags & REPORT_OPEN ? NOT_TIMED : NULL;
    return put_number(making, duration);
}

static int make_message(struct making *making) {
    return put_text(making, report_event_text(making->model->capture, making->event));
}

static int make_name(struct making *making) {
    const struct report_capture *capture = making->model->capture;
    struct nvtxt_slice domain = report_domain(capture, making->event);
    struct nvtxt_slice message = report_event_text(capture, making->event);
    char *text = store_arena_take(making->arena, domain.len + message.len + 1, 1);
    if (!text) {
        return nvtxt_origin(-ENOMEM);
    }
    if (domain.len > 0) {
        memcpy(text, domain.data, domain.len);
    }
    text[domain.len] = ':';
    if (message.len > 0) {
        memcpy(text + domain.len + 1, message.data, message.len);
    }
    return put_text(making, (struct nvtxt_slice){text, domain.len + message.len + 1});
}

static int make_kind(struct making *making) {
    static const char *const kinds[] = {
        [REPORT_MARK] = "mark", [REPORT_PUSH_POP] = "push/pop", [REPORT_START_END] = "start/end"};
    return put_text(making, nvtxt_slice_of(kinds[making->event->kind]));
}

static int make_domain(struct making *making) {
    struct nvtxt_slice domain = report_domain(making->model->capture, making->event);
    return put_text(making, domain.len > 0 ? domain : nvtxt_slice_of("<default domain>"));
}

static int make_category_name(struct making *making) {
    const struct report_event *event = making->event;
    struct nvtxt_slice name =
        report_category_name(making->model->capture, event->scope, event->category);
    return put_text(making, name.data ? name : nvtxt_slice_of(""));
}

static int make_row(struct making *making) {
    return put_number(making, (uint64_t)making->event->row);
}

static const struct report_thread *thread_of(const struct making *making) {
    return &making->model->capture->threads[making->event->thread];
}

static int make_pid(struct making *making) {
    return put_number(making, making->model->capture->processes[thread_of(making)->process].pid);
}

static int make_tid(struct making *making) {
    return put_number(making, report_tid(thread_of(making)));
}

static int make_category(struct making *making) {
    return put_number(making, making->event->category);
}

static int make_color(struct making *making) {
    return put_number(making, making->event->color);
}

static int make_start(struct making *making) {
    return put_time(making, making->event->start);
}

static int make_end(struct making *making) {
    return put_time(making, report_given_end(making->model->capture, making->event));
}

bool report_event_payload(const struct report_event *event, struct report_value *value) {
    switch (event->payload_kind) {
    case NVTXT_PAYLOAD_NONE:
        return false;
    case NVTXT_PAYLOAD_DOUBLE:
    case NVTXT_PAYLOAD_FLOAT:
        value->type = event->payload_kind == NVTXT_PAYLOAD_FLOAT ? REPORT_FLOAT : REPORT_DOUBLE;
        value->real = event->payload.real;
        return true;
    default:
        break;
    }
    bool is_unsigned = event->payload_kind == NVTXT_PAYLOAD_UINT64;
    if (!is_unsigned && event->payload.int64 < 0) {
        value->type = REPORT_DOUBLE;
        value->real = (double)event->payload.int64;
        return true;
    }
    value->type = event->payload_kind == NVTXT_PAYLOAD_UINT32 ? REPORT_U32 : REPORT_U64;
    value->u64 = (uint64_t)event->payload.int64;
    return true;
}

static int make_payload(struct making *making) {
    report_event_payload(making->event, &making->metric->value);
    making->metric->type = making->metric->value.type;
    return 0;
}

static int make_duration(struct making *making) {
    return put_duration(making, report_duration(making->event));
}

static int make_self_time(struct making *making) {
    return put_duration(making, making->model->self_ns[making->index]);
}

static int make_child_time(struct making *making) {
    return put_duration(
        making,
        report_duration(making->event) -
            (making->event->flags & REPORT_OPEN ? 0 : making->model->self_ns[making->index]));
}

static int make_depth(struct making *making) {
    return put_number(making, making->model->depth[making->index]);
}

static int make_child_count(struct making *making) {
    return put_number(making, making->model->child_count[making->index]);
}

// ---- The table ----------------------------------------------------------------------------------

static const struct row {
    const char *name, *unit;
    enum report_type type;
    unsigned kinds;
    int (*make)(struct making *making);
    const char *text;
} rows[] = {
    {"event__attribute_message", "", REPORT_STRING, ALL, make_message, "The message."},
    {"event__attribute_name", "", REPORT_STRING, ALL, make_name,
     "DOMAIN:MESSAGE, in the default domain :MESSAGE."},
    {"event__attribute_kind", "", REPORT_STRING, ALL, make_kind, "mark, push/pop or start/end."},
    {"event__attribute_domain", "", REPORT_STRING, ALL, make_domain, "The name of the domain."},
    {"event__attribute_category_name", "", REPORT_STRING, ALL, make_category_name,
     "The name of the category; empty when it has none."},
    {"event__attribute_row", "", REPORT_U64, ALL, make_row, "The row in the store."},
    {"event__attribute_pid", "", REPORT_U64, ALL, make_pid, "The process."},
    {"event__attribute_tid", "", REPORT_U64, ALL, make_tid, "The thread."},
    {"event__attribute_category", "", REPORT_U64, ALL, make_category,
     "The number of the category; 0: none."},
    {"event__attribute_color", "", REPORT_U64, ALL, make_color, "The colour, ARGB; 0: none."},
    {"event__attribute_start", "ns", REPORT_U64, ALL, make_start, "The start."},
    {"event__attribute_end", "ns", REPORT_U64, ALL, make_end, "The end; of a mark its start."},
    {"event__attribute_payload", "", REPORT_DOUBLE, ALL, make_payload, "The numeric payload."},
    {"range__time_duration.sum", "ns", REPORT_U64, RANGES, make_duration,
     "The duration of the range."},
    {"pushpop__self_time.sum", "ns", REPORT_U64, 1 << REPORT_PUSH_POP, make_self_time,
     "The time in which the range is the last open one of its lane."},
    {"pushpop__child_time.sum", "ns", REPORT_U64, 1 << REPORT_PUSH_POP, make_child_time,
     "The duration of the range without its self time."},
    {"pushpop__depth.max", "level", REPORT_U64, 1 << REPORT_PUSH_POP, make_depth,
     "The number of push/pop ranges that the range lies on."},
    {"pushpop__child_count.sum", "range", REPORT_U64, 1 << REPORT_PUSH_POP, make_child_count,
     "The number of push/pop ranges that lie directly on the range."},
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

size_t report_event_metric_count(void) {
    return ROW_COUNT;
}

struct report_event_metric_row report_event_metric_row(size_t i) {
    const struct row *row = &rows[i];
    const char *of = row->make == make_payload ? "events with a payload"
                     : row->kinds == ALL       ? "all events"
                     : row->kinds == RANGES    ? "ranges"
                                               : "push/pop ranges";
    return (struct report_event_metric_row){row->name, row->unit, row->text, row->type, of};
}

static bool has(const struct report_event *event, const struct row *row) {
    return (row->kinds >> event->kind & 1) &&
           (row->make != make_payload || event->payload_kind != NVTXT_PAYLOAD_NONE);
}

int report_event_metric_names(const struct report_model *model, uint32_t event,
                              struct store_arena *arena, const char *const **names) {
    const char **list = store_arena_take(arena, (ROW_COUNT + 1) * sizeof(*list), sizeof(*list));
    size_t count = 0;
    for (size_t i = 0; list && i < ROW_COUNT; i++) {
        if (has(&model->capture->events[event], &rows[i])) {
            list[count++] = rows[i].name;
        }
    }
    if (list) {
        list[count] = NULL;
    }
    *names = list;
    return list ? 0 : nvtxt_origin(-ENOMEM);
}

int report_event_metric(const struct report_model *model, uint32_t event, const char *name,
                        struct store_arena *arena, const struct report_metric **metric) {
    const struct row *row = rows;
    *metric = NULL;
    while (row < rows + ROW_COUNT && strcmp(row->name, name) != 0) {
        row++;
    }
    if (row == rows + ROW_COUNT || !has(&model->capture->events[event], row)) {
        return 0;
    }
    struct report_metric *made = store_arena_make(arena, sizeof(*made));
    if (!made) {
        return nvtxt_origin(-ENOMEM);
    }
    struct making making = {model, event, &model->capture->events[event], arena, made};
    made->name = row->name;
    made->unit = row->unit;
    made->description = row->text;
    made->type = made->value.type = row->type;
    *metric = made;
    return row->make(&making);
}
