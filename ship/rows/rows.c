// SPDX-License-Identifier: Apache-2.0
//
// The columns of fixed length are written into memory that is reserved once for a row; the two
// texts follow, each after its length, which is filled in when the text is there. A column that no
// row needs is left out: the engine takes about 2 % of its time for each, also for one that is
// NULL.
#include "ship/rows/rows.h"

#include <endian.h>
#include <string.h>

#include "ship/rows/array.h"
#include "store/read/event_members.h"

#define US_TO_2000 INT64_C(946684800000000)
#define BIT(column) (1u << (column))

#define ALWAYS                                                                                     \
    "committed, start_ns, end_ns, row_id, global_tid, source_id, store_id, segment, event_type, "  \
    "unclosed"
#define ALWAYS_COUNT 10

// The columns that may be left out, by their place in a set and in the statement. The texts come
// after all others.
enum { RANGE_ID, DOMAIN_ID, CATEGORY, COLOR, END_TID, INT64, REAL, PAYLOAD_TYPE, JSON };
#define MAYBE_COUNT JSON

static const char *const maybe[MAYBE_COUNT] = {"range_id",     "domain_id",      "category",
                                               "color",        "end_global_tid", "int64_value",
                                               "double_value", "payload_type"};

#define FIXED_BYTES (2 + (ALWAYS_COUNT + MAYBE_COUNT) * 12)

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

static void add_text(struct nvtxt_buf *out, struct nvtxt_slice text) {
    size_t before = out->len;
    nvtxt_buf_add(out, "\0\0\0\0", 4);
    row_text_add(out, text);
    if (!nvtxt_buf_failed(out)) {
        put32(out->data + before, (uint32_t)(out->len - before - 4));
    }
}

// ---- Columns that may be left out ---------------------------------------------------------------

static unsigned needed(const struct store_follow_event *row) {
    const struct store_read_event *event = &row->event;
    unsigned columns = 0;
    columns |= row->range_id ? BIT(RANGE_ID) : 0;
    columns |= event->domain_id ? BIT(DOMAIN_ID) : 0;
    columns |= event->category ? BIT(CATEGORY) : 0;
    columns |= event->color ? BIT(COLOR) : 0;
    columns |= event->ended_elsewhere ? BIT(END_TID) : 0;
    columns |= event->json.len ? BIT(JSON) : 0;
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        columns |= BIT(PAYLOAD_TYPE) |
                   (nvtxt_payload_is_real(event->payload.kind) ? BIT(REAL) : BIT(INT64));
    }
    return columns;
}

unsigned rows_needed(const struct store_follow_event *rows, size_t count) {
    unsigned columns = 0;
    for (size_t i = 0; i < count; i++) {
        columns |= needed(&rows[i]);
    }
    return columns;
}

void rows_copy_sql(struct nvtxt_buf *out, unsigned columns) {
    nvtxt_buf_add_string(out, "COPY @.events (" ALWAYS);
    for (int i = 0; i < MAYBE_COUNT; i++) {
        if (columns & BIT(i)) {
            nvtxt_buf_add_string(out, ", ");
            nvtxt_buf_add_string(out, maybe[i]);
        }
    }
    nvtxt_buf_add_string(out, columns & BIT(JSON) ? ", text, json_text" : ", text");
    nvtxt_buf_add_string(out, ") FROM STDIN (FORMAT binary)");
    nvtxt_buf_add(out, "", 1);
}

struct choice {
    unsigned columns; // of the statement
    unsigned has;     // of these, not NULL in the row
};

static char *add_maybe(char *at, const struct choice *choice, int column, int64_t value) {
    if (!(choice->columns & BIT(column))) {
        return at;
    }
    return choice->has & BIT(column) ? add_bigint(at, value) : add_null(at);
}

static char *add_payload(char *at, const struct choice *choice,
                         const struct nvtxt_payload *payload) {
    at = add_maybe(at, choice, INT64, payload->int64);
    at = add_maybe(at, choice, REAL, payload->int64); // the same 8 bytes as payload->real
    if (!(choice->columns & BIT(PAYLOAD_TYPE))) {
        return at;
    }
    return choice->has & BIT(PAYLOAD_TYPE)
               ? add_smallint(at, (int16_t)store_event_payload_column(payload->kind))
               : add_null(at);
}

static char *add_maybes(char *at, const struct choice *choice,
                        const struct store_follow_event *row) {
    const struct store_read_event *event = &row->event;
    at = add_maybe(at, choice, RANGE_ID, row->range_id);
    at = add_maybe(at, choice, DOMAIN_ID, event->domain_id);
    at = add_maybe(at, choice, CATEGORY, event->category);
    at = add_maybe(at, choice, COLOR, event->color);
    at = add_maybe(at, choice, END_TID, (int64_t)event->end_global_tid);
    return add_payload(at, choice, &event->payload);
}

// ---- A row --------------------------------------------------------------------------------------

static char *add_always(char *at, const struct rows_home *home,
                        const struct store_follow_event *row) {
    const struct store_read_event *event = &row->event;
    at = add_bigint(at, rows_time(row->committed_ns));
    at = add_bigint(at, event->start);
    at = add_bigint(at, event->end);
    at = add_bigint(at, event->row);
    at = add_bigint(at, (int64_t)event->global_tid);
    at = add_bigint(at, row->source_id);
    at = add_integer(at, home->store_id);
    at = add_integer(at, home->segment);
    at = add_smallint(at, (int16_t)event->type);
    return add_boolean(at, row->unclosed);
}

void rows_add(struct nvtxt_buf *out, const struct rows_home *home, unsigned columns,
              const struct store_follow_event *row) {
    const struct choice choice = {columns, needed(row)};
    if (nvtxt_buf_reserve(out, FIXED_BYTES) < 0) {
        return;
    }
    char *begin = out->data + out->len;
    char *at = put16(begin, (uint16_t)(ALWAYS_COUNT + 1 + __builtin_popcount(columns)));
    at = add_always(at, home, row);
    at = add_maybes(at, &choice, row);
    out->len += (size_t)(at - begin);
    add_text(out, row->event.text);
    if (choice.has & BIT(JSON)) {
        add_text(out, row->event.json);
    } else if (columns & BIT(JSON)) {
        nvtxt_buf_add(out, "\377\377\377\377", 4);
    }
}
