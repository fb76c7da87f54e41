// SPDX-License-Identifier: Apache-2.0
//
// To be filled in: for now the numbers of events.
#include "report/metric/compute.h"

int report_compute(struct report_metrics *metrics, const struct report_catalogue_metric *which,
                   struct report_metric *metric) {
    metric->unit = which->entry->unit;
    metric->description = which->entry->text;
    metric->type = which->type;
    metric->na = "no such metric";
    if (which->entry->id == REPORT_M_EVENT_COUNT && which->key == REPORT_KEY_NONE &&
        which->rollup == REPORT_SUM) {
        metric->na = NULL;
        metric->value = (struct report_value){REPORT_U64, .u64 = metrics->scope->event_count};
    }
    return 0;
}
