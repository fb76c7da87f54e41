// SPDX-License-Identifier: Apache-2.0
//
// The file of a chart beside a rule: one Item of the language of sections. Its figures become a
// table of the rule's newest message, so every format shows them.
#pragma once

#include "report/host/use.h"

// Adds the table. Returns 0, REPORT_REQUEST_REFUSED, or -ENOMEM.
int report_use_chart(struct report_use *use, struct nvtxt_slice name,
                     struct report_request *request);
