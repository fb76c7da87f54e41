// SPDX-License-Identifier: Apache-2.0
//
// The columns of fixed length are written into memory that is reserved once for a row; the two
// texts follow, each after its length, which is filled in when the text is there.
#include "ship/rows/rows.h"

#include <endian.h>
#include <string.h>

#include "ship/rows/text.h"
#include "store/read/event_members.h"

#define COLUMNS 20
#define FIXED_BYTES (2 + COLUMNS * 12)
#define US_TO_2000 INT64_C(946684800000000)

const char rows_copy_sql[] =
    "COPY @.events (committed, start_ns, end_ns, row_id, global_tid, source_id, range_id, "
    "domain_id, category, color, end_global_tid, int64_value, double_value, store_id, segment, "
    "event_type, payload_type, unclosed, text, json_text) FROM STDIN (FORMAT binary)";

int64_t rows_time(int64_t ns) {
    return ns / 1000 - US_TO_2000;
}

void rows_begin(struct nvtxt_buf *out) {
    nvtxt_buf_add(out, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
}

void rows_end(struct nvtxt_buf *out) {
    nvtxt_buf_add(out, "\377\377", 2);
}

// ---- Columns ------------------------------------------------------------------------------------
//
// Each writes at `at` and returns where the next column begins.

static char *put16(char *at, uint16_t value) {
    value = htobe16(value);
    memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

static char *put32(char *at, uint32_t value) {
    value = htobe32(value);
    memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

static char *put64(char *at, uint64_t value) {
    value = htobe64(value);
    memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

static char *add_null(char *at) {
    return put32(at, UINT32_MAX);
}

static char *add_bigint(char *at, int64_t value) {
    return put64(put32(at, 8), (uint64_t)value);
}

static char *add_unless_0(char *at, int64_t value) {
    return value ? add_bigint(at, value) : add_null(at);
}

static char *add_integer(char *at, int32_t value) {
    return put32(put32(at, 4), (uint32_t)value);
}

static char *add_smallint(char *at, int16_t value) {
    return put16(put32(at, 2), (uint16_t)value);
}

static char *add_boolean(char *at, bool value) {
    at = put32(at, 1);
    *at = value;
    return at + 1;
}

static bool is_real(const struct nvtxt_payload *payload) {
    return payload->kind == NVTXT_PAYLOAD_DOUBLE || payload->kind == NVTXT_PAYLOAD_FLOAT;
}

static char *add_numbers(char *at, const struct nvtxt_payload *payload) {
    bool is_int = payload->kind != NVTXT_PAYLOAD_NONE && !is_real(payload);
    uint64_t bits;
    at = is_int ? add_bigint(at, payload->int64) : add_null(at);
    if (!is_real(payload)) {
        return add_null(at);
    }
    memcpy(&bits, &payload->real, sizeof(bits));
    return put64(put32(at, 8), bits);
}

static char *add_payload_type(char *at, const struct nvtxt_payload *payload) {
    return payload->kind == NVTXT_PAYLOAD_NONE
               ? add_null(at)
               : add_smallint(at, (int16_t)store_event_payload_column(payload->kind));
}

static void add_text(struct nvtxt_buf *out, struct nvtxt_slice text) {
    size_t before = out->len;
    nvtxt_buf_add(out, "\0\0\0\0", 4);
    row_text_add(out, text);
    if (!nvtxt_buf_failed(out)) {
        put32(out->data + before, (uint32_t)(out->len - before - 4));
    }
}

// ---- A row --------------------------------------------------------------------------------------

static char *add_fixed(char *at, const struct rows_home *home,
                       const struct store_follow_event *row) {
    const struct store_read_event *event = &row->event;
    at = put16(at, COLUMNS);
    at = add_bigint(at, rows_time(row->committed_ns));
    at = add_bigint(at, event->start);
    at = add_bigint(at, event->end);
    at = add_bigint(at, event->row);
    at = add_bigint(at, (int64_t)event->global_tid);
    at = add_bigint(at, row->source_id);
    at = add_unless_0(at, row->range_id);
    at = add_unless_0(at, event->domain_id);
    at = add_unless_0(at, event->category);
    at = add_unless_0(at, event->color);
    at = event->ended_elsewhere ? add_bigint(at, (int64_t)event->end_global_tid) : add_null(at);
    at = add_numbers(at, &event->payload);
    at = add_integer(at, home->store_id);
    at = add_integer(at, home->segment);
    at = add_smallint(at, (int16_t)event->type);
    at = add_payload_type(at, &event->payload);
    return add_boolean(at, row->unclosed);
}

void rows_add(struct nvtxt_buf *out, const struct rows_home *home,
              const struct store_follow_event *row) {
    if (nvtxt_buf_reserve(out, FIXED_BYTES) < 0) {
        return;
    }
    char *begin = out->data + out->len;
    out->len += (size_t)(add_fixed(begin, home, row) - begin);
    add_text(out, row->event.text);
    if (row->event.json.len > 0) {
        add_text(out, row->event.json);
    } else {
        nvtxt_buf_add(out, "\377\377\377\377", 4);
    }
}
