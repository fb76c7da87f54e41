// SPDX-License-Identifier: Apache-2.0
//
// Records are written member by member at a running place, and read with the same steps. A reader
// believes nothing: the length must be just what the flags and sizes add up to, since records may
// come from the file of a process that damaged its own memory.
#include "lib/ring/record.h"

// The sizes, bounded before anything is added to them.
static bool read_sizes(const char *at, uint32_t flags, struct record_view *view) {
    uint32_t first;
    memcpy(&first, at, 4);
    memcpy(&view->json_len, at + 4, 4);
    view->has_string = flags & RECORD_HAS_STRING;
    *(view->has_string ? &view->string : &view->text_len) = first;
    return (view->text_len > 0) == ((flags & RECORD_HAS_TEXT) != 0) &&
           (view->json_len > 0) == ((flags & RECORD_HAS_JSON) != 0) &&
           view->text_len <= RECORD_TEXT_MAX && view->json_len <= RECORD_JSON_MAX;
}

uint32_t record_read(const char *from, uint64_t most, struct record_view *view) {
    struct record record;
    if (most < sizeof(record)) {
        return 0;
    }
    memcpy(&record, from, sizeof(record));
    uint32_t flags = record.flags;
    if (record.kind <= RECORD_NONE || record.kind >= RECORD_KINDS ||
        flags >> RECORD_VALUE_SHIFT > RECORD_F32 ||
        (flags & RECORD_HAS_TEXT && flags & RECORD_HAS_STRING)) {
        return 0;
    }
    uint32_t least = record_bytes(record_has_id(record.kind), flags, 0, 0);
    if (record.bytes < least || record.bytes > most || record.bytes % 8) {
        return 0;
    }
    *view = (struct record_view){.kind = record.kind,
                                 .domain = record.domain,
                                 .time = record.time,
                                 .value_kind = flags >> RECORD_VALUE_SHIFT};
    const char *at = from + sizeof(record);
    if (record_has_id(record.kind)) {
        memcpy(&view->id, at, 8);
        at += 8;
    }
    if (flags & RECORD_HAS_ATTR) {
        memcpy(&view->category, at, 4);
        memcpy(&view->color, at + 4, 4);
        at += 8;
    }
    if (view->value_kind) {
        memcpy(&view->value, at, 8);
        at += 8;
    }
    if (flags & (RECORD_HAS_TEXT | RECORD_HAS_STRING | RECORD_HAS_JSON)) {
        if (!read_sizes(at, flags, view)) {
            return 0;
        }
        at += 8;
    }
    view->text = at;
    view->json = at + ((view->text_len + 7) & ~7u);
    bool fits = record.bytes ==
                record_bytes(record_has_id(record.kind), flags, view->text_len, view->json_len);
    return fits ? record.bytes : 0;
}
