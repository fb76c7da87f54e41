// SPDX-License-Identifier: Apache-2.0
//
// The table of options is copied to the rows of client/common/arguments. Options may stand before
// the command, so whether it takes them is looked at in the end.
#include "client/report/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/text/forms.h"
#include "report/select/filter.h"

#define MAX_MEMORY (UINT64_C(1) << 30)
#define GATE 2.0 // percent
#define RULE_TIMEOUT_S 10.0
#define MAX_EVENTS 2000000
#define THREADS 2 // more are for those who know that others do not need the processors

const char *report_format_name(enum report_format format) {
    static const char *const names[] = {"text",     "csv",   "tsv",    "json", "jsonl",
                                        "markdown", "junit", "github", "html"};
    return names[format];
}

static bool is_seen(unsigned __int128 seen, const char *name) {
    size_t i = 0;
    while (strcmp(report_options_table[i].row.name, name) != 0) {
        i++;
    }
    return seen >> i & 1;
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

static enum outcome check_seen(const struct report_options *options, struct term *term,
                               unsigned __int128 seen) {
    char name[NVTXT_OPTION_NAME_SIZE], commands[128];
    for (size_t i = 0; report_options_table[i].row.kind != NVTXT_OPTION_END; i++) {
        const struct report_option *option = &report_options_table[i];
        if ((seen >> i & 1) && !(option->commands & options->command->bit)) {
            term_say(term, "%s does not take the option %s; it is for %s", options->command->name,
                     nvtxt_option_name(&option->row, name),
                     list_commands(commands, sizeof(commands), option->commands));
            return refuse(term, options->command);
        }
    }
    return 0;
}

// Whether `summary` takes all of the options, too: then none is about sections or rules.
static bool has_no_sections(unsigned __int128 seen) {
    bool none = true;
    for (size_t i = 0; report_options_table[i].row.kind != NVTXT_OPTION_END; i++) {
        none &= !(seen >> i & 1) || report_options_table[i].commands & REPORT_SUMMARY;
    }
    return none;
}

static enum outcome check_format(struct report_options *options, struct term *term,
                                 bool has_format) {
    char commands[128];
    unsigned takes = 0;
    if (options->csv && has_format && options->format != REPORT_CSV) {
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

// A page on a terminal would only be a wall of text.
static enum outcome check_page(const struct report_options *options, struct term *term) {
    bool to_stdout = !options->output || strcmp(options->output, "-") == 0;
    if (options->format != REPORT_PAGE || !to_stdout || !isatty(STDOUT_FILENO)) {
        return 0;
    }
    term_say(term,
             "a page is for a browser, not for a terminal: write it to a file, as in "
             "'%s %s --format html -o %s.html %s'",
             term->program, options->command->name, options->command->name,
             options->command->words);
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
    options->command = command ?: report_command_find("report");
    if (!options->command) {
        term_say(term, "there is no command '%s'", word ?: "report");
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
        if (nvtxt_option_list_add(&options->words, options->stores.words[i]) != 0) {
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
    size_t count = options->words.count, least = command->least, most = command->most;
    const char *words = command->words;
    if (options->baseline || options->save_baseline) { // NEW is enough, or even the usual store
        least = 0;
    }
    if (options->baseline) {
        most = 1;
        words = "NEW with --baseline";
    }
    if (count >= least && count <= most) {
        return 0;
    }
    if (count < least) {
        term_say(term, "%s needs %s", command->name, words);
    } else {
        term_say(term, "%s takes %s; '%s' is too much", command->name, words,
                 options->words.words[most]);
    }
    return refuse(term, command);
}

// The page is a file. "--follow 5s" is a store of that name, and hardly meant.
static enum outcome check_follow(const struct report_options *options, struct term *term,
                                 bool has_output) {
    int64_t ns;
    if (options->follow_ms == 0) {
        return 0;
    }
    for (size_t i = 0; i < options->words.count; i++) {
        const char *word = options->words.words[i];
        if (nvtxt_duration_parse(word, &ns) && access(word, F_OK) != 0) {
            term_say(term, "there is no store '%s'; the interval is written --follow=%s", word,
                     word);
            return refuse(term, options->command);
        }
    }
    if (!has_output || strcmp(options->output, "-") == 0) {
        term_say(term,
                 "--follow needs the name of a file that it writes again and again%s: "
                 "-o FILE, such as -o page.html",
                 has_output ? ", not standard output" : "");
        return refuse(term, options->command);
    }
    return 0;
}

static int take_word(struct nvtxt_options *parser, char *word) {
    struct report_options *options = parser->values;
    if (nvtxt_option_list_add(&options->words, word) != 0) {
        term_say(parser->context, "out of memory");
        return OUTCOME_SYSTEM;
    }
    return 0;
}

enum outcome report_options_parse(struct report_options *options, struct term *term,
                                  void (*print_help)(const void *options), int argc, char **argv) {
    struct nvtxt_option rows[NVTXT_OPTIONS_MOST] = {{0}};
    for (size_t i = 0; report_options_table[i].row.kind != NVTXT_OPTION_END; i++) {
        rows[i] = report_options_table[i].row;
    }
    *options = (struct report_options){
        .max_memory = MAX_MEMORY,
        .threads = THREADS,
        .max_events = MAX_EVENTS,
        .gate = GATE,
        .rule_timeout_s = RULE_TIMEOUT_S,
        .python = REPORT_OPTIONS_PYTHON,
        .fail_on = REPORT_FAIL_WARNING,
        .arguments = argv,
    };
    struct arguments_parser parser = {.options = {rows, options, term, .take_word = take_word},
                                      .print_help_of = print_help,
                                      .advise = report_ncu_option};
    enum outcome r = arguments_parse(&parser, argc, argv);
    while (r == 0 && optind < argc) {
        r = (enum outcome)take_word(&parser.options, argv[optind++]);
    }
    r = r ?: find_command(options, term);
    r = r ?: check_seen(options, term, parser.options.seen);
    r = r ?: check_format(options, term, is_seen(parser.options.seen, "format"));
    r = r ?: take_stores(options, term);
    r = r ?: check_words(options, term);
    r = r ?: check_selection(options, term);
    r = r ?: check_page(options, term);
    r = r ?: check_follow(options, term, is_seen(parser.options.seen, "output"));
    options->has_format = is_seen(parser.options.seen, "format");
    options->is_bare = !options->named && has_no_sections(parser.options.seen) &&
                       !is_seen(parser.options.seen, "iterations"); // their section is shown
    options->descriptions =
        options->rule_details ||
        (is_seen(parser.options.seen, "print-details") && options->details == REPORT_DETAILS_ALL);
    options->has_time_unit = is_seen(parser.options.seen, "timeunit");
    options->follow_bounded =
        options->selection.has_last || is_seen(parser.options.seen, "max-events");
    if (options->follow_ms > 0 && !options->follow_bounded) {
        options->max_events = REPORT_OPTIONS_FOLLOW_EVENTS;
    }
    options->has_gate = is_seen(parser.options.seen, "gate");
    if (!options->output && options->command && options->command->bit == REPORT_HTML) {
        options->output = REPORT_OPTIONS_PAGE;
    }
    if (options->output && strcmp(options->output, "-") == 0) {
        options->output = NULL;
    }
    return r;
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
    for (size_t i = 0; i < options->kernel_count; i++) {
        report_regex_free(options->kernels[i]);
    }
    free(options->kernels);
    free(options->results);
}

void report_options_print_notes(struct term *term, const struct nvtxt_buf *notes) {
    for (size_t at = 0; at < notes->len;) {
        char *line = notes->data + at;
        char *end = memchr(line, '\n', notes->len - at);
        size_t len = end ? (size_t)(end - line) : notes->len - at;
        term_say(term, "note: %.*s", (int)len, line);
        at += len + 1;
    }
}
