// SPDX-License-Identifier: Apache-2.0
//
// One record of a ring: what a call said, as few bytes as it takes. Records are multiples of 8
// bytes long and aligned to 8; what a record has stands in `flags`, in this order after its head:
//
//   id        8 bytes           RECORD_START, RECORD_END
//   category, color  4 + 4      RECORD_HAS_ATTR
//   value     8 bytes           its kind stands in the upper three bits of `flags`
//   sizes     4 + 4             RECORD_HAS_TEXT, _STRING or _JSON: bytes of the text, or number of
//                               the string; bytes of the JSON
//   text, JSON                  each filled to 8 bytes
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum record_kind {
    RECORD_NONE, // bytes that nobody wrote
    RECORD_MARK,
    RECORD_PUSH,
    RECORD_POP,
    RECORD_START,
    RECORD_END,
    RECORD_KINDS
};

// Numbered as enum nvtxt_value_kind of nvtxt.h.
enum record_value {
    RECORD_NO_VALUE,
    RECORD_U64,
    RECORD_I64,
    RECORD_F64,
    RECORD_U32,
    RECORD_I32,
    RECORD_F32
};

enum {
    RECORD_HAS_ATTR = 1,
    RECORD_HAS_TEXT = 2,
    RECORD_HAS_STRING = 4,
    RECORD_HAS_JSON = 8,
};

#define RECORD_VALUE_SHIFT 5 // enum record_value is above
#define RECORD_TEXT_MAX (16u << 10)
#define RECORD_JSON_MAX (24u << 10)
#define RECORD_POP_BYTES 16u // of a pop without JSON

struct record {
    uint8_t kind, flags;
    uint16_t domain; // number; 0: none
    uint32_t bytes;  // of the whole record
    uint64_t time;   // ns of the library's clock
};

// A record taken apart. The texts are views of the ring.
struct record_view {
    enum record_kind kind;
    uint32_t domain;
    uint64_t time, id;
    uint32_t category, color;
    uint32_t value_kind;
    uint64_t value; // the bits
    bool has_string;
    uint32_t string; // number
    const char *text, *json;
    uint32_t text_len, json_len;
};

// Bytes of a record that bears so much.
static inline uint32_t record_bytes(bool has_id, uint32_t flags, uint32_t text_len,
                                    uint32_t json_len) {
    uint32_t bytes = sizeof(struct record) + (has_id ? 8u : 0u);
    bytes += flags & RECORD_HAS_ATTR ? 8u : 0u;
    bytes += flags >> RECORD_VALUE_SHIFT ? 8u : 0u;
    bytes += flags & (RECORD_HAS_TEXT | RECORD_HAS_STRING | RECORD_HAS_JSON) ? 8u : 0u;
    bytes += flags & RECORD_HAS_TEXT ? (text_len + 7) & ~7u : 0u;
    bytes += flags & RECORD_HAS_JSON ? (json_len + 7) & ~7u : 0u;
    return bytes;
}

static inline bool record_has_id(uint32_t kind) {
    return kind == RECORD_START || kind == RECORD_END;
}

// The flags of what `view` bears.
static inline uint32_t record_flags(const struct record_view *view) {
    uint32_t flags = view->value_kind << RECORD_VALUE_SHIFT;
    flags |= view->category || view->color ? RECORD_HAS_ATTR : 0;
    flags |= view->has_string ? RECORD_HAS_STRING : view->text_len ? RECORD_HAS_TEXT : 0;
    flags |= view->json_len ? RECORD_HAS_JSON : 0;
    return flags;
}

static inline char *record_put_text(char *at, const char *text, uint32_t len) {
    memcpy(at, text, len);
    return at + ((len + 7) & ~7u);
}

// Writes a record to `to`, which has record_bytes() of room.
static inline void record_write(char *to, const struct record_view *view, uint32_t flags,
                                uint32_t bytes) {
    struct record *record = (struct record *)to;
    *record = (struct record){(uint8_t)view->kind, (uint8_t)flags, (uint16_t)view->domain, bytes,
                              view->time};
    char *at = to + sizeof(*record);
    if (record_has_id(view->kind)) {
        memcpy(at, &view->id, 8);
        at += 8;
    }
    if (flags & RECORD_HAS_ATTR) {
        memcpy(at, &view->category, 4);
        memcpy(at + 4, &view->color, 4);
        at += 8;
    }
    if (flags >> RECORD_VALUE_SHIFT) {
        memcpy(at, &view->value, 8);
        at += 8;
    }
    if (flags & (RECORD_HAS_TEXT | RECORD_HAS_STRING | RECORD_HAS_JSON)) {
        memcpy(at, flags & RECORD_HAS_STRING ? &view->string : &view->text_len, 4);
        memcpy(at + 4, &view->json_len, 4);
        at += 8;
    }
    if (flags & RECORD_HAS_TEXT) {
        at = record_put_text(at, view->text, view->text_len);
    }
    if (flags & RECORD_HAS_JSON) {
        record_put_text(at, view->json, view->json_len);
    }
}

// Takes the record at `from` apart, of which `most` bytes may be read. Returns its length, or 0
// when these bytes are none: nothing outside of `most` was read.
uint32_t record_read(const char *from, uint64_t most, struct record_view *view);
