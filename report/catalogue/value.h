// SPDX-License-Identifier: Apache-2.0
//
// report/catalogue: the metrics that every capture has, and their figures: one table of names, and
// the numbers of a scope rolled up, each metric in one go for all its instances. It owns what it
// computed, until it is freed. One thread. It knows no derived metrics and prints nothing.
//
// This header is what a metric is, a value with its instances or the reason why there is none, and
// what it is of: a scope.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "store/value/arena.h"

enum report_type { REPORT_U32, REPORT_U64, REPORT_FLOAT, REPORT_DOUBLE, REPORT_STRING };

static inline bool report_type_is_integer(enum report_type type) {
    return type == REPORT_U32 || type == REPORT_U64;
}

struct report_value {
    enum report_type type;
    union {
        uint64_t u64; // U32, U64
        double real;  // FLOAT (already rounded to it), DOUBLE
        struct nvtxt_slice string;
    };
};

// The id of an instance: a text or an integer. Ids are equal when type and value are.
struct report_id {
    bool is_text;
    uint64_t number;
    struct nvtxt_slice text;
};

static inline bool report_id_equal(const struct report_id *a, const struct report_id *b) {
    return a->is_text == b->is_text &&
           (a->is_text ? nvtxt_slice_equal(a->text, b->text) : a->number == b->number);
}

struct report_instance {
    struct report_id id;
    struct report_value value; // of the metric's type, but in report files of Nsight Compute
};

struct report_metric {
    const char *name;
    const char *unit, *description;
    enum report_type type;
    const char *na; // why there is no value; NULL: there is one
    struct report_value value;
    bool instanced;
    const struct report_instance *instances; // in their order
    size_t instance_count;
    const char *const *notes;
    size_t note_count;
};

// Metrics that are there already, and are not computed from events: those of a result of a report
// file. It is the beginning of a struct of its owner.
enum { REPORT_NOT_GIVEN = NVTXT_WRONG + 1 }; // there is no metric of that name

struct report_given {
    uint64_t number;               // of the result, from 0
    struct nvtxt_slice name, path; // of its kernel, of its file; borrowed
    bool of_many;                  // texts name the file, too
    // The metric of that name; what it points to is of `arena`. `metric` NULL: only whether it is
    // there. Returns 0, REPORT_NOT_GIVEN, or -ENOMEM.
    int (*get)(const struct report_given *given, const char *name, struct store_arena *arena,
               struct report_metric *metric);
    // The n-th name from 0; NULL after the last. It lives until names of another result are asked.
    const char *(*name_at)(const struct report_given *given, size_t n);
    // Whether some result of the file may have a metric of that name.
    bool (*known)(const struct report_given *given, const char *name);
};

// What is looked at: the whole capture, one part of it, or a result of a report file.
enum report_scope_kind {
    REPORT_SCOPE_CAPTURE,
    REPORT_SCOPE_PROCESS,
    REPORT_SCOPE_THREAD,
    REPORT_SCOPE_NAME,
    REPORT_SCOPE_ITERATION,
    REPORT_SCOPE_RESULT,
};

// The selected events in parts of one kind, in order of the id (integers, or bytes). A part
// without events is left out; the capture is always one part. An iteration has what starts in
// [start, end) of its marker, of any thread or process.
struct report_scopes;

struct report_model;

// `model` is borrowed, and has its selection. Returns 0 or -ENOMEM.
int report_scopes_new(struct report_scopes **scopes, struct report_model *model,
                      enum report_scope_kind kind);

// A scope of each result; they are borrowed, in their order. Returns 0 or -ENOMEM.
int report_scopes_of_results(struct report_scopes **scopes,
                             const struct report_given *const *results, size_t count);
void report_scopes_free(struct report_scopes *scopes); // NULL is fine
size_t report_scopes_count(const struct report_scopes *scopes);

struct report_scope {
    enum report_scope_kind kind;
    const char *kind_word; // "capture", "process", "thread", "name", "iteration", "result"
    bool has_id;           // not of the capture
    struct report_id id;
    const uint32_t *events; // indexes of its selected events, in order
    size_t event_count;
    const struct report_given *given; // of a result, which has no events and no model; else NULL
};

const struct report_scope *report_scopes_at(const struct report_scopes *scopes, size_t index);
