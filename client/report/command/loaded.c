// SPDX-License-Identifier: Apache-2.0
//
// The order is that of names: files of metrics, options, sections. A cycle that is left after the
// sections is one of the options.
#include "config.h"

#include "client/report/command/loaded.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/common/input.h"
#include "client/common/outcome.h"
#include "protocol/base/origin.h"
#include "report/host/host.h"

#define METRICS_FILE_MAX ((size_t)256 * 1024 * 1024)

static int refuse_define(const struct report_job *job, const char *text,
                         const struct report_expression_fault *why) {
    struct report_fault fault = {.option = "define", .text = nvtxt_slice_of(text)};
    report_fault_set(&fault, why->column, "%s", why->text);
    return (int)report_options_refuse(job->term, &fault);
}

static int take_defines(struct report_loaded *loaded, const struct report_job *job) {
    const struct nvtxt_option_list *defines = &job->options->defines;
    for (size_t i = 0; i < defines->count; i++) {
        struct report_expression_fault fault = {0};
        const char *text = defines->words[i];
        int r = report_definitions_add_option(loaded->definitions, nvtxt_slice_of(text), &fault);
        r = r > 0 ? refuse_define(job, text, &fault) : r;
        if (r != 0) {
            return r;
        }
    }
    return 0;
}

// --- files of metrics

struct metrics_file {
    struct report_loaded *loaded;
    const char *path;
};

static void on_fault(void *context, const struct report_expression_fault *fault) {
    const struct metrics_file *file = context;
    struct report_place at = {fault->line, fault->column > 0 ? fault->column : 1};
    report_messages_add(&file->loaded->messages, file->path, at, REPORT_FILE_ERROR, fault->code,
                        "%s", fault->text);
}

static int take_metrics_file(struct report_loaded *loaded, const char *path) {
    struct input input = {.fd = -1};
    struct nvtxt_buf text = {0};
    struct metrics_file file = {loaded, path};
    int r = input_open(&input, path);
    bool opened = r == 0;
    if (opened) {
        r = input_read_all(&input, &text, METRICS_FILE_MAX);
        input_close(&input);
    }
    if (r == 0) {
        struct nvtxt_slice json = {text.data ?: "", text.len};
        r = report_definitions_add_file(loaded->definitions, json, on_fault, &file);
        r = r > 0 ? 0 : r;
    } else if (r != -ENOMEM) {
        report_messages_add(&loaded->messages, path, (struct report_place){0}, REPORT_FILE_ERROR,
                            "bad-metrics", "%s", opened ? strerror(-r) : input_why(r));
        r = 0;
    }
    nvtxt_buf_deinit(&text);
    return r;
}

// --- all

static int find_files(struct report_loaded *loaded, const struct report_job *job) {
    const struct report_options *options = job->options;
    struct report_search_folder *folders = calloc(options->folder_count + 1, sizeof(*folders));
    if (!folders) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < options->folder_count; i++) {
        folders[i] =
            (struct report_search_folder){options->folders[i].path, options->folders[i].recursive};
    }
    const char *missing = NULL;
    int r = report_files_find(&loaded->files, folders, options->folder_count, job->launches != NULL,
                              &missing);
    free(folders);
    if (r > 0) {
        term_say(job->term, "the folder %s: %s", missing, strerror(errno));
        return OUTCOME_NO_INPUT;
    }
    return r;
}

static int find_cycle(struct report_loaded *loaded, const struct report_job *job) {
    struct report_expression_fault fault = {0};
    const char *name;
    const void *owner;
    int r = report_definitions_cycle(loaded->definitions, &fault, &name, &owner);
    if (r > 0) {
        term_say(job->term, "--define: %s", fault.text);
        return OUTCOME_USAGE;
    }
    return r;
}

static bool has_section(const void *context, struct nvtxt_slice section) {
    return report_sections_find(context, section) != NULL;
}

// Those that show or apply rules: others start no process.
static bool runs_rules(const struct report_job *job) {
    const struct nvtxt_option_list *words = &job->options->words;
    switch (job->options->command->bit) {
    case REPORT_REPORT:
    case REPORT_CHECK:
    case REPORT_HTML:
        return true;
    case REPORT_LIST:
        return words->count > 0 && strcmp(words->words[0], "rules") == 0;
    default:
        return false;
    }
}

static int make_runner(struct report_loaded *loaded, const struct report_job *job) {
    const struct report_options *options = job->options;
    char folder[PATH_MAX], why[REPORT_HOST_WHY] = "";
    report_files_package("python", folder);
    const struct report_host_options wanted = {
        .python = options->python,
        .folder = folder,
        .version = PACKAGE_VERSION,
        .sandbox = (enum report_sandbox)options->sandbox,
        .timeout_s = options->rule_timeout_s,
        .definitions = loaded->definitions,
        .sections = &loaded->sections,
        .view = &loaded->view,
        .interrupt_fd = signals_fd(),
        .why = why,
    };
    int r = report_host_new(&loaded->runner, &wanted);
    if (r == REPORT_HOST_NO_SANDBOX) {
        term_say(job->term, "--sandbox=always: there is no sandbox here: %s", why);
        return OUTCOME_NO_DAEMON;
    }
    return r;
}

// Folders that are named stand in place of all that is part of the package, unless one of them is
// "builtin". Rules in C are about events.
static bool wants_builtins(const struct report_job *job) {
    const struct report_options *options = job->options;
    bool named = options->folder_count == 0;
    for (size_t i = 0; i < options->folder_count; i++) {
        named |= strcmp(options->folders[i].path, REPORT_FILES_BUILTIN) == 0;
    }
    return named && !job->launches;
}

static int load_rules(struct report_loaded *loaded, const struct report_job *job) {
    int r = runs_rules(job) ? make_runner(loaded, job) : 0;
    r = r ?: report_rules_new(&loaded->rules, wants_builtins(job));
    if (r == 0) {
        r = report_rules_load(loaded->rules, &loaded->files, loaded->definitions, has_section,
                              &loaded->sections, loaded->runner, &loaded->messages);
    }
    const char *missing = r == 0 && loaded->runner ? report_host_missing(loaded->runner) : NULL;
    if (missing) {
        term_say(job->term, "rules in Python run without a sandbox: %s", missing);
    }
    return r < 0 && signals_came() ? (int)OUTCOME_STOPPED : r;
}

// Files are read for the first result; report_loaded_enter() goes on to the others.
static const struct report_launch *first_launch(const struct report_job *job) {
    for (size_t i = 0; job->launches && i < job->store_count; i++) {
        if (job->launches[i]->count > 0) {
            return &job->launches[i]->list[0];
        }
    }
    return NULL;
}

int report_loaded_enter(struct report_loaded *loaded, const struct report_job *job,
                        const struct report_scope *scope) {
    const struct report_launch *launch = (const struct report_launch *)scope->given;
    if (!launch) {
        return 0;
    }
    uint32_t arch = job->options->arch ?: report_launch_arch(launch);
    size_t names;
    if (!report_launches_names(launch->all, launch->bytes, &names)) {
        return nvtxt_origin(-ENOMEM); // what lists them cannot say it
    }
    report_definitions_set_given(loaded->definitions, scope->given);
    if (arch == loaded->view.arch) {
        return 0;
    }
    loaded->view.arch = arch;
    return report_sections_define(&loaded->sections, &loaded->view, loaded->definitions);
}

int report_loaded_open(struct report_loaded *loaded, struct report_job *job) {
    const struct report_options *options = job->options;
    *loaded = (struct report_loaded){0};
    loaded->view = (struct report_section_filter_view){
        .arch = options->arch,
        .scope = (enum report_collection_scope)(REPORT_COLLECT_CAPTURE + options->scope),
        .capture = job->capture,
    };
    int r = report_definitions_new(&loaded->definitions);
    if (r < 0) {
        return r;
    }
    const struct report_launch *first = first_launch(job);
    if (job->launches) {
        loaded->view.scope = REPORT_COLLECT_LAUNCH;
    }
    if (first) {
        report_definitions_set_given(loaded->definitions, &first->given);
        loaded->view.arch = options->arch ?: report_launch_arch(first);
    }
    if (options->from_operands) {
        report_definitions_set_aggregate(loaded->definitions, REPORT_AGGREGATE_OPERANDS);
    }
    for (size_t i = 0; i < options->metric_files.count && r == 0; i++) {
        r = take_metrics_file(loaded, options->metric_files.words[i]);
    }
    r = r ?: take_defines(loaded, job);
    r = r ?: find_files(loaded, job);
    if (r == 0) {
        r = report_sections_load(&loaded->sections, &loaded->files, &loaded->view,
                                 loaded->definitions, &loaded->messages);
    }
    r = r ?: find_cycle(loaded, job);
    return r ?: load_rules(loaded, job);
}

void report_loaded_close(struct report_loaded *loaded) {
    report_rules_free(loaded->rules);
    report_host_free(loaded->runner);
    report_sections_deinit(&loaded->sections);
    report_files_deinit(&loaded->files);
    report_definitions_free(loaded->definitions);
    report_messages_deinit(&loaded->messages);
    *loaded = (struct report_loaded){0};
}

int report_loaded_refuse(const struct report_loaded *loaded, const struct report_job *job,
                         const char *sentence) {
    report_loaded_say(loaded, job);
    term_say(job->term, "%s", sentence);
    return OUTCOME_USAGE;
}

#define ITERATIONS "IterationStats"

static bool has_iterations(const struct report_loaded *loaded) {
    bool found = false;
    for (size_t i = 0; i < loaded->sections.count; i++) {
        found |= nvtxt_slice_equal(loaded->sections.entries[i].section->identifier.text,
                                   NVTXT_SLICE(ITERATIONS));
    }
    return found;
}

int report_loaded_choose(const struct report_loaded *loaded, const struct report_job *job,
                         struct report_chosen *chosen) {
    const struct report_options *options = job->options;
    char sentence[REPORT_SENTENCE_BYTES] = "";
    static const char *const iterations[] = {ITERATIONS}, *const basic[] = {"basic"};
    struct report_choice choice = {
        .all = job->launches != NULL,
        .sections = (const char *const *)options->sections.words,
        .section_count = options->sections.count,
        .sets = (const char *const *)options->sets.words,
        .set_count = options->sets.count,
    };
    if (options->selection.has_iterations && choice.section_count + choice.set_count == 0 &&
        !choice.all && has_iterations(loaded)) { // who asks for iterations wants to see them
        choice.sections = iterations;
        choice.sets = basic;
        choice.section_count = choice.set_count = 1;
    }
    int r = report_sections_choose(chosen, &loaded->sections, &choice, sentence);
    return r == NVTXT_WRONG ? report_loaded_refuse(loaded, job, sentence) : r;
}

int report_loaded_show(struct report_loaded *loaded, const struct report_chosen *chosen,
                       struct report_metrics *metrics, struct store_arena *arena,
                       struct report_shown_section **shown, size_t *count) {
    const struct report_show show = {
        .metrics = metrics,
        .definitions = loaded->definitions,
        .sections = &loaded->sections,
        .view = &loaded->view,
        .arena = arena,
        .messages = &loaded->messages,
    };
    *count = 0;
    *shown = store_arena_make(arena, (chosen->count + 1) * sizeof(**shown));
    int r = *shown ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; i < chosen->count && r == 0; i++) {
        r = report_section_show(&show, chosen->entries[i], &(*shown)[*count]);
        *count += r == 0;
        r = r == REPORT_NOT_SHOWN ? 0 : r;
    }
    return r;
}

void report_loaded_say(const struct report_loaded *loaded, const struct report_job *job) {
    for (size_t i = 0; i < loaded->messages.count; i++) {
        struct nvtxt_buf line = {0};
        report_message_write(&line, &loaded->messages.items[i]);
        nvtxt_buf_add(&line, "", 1);
        if (!nvtxt_buf_failed(&line)) {
            term_line(job->term, line.data);
        }
        nvtxt_buf_deinit(&line);
    }
}

void report_loaded_raise(const struct report_loaded *loaded, struct report_job *job) {
    if (loaded->messages.errors > 0) {
        report_job_raise(job, OUTCOME_FAULTS);
    }
}
