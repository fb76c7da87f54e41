// SPDX-License-Identifier: Apache-2.0
//
// A record is a header, the types of the columns, and a body, their values. A type says how many
// bytes a value has; SQLite takes the shortest one. 0 is NULL; 1 to 6 are integers of 1, 2, 3, 4, 6
// and 8 bytes; 7 is a double; 8 and 9 are the integers 0 and 1, without bytes; 13 and above, odd,
// is a text. A column of the type REAL has its whole numbers as integers.
#include "store/write/event_record.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

enum serial_type { SERIAL_NULL, SERIAL_INT8 = 1, SERIAL_DOUBLE = 7, SERIAL_ZERO, SERIAL_TEXT = 13 };

#define WHOLE_MOST 0x7FFFFFFFFFFF // SQLite keeps a larger whole REAL as a double

unsigned char *store_put_number(unsigned char *out, uint64_t value, size_t size) {
    for (size_t i = size; i > 0; i--) {
        *out++ = (unsigned char)(value >> (i - 1) * 8);
    }
    return out;
}

unsigned char *store_put_varint(unsigned char *out, uint64_t value) {
    size_t groups = 1;
    while (value >> groups * 7) {
        groups++;
    }
    for (; groups > 1; groups--) {
        *out++ = (unsigned char)(value >> (groups - 1) * 7 | 0x80);
    }
    *out++ = value & 0x7F;
    return out;
}

unsigned char *store_put_text_type(unsigned char *out, size_t len) {
    return store_put_varint(out, (uint64_t)len * 2 + SERIAL_TEXT);
}

// ---- Values -----------------------------------------------------------------------------------

static void put_8_bytes(unsigned char *out, uint64_t value) {
    value = htobe64(value);
    memcpy(out, &value, sizeof(value));
}

static void add_type(struct store_event_record *record, unsigned type) {
    record->head[record->head_len++] = (unsigned char)type;
}

// Puts the value at `*len` of an area and its type into the header. Always writes 8 bytes.
static inline void add_int(struct store_event_record *record, unsigned char *area, size_t *len,
                           int64_t value) {
    static const unsigned char sizes[] = {0, 1, 2, 3, 4, 6, 8};
    if (value == 0 || value == 1) {
        add_type(record, SERIAL_ZERO + (unsigned)value);
        return;
    }
    uint64_t magnitude = (uint64_t)(value < 0 ? ~value : value);
    unsigned bits = 64 - (unsigned)__builtin_clzll(magnitude | 1);
    unsigned type = bits > 47 ? 6 : bits > 31 ? 5 : bits / 8 + SERIAL_INT8;
    size_t size = sizes[type];
    put_8_bytes(area + *len, (uint64_t)value << (8 - size) * 8);
    *len += size;
    add_type(record, type);
}

static void add_front(struct store_event_record *record, int64_t value) {
    add_int(record, record->front, &record->front_len, value);
}

static void add_back(struct store_event_record *record, int64_t value) {
    add_int(record, record->back, &record->back_len, value);
}

static void add_real(struct store_event_record *record, double value) {
    uint64_t bits;
    if (value >= -(double)WHOLE_MOST - 1 && value <= (double)WHOLE_MOST &&
        value == (double)(int64_t)value) {
        add_back(record, (int64_t)value);
        return;
    }
    if (value != value) { // not a number: NULL
        add_type(record, SERIAL_NULL);
        return;
    }
    memcpy(&bits, &value, sizeof(bits));
    put_8_bytes(record->back + record->back_len, bits);
    record->back_len += 8;
    add_type(record, SERIAL_DOUBLE);
}

static void add_text(struct store_event_record *record, size_t len) {
    unsigned char *end = store_put_text_type(record->head + record->head_len, len);
    record->head_len = (size_t)(end - record->head);
}

// ---- The columns of a row ---------------------------------------------------------------------

#define PAYLOADS                                                                                   \
    (STORE_EVENT_UINT64 | STORE_EVENT_INT64 | STORE_EVENT_DOUBLE | STORE_EVENT_UINT32 |            \
     STORE_EVENT_INT32 | STORE_EVENT_FLOAT)

// uint64Value to floatValue, in the order of their flags: that of the event's kind has the value.
static void add_payload(struct store_event_record *record, const struct store_event *event) {
    const union store_payload *payload =
        event->flags & STORE_EVENT_EXTRA ? &event->payload.extra->payload : &event->payload;
    for (unsigned flag = STORE_EVENT_UINT64; flag <= STORE_EVENT_FLOAT; flag <<= 1) {
        if (!(event->flags & flag)) {
            add_type(record, SERIAL_NULL);
        } else if (flag == STORE_EVENT_DOUBLE || flag == STORE_EVENT_FLOAT) {
            add_real(record, payload->real);
        } else {
            add_back(record, payload->int64);
        }
    }
}

static void add_columns(struct store_event_record *record, const struct store_event *event,
                        int64_t range_id, int64_t domain_id) {
    add_front(record, event->start);
    add_front(record, event->end);
    add_front(record, event->type);
    add_front(record, range_id);
    add_text(record, event->text_len);
    add_back(record, event->category);
    add_back(record, event->color);
    add_back(record, (int64_t)event->global_tid);
    add_back(record, domain_id);
    if (event->flags & STORE_EVENT_ELSEWHERE) {
        add_back(record, (int64_t)event->payload.extra->end_global_tid);
    } else {
        add_type(record, SERIAL_NULL);
    }
    add_back(record, event->text_id);
    if (event->flags & PAYLOADS) {
        add_payload(record, event);
    } else {
        memset(record->head + record->head_len, SERIAL_NULL, 6);
        record->head_len += 6;
    }
    if (event->flags & STORE_EVENT_JSON) {
        record->json = event->payload.extra->json;
        add_text(record, record->json.len);
    } else {
        add_type(record, SERIAL_NULL);
    }
}

void store_event_record_make(struct store_event_record *record, const struct store_event *event,
                             int64_t range_id, int64_t domain_id) {
    record->head_len = 1; // its own length, one byte
    record->front_len = record->back_len = 0;
    record->text = (struct nvtxt_slice){event->text, event->text_len};
    record->json = (struct nvtxt_slice){"", 0};
    add_columns(record, event, range_id, domain_id);
    assert(record->head_len <= sizeof(record->head));
    record->head[0] = (unsigned char)record->head_len;
}

void store_event_record_put(const struct store_event_record *record, unsigned char *out) {
    memcpy(out, record->head, record->head_len);
    out += record->head_len;
    memcpy(out, record->front, record->front_len);
    out += record->front_len;
    memcpy(out, record->text.data, record->text.len);
    out += record->text.len;
    memcpy(out, record->back, record->back_len);
    memcpy(out + record->back_len, record->json.data, record->json.len);
}
