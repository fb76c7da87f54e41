// SPDX-License-Identifier: Apache-2.0
//
// A table of rows; times, formats and levels have functions of their own that read them. What does
// not fit together is found after the last option.
#include "client/export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/text/forms.h"

static void print_help(void) {
    fputs("Usage: nvtxt-export [--store STORE] --format FORMAT [-o OUT] [OPTION]...\n"
          "Writes the events of a store in a format that other tools read.\n"
          "\n"
          "      --store STORE     a store with all its segments; or one segment; or an\n"
          "                        SQLite export of Nsight Systems (default: $NVTXT_STORE,\n"
          "                        or the daemon's; 'nvtxt-ctl where' prints it)\n"
          "      --format FORMAT   chrome, perfetto, speedscope, folded (flame graphs),\n"
          "                        csv, jsonl, nvtxt, otlp, nsys (an SQLite export)\n"
          "  -o, --output OUT      the file to make (default, and '-': stdout)\n"
          "      --origin NS       nsys: Unix time of its time 0 (default: the first time)\n"
          "      --with-gpu-tables nsys: with empty tables of GPU events\n"
          "      --since TIME      events that end at TIME or later: 2026-11-21T06:24:00Z,\n"
          "      --until TIME      ... and begin at TIME or before; @SECONDS; nanoseconds\n"
          "      --last LENGTH     events of the last 90s, 5m, 2h, 1d\n"
          "      --pid N           events of this process; this and the next two may repeat\n"
          "      --source S        ... of this source, by its id or name\n"
          "      --category C      ... of this category, by its number or name\n"
          "      --level LEVEL     ... lines of logs of this level or worse, or of A..B\n"
          "      --match REGEX     ... whose message matches (POSIX extended)\n"
          "  -q, --quiet           no progress\n"
          "      --help, --version\n"
          "\n"
          "Exit status: 0 done; 1 done, but FORMAT could not hold everything; 64 usage;\n"
          "65 STORE is no store; 66 it cannot be read; 73 OUT cannot be made; 74 I/O error.\n",
          stdout);
}

// The option's name says what stands in the text: a moment, or for --last a length of time.
static int take_time(const struct nvtxt_option_value *value) {
    bool is_length = strcmp(value->row->name, "last") == 0;
    if (is_length ? nvtxt_duration_parse(value->text, value->field)
                  : nvtxt_time_parse(value->text, value->field)) {
        return 0;
    }
    term_say(value->context, "--%s: '%s' is no %s, such as %s", value->row->name, value->text,
             is_length ? "length of time" : "time",
             is_length ? "90s, 5m or 1.5h" : "2026-11-21T06:24:00Z, @1795242240 or nanoseconds");
    return OUTCOME_USAGE;
}

static const char *format_name(const void *context, size_t index) {
    (void)context;
    return export_format_name(index);
}

#define FORMATS_SIZE 256 // bytes of the names of all formats

// "chrome, csv and nvtxt": all of them, with this word before the last.
static const char *list_formats(char names[FORMATS_SIZE], const char *word) {
    size_t len = 0;
    const char *name;
    for (size_t i = 0; (name = export_format_name(i)) && len < FORMATS_SIZE; i++) {
        const char *before = i == 0 ? "" : export_format_name(i + 1) ? ", " : word;
        len += (size_t)snprintf(names + len, FORMATS_SIZE - len, "%s%s", before, name);
    }
    return names;
}

static int take_format(const struct nvtxt_option_value *value) {
    const struct export_format *format = export_format_find(value->text);
    *(const struct export_format **)value->field = format;
    if (!format) {
        const char *near = nvtxt_near(nvtxt_slice_of(value->text), format_name, NULL);
        char names[FORMATS_SIZE];
        term_say(value->context, "there is no format '%s'%s%s%s; there are %s", value->text,
                 near ? ", did you mean '" : "", near ?: "", near ? "'?" : "",
                 list_formats(names, " and "));
    }
    return format ? OUTCOME_DONE : OUTCOME_USAGE;
}

static int take_match(const struct nvtxt_option_value *value) {
    struct export_options *options = value->field;
    char why[256];
    if (options->has_match) {
        term_say(value->context, "--match can be given once; 'a|b' matches both");
        return OUTCOME_USAGE;
    }
    int r = regcomp(&options->match, value->text, REG_EXTENDED | REG_NOSUB);
    if (r != 0) {
        regerror(r, &options->match, why, sizeof(why));
        term_say(value->context, "--match: '%s' is no regular expression: %s", value->text, why);
        return OUTCOME_USAGE;
    }
    options->has_match = true;
    return 0;
}

static int take_level(const struct nvtxt_option_value *value) {
    if (!nvtxt_level_span_parse(nvtxt_slice_of(value->text), value->field)) {
        term_say(value->context, "--level: there is no level '%s'; " NVTXT_LEVELS_THERE,
                 value->text);
        return OUTCOME_USAGE;
    }
    return 0;
}

static int take_pid(const struct nvtxt_option_value *value) {
    struct export_pids *pids = value->field;
    uint32_t *id = nvtxt_add(&pids->ids, &pids->count, sizeof(*id));
    if (!id) {
        return nvtxt_origin(-ENOMEM);
    }
    return nvtxt_option_pid(value->text, id) ? 0 : NVTXT_WRONG;
}

#define AT(field) offsetof(struct export_command_line, field)

static const struct nvtxt_option rows[] = {
    {"store", 0, NVTXT_OPTION_TEXT, .at = AT(options.store), .wanted = "a path"},
    {"format", 0, NVTXT_OPTION_OTHER, .at = AT(options.format), .take = take_format},
    {"output", 'o', NVTXT_OPTION_TEXT, .at = AT(output)},
    {"since", 0, NVTXT_OPTION_OTHER, .at = AT(options.since_ns), .has = AT(options.has_since),
     .take = take_time},
    {"until", 0, NVTXT_OPTION_OTHER, .at = AT(options.until_ns), .has = AT(options.has_until),
     .take = take_time},
    {"last", 0, NVTXT_OPTION_OTHER, .at = AT(options.last_ns), .has = AT(options.has_last),
     .take = take_time},
    {"pid", 0, NVTXT_OPTION_OTHER, .at = AT(options.pids), .wanted = NVTXT_OPTION_A_PID,
     .take = take_pid},
    {"source", 0, NVTXT_OPTION_LIST, .at = AT(options.sources)},
    {"category", 0, NVTXT_OPTION_LIST, .at = AT(options.categories)},
    {"level", 0, NVTXT_OPTION_OTHER, .at = AT(options.level), .has = AT(options.has_level),
     .take = take_level},
    {"match", 0, NVTXT_OPTION_OTHER, .at = AT(options), .take = take_match},
    {"origin", 0, NVTXT_OPTION_NUMBER, .at = AT(options.copy.origin_ns),
     .has = AT(options.copy.has_origin), .wanted = "nanoseconds since 1970", .least = INT64_MIN},
    {"with-gpu-tables", 0, NVTXT_OPTION_FLAG, .at = AT(options.copy.gpu_tables)},
    {"quiet", 'q', NVTXT_OPTION_FLAG, .at = AT(quiet)},
    {0},
};

static enum outcome check_arguments(const struct export_command_line *args, struct term *term,
                                    const char *word) {
    const struct export_options *options = &args->options;
    if (word) {
        term_say(term, "what is '%s'? A store is named with --store", word);
    } else if (!options->format) {
        char names[FORMATS_SIZE];
        term_say(term, "a format is missing: --format %s", list_formats(names, " or "));
    } else if (options->format->makes_file && !args->output) {
        term_say(term, "--format %s makes a database: name its file with -o FILE",
                 options->format->name);
    } else if (!options->format->makes_file &&
               (options->copy.has_origin || options->copy.gpu_tables)) {
        term_say(term, "%s is for --format nsys alone",
                 options->copy.has_origin ? "--origin" : "--with-gpu-tables");
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
    struct arguments_parser parser = {
        {rows, args, .context = term}, .print_help = print_help, .hint = true};
    enum outcome r = arguments_parse(&parser, argc, argv);
    if (args->output && strcmp(args->output, "-") == 0) {
        args->output = NULL;
    }
    return r ?: check_arguments(args, term, argv[optind]);
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
