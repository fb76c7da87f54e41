// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a rule file, as a condition, as a text with values and as a text with links. Faults
// have places within the text; a rule that is good is applied to F1 and ends in a status.
#define NVTXT_REPLAY_ALSO "report/rules"
#include "tests/fuzz/replay.h"

#include "report/rule/builder.h"
#include "report/rule/rules.h"
#include "report/rule/rules_state.h"
#include "report/rule/scope_values.h"
#include "report/table/links.h"
#include "tests/unit/report_kit.h"

static struct report_metrics *metrics_of_f1(void) {
    static struct report_metrics *metrics;
    static struct report_scopes *scopes;
    if (!metrics) {
        struct report_model *model = report_kit_f1();
        must(report_scopes_new(&scopes, model, REPORT_SCOPE_CAPTURE) == 0);
        must(report_metrics_new(&metrics, model, report_scopes_at(scopes, 0), NULL) == 0);
    }
    return metrics;
}

static void apply(const struct report_declarative *rule, struct store_arena *arena) {
    struct report_result result = {0};
    struct report_builder builder;
    const struct report_rules_wanted wanted = {0};
    report_build_begin(&builder, arena, &result);
    must(report_declarative_apply(rule, &builder, metrics_of_f1(), &wanted) == 0);
    must(report_build_end(&builder) == 0);
    bool silent =
        result.status == REPORT_RULE_FAILED || result.status == REPORT_RULE_NOT_APPLICABLE;
    must(silent == (result.reason.len > 0));
    must(!silent || result.message_count == 0);
}

static void as_file(struct nvtxt_slice text) {
    struct store_arena arena = {0};
    struct report_messages messages = {0};
    struct report_declarative *rule;
    int r = report_declarative_read(&rule, text, "file", NULL, &arena, &messages);
    must((r == NVTXT_WRONG) == (messages.errors > 0));
    if (r == 0) {
        apply(rule, &arena);
        report_declarative_free(rule);
    }
    report_messages_deinit(&messages);
    store_arena_deinit(&arena);
}

static void as_condition(struct nvtxt_slice text) {
    struct report_expression *condition;
    struct report_expression_fault fault = {0};
    struct report_rule_values values = {.metrics = metrics_of_f1()};
    if (report_expression_parse(&condition, text, REPORT_EXPRESSION_CONDITION, &fault) != 0) {
        must(fault.column >= 1 && fault.column <= text.len + 1 && fault.text[0]);
        return;
    }
    int r = report_rule_test(&values, condition);
    must(r >= REPORT_CONDITION_FALSE && r <= REPORT_CONDITION_BAD);
    must(r <= REPORT_CONDITION_TRUE || values.reason[0]);
    report_expression_free(condition);
}

static void as_text(struct nvtxt_slice text) {
    struct report_template *parsed;
    struct report_expression_fault fault = {0};
    struct report_rule_values values = {.metrics = metrics_of_f1()};
    struct nvtxt_buf out = {0};
    if (report_template_parse(&parsed, text, &fault) != 0) {
        must(fault.column >= 1 && fault.column <= text.len + 1 && fault.text[0]);
        return;
    }
    must(report_template_write(parsed, &values, &out) == 0);
    report_template_free(parsed);
    nvtxt_buf_deinit(&out);
}

static void as_links(struct nvtxt_slice text) {
    struct nvtxt_slice rest = text, before;
    struct report_link link;
    size_t seen = 0;
    while (report_link_next(&rest, &before, &link)) {
        must(link.target.len > 0 && rest.len < text.len);
        seen += before.len + link.target.len + link.text.len;
    }
    must(seen + before.len <= text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nvtxt_slice text = {(const char *)data, size};
    as_file(text);
    as_condition(text);
    as_text(text);
    as_links(text);
    return 0;
}
