// SPDX-License-Identifier: Apache-2.0
//
// Conditions on payloads: `> 5`. A payload is compared in its own type, a uint64 without a sign.
#pragma once

#include "report/select/selection.h"

// Reads 'OP N'. Returns 0, REPORT_SELECT_WRONG, or -ENOMEM. `condition->text` is not set.
int report_payload_parse(struct nvtxt_slice text, struct report_payload_condition *condition,
                         struct report_fault *fault);

// An event without a payload fits no condition.
bool report_payload_fits(const struct report_payload_condition *condition,
                         const struct report_event *event);
