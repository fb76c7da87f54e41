// SPDX-License-Identifier: Apache-2.0
//
// What the name of a metric says about it: nvtxt-report(1), "SCRIPTS".
#pragma once

struct report_metric_words {
    const char *type;    // "counter", "ratio", "throughput", "other"
    const char *subtype; // "per_second"; NULL: none
    const char *rollup;  // "avg", "max", "min", "sum"; NULL: none
};

struct report_metric_words report_metric_words(const char *name);
