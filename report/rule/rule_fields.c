// SPDX-License-Identifier: Apache-2.0
//
// The fields of every message of a rule file. Inner messages stand before those that have them.
#include "report/rule/rules_state.h"

#include "report/rule/result.h"
#include "report/text/parse.h"

static const struct report_enum_value levels[] = {
    {"Ok", REPORT_LEVEL_OK},
    {"Optimization", REPORT_LEVEL_OPTIMIZATION},
    {"Warning", REPORT_LEVEL_WARNING},
    {"Error", REPORT_LEVEL_ERROR},
    {0},
};

static const struct report_enum_value speedups[] = {{"Local", 0}, {"Global", 1}, {0}};

static const struct report_enum_value severities[] = {
    {"Default", REPORT_FOCUS_DEFAULT},
    {"Low", REPORT_FOCUS_LOW},
    {"High", REPORT_FOCUS_HIGH},
    {0},
};

#define SELF report_rule_required
static const struct report_field required_fields[] = {
    FIELD(0, "Name", STRING, name, MUST),
    FIELD(0, "Default", DOUBLE, default_, ONE),
};
static const struct report_message_type required_type = TYPE(required, "RequiredMetrics");
#undef SELF

#define SELF report_rule_constant
static const struct report_field constant_fields[] = {
    FIELD(0, "Name", STRING, name, MUST),
    FIELD(0, "Value", DOUBLE, value, MUST),
};
static const struct report_message_type constant_type = TYPE(constant, "Constants");
#undef SELF

#define SELF report_rule_speedup
static const struct report_field speedup_fields[] = {
    FIELD(0, "Type", ENUM, type, ONE, WORDS(speedups)),
    FIELD(0, "Expression", STRING, expression, MUST),
};
static const struct report_message_type speedup_type = TYPE(speedup, "Speedup");
#undef SELF

#define SELF report_rule_focus
static const struct report_field focus_fields[] = {
    FIELD(0, "Name", STRING, name, MUST),
    FIELD(0, "Severity", ENUM, severity, ONE, WORDS(severities)),
    FIELD(0, "Info", STRING, info, ONE),
};
static const struct report_message_type focus_type = TYPE(focus, "FocusMetrics");
#undef SELF

#define SELF report_rule_query
static const struct report_field query_fields[] = {
    FIELD(0, "Sql", STRING, sql, MUST),
    FIELD(0, "Title", STRING, title, ONE),
    FIELD(0, "Rows", UINT32, rows, ONE),
};
static const struct report_message_type query_type = TYPE(query, "Query");
#undef SELF

#define SELF report_rule_finding
static const struct report_field finding_fields[] = {
    FIELD(0, "Condition", STRING, condition, MUST),
    FIELD(0, "Type", ENUM, type, MUST, WORDS(levels)),
    FIELD(0, "Title", STRING, title, ONE),
    FIELD(0, "Message", STRING, message, MUST),
    FIELD(0, "Speedup", MESSAGE, speedup, ONE, OF(speedup)),
    FIELD(0, "FocusMetrics", MESSAGE, focus, MANY, OF(focus)),
    FIELD(0, "Query", MESSAGE, query, ONE, OF(query)),
};
static const struct report_message_type finding_type = TYPE(finding, "Findings");
#undef SELF

#define SELF report_rule_file
static const struct report_field rule_fields[] = {
    FIELD(0, "Identifier", STRING, identifier, MUST),
    FIELD(0, "DisplayName", STRING, display_name, MUST),
    FIELD(0, "Description", STRING, description, ONE),
    FIELD(0, "SectionIdentifier", STRING, section, ONE),
    FIELD(0, "ParentRules", STRING, parents, MANY),
    FIELD(0, "RequiredMetrics", MESSAGE, required, MANY, OF(required)),
    FIELD(0, "Constants", MESSAGE, constants, MANY, OF(constant)),
    FIELD(0, "Findings", MESSAGE, findings, MANY, OF(finding)),
};
const struct report_message_type report_rule_type = TYPE(rule, "Rule");
#undef SELF

const struct report_message_type *const report_rule_types[] = {
    &report_rule_type, &required_type, &constant_type, &finding_type,
    &speedup_type,     &focus_type,    &query_type,    NULL,
};
