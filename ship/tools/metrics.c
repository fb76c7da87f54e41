// SPDX-License-Identifier: Apache-2.0
//
// The exposition format of Prometheus: each metric with its help and its type.
#include "ship/tools/metrics.h"

#include <inttypes.h>
#include <stdio.h>

static void add(struct nvtxt_buf *out, const char *name, const char *type, const char *help,
                const char *value) {
    char text[512];
    snprintf(text, sizeof(text),
             "# HELP nvtxt_ship_%s %s\n# TYPE nvtxt_ship_%s %s\nnvtxt_ship_%s %s\n", name, help,
             name, type, name, value);
    nvtxt_buf_add_string(out, text);
}

static const char *number(char text[32], int64_t value) {
    snprintf(text, 32, "%" PRId64, value);
    return text;
}

void metrics_write(struct nvtxt_buf *out, const struct status *status) {
    char text[32];
    add(out, "up", "gauge", "Whether store and engine could be read.", status ? "1" : "0");
    if (!status) {
        return;
    }
    status_lag(status, text, sizeof(text), "NaN");
    add(out, "lag_seconds", "gauge",
        "How old the newest shipped rows are, or the last sign of life.", text);
    add(out, "behind_rows", "gauge", "Rows that are committed and not shipped.",
        number(text, status->behind_rows));
    add(out, "events_total", "counter", "Events that were shipped.", number(text, status->events));
    add(out, "lost_total", "counter", "Rows that were lost, here or on the way.",
        number(text, status->lost));
    add(out, "segment", "gauge", "The segment that is being shipped.",
        number(text, status->segment));
}
