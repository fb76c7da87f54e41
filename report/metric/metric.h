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

enum report_aggregate {
    REPORT_AGGREGATE_UNSAID, // as the option says, else from instances
    REPORT_AGGREGATE_INSTANCES,
    REPORT_AGGREGATE_OPERANDS,
};

#define REPORT_FAULT_BYTES 512

// What is wrong with an expression, a definition or a file.
struct report_fault {
    unsigned line;    // from 1; of a file only, 0 elsewhere or when it is not known
    unsigned column;  // in bytes from 1, within the expression or the line; 0: not of a place
    const char *code; // "bad-expression", "duplicate-definition", "definition-cycle", "bad-metrics"
    char text[REPORT_FAULT_BYTES];
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

struct report_definitions;
struct report_metrics; // all metrics of one scope

// `model`, `scope` and `definitions` (NULL: none) are borrowed. Returns 0 or -ENOMEM.
int report_metrics_new(struct report_metrics **metrics, struct report_model *model,
                       const struct report_scope *scope,
                       const struct report_definitions *definitions);
void report_metrics_free(struct report_metrics *metrics); // NULL is fine
struct report_model *report_metrics_model(const struct report_metrics *metrics);
const struct report_scope *report_metrics_scope(const struct report_metrics *metrics);

// The metric of that name: of the catalogue, a file, or a definition. It is computed once and lives
// as long as `metrics`. A name that is not there is a metric with `na` "no such metric". Returns 0
// or -ENOMEM.
int report_metrics_get(struct report_metrics *metrics, const char *name,
                       const struct report_metric **metric);

// Forgets what was computed, for a caller that prints one metric after the other. No metric that
// was given lives longer.
void report_metrics_forget(struct report_metrics *metrics);
