// SPDX-License-Identifier: Apache-2.0
//
// An expression as a program for a machine with a stack. Only the parser and the evaluation know
// it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "protocol/base/hash.h"
#include "report/catalogue/value.h"

enum report_step_kind {
    REPORT_STEP_NONE,
    REPORT_STEP_NUMBER, // puts it on the stack
    REPORT_STEP_NAME,
    REPORT_STEP_ADD, // takes two, puts one
    REPORT_STEP_SUBTRACT,
    REPORT_STEP_MULTIPLY,
    REPORT_STEP_DIVIDE,
    REPORT_STEP_REVISE_MIN, // takes one, puts one
    REPORT_STEP_REVISE_MAX,
    REPORT_STEP_REVISE_AVG,
    REPORT_STEP_REVISE_SUM,
    REPORT_STEP_SIMPLIFY,
    REPORT_STEP_MIN,
    REPORT_STEP_MAX,
    REPORT_STEP_COUNT,
    REPORT_STEP_AT,
};

struct report_step {
    enum report_step_kind kind;
    bool revised;  // of an operator: it stands in a revise_ or simplify()
    size_t column; // bytes from 0
    size_t name;   // index in the names
    struct report_value number;
    struct report_id id; // of REPORT_STEP_AT
    char *owned;         // its text
};

struct report_operand_name {
    struct nvtxt_hash_node node; // of the parser
    size_t index;                // in the names
    char text[];                 // ends with a NUL
};

struct report_expression {
    struct report_step *steps;
    size_t count, room;
    struct report_operand_name **names; // different ones, as they came
    size_t name_count;
};
