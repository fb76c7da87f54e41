// SPDX-License-Identifier: Apache-2.0
//
// A rule is parsed whole before it is used: each fault of its content goes to the place in the
// file, and only a rule without any is applied. Constants and defaults are metrics that are asked
// for before those of the scope.
#include "report/rule/rules_state.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/metric/definitions.h"
#include "report/model/model.h"
#include "report/rule/builder.h"
#include "report/rule/rules.h"
#include "report/rule/scope_values.h"
#include "report/rule/sql_guard.h"
#include "report/section/check.h"
#include "report/section/sections.h"
#include "report/text/message.h"
#include "report/text/parse.h"

struct finding {
    const struct report_rule_finding *file;
    struct report_expression *condition;
    struct report_template *title, *message; // title NULL: none
    struct report_expression *speedup;       // NULL: none
};

struct report_declarative {
    const struct report_rule_file *file;
    struct finding *findings;
};

// ---- Reading ------------------------------------------------------------------------------------

struct reading {
    const char *file;
    const struct report_definitions *definitions;
    struct report_messages *messages;
    struct report_declarative *rule;
    bool bad;
};

// Puts a fault within a text at its place in the file; passes on all but that.
static int place(struct reading *reading, const struct report_scalar *text,
                 const struct report_expression_fault *fault, int r) {
    if (r > 0) {
        report_messages_add(reading->messages, reading->file,
                            report_place_in(text, fault->column > 0 ? fault->column - 1 : 0),
                            REPORT_FILE_ERROR, fault->code, "%s", fault->text);
        reading->bad = true;
    }
    return r < 0 ? r : 0;
}

static void complain(struct reading *reading, struct report_place at, const char *code,
                     struct nvtxt_slice name, const char *text) {
    struct nvtxt_slice shown = nvtxt_slice_cut(name, 100);
    report_messages_add(reading->messages, reading->file, at, REPORT_FILE_ERROR, code, "'%.*s' %s",
                        (int)shown.len, shown.data, text);
    reading->bad = true;
}

static bool is_given(const struct report_rule_file *file, struct nvtxt_slice name) {
    for (size_t i = 0; i < file->constants.count; i++) {
        const struct report_rule_constant *constant = file->constants.items[i];
        if (nvtxt_slice_equal(constant->name.text, name)) {
            return true;
        }
    }
    for (size_t i = 0; i < file->required.count; i++) {
        const struct report_rule_required *required = file->required.items[i];
        if (report_has(&required->default_) && nvtxt_slice_equal(required->name.text, name)) {
            return true;
        }
    }
    return false;
}

static void warn_unknown(struct reading *reading, const struct report_scalar *text,
                         struct nvtxt_slice name) {
    if (name.len == 0 || is_given(reading->rule->file, name) ||
        report_metric_is_known(reading->definitions, name.data)) {
        return;
    }
    struct report_scalar scalar = {.at = text->at, .text = name};
    report_warn_unknown_metric(reading->messages, reading->file, &scalar, reading->definitions);
}

static int read_template(struct reading *reading, const struct report_scalar *text,
                         struct report_template **parsed) {
    struct report_expression_fault fault = {0};
    const char *name;
    int r = place(reading, text, &fault, report_template_parse(parsed, text->text, &fault));
    for (size_t i = 0; r == 0 && *parsed && (name = report_template_name(*parsed, i)); i++) {
        warn_unknown(reading, text, nvtxt_slice_of(name));
    }
    return r;
}

static int read_expression(struct reading *reading, const struct report_scalar *text,
                           enum report_expression_kind kind, struct report_expression **parsed) {
    struct report_expression_fault fault = {0};
    const char *name;
    int r = place(reading, text, &fault, report_expression_parse(parsed, text->text, kind, &fault));
    for (size_t i = 0; r == 0 && *parsed && (name = report_expression_name(*parsed, i)); i++) {
        warn_unknown(reading, text, nvtxt_slice_of(name));
    }
    return r;
}

static int read_query(struct reading *reading, const struct report_rule_query *query) {
    char reason[REPORT_SQL_REASON];
    size_t at;
    int r = report_sql_check(query->sql.text, reason, &at);
    if (r == NVTXT_WRONG) {
        report_messages_add(reading->messages, reading->file,
                            at < query->sql.text.len ? report_place_in(&query->sql, at)
                                                     : query->sql.at,
                            REPORT_FILE_ERROR, "bad-sql", "%s", reason);
        reading->bad = true;
    }
    if (report_has(&query->rows) &&
        (query->rows.integer < 1 || query->rows.integer > REPORT_SQL_ROWS)) {
        complain(reading, query->rows.at, "bad-rule", NVTXT_SLICE("Rows"), "is from 1 to 1,000");
    }
    return r < 0 ? r : 0;
}

static int read_finding(struct reading *reading, struct finding *finding) {
    const struct report_rule_finding *file = finding->file;
    int r = 0;
    if (report_has(&file->condition)) {
        r = read_expression(reading, &file->condition, REPORT_EXPRESSION_CONDITION,
                            &finding->condition);
    }
    if (r == 0 && report_has(&file->title)) {
        r = read_template(reading, &file->title, &finding->title);
    }
    if (r == 0 && report_has(&file->message)) {
        r = read_template(reading, &file->message, &finding->message);
    }
    if (r == 0 && file->speedup && report_has(&file->speedup->expression)) {
        r = read_expression(reading, &file->speedup->expression, REPORT_EXPRESSION_OF_RULE,
                            &finding->speedup);
    }
    for (size_t i = 0; r == 0 && i < file->focus.count; i++) {
        const struct report_rule_focus *focus = file->focus.items[i];
        warn_unknown(reading, &focus->name, focus->name.text);
    }
    if (r == 0 && file->query && report_has(&file->query->sql)) {
        r = read_query(reading, file->query);
    }
    return r;
}

static void check_identifier(struct reading *reading, const struct report_scalar *scalar) {
    if (report_has(scalar) && !report_is_identifier(scalar->text)) {
        complain(reading, scalar->at, "bad-identifier", scalar->text,
                 "is no identifier: it has letters, digits, '_', '-' and '.'");
    }
}

// The values that a rule gives itself have different names.
static void check_names(struct reading *reading) {
    const struct report_rule_file *file = reading->rule->file;
    for (size_t i = 0; i < file->constants.count; i++) {
        const struct report_rule_constant *constant = file->constants.items[i];
        for (size_t k = 0; k < i; k++) {
            const struct report_rule_constant *before = file->constants.items[k];
            if (nvtxt_slice_equal(before->name.text, constant->name.text)) {
                complain(reading, constant->name.at, "bad-rule", constant->name.text,
                         "is the name of two constants");
                break;
            }
        }
    }
    for (size_t i = 0; i < file->required.count; i++) {
        const struct report_rule_required *required = file->required.items[i];
        for (size_t k = 0; k < i; k++) {
            const struct report_rule_required *before = file->required.items[k];
            if (nvtxt_slice_equal(before->name.text, required->name.text)) {
                complain(reading, required->name.at, "bad-rule", required->name.text,
                         "is required twice");
                break;
            }
        }
        warn_unknown(reading, &required->name, required->name.text);
    }
    for (size_t i = 0; i < file->parents.count; i++) {
        check_identifier(reading, file->parents.items[i]);
    }
}

static int read_content(struct reading *reading) {
    struct report_declarative *rule = reading->rule;
    const struct report_rule_file *file = rule->file;
    int r = 0;
    rule->findings = calloc(file->findings.count + 1, sizeof(*rule->findings));
    if (!rule->findings) {
        return nvtxt_origin(-ENOMEM);
    }
    check_identifier(reading, &file->identifier);
    check_names(reading);
    for (size_t i = 0; i < file->findings.count && r == 0; i++) {
        rule->findings[i].file = file->findings.items[i];
        r = read_finding(reading, &rule->findings[i]);
    }
    return r;
}

int report_declarative_read(struct report_declarative **rule, struct nvtxt_slice text,
                            const char *file, const struct report_definitions *definitions,
                            struct store_arena *arena, struct report_messages *messages) {
    struct reading reading = {.file = file, .definitions = definitions, .messages = messages};
    size_t first = messages->count;
    void *message = NULL;
    *rule = NULL;
    int r = report_text_parse(&report_rule_type, text, file, arena, messages, &message);
    reading.bad = r == NVTXT_WRONG;
    if (r < 0 || !message) {
        return r < 0 ? r : nvtxt_origin(-ENOMEM);
    }
    reading.rule = calloc(1, sizeof(*reading.rule));
    if (!reading.rule) {
        return nvtxt_origin(-ENOMEM);
    }
    reading.rule->file = message;
    r = read_content(&reading);
    report_messages_sort(messages, first);
    if (r == 0 && !reading.bad) {
        *rule = reading.rule;
        return 0;
    }
    report_declarative_free(reading.rule);
    return r < 0 ? r : NVTXT_WRONG;
}

void report_declarative_free(struct report_declarative *rule) {
    for (size_t i = 0; rule && rule->findings && i < rule->file->findings.count; i++) {
        report_expression_free(rule->findings[i].condition);
        report_template_free(rule->findings[i].title);
        report_template_free(rule->findings[i].message);
        report_expression_free(rule->findings[i].speedup);
    }
    if (rule) {
        free(rule->findings);
    }
    free(rule);
}

const struct report_rule_file *report_declarative_file(const struct report_declarative *rule) {
    return rule->file;
}

// ---- Applying -----------------------------------------------------------------------------------

struct applying {
    const struct report_declarative *rule;
    struct report_builder *builder;
    const struct report_rules_wanted *wanted;
    struct report_rule_values values;
    struct report_metric *given; // constants and defaults, in the arena of the results
    size_t given_count;
    struct nvtxt_buf text;
    bool lacks; // a condition was N/A
};

static const struct report_metric *find_given(const void *context, const char *name) {
    const struct applying *applying = context;
    for (size_t i = 0; i < applying->given_count; i++) {
        if (strcmp(applying->given[i].name, name) == 0) {
            return &applying->given[i];
        }
    }
    return NULL;
}

static void give(struct applying *applying, struct nvtxt_slice name, double value) {
    applying->given[applying->given_count++] = (struct report_metric){
        .name = name.data, // a NUL stands after it
        .unit = "",
        .description = "",
        .type = REPORT_DOUBLE,
        .value = {.type = REPORT_DOUBLE, .real = value},
    };
}

// Returns 0, 1 when a metric without a default is N/A, or -ENOMEM.
static int require(struct applying *applying) {
    const struct report_rule_file *file = applying->rule->file;
    for (size_t i = 0; i < file->required.count; i++) {
        const struct report_rule_required *required = file->required.items[i];
        const struct report_metric *metric;
        int r = report_rule_metric(&applying->values, required->name.text.data, &metric);
        if (r != 0) {
            return r;
        }
        if (metric->na && !report_has(&required->default_)) {
            report_rule_say_na(&applying->values, metric->name, metric->na);
            return 1;
        }
        if (metric->na) {
            give(applying, required->name.text, required->default_.real);
        }
    }
    return 0;
}

static int begin(struct applying *applying) {
    const struct report_rule_file *file = applying->rule->file;
    size_t count = file->constants.count + file->required.count + 1;
    applying->given =
        store_arena_take(applying->builder->arena, count * sizeof(*applying->given), 8);
    if (!applying->given) {
        return nvtxt_origin(-ENOMEM);
    }
    applying->values.lookup = (struct report_lookup){find_given, applying};
    for (size_t i = 0; i < file->constants.count; i++) {
        const struct report_rule_constant *constant = file->constants.items[i];
        give(applying, constant->name.text, constant->value.real);
    }
    return require(applying);
}

static int write_text(struct applying *applying, const struct report_template *parsed,
                      struct nvtxt_slice *text) {
    nvtxt_buf_clear(&applying->text);
    *text = NVTXT_SLICE("");
    int r = parsed ? report_template_write(parsed, &applying->values, &applying->text) : 0;
    if (r == 0 && applying->text.len > 0) {
        *text = report_build_copy(applying->builder,
                                  (struct nvtxt_slice){applying->text.data, applying->text.len});
    }
    return r;
}

static int add_speedup(struct applying *applying, const struct finding *finding, size_t message) {
    const struct report_metric *value;
    if (!finding->speedup) {
        return 0;
    }
    int r = report_rule_value(&applying->values, finding->speedup, &value);
    if (r == 0 && value && value->value.type != REPORT_STRING) {
        report_build_speedup(applying->builder, message, finding->file->speedup->type.integer == 1,
                             report_rule_number(&value->value));
    }
    return r;
}

static int add_focus(struct applying *applying, const struct report_rule_focus *from,
                     size_t message) {
    const struct report_metric *metric;
    int r = report_rule_metric(&applying->values, from->name.text.data, &metric);
    if (r == 0) {
        struct report_focus_metric focus = {
            .name = from->name.text,
            .has_value = !metric->na,
            .value = metric->value,
            .severity = (enum report_focus_severity)from->severity.integer,
            .info = report_has(&from->info) ? from->info.text : NVTXT_SLICE(""),
        };
        report_build_focus(applying->builder, message, &focus);
    }
    return r;
}

static int fail(struct applying *applying, const char *reason) {
    report_build_status(applying->builder, REPORT_RULE_FAILED, nvtxt_slice_of(reason));
    return 1;
}

static int add_query(struct applying *applying, const struct report_rule_query *from,
                     size_t message) {
    char reason[REPORT_SQL_REASON];
    struct report_sql_query query = {
        .sql = from->sql.text,
        .title = report_has(&from->title) ? from->title.text : NVTXT_SLICE(""),
        .rows = (size_t)from->rows.integer,
        .since_ns = applying->wanted->since_ns,
        .until_ns = applying->wanted->until_ns,
        .interrupted = applying->wanted->interrupted,
    };
    const struct report_model *model = report_metrics_model(applying->values.metrics);
    if (!model) {
        const struct nvtxt_slice why = NVTXT_SLICE("a query needs a store, and no report file");
        report_build_status(applying->builder, REPORT_RULE_NOT_APPLICABLE, why);
        return 1;
    }
    int r = report_sql_run(applying->builder, model->capture, message, &query, reason);
    return r == NVTXT_WRONG ? fail(applying, reason) : r;
}

static int add_finding(struct applying *applying, const struct finding *finding) {
    const struct report_rule_finding *file = finding->file;
    struct nvtxt_slice title, text;
    int r = write_text(applying, finding->title, &title);
    r = r ?: write_text(applying, finding->message, &text);
    if (r != 0) {
        return r;
    }
    size_t message =
        report_build_message(applying->builder, (enum report_level)file->type.integer, title, text);
    r = add_speedup(applying, finding, message);
    for (size_t i = 0; i < file->focus.count && r == 0; i++) {
        r = add_focus(applying, file->focus.items[i], message);
    }
    return r ?: file->query ? add_query(applying, file->query, message) : 0;
}

// Returns 0, 1 when the rule failed or is not applicable, or below 0.
static int judge(struct applying *applying, const struct finding *finding) {
    int r = report_rule_test(&applying->values, finding->condition);
    switch (r) {
    case REPORT_CONDITION_FALSE:
        return 0;
    case REPORT_CONDITION_TRUE:
        return add_finding(applying, finding);
    case REPORT_CONDITION_NA:
        applying->lacks = true;
        return 0;
    case REPORT_CONDITION_BAD:
        return fail(applying, applying->values.reason);
    default:
        return r;
    }
}

static int apply(struct applying *applying) {
    int r = begin(applying);
    if (r > 0) {
        applying->lacks = true;
    }
    for (size_t i = 0; i < applying->rule->file->findings.count && r == 0; i++) {
        r = judge(applying, &applying->rule->findings[i]);
    }
    // What says nothing because something has no value did not look whether all is well.
    if (r >= 0 && applying->lacks && applying->builder->result->message_count == 0 &&
        applying->builder->result->status != REPORT_RULE_FAILED) {
        report_build_status(applying->builder, REPORT_RULE_NOT_APPLICABLE,
                            nvtxt_slice_of(applying->values.reason));
    }
    return r < 0 ? r : 0;
}

int report_declarative_apply(const struct report_declarative *rule, struct report_builder *builder,
                             struct report_metrics *metrics,
                             const struct report_rules_wanted *wanted) {
    struct applying applying = {
        .rule = rule,
        .builder = builder,
        .wanted = wanted,
        .values = {.metrics = metrics},
    };
    int r = apply(&applying);
    nvtxt_buf_deinit(&applying.text);
    return r;
}
