// SPDX-License-Identifier: Apache-2.0
//
// The exposition format of Prometheus: each metric with its help and its type.
#include "ship/tools/tools.h"

#include <stdio.h>

static void add_metric(struct nvtxt_buf *out, const char *name, const char *type, const char *help,
                       const char *value) {
    char text[512];
    snprintf(text, sizeof(text),
             "# HELP nvtxt_ship_%s %s\n# TYPE nvtxt_ship_%s %s\nnvtxt_ship_%s %s\n", name, help,
             name, type, name, value);
    nvtxt_buf_add_string(out, text);
}

void metrics_write(struct nvtxt_buf *out, const struct status *status) {
    char text[32];
    add_metric(out, "up", "gauge", "Whether store and engine could be read.", status ? "1" : "0");
    if (!status) {
        return;
    }
    status_lag(status, text, sizeof(text), "NaN");
    add_metric(out, "lag_seconds", "gauge",
               "How old the newest shipped rows are, or the last sign of life.", text);
    add_metric(out, "behind_rows", "gauge", "Rows that are committed and not shipped.",
               pg_number(text, status->behind_rows));
    add_metric(out, "events_total", "counter", "Events that were shipped.",
               pg_number(text, status->events));
    add_metric(out, "lost_total", "counter", "Rows that were lost, here or on the way.",
               pg_number(text, status->lost));
    add_metric(out, "segment", "gauge", "The segment that is being shipped.",
               pg_number(text, status->segment));
}
