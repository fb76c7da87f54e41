// SPDX-License-Identifier: Apache-2.0
//
// A `.rule` file as it stands: nvtxt-rule(5), "MESSAGES". A struct is the message of that name; see
// report/text/fields.h. Its tables of fields are in rule_fields.c.
#pragma once

#include "report/text/fields.h"

struct report_rule_required {
    struct report_place at;
    struct report_scalar name, default_;
};

struct report_rule_constant {
    struct report_place at;
    struct report_scalar name, value;
};

struct report_rule_speedup {
    struct report_place at;
    struct report_scalar type; // 1: global
    struct report_scalar expression;
};

struct report_rule_focus {
    struct report_place at;
    struct report_scalar name, severity, info; // enum report_focus_severity
};

struct report_rule_query {
    struct report_place at;
    struct report_scalar sql, title, rows;
};

struct report_rule_finding {
    struct report_place at;
    struct report_scalar condition, type, title, message; // enum report_level
    struct report_rule_speedup *speedup;                  // NULL: none
    struct report_list focus;                             // of report_rule_focus
    struct report_rule_query *query;                      // NULL: none
};

struct report_rule_file {
    struct report_place at;
    struct report_scalar identifier, display_name, description, section;
    struct report_list parents;   // of report_scalar
    struct report_list required;  // of report_rule_required
    struct report_list constants; // of report_rule_constant
    struct report_list findings;  // of report_rule_finding
};

extern const struct report_message_type report_rule_type;

// All messages of a rule, the outermost first, for the manual page; NULL ends it.
extern const struct report_message_type *const report_rule_types[];
