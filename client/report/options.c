// SPDX-License-Identifier: Apache-2.0
//
// The table of options is copied to the rows of client/common/arguments. Options may stand before
// the command, so whether it takes them is looked at in the end.
#include "client/report/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MEMORY (UINT64_C(1) << 30)
#define GATE 2.0 // percent
#define RULE_TIMEOUT_S 10.0
#define MAX_EVENTS 2000000

enum outcome report_options_refuse(struct term *term, const struct report_fault *fault) {
    struct nvtxt_buf text = {0};
    if (!fault->text.data) { // of several options
        term_say(term, "%s", fault->sentence);
        return OUTCOME_USAGE;
    }
    report_fault_write(fault, &text);
    nvtxt_buf_add(&text, "", 1);
    if (nvtxt_buf_failed(&text)) {
        term_say(term, "--%s: %s", fault->option, fault->sentence);
    }
    char *line = text.data;
    for (bool first = true; line && !nvtxt_buf_failed(&text); first = false) {
        char *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
        }
        if (first) {
            term_say(term, "%s", line);
        } else {
            term_line(term, line);
        }
        line = end ? end + 1 : NULL;
    }
    nvtxt_buf_deinit(&text);
    return OUTCOME_USAGE;
}

const char *report_format_name(enum report_format format) {
    static const char *const names[] = {"text", "csv", "tsv", "json", "jsonl", "markdown"};
    return names[format];
}

static bool given_is(uint64_t given, const char *name) {
    size_t i = 0;
    while (strcmp(report_options_table[i].row.name, name) != 0) {
        i++;
    }
    return given >> i & 1;
}

static enum outcome refuse(struct term *term, const struct report_command *command) {
    fprintf(stderr, "Try '%s %s --help'.\n", term->program, command->name);
    return OUTCOME_USAGE;
}

// The names of commands with a bit of `commands`, as "a, b and c".
static const char *list_commands(char *out, size_t size, unsigned commands) {
    size_t len = 0, left = 0;
    for (const struct report_command *at = report_commands; at->name; at++) {
        left += (commands & at->bit) != 0;
    }
    out[0] = '\0';
    for (const struct report_command *at = report_commands; at->name && len < size; at++) {
        if (commands & at->bit) {
            left--;
            len += (size_t)snprintf(out + len, size - len, "%s%s", at->name,
                                    left > 1    ? ", "
                                    : left == 1 ? " and "
                                                : "");
        }
    }
    return out;
}

static enum outcome check_given(const struct report_options *options, struct term *term,
                                uint64_t given) {
    char name[ARGUMENTS_NAME_SIZE], commands[128];
    for (size_t i = 0; report_options_table[i].row.kind != ARGUMENTS_END; i++) {
        const struct report_option *option = &report_options_table[i];
        if ((given >> i & 1) && !(option->commands & options->command->bit)) {
            term_say(term, "%s does not take the option %s; it is for %s", options->command->name,
                     arguments_name(&option->row, name),
                     list_commands(commands, sizeof(commands), option->commands));
            return refuse(term, options->command);
        }
    }
    return 0;
}

static enum outcome check_format(struct report_options *options, struct term *term, bool given) {
    char commands[128];
    unsigned takes = 0;
    if (options->csv && given && options->format != REPORT_CSV) {
        term_say(term, "--csv and --format %s contradict each other",
                 report_format_name(options->format));
        return refuse(term, options->command);
    }
    options->format = options->csv ? REPORT_CSV : options->format;
    if (options->command->formats >> options->format & 1) {
        return 0;
    }
    for (const struct report_command *at = report_commands; at->name; at++) {
        takes |= at->formats >> options->format & 1 ? at->bit : 0;
    }
    term_say(term, "%s has no format %s; it is for %s", options->command->name,
             report_format_name(options->format), list_commands(commands, sizeof(commands), takes));
    return refuse(term, options->command);
}

static enum outcome check_selection(const struct report_options *options, struct term *term) {
    struct report_fault fault = {0};
    if (report_selection_check(&options->selection, &fault) == 0) {
        return 0;
    }
    report_options_refuse(term, &fault);
    return refuse(term, options->command);
}

// The first word is a command if there is one of that name; else it is a store to report.
static enum outcome find_command(struct report_options *options, struct term *term) {
    const char *word = options->words.count > 0 ? options->words.words[0] : NULL;
    const struct report_command *command = word ? report_command_find(word) : NULL;
    options->command = command ? command : report_command_find("report");
    if (!options->command) {
        term_say(term, "there is no command '%s'", word ? word : "report");
        return arguments_refuse(term);
    }
    options->named = command != NULL;
    if (command) {
        options->words.count--;
        memmove(options->words.words, options->words.words + 1,
                options->words.count * sizeof(*options->words.words));
    }
    return 0;
}

// What --store names are words like the others, and no commands.
static enum outcome take_stores(struct report_options *options, struct term *term) {
    size_t count = options->words.count;
    for (size_t i = 0; i < options->stores.count; i++) {
        if (arguments_list_add(&options->words, options->stores.words[i]) != 0) {
            term_say(term, "out of memory");
            return OUTCOME_SYSTEM;
        }
    }
    if (options->stores.count > 0) {
        memmove(options->words.words + options->stores.count, options->words.words,
                count * sizeof(*options->words.words));
        memcpy(options->words.words, options->stores.words,
               options->stores.count * sizeof(*options->words.words));
    }
    return OUTCOME_DONE;
}

static enum outcome check_words(const struct report_options *options, struct term *term) {
    const struct report_command *command = options->command;
    size_t count = options->words.count;
    if (count >= command->least && count <= command->most) {
        return 0;
    }
    if (count < command->least) {
        term_say(term, "%s needs %s", command->name, command->words);
    } else {
        term_say(term, "%s takes %s; '%s' is too much", command->name, command->words,
                 options->words.words[command->most]);
    }
    return refuse(term, command);
}

static enum outcome take_word(struct arguments_parser *parser, char *word) {
    struct report_options *options = parser->values;
    if (arguments_list_add(&options->words, word) != 0) {
        term_say(parser->term, "out of memory");
        return OUTCOME_SYSTEM;
    }
    return 0;
}

#define MOST 64

enum outcome report_options_parse(struct report_options *options, struct term *term,
                                  void (*print_help)(const void *options), int argc, char **argv) {
    struct arguments_row rows[MOST] = {{0}};
    for (size_t i = 0; report_options_table[i].row.kind != ARGUMENTS_END; i++) {
        rows[i] = report_options_table[i].row;
    }
    *options = (struct report_options){
        .max_memory = MAX_MEMORY,
        .max_events = MAX_EVENTS,
        .gate = GATE,
        .rule_timeout_s = RULE_TIMEOUT_S,
        .python = REPORT_OPTIONS_PYTHON,
        .fail_on = REPORT_FAIL_WARNING,
        .arguments = argv,
    };
    struct arguments_parser parser = {rows, options, term, .print_help_of = print_help,
                                      .take_word = take_word};
    enum outcome result = arguments_parse(&parser, argc, argv);
    while (result == 0 && optind < argc) {
        result = take_word(&parser, argv[optind++]);
    }
    result = result ? result : find_command(options, term);
    result = result ? result : check_given(options, term, parser.given);
    result = result ? result : check_format(options, term, given_is(parser.given, "format"));
    result = result ? result : take_stores(options, term);
    result = result ? result : check_words(options, term);
    result = result ? result : check_selection(options, term);
    options->has_gate = given_is(parser.given, "gate");
    if (!options->output && options->command && options->command->bit == REPORT_HTML) {
        options->output = REPORT_OPTIONS_PAGE;
    }
    if (options->output && strcmp(options->output, "-") == 0) {
        options->output = NULL;
    }
    return result;
}

static void free_words(struct report_words *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->words[i]);
    }
    free(list->words);
}

void report_options_deinit(struct report_options *options) {
    free_words(&options->sections);
    free_words(&options->sets);
    free_words(&options->metrics);
    free_words(&options->rules);
    free_words(&options->reports);
    free_words(&options->percentiles);
    free(options->words.words);
    free(options->stores.words);
    report_selection_deinit(&options->selection);
    free(options->folders);
    free(options->defines.words);
    free(options->metric_files.words);
    free(options->resolved.words);
}
