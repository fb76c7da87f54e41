// SPDX-License-Identifier: Apache-2.0
//
// Stands in for zstd.c where there is no libzstd: it says so.
#include <stdio.h>

#include "report/ncurep/input.h"

int report_zstd_unpack(struct nvtxt_slice packed, const struct report_ncurep_options *options,
                       struct report_bytes *bytes, struct report_ncurep_fault *fault) {
    (void)packed;
    (void)options;
    *bytes = (struct report_bytes){.data = NULL};
    fault->offset = 0;
    snprintf(fault->what, sizeof(fault->what),
             "it is compressed with zstd, and this program was built without libzstd");
    return REPORT_NCUREP_BROKEN;
}
