// SPDX-License-Identifier: Apache-2.0
//
// What a result says of its kernel, and its metrics. All is borrowed from the report. What the file
// does not say is 0 or an empty text.
#pragma once

#include "report/ncurep/wire.h"

struct report_ncurep_result {
    struct nvtxt_slice bytes; // the result itself
    struct nvtxt_slice mangled, function, demangled;
    uint64_t kernel, created; // KernelID, CreationTime
    uint32_t tid;
    uint64_t context, stream;
    uint64_t metric_count;
    bool has_state; // see report/ncurep/state.h
};

// `bytes` come from report_ncurep_next() or report_ncurep_action().
void report_ncurep_result_read(struct nvtxt_slice bytes, struct report_ncurep_result *result);

enum report_ncurep_kind {
    REPORT_NCUREP_NONE, // no value is given
    REPORT_NCUREP_STRING,
    REPORT_NCUREP_FLOAT,
    REPORT_NCUREP_DOUBLE,
    REPORT_NCUREP_UINT32,
    REPORT_NCUREP_UINT64,
};

struct report_ncurep_value {
    enum report_ncurep_kind kind;
    struct nvtxt_slice string; // STRING
    double real;               // FLOAT, DOUBLE
    uint64_t number;           // UINT32, UINT64
};

struct report_ncurep_metric {
    uint64_t name; // for report_ncurep_string()
    struct report_ncurep_value value;
    struct nvtxt_slice bytes; // for report_ncurep_instances()
    uint64_t instance_count;
};

// A cursor over the metrics of a result, in order of the file.
static inline struct report_wire report_ncurep_metrics(const struct report_ncurep_result *result) {
    return report_wire_of(result->bytes);
}
bool report_ncurep_next_metric(struct report_wire *cursor, struct report_ncurep_metric *metric);

// The same again, from its bytes.
void report_ncurep_metric_read(struct nvtxt_slice bytes, struct report_ncurep_metric *metric);

// A cursor over the instances of a metric. `id` is of kind NONE if an instance has none.
static inline struct report_wire
report_ncurep_instances(const struct report_ncurep_metric *metric) {
    return report_wire_of(metric->bytes);
}
bool report_ncurep_next_instance(struct report_wire *cursor, struct report_ncurep_value *id,
                                 struct report_ncurep_value *value);
