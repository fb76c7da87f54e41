// SPDX-License-Identifier: Apache-2.0
//
// The order of events, nvtxt-report(1), "THE MODEL": start, store as given, globalTid, end
// descending, row (descending in stores of nvtxtd, where an inner range is written first).
#pragma once

#include "report/load/capture.h"

// Below 0 when `a` comes before `b`. Both belong to the capture.
int report_order_compare(const struct report_capture *capture, const struct report_event *a,
                         const struct report_event *b);

// Puts the events of the capture into order. Returns 0 or -ENOMEM; then they stand as before.
int report_order(struct report_capture *capture);
