// SPDX-License-Identifier: Apache-2.0
//
// Rules: files with faults at their places, results of good ones, parents and cycles; and each rule
// of the package with a capture that triggers it and one that just does not.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/load/load.h"
#include "report/metric/definitions.h"
#include "report/metric/metric.h"
#include "report/rule/rules.h"
#include "report/select/selection.h"
#include "report/text/files.h"
#include "report/text/message.h"
#include "tests/unit/report_kit.h"

struct world {
    char folder[64];
    struct report_files files;
    struct report_definitions *definitions;
    struct report_messages messages;
    struct report_rules *rules;
    struct report_model *model;
    struct report_scopes *scopes;
    struct report_metrics *metrics;
    struct report_results results;
    struct report_rules_wanted wanted;
    struct report_selection selection;
};

static struct world *world_new(struct report_model *model) {
    struct world *world = calloc(1, sizeof(*world));
    strcpy(world->folder, "/tmp/report-rules-XXXXXX");
    cr_assert_not_null(mkdtemp(world->folder));
    world->model = model;
    cr_assert_eq(report_rules_new(&world->rules, true), 0);
    cr_assert_eq(report_definitions_new(&world->definitions), 0);
    world->wanted.since_ns = INT64_MIN;
    world->wanted.until_ns = INT64_MAX;
    return world;
}

static void add_file(struct world *world, const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", world->folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    fclose(file);
}

// The rules of `folder`; NULL: of the world's own.
static void load(struct world *world, const char *folder) {
    struct report_search_folder search = {folder ? folder : world->folder, false};
    const char *missing;
    cr_assert_eq(report_files_find(&world->files, &search, 1, false, &missing), 0);
    cr_assert_eq(report_rules_load(world->rules, &world->files, world->definitions, NULL, NULL,
                                   NULL, &world->messages),
                 0);
}

static void load_package(struct world *world) {
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s/report/rules", getenv("top_srcdir"));
    load(world, folder);
    cr_assert_eq(world->messages.count, 0);
    cr_assert_geq(world->files.count, 4);
}

static void apply(struct world *world) {
    report_results_free(&world->results);
    if (!world->metrics) {
        cr_assert_eq(report_scopes_new(&world->scopes, world->model, REPORT_SCOPE_CAPTURE), 0);
        cr_assert_eq(report_metrics_new(&world->metrics, world->model,
                                        report_scopes_at(world->scopes, 0), NULL),
                     0);
    }
    cr_assert_eq(report_rules_apply(world->rules, world->metrics, &world->wanted, &world->results),
                 0);
}

static const struct report_result *result(const struct world *world, const char *identifier) {
    for (size_t i = 0; i < world->results.count; i++) {
        if (nvtxt_slice_equal(world->results.results[i].identifier, nvtxt_slice_of(identifier))) {
            return &world->results.results[i];
        }
    }
    return NULL;
}

static const struct report_result *must(const struct world *world, const char *identifier) {
    const struct report_result *found = result(world, identifier);
    cr_assert_not_null(found, "%s", identifier);
    return found;
}

static void is(struct nvtxt_slice text, const char *expected) {
    cr_assert(nvtxt_slice_equal(text, nvtxt_slice_of(expected)), "'%.*s' is not '%s'",
              (int)text.len, text.data, expected);
}

static void world_free(struct world *world) {
    char command[128];
    report_results_free(&world->results);
    report_metrics_free(world->metrics);
    report_scopes_free(world->scopes);
    report_rules_free(world->rules);
    report_definitions_free(world->definitions);
    report_files_deinit(&world->files);
    report_messages_deinit(&world->messages);
    report_kit_free(world->model);
    report_selection_deinit(&world->selection);
    snprintf(command, sizeof(command), "rm -r %s", world->folder);
    cr_assert_eq(system(command), 0);
    free(world);
}

// ---- Files --------------------------------------------------------------------------------------

#define HEAD "Identifier: \"R\" DisplayName: \"Name\"\n"

Test(rules, of_files_are_applied) {
    struct world *world = world_new(report_kit_f1());
    add_file(world, "a.rule",
             HEAD "Description: \"What\"\n"
                  "RequiredMetrics { Name: \"pushpop__count.sum\" }\n"
                  "RequiredMetrics { Name: \"nowhere.sum\" Default: 2.5 }\n"
                  "Constants { Name: \"limit\" Value: 3 }\n"
                  "Findings { Condition: \"pushpop__count.sum > limit\" Type: Warning\n"
                  "  Title: \"T {limit}\" Message: \"{pushpop__count.sum} and {nowhere.sum}\"\n"
                  "  Speedup { Type: Global Expression: \"limit * 2\" }\n"
                  "  FocusMetrics { Name: \"pushpop__count.sum\" Severity: High Info: \"I\" }\n"
                  "  FocusMetrics { Name: \"iteration__count.sum\" } }\n"
                  "Findings { Condition: \"1 > 2\" Type: Error Message: \"never\" }\n"
                  "Findings { Condition: \"1\" Type: Ok Message: \"always\" }\n");
    load(world, NULL);
    cr_assert_eq(world->messages.errors, 0);
    apply(world);
    const struct report_result *r = must(world, "R");
    cr_assert_eq(r->status, REPORT_RULE_FINDINGS);
    cr_assert_eq(r->kind, REPORT_RULE_DECLARATIVE);
    is(r->name, "Name");
    is(r->description, "What");
    cr_assert_eq(r->message_count, 2);
    cr_assert_eq(r->messages[0].level, REPORT_LEVEL_WARNING);
    is(r->messages[0].title, "T 3");
    is(r->messages[0].text, "10 and 2.5");
    is(r->messages[1].text, "always");
    cr_assert_eq(r->speedup_count, 1);
    cr_assert(r->speedups[0].global && r->speedups[0].percent == 6);
    cr_assert_eq(r->focus_count, 2);
    cr_assert(r->focus[0].has_value && r->focus[0].value.u64 == 10);
    cr_assert_not(r->focus[1].has_value);
    world_free(world);
}

Test(rules, have_all_statuses) {
    struct world *world = world_new(report_kit_f1());
    add_file(world, "1.rule", "Identifier: 'None' DisplayName: 'N'");
    add_file(
        world, "2.rule",
        "Identifier: 'OnlyOk' DisplayName: 'N' Findings { Condition: '1' Type: Ok Message: 'm' }");
    add_file(world, "3.rule",
             "Identifier: 'Lacks' DisplayName: 'N' RequiredMetrics { Name: 'iteration__count.sum' }"
             " Findings { Condition: '1' Type: Error Message: 'm' }");
    add_file(world, "4.rule",
             "Identifier: 'LacksLater' DisplayName: 'N' Findings { "
             "Condition: 'iteration__count.sum > 1' Type: Error Message: 'm' }");
    add_file(world, "5.rule",
             "Identifier: 'Queries' DisplayName: 'N' Findings { Condition: '1' Type: Error "
             "Message: 'm' Query { Sql: 'SELECT 1 FROM nowhere' } }");
    load(world, NULL);
    cr_assert_eq(world->messages.count, 0);
    apply(world);
    cr_assert_eq(must(world, "None")->status, REPORT_RULE_NO_ISSUE);
    cr_assert_eq(must(world, "OnlyOk")->status, REPORT_RULE_NO_ISSUE);
    cr_assert_eq(must(world, "OnlyOk")->message_count, 1);
    cr_assert_eq(must(world, "Lacks")->status, REPORT_RULE_NOT_APPLICABLE);
    is(must(world, "Lacks")->reason, "iteration__count.sum N/A: no iterations declared");
    cr_assert_eq(must(world, "LacksLater")->status, REPORT_RULE_NOT_APPLICABLE);
    cr_assert_eq(must(world, "Queries")->status, REPORT_RULE_FAILED);
    cr_assert_eq(must(world, "Queries")->message_count, 0);
    cr_assert(report_results_failed(&world->results));
    world->wanted.none = true;
    apply(world);
    cr_assert_eq(must(world, "OnlyOk")->status, REPORT_RULE_NOT_RUN);
    world_free(world);
}

Test(rules, with_faults_tell_their_places) {
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {"DisplayName: 'N'", ":1:"},
        {"Identifier: 'a b' DisplayName: 'N'", ":1:13: error: 'a b' is no identifier"},
        {HEAD "Findings { Condition: '1 +' Type: Ok Message: 'm' }", ":2:27: error:"},
        {HEAD "Findings { Condition: '1 < 2 3' Type: Ok Message: 'm' }", ":2:30: error:"},
        {HEAD "Findings { Condition: '1' Type: Ok Message: 'a {b' }", ":2:48: error: '{' without"},
        {HEAD "Findings { Condition: '1' Type: Ok Message: 'm' Title: '{}' }", ":2:58: error:"},
        {HEAD "Findings { Condition: '1' Type: Ok Message: 'm' Speedup { Expression: '1 2' } }",
         ":2:74: error: an operator is missing here [bad-expression]"},
        {HEAD "Findings { Condition: '1' Type: Ok Message: 'm' Query { Sql: 'DROP TABLE x' } }",
         "[bad-sql]"},
        {HEAD
         "Findings { Condition: '1' Type: Ok Message: 'm' Query { Sql: 'SELECT 1; SELECT 2' } }",
         ":2:62: error: a query is one statement, this has more [bad-sql]"},
        {HEAD
         "Findings { Condition: '1' Type: Ok Message: 'm' Query { Sql: 'SELECT 1 FORM x y' } }",
         ":2:77: error: near"},
        {HEAD
         "Findings { Condition: '1' Type: Ok Message: 'm' Query { Sql: 'SELECT 1' Rows: 1001 } }",
         "[bad-rule]"},
        {HEAD "Findings { Condition: '1' Type: Bad Message: 'm' }", "[unknown-enum]"},
        {HEAD "Findings { Condition: '1' Type: Ok }", "[missing-field]"},
        {HEAD "Findngs { }", "[unknown-field]"},
        {HEAD "Constants { Name: 'a' Value: 1 } Constants { Name: 'a' Value: 2 }", ":2:52: error:"},
        {HEAD "RequiredMetrics { Name: 'event__count.sum' } "
              "RequiredMetrics { Name: 'event__count.sum' }",
         "'event__count.sum' is required twice [bad-rule]"},
        {HEAD "ParentRules: ['a b']", "[bad-identifier]"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct world *world = world_new(report_kit_f1());
        struct nvtxt_buf line = {0};
        add_file(world, "a.rule", bad[i].text);
        load(world, NULL);
        cr_assert_eq(report_rules_failed(world->rules), 1, "%s", bad[i].text);
        cr_assert_geq(world->messages.errors, 1);
        report_message_write(&line, &world->messages.items[0]);
        nvtxt_buf_add(&line, "", 1);
        cr_expect_not_null(strstr(line.data, bad[i].expected), "%s: %s", bad[i].expected,
                           line.data);
        nvtxt_buf_deinit(&line);
        apply(world);
        cr_assert_null(result(world, "R"));
        world_free(world);
    }
}

Test(rules, with_faults_say_once_that_a_value_has_the_wrong_type) {
    static const char *const bad[] = {
        "Identifier: 5 DisplayName: 'n'",
        HEAD "ParentRules: 5",
        HEAD "ParentRules: ['a', 5]",
        HEAD "Findings { Condition: 5 Type: Ok Message: 'm' }",
        HEAD "Findings { Condition: '1' Type: Ok Message: 'm' Speedup { Expression: 5 } }",
        HEAD "Findings { Condition: '1' Type: Ok Message: 'm' Query { Sql: 5 } }",
        HEAD
        "Findings { Condition: '1' Type: Ok Message: 'm' Query { Sql: 'SELECT 1' Rows: 'x' } }",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct world *world = world_new(report_kit_f1());
        add_file(world, "a.rule", bad[i]);
        load(world, NULL);
        cr_assert_eq(report_rules_failed(world->rules), 1, "%s", bad[i]);
        cr_expect_eq(world->messages.count, 1, "%s", bad[i]);
        cr_expect_str_eq(world->messages.items[0].code, "wrong-type", "%s", bad[i]);
        world_free(world);
    }
}

Test(rules, warn_of_what_nobody_has) {
    struct world *world = world_new(report_kit_f1());
    add_file(world, "a.rule",
             HEAD "ParentRules: 'Nobody'\nFindings { Condition: 'range__cuont.sum > 1' Type: Ok "
                  "Message: '{given} {other}' }\nConstants { Name: 'given' Value: 1 }\n"
                  "RequiredMetrics { Name: 'other' Default: 1 }");
    add_file(world, "b.rule", HEAD);
    load(world, NULL);
    cr_assert_eq(world->messages.errors, 0);
    cr_assert_eq(world->messages.count, 3);
    cr_assert_str_eq(world->messages.items[0].code, "unknown-metric");
    cr_assert_not_null(strstr(world->messages.items[0].text, "range__count.sum"), "%s",
                       world->messages.items[0].text);
    cr_assert_str_eq(world->messages.items[1].code, "bad-rule");
    cr_assert_str_eq(world->messages.items[2].code, "duplicate-identifier");
    world_free(world);
}

static void is_order(const struct world *world, const char *expected) {
    char got[256] = "";
    for (size_t i = 0; i < world->results.count; i++) {
        if (world->results.results[i].kind == REPORT_RULE_DECLARATIVE) {
            strncat(got, world->results.results[i].identifier.data, 20);
            strcat(got, " ");
        }
    }
    cr_assert_str_eq(got, expected);
}

#define RULE(id, more) "Identifier: '" id "' DisplayName: 'N' " more

Test(rules, come_after_their_parents) {
    struct world *world = world_new(report_kit_f1());
    add_file(world, "1.rule", RULE("A", "ParentRules: ['D', 'C']"));
    add_file(world, "2.rule", RULE("B", ""));
    add_file(world, "3.rule", RULE("C", "ParentRules: 'D'"));
    add_file(world, "4.rule", RULE("D", ""));
    load(world, NULL);
    apply(world);
    is_order(world, "D C A B ");
    world_free(world);
}

Test(rules, in_a_cycle_fail_each) {
    struct world *world = world_new(report_kit_f1());
    add_file(world, "1.rule", RULE("A", "ParentRules: 'B'"));
    add_file(world, "2.rule", RULE("B", "ParentRules: 'C'"));
    add_file(world, "3.rule", RULE("C", "ParentRules: 'A'"));
    add_file(world, "4.rule", RULE("D", "ParentRules: 'A'"));
    add_file(world, "5.rule", RULE("E", "ParentRules: 'E'"));
    load(world, NULL);
    apply(world);
    cr_assert_eq(must(world, "A")->status, REPORT_RULE_FAILED);
    is(must(world, "A")->reason, "a cycle of ParentRules: A -> B -> C -> A");
    is(must(world, "B")->reason, "a cycle of ParentRules: B -> C -> A -> B");
    is(must(world, "E")->reason, "a cycle of ParentRules: E -> E");
    cr_assert_eq(must(world, "D")->status, REPORT_RULE_NO_ISSUE);
    world_free(world);
}

// Two cycles, a rule on the way from one to the other, and rules with parents in both.
Test(rules, between_cycles_are_in_none) {
    struct world *world = world_new(report_kit_f1());
    add_file(world, "1.rule", RULE("A", "ParentRules: ['X', 'B']"));
    add_file(world, "2.rule", RULE("B", "ParentRules: ['M', 'A']"));
    add_file(world, "3.rule", RULE("M", "ParentRules: ['Y', 'nowhere']"));
    add_file(world, "4.rule", RULE("X", "ParentRules: ['A', 'B']"));
    add_file(world, "5.rule", RULE("Y", "ParentRules: 'Z'"));
    add_file(world, "6.rule", RULE("Z", "ParentRules: ['Z', 'Y']"));
    add_file(world, "7.rule", RULE("ZZ", "ParentRules: ['A', 'Z']"));
    load(world, NULL);
    apply(world);
    is(must(world, "A")->reason, "a cycle of ParentRules: A -> X -> A");
    is(must(world, "B")->reason, "a cycle of ParentRules: B -> A -> X -> B");
    is(must(world, "X")->reason, "a cycle of ParentRules: X -> A -> X");
    is(must(world, "Y")->reason, "a cycle of ParentRules: Y -> Z -> Y");
    is(must(world, "Z")->reason, "a cycle of ParentRules: Z -> Z");
    cr_assert_eq(must(world, "M")->status, REPORT_RULE_NO_ISSUE);
    cr_assert_eq(must(world, "ZZ")->status, REPORT_RULE_NO_ISSUE);
    is_order(world, "Z Y M B X A ZZ ");
    world_free(world);
}

static bool shows_s(const void *context, struct nvtxt_slice section) {
    (void)context;
    return nvtxt_slice_equal(section, NVTXT_SLICE("S"));
}

Test(rules, are_chosen_by_name_and_section) {
    struct world *world = world_new(report_kit_f1());
    char sentence[REPORT_SENTENCE_BYTES];
    add_file(world, "1.rule", RULE("Ab", "SectionIdentifier: 'S'"));
    add_file(world, "2.rule", RULE("Ac", "SectionIdentifier: 'T'"));
    add_file(world, "3.rule", RULE("Bb", ""));
    load(world, NULL);
    world->wanted.shown = shows_s;
    apply(world);
    is_order(world, "Ab Bb ");
    world->wanted.shown = NULL;
    const char *names[] = {"regex:^A", "Bb"};
    world->wanted.names = names;
    world->wanted.name_count = 1;
    apply(world);
    is_order(world, "Ab Ac ");
    world->wanted.name_count = 2;
    apply(world);
    is_order(world, "Ab Ac Bb ");
    cr_assert_eq(report_rules_check(world->rules, &world->wanted, sentence), 0);
    names[1] = "Bc";
    cr_assert_eq(report_rules_check(world->rules, &world->wanted, sentence), NVTXT_WRONG);
    cr_assert_not_null(strstr(sentence, "'Bc'"));
    names[1] = "regex:(";
    cr_assert_eq(report_rules_check(world->rules, &world->wanted, sentence), NVTXT_WRONG);
    names[1] = "regex:^Z";
    cr_assert_eq(report_rules_check(world->rules, &world->wanted, sentence), NVTXT_WRONG);
    world_free(world);
}

Test(rules, of_files_go_before_those_of_the_program) {
    struct world *world = world_new(report_kit_f1());
    add_file(world, "1.rule", RULE("DominantRange", ""));
    load(world, NULL);
    apply(world);
    cr_assert_eq(must(world, "DominantRange")->kind, REPORT_RULE_DECLARATIVE);
    size_t hidden = 0;
    for (size_t i = 0; i < report_rules_count(world->rules); i++) {
        struct report_rule_row row = report_rules_row(world->rules, i);
        hidden += row.hidden && row.kind == REPORT_RULE_BUILTIN && row.hidden_by != NULL;
    }
    cr_assert_eq(hidden, 1);
    world_free(world);
}

// ---- The package's ------------------------------------------------------------------------------

static struct world *judged(struct report_model *model, const char *iterations) {
    struct world *world = world_new(model);
    if (iterations) {
        struct report_fault fault;
        cr_assert_eq(report_selection_take(&world->selection, "iterations", iterations, &fault), 0);
    }
    cr_assert_eq(report_iterations_init(&model->iterations, model->capture, &world->selection), 0);
    load_package(world);
    apply(world);
    return world;
}

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

// Applies all rules to the events; returns the status of one.
static enum report_rule_status judge(const struct report_kit_event *events, size_t count,
                                     const char *rule, const char *iterations, const char *words) {
    struct world *world = judged(report_kit_model(events, count), iterations);
    const struct report_result *r = must(world, rule);
    enum report_rule_status status = r->status;
    if (status == REPORT_RULE_FINDINGS) {
        char text[1024];
        snprintf(text, sizeof(text), "%.*s", (int)r->messages[0].text.len,
                 r->messages[0].text.data);
        cr_assert_not_null(strstr(text, words), "%s: %s", words, text);
    }
    world_free(world);
    return status;
}

#define TRIGGERS(rule, iterations, words, ...)                                                     \
    do {                                                                                           \
        const struct report_kit_event events_[] = {__VA_ARGS__};                                   \
        cr_expect_eq(judge(events_, LENGTH(events_), rule, iterations, words),                     \
                     REPORT_RULE_FINDINGS);                                                        \
    } while (0)
#define DOES_NOT(rule, iterations, ...)                                                            \
    do {                                                                                           \
        const struct report_kit_event events_[] = {__VA_ARGS__};                                   \
        cr_expect_eq(judge(events_, LENGTH(events_), rule, iterations, ""), REPORT_RULE_NO_ISSUE); \
    } while (0)

Test(package, DominantRange) {
    TRIGGERS("DominantRange", NULL, "':a'", KIT_RANGE(1, "a", 0, 51), KIT_RANGE(1, "b", 51, 100));
    DOES_NOT("DominantRange", NULL, KIT_RANGE(1, "a", 0, 50), KIT_RANGE(1, "b", 50, 100));
}

Test(package, IdleGaps) {
    TRIGGERS("IdleGaps", NULL, "gaps: 1", KIT_RANGE(1, "a", 0, 50), KIT_RANGE(1, "b", 71, 100));
    DOES_NOT("IdleGaps", NULL, KIT_RANGE(1, "a", 0, 50), KIT_RANGE(1, "b", 70, 100));
}

Test(package, LoadImbalance) {
    TRIGGERS("LoadImbalance", NULL, "2 threads", KIT_RANGE(1, "a", 0, 100),
             KIT_RANGE(2, "a", 0, 49));
    DOES_NOT("LoadImbalance", NULL, KIT_RANGE(1, "a", 0, 100), KIT_RANGE(2, "a", 0, 50));
    DOES_NOT("LoadImbalance", NULL, KIT_RANGE(1, "a", 0, 100));
}

Test(package, Serialized) {
    TRIGGERS("Serialized", NULL, "2 threads", KIT_RANGE(1, "a", 0, 50), KIT_RANGE(2, "a", 50, 100));
    DOES_NOT("Serialized", NULL, KIT_RANGE(1, "a", 0, 51), KIT_RANGE(2, "a", 50, 100));
    DOES_NOT("Serialized", NULL, KIT_RANGE(1, "a", 0, 50), KIT_RANGE(1, "a", 50, 100));
}

Test(package, MixedKinds) {
    TRIGGERS("MixedKinds", NULL, "':a' is the name", KIT_RANGE(1, "a", 0, 50),
             KIT_START_END(1, "a", 0, 50), KIT_MARK(1, "b", 3), KIT_RANGE(1, "b", 0, 5));
    DOES_NOT("MixedKinds", NULL, KIT_RANGE(1, "a", 0, 50), KIT_START_END(1, "D:a", 0, 50));
}

Test(package, ClockSuspicion_of_backward_ranges) {
    TRIGGERS("ClockSuspicion", NULL, "end before they start: 1.", KIT_RANGE(1, "a", 50, 49));
    DOES_NOT("ClockSuspicion", NULL, KIT_RANGE(1, "a", 50, 50));
}

Test(package, UnclosedRanges) {
    TRIGGERS("UnclosedRanges", NULL, "Nobody ended 1:",
             {KIT_EVENT(REPORT_PUSH_POP, 1, "a", 0, 5), .flags = REPORT_UNCLOSED});
    DOES_NOT("UnclosedRanges", NULL, KIT_RANGE(1, "a", 0, 5),
             {KIT_EVENT(REPORT_PUSH_POP, 1, "b", 0, 5), .flags = REPORT_OPEN});
}

Test(package, NoIterations) {
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "D:s@t", 0, 50), KIT_RANGE(1, "in", 0, 5), KIT_RANGE(1, "D:s@t", 60, 80),
        KIT_RANGE(1, "once", 90, 99)};
    struct world *world = judged(report_kit_model(events, LENGTH(events)), NULL);
    const struct report_result *r = must(world, "NoIterations");
    // A hint: nothing is wrong.
    cr_assert_eq(r->status, REPORT_RULE_NO_ISSUE);
    cr_assert_eq(r->message_count, 1);
    cr_assert_eq(r->messages[0].level, REPORT_LEVEL_NONE);
    cr_assert_not_null(strstr(r->messages[0].text.data, "A candidate: --iterations 's\\\xFFt\xFF"
                                                        "D' (2 ranges)."));
    world_free(world);
    DOES_NOT("NoIterations", NULL, KIT_RANGE(1, "once", 90, 99));
    DOES_NOT("NoIterations", "s", KIT_RANGE(1, "s", 0, 50), KIT_RANGE(1, "s", 60, 80));
}

Test(package, OutlierIterations) {
    TRIGGERS("OutlierIterations", "s", "1 of 3 iterations", KIT_RANGE(1, "s", 0, 10),
             KIT_RANGE(1, "s", 10, 20), KIT_RANGE(1, "s", 20, 36));
    DOES_NOT("OutlierIterations", "s", KIT_RANGE(1, "s", 0, 10), KIT_RANGE(1, "s", 10, 20),
             KIT_RANGE(1, "s", 20, 35));
}

Test(package, WarmUp) {
    TRIGGERS("WarmUp", "s", "lasts 16 ns, the median of the other 2 is 10 ns. ",
             KIT_RANGE(1, "s", 0, 16), KIT_RANGE(1, "s", 20, 30), KIT_RANGE(1, "s", 30, 40));
    DOES_NOT("WarmUp", "s", KIT_RANGE(1, "s", 0, 15), KIT_RANGE(1, "s", 20, 30),
             KIT_RANGE(1, "s", 30, 40));
    DOES_NOT("WarmUp", "s", KIT_RANGE(1, "s", 0, 15));
}

Test(package, rules_of_iterations_do_not_apply_without_any) {
    struct world *world = judged(report_kit_f1(), NULL);
    cr_assert_eq(must(world, "WarmUp")->status, REPORT_RULE_NOT_APPLICABLE);
    is(must(world, "WarmUp")->reason,
       "iteration__time_duration_per_iteration.sum N/A: no iterations declared");
    cr_assert_eq(must(world, "OutlierIterations")->status, REPORT_RULE_NOT_APPLICABLE);
    world_free(world);
}

static enum report_rule_status judge_deep(int deep) {
    struct report_kit_event events[80];
    for (int i = 0; i <= deep; i++) {
        events[i] = (struct report_kit_event)KIT_RANGE(1, "a", i, 1000 - i);
    }
    return judge(events, (size_t)deep + 1, "DeepNesting", NULL, "65 others");
}

Test(package, DeepNesting) {
    cr_assert_eq(judge_deep(65), REPORT_RULE_FINDINGS);
    cr_assert_eq(judge_deep(64), REPORT_RULE_NO_ISSUE);
}

static enum report_rule_status judge_tiny(int count, int tiny, int64_t tiny_ns) {
    struct report_kit_event *events = calloc((size_t)count, sizeof(*events));
    for (int i = 0; i < count; i++) {
        int64_t start = (int64_t)i * 10000;
        events[i] =
            (struct report_kit_event)KIT_RANGE(1, "a", start, start + (i < tiny ? tiny_ns : 1000));
    }
    enum report_rule_status status =
        judge(events, (size_t)count, "TinyRanges", NULL, "1000 ranges");
    free(events);
    return status;
}

Test(package, TinyRanges, .timeout = 300) {
    cr_assert_eq(judge_tiny(1000, 201, 999), REPORT_RULE_FINDINGS);
    cr_assert_eq(judge_tiny(1000, 200, 999), REPORT_RULE_NO_ISSUE);
    cr_assert_eq(judge_tiny(1000, 201, 1000), REPORT_RULE_NO_ISSUE);
    cr_assert_eq(judge_tiny(999, 999, 1), REPORT_RULE_NO_ISSUE);
}

// `count` ranges of 100 ns, of which the last one lasts `last`.
static struct world *varied(int count, int64_t last) {
    struct report_kit_event events[20];
    int64_t at = 0;
    for (int i = 0; i < count; i++) {
        int64_t length = i == count - 1 ? last : 100;
        events[i] = (struct report_kit_event)KIT_RANGE(1, "a", at, at + length);
        at += length;
    }
    return judged(report_kit_model(events, (size_t)count), NULL);
}

Test(package, HighVariation) {
    // The standard deviation of nine 100 and one 100 + x is x / sqrt(10), their mean 100 + x / 10.
    struct world *world = varied(10, 200);
    const struct report_result *r = must(world, "HighVariation");
    cr_assert_eq(r->status, REPORT_RULE_FINDINGS);
    cr_assert_eq(r->speedup_count, 1);
    cr_assert(r->speedups[0].global);
    cr_assert_float_eq(r->speedups[0].percent, 100.0 * 100 / 1100, 1e-9);
    world_free(world);
    world = varied(10, 185); // 26.88 / 108.5 = 0.2477
    cr_assert_eq(must(world, "HighVariation")->status, REPORT_RULE_NO_ISSUE);
    world_free(world);
    world = varied(10, 187); // 27.51 / 108.7 = 0.2531
    cr_assert_eq(must(world, "HighVariation")->status, REPORT_RULE_FINDINGS);
    world_free(world);
    world = varied(9, 1000);
    cr_assert_eq(must(world, "HighVariation")->status, REPORT_RULE_NO_ISSUE);
    world_free(world);
}

// ---- Sources ------------------------------------------------------------------------------------

#define DAY ((int64_t)86400 * 1000000000)

// Rules of one event at `at`, of a source that was open from 10 to 20 days.
static struct world *of_source(const char *kind, int64_t at, int64_t errors, uint64_t lost) {
    static struct report_source source;
    static struct report_loss loss;
    const struct report_kit_event events[] = {KIT_RANGE(1, "a", at, at)};
    struct report_model *model = report_kit_model(events, 1);
    source = (struct report_source){
        .id = 1,
        .name = NVTXT_SLICE("s"),
        .kind = nvtxt_slice_of(kind),
        .has_closed = true,
        .opened_ns = 10 * DAY,
        .closed_ns = 20 * DAY,
        .errors = errors,
    };
    loss = (struct report_loss){.reason = NVTXT_SLICE("why"), .count = lost};
    model->capture->sources = &source;
    model->capture->source_count = 1;
    model->capture->losses = &loss;
    model->capture->loss_count = 1;
    model->capture->events[0].source = 0;
    return judged(model, NULL);
}

static enum report_rule_status status_of(struct world *world, const char *rule) {
    enum report_rule_status status = must(world, rule)->status;
    world_free(world);
    return status;
}

Test(package, ClockSuspicion_of_times_outside_the_session) {
    const char *rule = "ClockSuspicion";
    cr_assert_eq(status_of(of_source("unix", 9 * DAY, 0, 0), rule), REPORT_RULE_NO_ISSUE);
    cr_assert_eq(status_of(of_source("unix", 9 * DAY - 1, 0, 0), rule), REPORT_RULE_FINDINGS);
    cr_assert_eq(status_of(of_source("unix", 21 * DAY, 0, 0), rule), REPORT_RULE_NO_ISSUE);
    cr_assert_eq(status_of(of_source("unix", 21 * DAY + 1, 0, 0), rule), REPORT_RULE_FINDINGS);
    cr_assert_eq(status_of(of_source("file", 0, 0, 0), rule), REPORT_RULE_NO_ISSUE);
}

// Two marks, stored in the order of their rows, of what `comm` sent from 10 to 20 days.
static struct world *of_lines(const char *comm, bool has_levels, int64_t first, int64_t second) {
    static struct report_source source;
    const struct report_kit_event events[] = {
        {KIT_EVENT(REPORT_MARK, 1, "a", second, second), .row = 2},
        {KIT_EVENT(REPORT_MARK, 1, "b", first, first), .row = 1},
    };
    struct report_model *model = report_kit_model(events, 2);
    source = (struct report_source){
        .id = 1,
        .name = NVTXT_SLICE("journal"),
        .kind = NVTXT_SLICE("session"),
        .peer_comm = nvtxt_slice_of(comm),
        .has_levels = has_levels,
        .has_closed = true,
        .opened_ns = 10 * DAY,
        .closed_ns = 20 * DAY,
    };
    model->capture->sources = &source;
    model->capture->source_count = 1;
    model->capture->events[0].source = model->capture->events[1].source = 0;
    return judged(model, NULL);
}

Test(package, ClockSuspicion_is_none_of_a_log_with_times_of_its_own) {
    const char *rule = "ClockSuspicion", *send = "nvtxt-send";
    cr_assert_eq(status_of(of_lines(send, true, 3 * DAY, 12 * DAY), rule), REPORT_RULE_NO_ISSUE);
    cr_assert_eq(status_of(of_lines(send, true, 3 * DAY, 2 * DAY), rule), REPORT_RULE_NO_ISSUE);
    // The clock went back; another program; no log; times to come.
    cr_assert_eq(status_of(of_lines(send, true, 12 * DAY, 3 * DAY), rule), REPORT_RULE_FINDINGS);
    cr_assert_eq(status_of(of_lines("python3", true, 3 * DAY, 4 * DAY), rule),
                 REPORT_RULE_FINDINGS);
    cr_assert_eq(status_of(of_lines(send, false, 3 * DAY, 4 * DAY), rule), REPORT_RULE_FINDINGS);
    cr_assert_eq(status_of(of_lines(send, true, 3 * DAY, 22 * DAY), rule), REPORT_RULE_FINDINGS);
}

Test(package, InputErrors) {
    cr_assert_eq(status_of(of_source("unix", 0, 1, 0), "InputErrors"), REPORT_RULE_FINDINGS);
    cr_assert_eq(status_of(of_source("unix", 0, 0, 0), "InputErrors"), REPORT_RULE_NO_ISSUE);
}

Test(package, LossPresent) {
    cr_assert_eq(status_of(of_source("unix", 0, 0, 1), "LossPresent"), REPORT_RULE_FINDINGS);
    cr_assert_eq(status_of(of_source("unix", 0, 0, 0), "LossPresent"), REPORT_RULE_NO_ISSUE);
}
