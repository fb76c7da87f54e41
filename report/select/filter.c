// SPDX-License-Identifier: Apache-2.0
//
// The expression is kept as it was given; its reader comes with the matcher.
#include "report/select/filter.h"

#include <errno.h>
#include <stdlib.h>

#include "report/select/selection.h"

int report_filter_parse(struct report_filter **filter, struct nvtxt_slice text,
                        struct report_fault *fault) {
    *filter = text.len > 0 ? calloc(1, sizeof(**filter)) : NULL;
    if (text.len == 0) {
        report_fault_set(fault, 1, "empty expression; write '*/' for every event");
        return REPORT_SELECT_WRONG;
    }
    return *filter ? 0 : -ENOMEM;
}

void report_filter_free(struct report_filter *filter) {
    free(filter);
}
