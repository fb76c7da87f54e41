// SPDX-License-Identifier: Apache-2.0
//
// Conditions on payloads: `> 5`. A payload is compared in its own type, a uint64 without a sign.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/load/capture.h"
#include "report/select/fault.h"

enum report_operator {
    REPORT_LESS,
    REPORT_LESS_EQUAL,
    REPORT_EQUAL,
    REPORT_NOT_EQUAL,
    REPORT_GREATER_EQUAL,
    REPORT_GREATER,
};

// An operator and a number, which is compared exactly with integers of either sign and with
// doubles.
struct report_payload_condition {
    const char *text; // as given
    enum report_operator op;
    bool is_real;     // else an integer
    bool is_negative; // of an integer
    uint64_t size;    // of an integer: without its sign
    double real;
};

// Reads 'OP N'. Returns 0, NVTXT_WRONG, or -ENOMEM. `condition->text` is not set.
int report_payload_parse(struct nvtxt_slice text, struct report_payload_condition *condition,
                         struct report_fault *fault);

// An event without a payload fits no condition.
bool report_payload_fits(const struct report_payload_condition *condition,
                         const struct report_event *event);
