// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-export: its options, and its end: messages and exit status. It writes the events of a
// store, or of an SQLite export of Nsight Systems, in formats that other tools read.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/common/arguments.h"
#include "client/common/outcome.h"
#include "client/common/signals.h"
#include "client/export/export.h"
#include "client/export/export_file.h"
#include "client/export/export_time.h"
#include "client/locate/probe.h"
#include "protocol/base/near.h"
#include "protocol/lang/level.h"
#include "store/db/stranger.h"

enum {
    OPT_STORE = OPTIONS_OWN,
    OPT_FORMAT,
    OPT_SINCE,
    OPT_UNTIL,
    OPT_LAST,
    OPT_SOURCE,
    OPT_CATEGORY,
    OPT_MATCH,
    OPT_LEVEL,
};

struct arguments {
    const char *output; // -o; NULL: stdout
    bool quiet;
    struct export_options options;
};

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

static enum outcome add_word(struct export_list *list, const char *word) {
    const char **words = realloc(list->words, (list->count + 1) * sizeof(*words));
    if (!words) {
        return OUTCOME_SYSTEM;
    }
    list->words = words;
    words[list->count++] = word;
    return 0;
}

static enum outcome take_time(struct term *term, const char *option, const char *text, bool *has,
                              int64_t *ns) {
    bool is_length = strcmp(option, "--last") == 0;
    *has = is_length ? export_duration_parse(text, ns) : export_time_parse(text, ns);
    if (!*has) {
        term_say(term, "%s: '%s' is no %s, such as %s", option, text,
                 is_length ? "length of time" : "time",
                 is_length ? "90s, 5m or 1.5h"
                           : "2026-11-21T06:24:00Z, @1795242240 or nanoseconds");
        return OUTCOME_USAGE;
    }
    return 0;
}

static const char *format_name(const void *context, size_t index) {
    (void)context;
    return export_format_name(index);
}

static enum outcome take_format(struct export_options *options, struct term *term,
                                const char *text) {
    options->format = export_format_find(text);
    if (!options->format) {
        const char *near = nvtxt_near(nvtxt_slice_of(text), format_name, NULL);
        term_say(term,
                 "there is no format '%s'%s%s%s; there are chrome, speedscope, folded, csv, jsonl "
                 "and nvtxt",
                 text, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
        return OUTCOME_USAGE;
    }
    return 0;
}

static enum outcome take_match(struct export_options *options, struct term *term,
                               const char *text) {
    char why[256];
    if (options->has_match) {
        term_say(term, "--match can be given once; 'a|b' matches both");
        return OUTCOME_USAGE;
    }
    int result = regcomp(&options->match, text, REG_EXTENDED | REG_NOSUB);
    if (result != 0) {
        regerror(result, &options->match, why, sizeof(why));
        term_say(term, "--match: '%s' is no regular expression: %s", text, why);
        return OUTCOME_USAGE;
    }
    options->has_match = true;
    return 0;
}

static enum outcome take_level(struct export_options *options, struct term *term,
                               const char *text) {
    options->level = nvtxt_level_find(nvtxt_slice_of(text));
    options->has_level = options->level != NVTXT_LEVEL_NONE;
    if (!options->has_level) {
        term_say(term,
                 "--level: there is no level '%s'; there are emerg, alert, crit, err, warning, "
                 "notice, info and debug",
                 text);
        return OUTCOME_USAGE;
    }
    return 0;
}

static enum outcome take_pid(struct export_options *options, struct term *term, const char *text) {
    uint32_t pid;
    enum outcome result = options_pid(term, text, &pid);
    return result ? result : add_word(&options->pids, text);
}

static enum outcome take_option(struct arguments *args, struct term *term, int option,
                                const char *text) {
    struct export_options *options = &args->options;
    switch (option) {
    case OPT_STORE:
        options->store = text;
        return 0;
    case OPT_FORMAT:
        return take_format(options, term, text);
    case 'o':
        args->output = strcmp(text, "-") == 0 ? NULL : text;
        return 0;
    case 'q':
        args->quiet = true;
        return 0;
    case OPT_SINCE:
        return take_time(term, "--since", text, &options->has_since, &options->since_ns);
    case OPT_UNTIL:
        return take_time(term, "--until", text, &options->has_until, &options->until_ns);
    case OPT_LAST:
        return take_time(term, "--last", text, &options->has_last, &options->last_ns);
    case OPTIONS_PID:
        return take_pid(options, term, text);
    case OPT_SOURCE:
        return add_word(&options->sources, text);
    case OPT_CATEGORY:
        return add_word(&options->categories, text);
    case OPT_LEVEL:
        return take_level(options, term, text);
    case OPT_MATCH:
        return take_match(options, term, text);
    default:
        return OUTCOME_USAGE;
    }
}

static enum outcome check_arguments(const struct arguments *args, struct term *term,
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
    return OUTCOME_USAGE;
}

static enum outcome parse_arguments(struct arguments *args, struct term *term, int argc,
                                    char **argv) {
    static const struct option table[] = {
        {"store", required_argument, NULL, OPT_STORE},
        {"format", required_argument, NULL, OPT_FORMAT},
        {"output", required_argument, NULL, 'o'},
        {"since", required_argument, NULL, OPT_SINCE},
        {"until", required_argument, NULL, OPT_UNTIL},
        {"last", required_argument, NULL, OPT_LAST},
        {"pid", required_argument, NULL, OPTIONS_PID},
        {"source", required_argument, NULL, OPT_SOURCE},
        {"category", required_argument, NULL, OPT_CATEGORY},
        {"level", required_argument, NULL, OPT_LEVEL},
        {"match", required_argument, NULL, OPT_MATCH},
        {"quiet", no_argument, NULL, 'q'},
        OPTIONS_TAIL,
    };
    int option;
    enum outcome result = OUTCOME_DONE;
    while (result == 0 && (option = getopt_long(argc, argv, "o:q", table, NULL)) != -1) {
        enum outcome answered = options_answer(term, option, print_help);
        if (answered != 0) {
            return answered;
        }
        result = take_option(args, term, option, optarg);
    }
    if (result == 0) {
        result = check_arguments(args, term, argv[optind]);
    }
    return result == OUTCOME_USAGE ? options_refuse(term) : result;
}

// A reader that closes early has all that it wanted.
static enum outcome run_to_stdout(struct arguments *args, struct term *term) {
    args->options.progress = !args->quiet && !isatty(STDOUT_FILENO);
    enum outcome status = export_run(&args->options, term, STDOUT_FILENO, "stdout");
    return status == OUTCOME_NO_READER ? OUTCOME_DONE : status;
}

static enum outcome run_to_file(struct arguments *args, struct term *term) {
    struct export_file file;
    enum outcome status = export_check_output(&args->options, term, args->output);
    if (status == 0) {
        status = export_file_open(&file, term, args->output);
    }
    if (status != 0) {
        return status;
    }
    args->options.progress = !args->quiet;
    status = export_run(&args->options, term, file.fd, args->output);
    if (status <= OUTCOME_FAULTS) {
        enum outcome published = export_file_publish(&file, term);
        return published ? published : status;
    }
    export_file_discard(&file);
    return status == OUTCOME_NO_READER ? OUTCOME_DONE : status;
}

static void free_options(struct export_options *options) {
    free(options->pids.words);
    free(options->sources.words);
    free(options->categories.words);
    if (options->has_match) {
        regfree(&options->match);
    }
}

int main(int argc, char **argv) {
    struct term term;
    struct arguments args = {0};
    term_init(&term, "nvtxt-export");
    int result = stop_init();
    if (result < 0) {
        term_say(&term, "cannot start: %s", strerror(-result));
        return outcome_exit_status(OUTCOME_SYSTEM);
    }
    stop_soon();
    store_stranger_ask(stop_count);
    enum outcome status = parse_arguments(&args, &term, argc, argv);
    char store[PATH_MAX];
    if (status == 0 && !args.options.store) {
        args.options.store = store;
        status = probe_find_store(&term, store, sizeof(store));
    }
    if (status == 0) {
        status = args.output ? run_to_file(&args, &term) : run_to_stdout(&args, &term);
    }
    free_options(&args.options);
    return outcome_exit_status(status);
}
