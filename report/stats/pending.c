// SPDX-License-Identifier: Apache-2.0
//
// Reports that are not written yet are empty tables. Whoever writes one takes its line away here,
// and the file goes with the last of them.
#include "report/stats/reports.h"

#define PENDING(name)                                                                              \
    int report_##name(struct report_table *table, const struct report_model *model,                \
                      const struct report_stats_options *options) {                                \
        (void)model;                                                                               \
        (void)options;                                                                             \
        return report_table_note(table, "not written yet");                                        \
    }

PENDING(nvtx_thread_sum)
PENDING(nvtx_gap_sum)
PENDING(nvtx_concurrency)
PENDING(nvtx_iteration_sum)
PENDING(nvtx_kern_sum)
PENDING(nvtx_gpu_proj_sum)
