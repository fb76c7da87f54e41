// SPDX-License-Identifier: Apache-2.0
//
// protocol/base: bytes and texts, for all other rooms: views, buffers, lines, UTF-8, JSON. Each
// function works on memory of its caller, so any thread may call it. Nothing here does I/O
// (but origin.c, in a debug build) or depends on the locale; only clock.h, for the rooms above,
// reads a clock. Nothing here knows the language or a socket.
//
// A slice is a view of bytes that somebody else owns: so text goes from the read buffer to the
// batch without a copy. It may hold any byte, and no NUL ends it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct nvtxt_slice {
    const char *data; // may be NULL only when len is 0
    size_t len;       // bytes
};

// What a person or another program wrote is wrong: returned, beside 0 and a negative errno, by
// functions that read such things. Each documents how the fault is told. A module that returns this
// begins its own conditions at 2.
enum nvtxt_outcome { NVTXT_WRONG = 1 };

static inline size_t nvtxt_min(size_t a, size_t b) {
    return a < b ? a : b;
}

static inline size_t nvtxt_max(size_t a, size_t b) {
    return a > b ? a : b;
}

// Below, at or above 0: the order of two numbers, for qsort().
#define NVTXT_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

// A slice of a string literal, for tables and tests.
#define NVTXT_SLICE(literal) ((struct nvtxt_slice){(literal), sizeof(literal) - 1})

static inline struct nvtxt_slice nvtxt_slice_of(const char *string) {
    return (struct nvtxt_slice){string, string ? strlen(string) : 0};
}

static inline bool nvtxt_slice_equal(struct nvtxt_slice a, struct nvtxt_slice b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

// The order of bytes, for qsort(): a text that another one begins with comes before it.
static inline int nvtxt_slice_order(struct nvtxt_slice a, struct nvtxt_slice b) {
    size_t least = nvtxt_min(a.len, b.len);
    int order = least > 0 ? memcmp(a.data, b.data, least) : 0;
    return order ?: NVTXT_ORDER(a.len, b.len);
}

static inline bool nvtxt_starts_with(struct nvtxt_slice text, const char *start) {
    size_t len = strlen(start);
    return text.len >= len && (len == 0 || memcmp(text.data, start, len) == 0);
}

// The name at the end of a path: what is after the last slash, or all of it.
static inline const char *nvtxt_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static inline bool nvtxt_ends_with(const char *text, const char *end) {
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

// A file of NVTXT in a folder: `*.nvtxt`, not hidden.
static inline bool nvtxt_is_file_name(const char *name) {
    return *name != '.' && nvtxt_ends_with(name, ".nvtxt") && strlen(name) > strlen(".nvtxt");
}

// A capture folder in a session folder of Nsight: `project_Capture_000`.
static inline bool nvtxt_is_capture_name(const char *name) {
    return *name != '.' && strcasestr(name, "capture");
}

// The first `most` bytes; a character that the cut would split is left out. Text that is not UTF-8
// is cut too, at most 4 bytes earlier: no character is longer.
static inline struct nvtxt_slice nvtxt_slice_cut(struct nvtxt_slice text, size_t most) {
    if (text.len > most) {
        size_t least = most > 4 ? most - 4 : 0;
        text.len = most;
        while (text.len > least && ((unsigned char)text.data[text.len] & 0xc0) == 0x80) {
            text.len--;
        }
    }
    return text;
}

// ---- Shared texts (refstr.c) --------------------------------------------------------------------
//
// A text that several things of one source share: a display name stays the domain of the ranges
// that were opened under it. It is freed with its last reference. Only one thread may use it: the
// count is a plain number.

struct nvtxt_refstr {
    size_t refs;
    size_t len;
    char text[];
};

struct nvtxt_refstr *nvtxt_refstr_new(struct nvtxt_slice text); // one reference; NULL: no memory
struct nvtxt_refstr *nvtxt_refstr_ref(struct nvtxt_refstr *refstr); // NULL gives NULL
void nvtxt_refstr_unref(struct nvtxt_refstr *refstr);               // NULL is fine

static inline struct nvtxt_slice nvtxt_refstr_slice(const struct nvtxt_refstr *refstr) {
    return refstr ? (struct nvtxt_slice){refstr->text, refstr->len} : (struct nvtxt_slice){NULL, 0};
}

// ---- Did you mean (near.c) ----------------------------------------------------------------------
//
// The name that somebody wanted to write who left a part of it out, or made one or two slips. A
// slip is a wrong letter, one too many, one too few, or two the wrong way round.

// The one name that contains the word, if it has four letters or more; else the nearest of the
// names, or NULL when none is near enough: no name is better than a wrong one. `names` is called
// with 0, 1, … until it returns NULL; it returns "" for an index without a name. Upper and lower
// case are the same. Of several that are equally near it is the first one.
const char *nvtxt_near(struct nvtxt_slice word,
                       const char *(*names)(const void *context, size_t index),
                       const void *context);
