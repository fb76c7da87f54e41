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

enum report_type { REPORT_U32, REPORT_U64, REPORT_FLOAT, REPORT_DOUBLE, REPORT_STRING };

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

// What is looked at: the whole capture, or one part of it.
enum report_scope_kind {
    REPORT_SCOPE_CAPTURE,
    REPORT_SCOPE_PROCESS,
    REPORT_SCOPE_THREAD,
    REPORT_SCOPE_NAME,
    REPORT_SCOPE_ITERATION,
};

// The selected events in parts of one kind, in order of the id (integers, or bytes). A part
// without events is left out; the capture is always one part. An iteration has what starts in
// [start, end) of its marker, of any thread or process.
struct report_scopes;

struct report_model;

// `model` is borrowed, and has its selection. Returns 0 or -ENOMEM.
int report_scopes_new(struct report_scopes **scopes, struct report_model *model,
                      enum report_scope_kind kind);
void report_scopes_free(struct report_scopes *scopes); // NULL is fine
size_t report_scopes_count(const struct report_scopes *scopes);

struct report_scope {
    enum report_scope_kind kind;
    const char *kind_word; // "capture", "process", "thread", "name", "iteration"
    bool has_id;           // not of the capture
    struct report_id id;
    const uint32_t *events; // indexes of its selected events, in order
    size_t event_count;
};

const struct report_scope *report_scopes_at(const struct report_scopes *scopes, size_t index);
