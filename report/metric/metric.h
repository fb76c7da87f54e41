// SPDX-License-Identifier: Apache-2.0
//
// report/metric: figures with a name: the catalogue, their values in a scope, derived ones, and
// those of a file. It owns the values that were computed, until it is freed. One thread. It prints
// nothing.
//
// This header is a metric: a value with its instances, or the reason why there is none.
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
    struct report_value value; // of the metric's type
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

struct report_scope {
    enum report_scope_kind kind;
    uint32_t index; // process, thread, name: index in the capture; iteration: its number
};

struct report_model;
struct report_metrics; // all metrics of one scope

// `model` is borrowed. Returns 0 or -ENOMEM.
int report_metrics_new(struct report_metrics **metrics, struct report_model *model,
                       const struct report_scope *scope);
void report_metrics_free(struct report_metrics *metrics); // NULL is fine

// The metric of that name: of the catalogue, a file, or a definition. It is computed once and lives
// as long as `metrics`. A name that is not there is a metric with `na` "no such metric". Returns 0
// or -ENOMEM.
int report_metrics_get(struct report_metrics *metrics, const char *name,
                       const struct report_metric **metric);
