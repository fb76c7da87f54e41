// SPDX-License-Identifier: Apache-2.0
//
// How the pieces of a saved state are written and read: arrays of integers and texts. What is read
// was perhaps not written by us: the first element that is wrong makes the reader bad. Only state.c
// and state_parts.c include it.
#pragma once

#include <jansson.h>
#include <stdarg.h>

#include "protocol/base/json.h"
#include "protocol/interp/interp_state.h"

// ---- Writing -----------------------------------------------------------------------------------

static inline void begin_ints_from(struct nvtxt_buf *out, const char *key, size_t count,
                                   va_list values) {
    nvtxt_buf_add_string(out, key);
    for (size_t i = 0; i < count; i++) {
        nvtxt_buf_add_string(out, i ? "," : "[");
        nvtxt_buf_add_int(out, va_arg(values, int64_t));
    }
}

// An array that begins with `count` integers, all of them int64_t, and is not closed yet.
static inline void begin_ints(struct nvtxt_buf *out, const char *key, size_t count, ...) {
    va_list values;
    va_start(values, count);
    begin_ints_from(out, key, count, values);
    va_end(values);
}

// An array of `count` integers, all of them int64_t.
static inline void add_ints(struct nvtxt_buf *out, const char *key, size_t count, ...) {
    va_list values;
    va_start(values, count);
    begin_ints_from(out, key, count, values);
    va_end(values);
    nvtxt_buf_add_string(out, "]");
}

static inline void add_text(struct nvtxt_buf *out, struct nvtxt_slice text) {
    nvtxt_buf_add_string(out, ",");
    nvtxt_buf_add_json_string(out, text);
}

static inline void add_int(struct nvtxt_buf *out, int64_t value) {
    nvtxt_buf_add_string(out, ",");
    nvtxt_buf_add_int(out, value);
}

// ---- Reading -----------------------------------------------------------------------------------

// Reads the elements of an array one after another. The first element that is wrong makes the
// reader bad; everything that it reads after that is zero or empty.
struct state_reader {
    const json_t *array;
    size_t at;
    bool bad;
};

static inline const json_t *next_element(struct state_reader *reader) {
    const json_t *element = json_array_get(reader->array, reader->at++);
    if (!element) {
        reader->bad = true;
    }
    return element;
}

static inline int64_t read_int(struct state_reader *reader, int64_t min, int64_t max) {
    const json_t *element = next_element(reader);
    int64_t value = json_integer_value(element);
    if (!json_is_integer(element) || value < min || value > max) {
        reader->bad = true;
    }
    return reader->bad ? min : value;
}

static inline int64_t read_any(struct state_reader *reader) {
    return read_int(reader, INT64_MIN, INT64_MAX);
}

static inline uint64_t read_count(struct state_reader *reader) {
    return (uint64_t)read_int(reader, 0, INT64_MAX);
}

static inline bool read_flag(struct state_reader *reader) {
    return read_int(reader, 0, 1) != 0;
}

static inline uint32_t read_id(struct state_reader *reader) {
    return (uint32_t)read_int(reader, 0, NVTXT_ID_MAX);
}

static inline uint32_t read_u32(struct state_reader *reader) {
    return (uint32_t)read_int(reader, 0, UINT32_MAX);
}

static inline struct nvtxt_slice read_text(struct state_reader *reader) {
    const json_t *element = next_element(reader);
    if (!json_is_string(element)) {
        reader->bad = true;
        return (struct nvtxt_slice){NULL, 0};
    }
    return (struct nvtxt_slice){json_string_value(element), json_string_length(element)};
}

static inline struct state_reader member(const json_t *object, const char *key) {
    const json_t *array = json_object_get(object, key);
    return (struct state_reader){.array = array, .bad = !json_is_array(array)};
}

static inline int finished(const struct state_reader *reader) {
    return reader->bad || reader->at != json_array_size(reader->array) ? NVTXT_RESTORE_BAD : 0;
}

// ---- The parts, for state.c --------------------------------------------------------------------

// Appends the members variables, definitions, display and waiting, each with a comma before it: all
// of them.
void nvtxt_state_put_parts(const struct nvtxt_interp *interp, struct nvtxt_buf *out);

// Takes those of them that the object has: all four when `all`. Returns an nvtxt_restore_result or
// -ENOMEM.
int nvtxt_state_take_parts(struct nvtxt_interp *interp, const json_t *object, bool all);

// Restores each element of an array member: 0, what `restore` returned else, or NVTXT_RESTORE_BAD.
int nvtxt_state_restore_each(struct nvtxt_interp *interp, const json_t *state, const char *key,
                             int (*restore)(struct nvtxt_interp *interp, const json_t *element));

// Takes each text that nvtxt_state_save_part() wrote, oldest first, and counts them as saved.
int nvtxt_state_take_texts(struct nvtxt_interp *interp, const struct nvtxt_slice *parts,
                           size_t count);
