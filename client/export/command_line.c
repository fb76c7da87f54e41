// SPDX-License-Identifier: Apache-2.0
//
// A table of rows; times, formats and levels have functions of their own that read them. What does
// not fit together is found after the last option.
#include "client/export/command_line.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/common/arguments.h"
#include "protocol/base/near.h"
#include "protocol/lang/level.h"
#include "protocol/text/times.h"

static void print_help(void) {
    fputs("Usage: nvtxt-export [--store STORE] --format FORMAT [-o OUT] [OPTION]...\n"
          "Writes the events of a store in a format that other tools read.\n"
          "\n"
          "      --store STORE     a store with all its segments; or one segment; or an\n"
          "                        SQLite export of Nsight Systems (default: $NVTXT_STORE,\n"
          "                        or the daemon's; 'nvtxt-ctl where' prints it)\n"
          "      --format FORMAT   chrome (for Perfetto), speedscope, folded (flame\n"
          "                        graphs), csv, jsonl (a JSON object a line), nvtxt\n"
          "  -o, --output OUT      the file to make (default, and '-': stdout)\n"
          "      --since TIME      events that end at TIME or later: 2026-11-21T06:24:00Z,\n"
          "      --until TIME      ... and begin at TIME or before; @SECONDS; nanoseconds\n"
          "      --last LENGTH     events of the last 90s, 5m, 2h, 1d\n"
          "      --pid N           events of this process; this and the next two may repeat\n"
          "      --source S        ... of this source, by its id or name\n"
          "      --category C      ... of this category, by its number or name\n"
          "      --level LEVEL     ... lines of logs of this level or worse: emerg, alert,\n"
          "                        crit, err, warning, notice, info, debug\n"
          "      --match REGEX     ... whose message matches (POSIX extended)\n"
          "  -q, --quiet           no progress\n"
          "      --help, --version\n"
          "\n"
          "Exit status: 0 done; 1 done, but FORMAT could not hold everything; 64 usage;\n"
          "65 STORE is no store; 66 it cannot be read; 73 OUT cannot be made; 74 I/O error.\n",
          stdout);
}

// The option's name says what stands in the text: a moment, or for --last a length of time.
static int take_time(const struct arguments_value *value) {
    bool is_length = strcmp(value->row->name, "last") == 0;
    if (is_length ? nvtxt_duration_parse(value->text, value->field)
                  : nvtxt_time_parse(value->text, value->field)) {
        return 0;
    }
    term_say(value->term, "--%s: '%s' is no %s, such as %s", value->row->name, value->text,
             is_length ? "length of time" : "time",
             is_length ? "90s, 5m or 1.5h" : "2026-11-21T06:24:00Z, @1795242240 or nanoseconds");
    return OUTCOME_USAGE;
}

static const char *format_name(const void *context, size_t index) {
    (void)context;
    return export_format_name(index);
}

static int take_format(const struct arguments_value *value) {
    const struct export_format *format = export_format_find(value->text);
    *(const struct export_format **)value->field = format;
    if (!format) {
        const char *near = nvtxt_near(nvtxt_slice_of(value->text), format_name, NULL);
        term_say(value->term,
                 "there is no format '%s'%s%s%s; there are chrome, speedscope, folded, csv, jsonl "
                 "and nvtxt",
                 value->text, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return format ? OUTCOME_DONE : OUTCOME_USAGE;
}

static int take_match(const struct arguments_value *value) {
    struct export_options *options = value->field;
    char why[256];
    if (options->has_match) {
        term_say(value->term, "--match can be given once; 'a|b' matches both");
        return OUTCOME_USAGE;
    }
    int result = regcomp(&options->match, value->text, REG_EXTENDED | REG_NOSUB);
    if (result != 0) {
        regerror(result, &options->match, why, sizeof(why));
        term_say(value->term, "--match: '%s' is no regular expression: %s", value->text, why);
        return OUTCOME_USAGE;
    }
    options->has_match = true;
    return 0;
}

static int take_level(const struct arguments_value *value) {
    int *level = value->field;
    *level = nvtxt_level_find(nvtxt_slice_of(value->text));
    if (*level == NVTXT_LEVEL_NONE) {
        term_say(value->term,
                 "--level: there is no level '%s'; there are emerg, alert, crit, err, warning, "
                 "notice, info and debug",
                 value->text);
        return OUTCOME_USAGE;
    }
    return 0;
}

static int take_pid(const struct arguments_value *value) {
    struct export_pids *pids = value->field;
    uint32_t *ids = realloc(pids->ids, (pids->count + 1) * sizeof(*ids));
    if (!ids) {
        return OUTCOME_SYSTEM;
    }
    pids->ids = ids;
    return arguments_pid(value->text, &ids[pids->count++]) ? 0 : ARGUMENTS_WRONG;
}

#define AT(field) offsetof(struct export_command_line, field)

static const struct arguments_row rows[] = {
    {"store", 0, ARGUMENTS_TEXT, .at = AT(options.store), .wanted = "a path"},
    {"format", 0, ARGUMENTS_OTHER, .at = AT(options.format), .take = take_format},
    {"output", 'o', ARGUMENTS_TEXT, .at = AT(output)},
    {"since", 0, ARGUMENTS_OTHER, .at = AT(options.since_ns), .has = AT(options.has_since),
     .take = take_time},
    {"until", 0, ARGUMENTS_OTHER, .at = AT(options.until_ns), .has = AT(options.has_until),
     .take = take_time},
    {"last", 0, ARGUMENTS_OTHER, .at = AT(options.last_ns), .has = AT(options.has_last),
     .take = take_time},
    {"pid", 0, ARGUMENTS_OTHER, .at = AT(options.pids), .wanted = ARGUMENTS_A_PID,
     .take = take_pid},
    {"source", 0, ARGUMENTS_LIST, .at = AT(options.sources)},
    {"category", 0, ARGUMENTS_LIST, .at = AT(options.categories)},
    {"level", 0, ARGUMENTS_OTHER, .at = AT(options.level), .has = AT(options.has_level),
     .take = take_level},
    {"match", 0, ARGUMENTS_OTHER, .at = AT(options), .take = take_match},
    {"quiet", 'q', ARGUMENTS_FLAG, .at = AT(quiet)},
    {0},
};

static enum outcome check_arguments(const struct export_command_line *args, struct term *term,
                                    const char *word) {
    const struct export_options *options = &args->options;
    if (word) {
        term_say(term, "what is '%s'? A store is named with --store", word);
    } else if (!options->format) {
        term_say(term,
                 "a format is missing: --format chrome, speedscope, folded, csv, jsonl or nvtxt");
    } else if (options->has_since && options->has_last) {
        term_say(term, "--since and --last say the same: give one of them");
    } else if (options->has_since && options->has_until && options->since_ns > options->until_ns) {
        term_say(term, "--since is later than --until");
    } else {
        return 0;
    }
    return arguments_refuse(term);
}

enum outcome export_command_line_parse(struct export_command_line *args, struct term *term,
                                       int argc, char **argv) {
    *args = (struct export_command_line){0};
    struct arguments_parser parser = {rows, args, term, print_help, .hint = true};
    enum outcome result = arguments_parse(&parser, argc, argv);
    if (args->output && strcmp(args->output, "-") == 0) {
        args->output = NULL;
    }
    return result ? result : check_arguments(args, term, argv[optind]);
}

void export_command_line_deinit(struct export_command_line *args) {
    struct export_options *options = &args->options;
    free(options->pids.ids);
    free(options->sources.words);
    free(options->categories.words);
    if (options->has_match) {
        regfree(&options->match);
    }
}
