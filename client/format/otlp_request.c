// SPDX-License-Identifier: Apache-2.0
//
// Processes and domains alternate in a store, so some thousand spans are sorted by both before they
// are written: then most requests are full, and what they say of the process is said seldom.
#include <stdio.h>
#include <stdlib.h>

#include "client/format/otlp_parts.h"
#include "protocol/base/origin.h"

#define SPANS 16384u                 // 1 MiB
#define TEXT_BYTES ((size_t)4 << 20) // of spans
#define KEPT_BYTES (2 * TEXT_BYTES)  // what a long text took is given back
#define TAIL "]}]}]}\n"              // of a request

struct otlp_waiting {
    struct nvtxt_slice process, domain; // views
    int64_t domain_id;
    uint32_t pid;
    size_t from, stop; // in the text
};

int otlp_requests_init(struct otlp_requests *requests) {
    *requests = (struct otlp_requests){.rows = malloc(SPANS * sizeof(*requests->rows))};
    int r = nvtxt_out_init(&requests->text, -1);
    return r < 0 || !requests->rows ? nvtxt_origin(-ENOMEM) : 0;
}

void otlp_requests_deinit(struct otlp_requests *requests) {
    nvtxt_out_deinit(&requests->text);
    free(requests->rows);
    *requests = (struct otlp_requests){0};
}

bool otlp_requests_add(struct otlp_requests *requests, const struct store_named_event *row) {
    size_t from = requests->count > 0 ? requests->rows[requests->count - 1].stop : 0;
    requests->rows[requests->count++] =
        (struct otlp_waiting){.process = row->process,
                              .domain = row->domain,
                              .domain_id = row->event->domain_id,
                              .pid = store_event_pid(row->event->global_tid),
                              .from = from,
                              .stop = requests->text.len};
    return requests->count == SPANS || requests->text.len >= TEXT_BYTES;
}

// ---- Writing ------------------------------------------------------------------------------------

static int by_scope(const void *one, const void *other) {
    const struct otlp_waiting *a = one, *b = other;
    int r = NVTXT_ORDER(a->pid, b->pid);
    return r ?: NVTXT_ORDER(a->domain_id, b->domain_id);
}

static int by_scope_and_row(const void *one, const void *other) {
    const struct otlp_waiting *a = one, *b = other;
    return by_scope(a, b) ?: NVTXT_ORDER(a->from, b->from);
}

// What the store calls a process that nobody named is no name of a program.
static void put_process(struct nvtxt_out *out, struct nvtxt_slice name, uint32_t pid) {
    char usual[32];
    snprintf(usual, sizeof(usual), "Process %u", pid);
    bool is_named = name.len > 0 && !nvtxt_slice_equal(name, nvtxt_slice_of(usual));
    otlp_put_text(out, "service.name", is_named ? name : nvtxt_slice_of(usual));
    otlp_put_int(out, "process.pid", pid);
    if (is_named) {
        otlp_put_text(out, "process.executable.name", name);
    }
}

// Puts the head of a request after the spans that wait: there it is not flushed while it is made.
// Returns its length.
static size_t begin_request(struct otlp_requests *requests, struct nvtxt_out *out,
                            const struct otlp_waiting *row) {
    struct nvtxt_out *text = &requests->text;
    size_t from = text->len;
    NVTXT_OUT_LITERAL(text, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    put_process(text, row->process, row->pid);
    if (requests->host.len > 0) {
        otlp_put_text(text, "host.name", requests->host);
    }
    NVTXT_OUT_LITERAL(text, "]},\"scopeSpans\":[{\"scope\":{");
    if (row->domain.len > 0) {
        NVTXT_OUT_LITERAL(text, "\"name\":");
        nvtxt_out_json(text, row->domain);
    }
    NVTXT_OUT_LITERAL(text, "},\"spans\":[");
    size_t len = text->len - from;
    nvtxt_out_bytes(out, text->data + from, len);
    text->len = from;
    return len;
}

// Writes one request from the row on. Returns the first row that is not in it.
static size_t write_request(struct otlp_requests *requests, struct nvtxt_out *out, size_t first) {
    const struct otlp_waiting *rows = requests->rows;
    size_t bytes = begin_request(requests, out, &rows[first]) + sizeof(TAIL);
    size_t next = first;
    do {
        nvtxt_out_bytes(out, ",", next > first);
        nvtxt_out_bytes(out, requests->text.data + rows[next].from,
                        rows[next].stop - rows[next].from);
        bytes += rows[next].stop - rows[next].from + 1;
        next++;
    } while (next < requests->count && by_scope(&rows[first], &rows[next]) == 0 &&
             bytes + rows[next].stop - rows[next].from <= OTLP_REQUEST_BYTES);
    NVTXT_OUT_LITERAL(out, TAIL);
    return next;
}

static void forget(struct otlp_requests *requests) {
    struct nvtxt_out *text = &requests->text;
    requests->count = 0;
    text->len = 0;
    if (text->cap > KEPT_BYTES) {
        char *data = realloc(text->data, TEXT_BYTES);
        text->data = data ?: text->data;
        text->cap = data ? TEXT_BYTES : text->cap;
    }
}

int otlp_requests_write(struct otlp_requests *requests, struct nvtxt_out *out) {
    qsort(requests->rows, requests->count, sizeof(*requests->rows), by_scope_and_row);
    for (size_t i = 0; i < requests->count && requests->text.error == 0;) {
        i = write_request(requests, out, i);
    }
    forget(requests);
    return requests->text.error;
}
