// SPDX-License-Identifier: Apache-2.0
//
// All rules stand in one list; its order, and that of their application, is found once, after
// loading (order.c).
#include "report/rule/rules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/load/load.h"
#include "report/rule/builder.h"
#include "report/rule/rules_state.h"
#include "report/rule/runner.h"
#include "report/text/message.h"

// ---- The list -----------------------------------------------------------------------------------

static struct report_rule *add_rule(struct report_rules *rules) {
    if (nvtxt_grow(&rules->list, &rules->room, rules->count + 1, sizeof(*rules->list)) < 0) {
        return NULL;
    }
    struct report_rule *rule = &rules->list[rules->count];
    *rule = (struct report_rule){.place = rules->count};
    rules->count++;
    return rule;
}

static enum report_rule_kind kind_of(const struct report_rule *rule) {
    if (rule->builtin) {
        return REPORT_RULE_BUILTIN;
    }
    assert(rule->program || rule->declarative);
    return rule->program ? REPORT_RULE_PYTHON : REPORT_RULE_DECLARATIVE;
}

// ---- Loading ------------------------------------------------------------------------------------

static int add_builtins(struct report_rules *rules) {
    for (const struct report_builtin *builtin = report_builtins; builtin->identifier; builtin++) {
        struct report_rule *rule = add_rule(rules);
        if (!rule) {
            return nvtxt_origin(-ENOMEM);
        }
        rule->identifier = nvtxt_slice_of(builtin->identifier);
        rule->name = nvtxt_slice_of(builtin->name);
        rule->description = nvtxt_slice_of(builtin->description);
        rule->builtin = builtin;
    }
    return 0;
}

int report_rules_new(struct report_rules **rules, bool builtin) {
    struct report_rules *new = calloc(1, sizeof(*new));
    *rules = new;
    if (!new) {
        return nvtxt_origin(-ENOMEM);
    }
    int r = builtin ? add_builtins(new) : 0;
    r = r ?: report_rules_put_in_order(new);
    if (r != 0) {
        report_rules_free(new);
        *rules = NULL;
    }
    return r;
}

void report_rules_free(struct report_rules *rules) {
    for (size_t i = 0; rules && i < rules->count; i++) {
        report_declarative_free(rules->list[i].declarative);
        free(rules->list[i].cycle);
    }
    if (rules) {
        free(rules->list);
        free(rules->order);
        free(rules->parents);
        store_arena_deinit(&rules->arena);
    }
    free(rules);
}

struct loading {
    struct report_rules *rules;
    const struct report_definitions *definitions;
    bool (*has_section)(const void *context, struct nvtxt_slice section);
    const void *context;
    struct report_messages *messages;
};

static int load_file(const struct loading *loading, const struct report_file *file) {
    struct report_rules *rules = loading->rules;
    struct report_declarative *declarative = NULL;
    struct nvtxt_slice text;
    int r = report_file_read(file, &rules->arena, &text, loading->messages);
    if (r == 0) {
        r = report_declarative_read(&declarative, text, file->path, loading->definitions,
                                    &rules->arena, loading->messages);
    }
    if (r != 0) {
        rules->failed += r > 0;
        return r < 0 ? r : 0;
    }
    struct report_rule *rule = add_rule(rules);
    if (!rule) {
        report_declarative_free(declarative);
        return nvtxt_origin(-ENOMEM);
    }
    const struct report_rule_file *said = report_declarative_file(declarative);
    rule->identifier = said->identifier.text;
    rule->name = said->display_name.text;
    rule->description = report_has(&said->description) ? said->description.text : NVTXT_SLICE("");
    rule->section = said->section.text;
    rule->section.data = report_has(&said->section) ? rule->section.data : NULL;
    rule->file = file;
    rule->declarative = declarative;
    return 0;
}

// What a rule of the language of programs says: nobody knows where.
static int load_program(const struct loading *loading, const struct report_file *file) {
    struct report_rules *rules = loading->rules;
    struct report_program *program = store_arena_make(&rules->arena, sizeof(*program));
    if (!program) {
        return nvtxt_origin(-ENOMEM);
    }
    int r = report_file_read_program(file, &rules->arena, &program->text, loading->messages);
    if (r != 0) {
        rules->failed += r > 0;
        return r < 0 ? r : 0;
    }
    r = rules->runner->describe(rules->runner, file, &rules->arena, program, loading->messages);
    rules->failed += r == NVTXT_WRONG;
    if (r != 0) {
        return r < 0 ? r : 0;
    }
    struct report_rule *rule = add_rule(rules);
    if (!rule) {
        return nvtxt_origin(-ENOMEM);
    }
    rule->identifier = program->identifier;
    rule->name = program->name;
    rule->description = program->description;
    rule->section = program->section;
    rule->file = file;
    rule->program = program;
    return 0;
}

// ---- Warnings -----------------------------------------------------------------------------------

struct said_at {
    struct report_place identifier, section;
};

static void warn_of_parents(const struct loading *loading, const struct report_rule *rule) {
    const struct report_list *said =
        rule->declarative ? &report_declarative_file(rule->declarative)->parents : NULL;
    const struct nvtxt_slice *parent;
    for (size_t i = 0; (parent = report_rule_parent(rule, i)); i++) {
        const struct report_scalar *scalar = said ? said->items[i] : NULL;
        if (report_rules_find(loading->rules, *parent) == REPORT_NO_RULE) {
            report_messages_add(loading->messages, rule->file->path,
                                scalar ? scalar->at : REPORT_FILE_BEGIN, REPORT_FILE_WARNING,
                                "bad-rule", "no rule '%.*s'", (int)parent->len, parent->data);
        }
    }
}

static void warn(const struct loading *loading, const struct report_rule *rule) {
    struct said_at said = {REPORT_FILE_BEGIN, REPORT_FILE_BEGIN};
    if (rule->builtin) {
        return;
    }
    if (rule->declarative) {
        const struct report_rule_file *file = report_declarative_file(rule->declarative);
        said = (struct said_at){file->identifier.at, file->section.at};
    }
    if (rule->hidden_by) {
        report_messages_add(loading->messages, rule->file->path, said.identifier,
                            REPORT_FILE_WARNING, "duplicate-identifier",
                            "rule '%.*s' is hidden by %s", (int)rule->identifier.len,
                            rule->identifier.data, report_file_shown(rule->hidden_by->file));
        return;
    }
    if (rule->section.data && loading->has_section &&
        !loading->has_section(loading->context, rule->section)) {
        report_messages_add(loading->messages, rule->file->path, said.section, REPORT_FILE_WARNING,
                            "unknown-section", "no section '%.*s'", (int)rule->section.len,
                            rule->section.data);
    }
    warn_of_parents(loading, rule);
}

int report_rules_load(struct report_rules *rules, const struct report_files *files,
                      const struct report_definitions *definitions,
                      bool (*has_section)(const void *context, struct nvtxt_slice section),
                      const void *context, struct report_runner *runner,
                      struct report_messages *messages) {
    struct loading loading = {rules, definitions, has_section, context, messages};
    int r = 0;
    rules->runner = runner;
    for (size_t i = 0; i < files->count && r == 0; i++) {
        if (report_file_is(&files->files[i], ".rule")) {
            r = load_file(&loading, &files->files[i]);
        } else if (runner && report_file_is(&files->files[i], ".py")) {
            r = load_program(&loading, &files->files[i]);
        }
    }
    r = r ?: report_rules_put_in_order(rules);
    for (size_t i = 0; i < rules->count && r == 0; i++) {
        warn(&loading, &rules->list[i]);
    }
    return r ?: messages->failed ? nvtxt_origin(-ENOMEM) : 0;
}

size_t report_rules_failed(const struct report_rules *rules) {
    return rules->failed;
}

size_t report_rules_count(const struct report_rules *rules) {
    return rules->count;
}

struct report_rule_row report_rules_row(const struct report_rules *rules, size_t index) {
    const struct report_rule *rule = &rules->list[index];
    return (struct report_rule_row){
        .identifier = rule->identifier,
        .name = rule->name,
        .description = rule->description,
        .section = rule->section,
        .kind = kind_of(rule),
        .file = rule->file,
        .hidden = rule->hidden_by != NULL,
        .hidden_by = rule->hidden_by ? rule->hidden_by->file : NULL,
    };
}

// ---- Choosing -----------------------------------------------------------------------------------

static const char *name_at(const void *context, size_t index) {
    const struct report_rules *rules = context;
    return index < rules->count ? rules->list[index].identifier.data : NULL;
}

static int say_unknown(const struct report_rules *rules, const struct report_chooser *chooser,
                       char *sentence) {
    const char *name = chooser->name;
    const char *near = chooser->regex ? NULL : nvtxt_near(nvtxt_slice_of(name), name_at, rules);
    snprintf(sentence, REPORT_SENTENCE_BYTES, "--rule '%.300s': there is no such rule%s%.200s%s",
             name, near ? "; did you mean '" : "", near ?: "", near ? "'?" : "");
    return NVTXT_WRONG;
}

// What is asked for by its name, and nothing can run.
static bool cannot_run(const struct report_rule *rule, const struct report_chooser *chooser) {
    return rule->program && rule->program->not_run && !rule->hidden_by && !chooser->regex;
}

static int check_name(const struct report_rules *rules, const char *name, char *sentence) {
    struct report_chooser chooser;
    bool found = false;
    int r = report_chooser_init(&chooser, name, sentence);
    for (size_t i = 0; i < rules->count && r == 0; i++) {
        const struct report_rule *rule = &rules->list[i];
        int taken = report_chooser_takes(&chooser, rule->identifier);
        found = found || taken == 1;
        r = taken < 0 ? taken : 0;
        if (taken == REPORT_CHOOSER_COSTLY) {
            snprintf(sentence, REPORT_SENTENCE_BYTES, "--rule '%.300s': too costly", name);
            r = NVTXT_WRONG;
        } else if (taken == 1 && cannot_run(rule, &chooser)) {
            snprintf(sentence, REPORT_SENTENCE_BYTES, "--rule '%.300s': %.*s", name,
                     (int)rule->program->reason.len, rule->program->reason.data);
            r = REPORT_RULES_CANNOT_RUN;
        }
    }
    r = r == 0 && !found ? say_unknown(rules, &chooser, sentence) : r;
    report_chooser_deinit(&chooser);
    return r;
}

int report_rules_check(const struct report_rules *rules, const struct report_rules_wanted *wanted,
                       char *sentence) {
    int r = 0;
    for (size_t i = 0; i < wanted->name_count && r == 0; i++) {
        r = check_name(rules, wanted->names[i], sentence);
    }
    return r;
}

// Sets `*wants` of each rule. Returns 0 or -ENOMEM.
static int choose(const struct report_rules *rules, const struct report_rules_wanted *wanted,
                  bool *wants) {
    for (size_t i = 0; i < rules->count; i++) {
        wants[i] = wanted->name_count == 0;
    }
    for (size_t n = 0; n < wanted->name_count; n++) {
        struct report_chooser chooser;
        int r = report_chooser_init(&chooser, wanted->names[n], NULL);
        for (size_t i = 0; i < rules->count && r == 0; i++) {
            int taken = report_chooser_takes(&chooser, rules->list[i].identifier);
            wants[i] = wants[i] || taken == 1;
            r = taken < 0 ? taken : 0;
        }
        report_chooser_deinit(&chooser);
        if (r < 0) {
            return r;
        }
    }
    for (size_t i = 0; i < rules->count; i++) {
        const struct report_rule *rule = &rules->list[i];
        wants[i] = wants[i] && (!rule->section.data || !wanted->shown ||
                                wanted->shown(wanted->context, rule->section));
    }
    return 0;
}

// ---- Applying -----------------------------------------------------------------------------------

static bool has_rule(const void *rules, struct nvtxt_slice identifier) {
    size_t found = report_rules_find(rules, identifier);
    const struct report_rule *rule =
        found == REPORT_NO_RULE ? NULL : &((const struct report_rules *)rules)->list[found];
    return rule && !(rule->program && rule->program->reason.data);
}

static int apply_program(const struct report_rules *rules, const struct report_rule *rule,
                         struct report_builder *builder, struct report_metrics *metrics,
                         const struct report_results *so_far) {
    const struct report_program *program = rule->program;
    if (program->reason.data) {
        report_build_status(builder, program->not_run ? REPORT_RULE_NOT_RUN : REPORT_RULE_FAILED,
                            program->reason);
        report_build_output(builder, program->output);
        return 0;
    }
    const struct report_program_call call = {
        .file = rule->file->path,
        .program = program,
        .metrics = metrics,
        .builder = builder,
        .has_rule = has_rule,
        .rules = rules,
        .results = so_far->results,
        .result_count = so_far->count - 1,
    };
    return rules->runner->apply(rules->runner, &call);
}

static int apply_rule(const struct report_rules *rules, const struct report_rule *rule,
                      struct report_builder *builder, struct report_metrics *metrics,
                      const struct report_rules_wanted *wanted,
                      const struct report_results *so_far) {
    if (wanted->none) {
        report_build_status(builder, REPORT_RULE_NOT_RUN, NVTXT_SLICE(REPORT_RULES_OFF));
        return 0;
    }
    if (wanted->interrupted && wanted->interrupted()) {
        return nvtxt_origin(-EINTR);
    }
    if (rule->cycle) {
        report_build_status(builder, REPORT_RULE_FAILED, nvtxt_slice_of(rule->cycle));
        return 0;
    }
    if (rule->program) {
        return apply_program(rules, rule, builder, metrics, so_far);
    }
    struct report_builtin_call call = {.metrics = metrics, .builder = builder, .wanted = wanted};
    return rule->builtin ? rule->builtin->apply(&call)
                         : report_declarative_apply(rule->declarative, builder, metrics, wanted);
}

static int apply_all(const struct report_rules *rules, const bool *wants,
                     struct report_metrics *metrics, const struct report_rules_wanted *wanted,
                     struct store_arena *arena, struct report_results *results) {
    struct report_result *list = store_arena_take(arena, (rules->count + 1) * sizeof(*list), 8);
    int r = list ? 0 : nvtxt_origin(-ENOMEM);
    results->results = list;
    if (rules->runner) {
        rules->runner->begin(rules->runner);
    }
    for (size_t i = 0; i < rules->order_count && r == 0; i++) {
        const struct report_rule *rule = &rules->list[rules->order[i]];
        struct report_builder builder;
        if (!wants[rules->order[i]]) {
            continue;
        }
        struct report_result *result = &list[results->count++];
        *result = (struct report_result){
            .identifier = rule->identifier,
            .name = rule->name,
            .description = rule->description,
            .section = rule->section,
            .kind = kind_of(rule),
            .file = nvtxt_slice_of(rule->file ? rule->file->path : NULL),
        };
        report_build_begin(&builder, arena, result);
        r = apply_rule(rules, rule, &builder, metrics, wanted, results);
        r = r ?: report_build_end(&builder);
    }
    return r;
}

int report_rules_apply(const struct report_rules *rules, struct report_metrics *metrics,
                       const struct report_rules_wanted *wanted, struct report_results *results) {
    struct store_arena *arena = calloc(1, sizeof(*arena));
    bool *wants = calloc(rules->count + 1, sizeof(*wants));
    *results = (struct report_results){.memory = arena};
    int r = arena && wants ? choose(rules, wanted, wants) : nvtxt_origin(-ENOMEM);
    r = r ?: apply_all(rules, wants, metrics, wanted, arena, results);
    free(wants);
    if (r != 0) {
        report_results_free(results);
    }
    return r;
}

void report_results_free(struct report_results *results) {
    if (results->memory) {
        store_arena_deinit(results->memory);
    }
    free(results->memory);
    *results = (struct report_results){0};
}

bool report_results_off(const struct report_results *results) {
    for (size_t i = 0; i < results->count; i++) {
        if (results->results[i].status != REPORT_RULE_NOT_RUN ||
            !nvtxt_slice_equal(results->results[i].reason, NVTXT_SLICE(REPORT_RULES_OFF))) {
            return false;
        }
    }
    return results->count > 0;
}

bool report_results_failed(const struct report_results *results) {
    for (size_t i = 0; i < results->count; i++) {
        if (results->results[i].status == REPORT_RULE_FAILED) {
            return true;
        }
    }
    return false;
}
