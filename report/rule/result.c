// SPDX-License-Identifier: Apache-2.0
//
// The words for the values of a result, in tables by value, and the highest level.
#include "report/rule/result.h"

static const char *const statuses[] = {
    [REPORT_RULE_FINDINGS] = "findings",
    [REPORT_RULE_NO_ISSUE] = "no-issue",
    [REPORT_RULE_NOT_APPLICABLE] = "not-applicable",
    [REPORT_RULE_FAILED] = "failed",
    [REPORT_RULE_NOT_RUN] = "not-run",
};

static const char *const levels[] = {
    [REPORT_LEVEL_NONE] = "none",
    [REPORT_LEVEL_OK] = "ok",
    [REPORT_LEVEL_OPTIMIZATION] = "optimization",
    [REPORT_LEVEL_WARNING] = "warning",
    [REPORT_LEVEL_ERROR] = "error",
};

static const char *const kinds[] = {
    [REPORT_RULE_DECLARATIVE] = "declarative",
    [REPORT_RULE_PYTHON] = "python",
    [REPORT_RULE_BUILTIN] = "builtin",
};

static const char *const severities[] = {
    [REPORT_FOCUS_DEFAULT] = "default",
    [REPORT_FOCUS_LOW] = "low",
    [REPORT_FOCUS_HIGH] = "high",
};

const char *report_rule_status_name(enum report_rule_status status) {
    return statuses[status];
}

const char *report_level_name(enum report_level level) {
    return levels[level];
}

const char *report_level_word(enum report_level level) {
    return level == REPORT_LEVEL_NONE ? "hint" : report_level_name(level);
}

const char *report_rule_kind_name(enum report_rule_kind kind) {
    return kinds[kind];
}

const char *report_focus_severity_name(enum report_focus_severity severity) {
    return severities[severity];
}

enum report_level report_result_worst(const struct report_result *result) {
    enum report_level worst = REPORT_LEVEL_NONE;
    for (size_t i = 0; i < result->message_count; i++) {
        worst = result->messages[i].level > worst ? result->messages[i].level : worst;
    }
    return worst;
}

const char *report_marker_joint(const struct report_source_marker *marker) {
    if (marker->kind == REPORT_MARKER_SASS) {
        return marker->file.len > 0 ? " at " : "at ";
    }
    return marker->file.len > 0 ? ":" : "line ";
}
