// SPDX-License-Identifier: Apache-2.0
//
// Each row is written as one line of JSON into one growing text, each diagnostic into another.
#include "tests/golden/record.h"
#include "protocol/base/json.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void comma(struct nvtxt_buf *out) {
    nvtxt_buf_add_string(out, ", ");
}

static void add_int(struct nvtxt_buf *out, int64_t value) {
    comma(out);
    nvtxt_buf_add_int(out, value);
}

static void add_string(struct nvtxt_buf *out, struct nvtxt_slice text) {
    comma(out);
    nvtxt_buf_add_json_string(out, text);
}

// The shortest form that reads back as the same number, and that no reader takes for an integer.
static void add_real(struct nvtxt_buf *out, double real) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, real);
        if (strtod(text, NULL) == real) {
            break;
        }
    }
    comma(out);
    nvtxt_buf_add_string(out, text);
    if (!strpbrk(text, ".en")) {
        nvtxt_buf_add_string(out, ".0");
    }
}

static void add_payload(struct nvtxt_buf *out, const struct nvtxt_payload *payload) {
    switch (payload->kind) {
    case NVTXT_PAYLOAD_INT64:
        add_int(out, payload->int64);
        return;
    case NVTXT_PAYLOAD_DOUBLE:
        add_real(out, payload->real);
        return;
    case NVTXT_PAYLOAD_NONE:
        nvtxt_buf_add_string(out, ", null");
        return;
    case NVTXT_PAYLOAD_UINT64:
        nvtxt_buf_add_string(out, ", [\"uint64\"");
        comma(out);
        nvtxt_buf_add_uint(out, (uint64_t)payload->int64);
        break;
    case NVTXT_PAYLOAD_UINT32:
        nvtxt_buf_add_string(out, ", [\"uint32\"");
        add_int(out, payload->int64);
        break;
    case NVTXT_PAYLOAD_INT32:
        nvtxt_buf_add_string(out, ", [\"int32\"");
        add_int(out, payload->int64);
        break;
    case NVTXT_PAYLOAD_FLOAT:
        nvtxt_buf_add_string(out, ", [\"float\"");
        add_real(out, payload->real);
        break;
    }
    nvtxt_buf_add_string(out, "]");
}

// A last element but "unclosed": {"json": TEXT}, left out without JSON.
static void add_json(struct nvtxt_buf *out, struct nvtxt_slice json) {
    if (json.len > 0) {
        nvtxt_buf_add_string(out, ", {\"json\": ");
        nvtxt_buf_add_json_string(out, json);
        nvtxt_buf_add_string(out, "}");
    }
}

static const char *event_kind(enum nvtxt_event_type type) {
    switch (type) {
    case NVTXT_EVENT_MARK:
        return "[\"mark\"";
    case NVTXT_EVENT_PUSH_POP:
        return "[\"push-pop\"";
    case NVTXT_EVENT_START_END:
        return "[\"start-end\"";
    default:
        errx(70, "an event of type %d", (int)type);
    }
}

static int on_event(void *context, const struct nvtxt_event *event) {
    struct record *record = context;
    struct nvtxt_buf *out = &record->rows;
    nvtxt_buf_add_string(out, event_kind(event->type));
    add_int(out, event->start);
    add_int(out, event->end);
    add_int(out, event->pid);
    add_int(out, event->tid);
    add_string(out, event->text);
    add_int(out, event->category);
    add_int(out, event->color);
    add_string(out, event->domain);
    if (event->ended_elsewhere) {
        nvtxt_buf_add_string(out, ", [");
        nvtxt_buf_add_int(out, event->end_pid);
        add_int(out, event->end_tid);
        nvtxt_buf_add_string(out, "]");
    } else {
        nvtxt_buf_add_string(out, ", null");
    }
    add_payload(out, &event->payload);
    add_json(out, event->json);
    if (record->full) {
        add_int(out, (int64_t)event->open_seq);
    }
    nvtxt_buf_add_string(out, event->unclosed ? ", \"unclosed\"]\n" : "]\n");
    return 0;
}

// "opened" when the row of the name refers to the opening of the source.
static void add_anchor(struct nvtxt_buf *out, int64_t at) {
    if (at == RECORD_OPENED_NS) {
        nvtxt_buf_add_string(out, ", \"opened\"");
    } else {
        add_int(out, at);
    }
}

static int on_name(void *context, const struct nvtxt_name *name) {
    struct record *record = context;
    struct nvtxt_buf *out = &record->rows;
    switch (name->kind) {
    case NVTXT_NAME_CATEGORY:
        nvtxt_buf_add_string(out, "[\"category\"");
        add_anchor(out, name->at);
        add_int(out, name->pid);
        add_int(out, name->pid == name->at_pid ? name->at_tid : name->pid);
        add_int(out, name->category);
        add_string(out, name->domain);
        break;
    case NVTXT_NAME_DOMAIN:
        nvtxt_buf_add_string(out, "[\"domain\"");
        add_anchor(out, name->at);
        add_int(out, name->at_pid);
        add_int(out, name->at_tid);
        break;
    case NVTXT_NAME_THREAD:
        nvtxt_buf_add_string(out, "[\"thread\"");
        add_anchor(out, name->at);
        add_int(out, name->pid);
        add_int(out, name->tid);
        break;
    case NVTXT_NAME_PROCESS:
        nvtxt_buf_add_string(out, "[\"process\"");
        add_int(out, name->pid);
        break;
    case NVTXT_NAME_RESOURCE:
        nvtxt_buf_add_string(out, "[\"resource\"");
        add_int(out, name->pid);
        add_string(out, name->domain);
        add_string(out, name->resource_kind);
        comma(out);
        nvtxt_buf_add_uint(out, name->handle);
        break;
    case NVTXT_NAME_COUNTER:
        nvtxt_buf_add_string(out, "[\"counter\"");
        add_int(out, name->pid);
        add_string(out, name->domain);
        add_string(out, name->json);
        break;
    }
    add_string(out, name->text);
    nvtxt_buf_add_string(out, "]\n");
    return 0;
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    struct record *record = context;
    struct nvtxt_buf *out = &record->diags;
    nvtxt_buf_add_uint(out, diag->line);
    nvtxt_buf_add_string(out, ":");
    nvtxt_buf_add_uint(out, diag->column);
    nvtxt_buf_add_string(out, " ");
    nvtxt_buf_add_string(out, nvtxt_severity_name(nvtxt_diag_severity(diag->code)));
    nvtxt_buf_add_string(out, " ");
    nvtxt_buf_add_string(out, nvtxt_stage_name(nvtxt_diag_stage(diag->code)));
    nvtxt_buf_add_string(out, " ");
    nvtxt_buf_add_string(out, nvtxt_diag_code_name(diag->code));
    if (record->full) {
        add_string(out, nvtxt_slice_of(diag->message));
        add_string(out, nvtxt_slice_of(diag->excerpt));
    }
    nvtxt_buf_add_string(out, "\n");
    return 0;
}

struct nvtxt_sink record_sink(struct record *record) {
    return (struct nvtxt_sink){on_event, on_name, on_diag, record};
}

void record_open_range(struct record *record, const struct nvtxt_open_range *range) {
    struct nvtxt_buf *out = &record->rows;
    nvtxt_buf_add_string(out, "[\"open\"");
    add_int(out, (int64_t)range->seq);
    add_int(out, (int64_t)range->type);
    add_int(out, range->pid);
    add_int(out, range->tid);
    add_int(out, range->depth);
    add_int(out, range->range_id);
    add_int(out, range->start);
    add_int(out, range->category);
    add_int(out, range->color);
    add_string(out, range->text);
    add_string(out, range->domain);
    add_string(out, range->excerpt);
    add_payload(out, &range->payload);
    add_json(out, range->json);
    add_int(out, (int64_t)range->line);
    add_int(out, range->column);
    nvtxt_buf_add_string(out, "]\n");
}

void record_clear(struct record *record) {
    nvtxt_buf_clear(&record->rows);
    nvtxt_buf_clear(&record->diags);
}

void record_deinit(struct record *record) {
    nvtxt_buf_deinit(&record->rows);
    nvtxt_buf_deinit(&record->diags);
}

void record_finish(struct record *record, const struct nvtxt_counters *counters) {
    struct nvtxt_buf *out = &record->rows;
    nvtxt_buf_add(out, record->diags.data, record->diags.len);
    nvtxt_buf_add_string(out, "# lines ");
    nvtxt_buf_add_uint(out, counters->lines);
    nvtxt_buf_add_string(out, " events ");
    nvtxt_buf_add_uint(out, counters->events);
    nvtxt_buf_add_string(out, " warnings ");
    nvtxt_buf_add_uint(out, counters->warnings);
    nvtxt_buf_add_string(out, " errors ");
    nvtxt_buf_add_uint(out, counters->errors);
    if (record->full) {
        add_int(out, counters->has_time);
        add_int(out, counters->first_ns);
        add_int(out, counters->last_ns);
    }
    nvtxt_buf_add_string(out, "\n");
    if (nvtxt_buf_failed(out) || nvtxt_buf_failed(&record->diags)) {
        errx(71, "out of memory");
    }
}

bool record_equal(const struct record *a, const struct record *b) {
    return a->rows.len == b->rows.len && memcmp(a->rows.data, b->rows.data, a->rows.len) == 0;
}
