// SPDX-License-Identifier: Apache-2.0
//
// A row of NVTX_EVENTS as a record of SQLite's file format, the same bytes that SQLite makes of the
// values (https://www.sqlite.org/fileformat2.html, "Record Format"). No state, no SQLite.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "store/value/record.h"

// The bytes of a record without its two texts: at most 27 of the header and 16 numbers.
#define STORE_EVENT_RECORD_MOST 155

// A record in its parts. It views the texts of its event.
struct store_event_record {
    unsigned char head[32];
    unsigned char front[40]; // the numbers before the text, with room for 8 bytes more
    unsigned char back[104]; // those after it, likewise
    size_t head_len, front_len, back_len;
    struct nvtxt_slice text, json;
};

// The event has its text_id already; `range_id` and `domain_id` are those of its row.
void store_event_record_make(struct store_event_record *record, const struct store_event *event,
                             int64_t range_id, int64_t domain_id);

// The bytes of the whole record.
static inline size_t store_event_record_size(const struct store_event_record *record) {
    return record->head_len + record->front_len + record->text.len + record->back_len +
           record->json.len;
}

// Writes so many bytes to `out`.
void store_event_record_put(const struct store_event_record *record, unsigned char *out);

// Writes a number below 2^56 as SQLite's variable-length integer; returns what is behind it.
unsigned char *store_put_varint(unsigned char *out, uint64_t value);

// Writes the type that a text of so many bytes has in the header of a record; returns what is
// behind it.
unsigned char *store_put_text_type(unsigned char *out, size_t len);

// Writes the lower `size` bytes of a number, the highest one first; returns what is behind them.
unsigned char *store_put_number(unsigned char *out, uint64_t value, size_t size);
