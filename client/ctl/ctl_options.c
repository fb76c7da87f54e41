// SPDX-License-Identifier: Apache-2.0
//
// A table says what each command takes. A command that is not in the table is sent unchanged,
// without arguments: a newer daemon may know it.
#include "client/ctl/ctl_options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/common/arguments.h"
#include "client/common/term.h"

enum {
    OPT_SOCKET = OPTIONS_OWN,
    OPT_JSON,
    OPT_TIMEOUT,
    OPT_SOURCE,
    OPT_OUTPUT,
    OPT_CATEGORY,
    OPT_MESSAGE,
    OPT_REGEX,
    OPT_KIND,
    OPT_COUNT,
    OPT_INTERVAL,
};

#define ANSWER_MS 30000 // a daemon answers at once, or within seconds when its disk is slow

// These wait until the daemon has finished, however long that takes.
static const char patient[] = " flush checkpoint rotate snapshot verify ";

// What may follow a command: an operand, which becomes the argument of this name, and options.
static const struct usage {
    const char *command;
    const char *operand; // NULL: none
    bool is_number;
    bool required;
    const char *options; // each with a blank before and after it
} usages[] = {
    {"diagnostics", NULL, false, false, " -n --source "},
    {"tail", NULL, false, false, " -n --pid --category --message --regex --kind --count "},
    {"top", NULL, false, false, " --interval --count "},
    {"metrics", NULL, false, false, " --output "},
    {"disconnect", "source", true, true, ""},
    {"log-level", "level", false, false, ""},
    {"snapshot", "file", false, true, ""},
};

static void print_help(void) {
    fputs("Usage: nvtxt-ctl [OPTION]... COMMAND [ARGUMENT]\n"
          "Asks a running nvtxtd over its control socket.\n"
          "\n"
          "Commands:\n"
          "  status, sources, health     its state, its sources, its losses\n"
          "  diagnostics [-n N] [--source ID]\n"
          "                              the last errors and warnings in lines\n"
          "  top [--interval SECONDS] [--count N]  live rates; q quits\n"
          "  tail [-n N] [--count N] [--pid PID] [--category NAME] [--message TEXT]\n"
          "       [--regex RE] [--kind KIND]\n"
          "                              events as they are committed\n"
          "  metrics [--output FILE]     totals and other numbers for Prometheus\n"
          "  flush, checkpoint, rotate, reload, log-level [LEVEL], disconnect SOURCE, help\n"
          "  snapshot FILE, verify       copy the store as it is now; check it for errors\n"
          "  where                       which daemon and store are used, and why\n"
          "\n"
          "      --socket PATH   the control socket (default: control.sock beside\n"
          "                      $NVTXT_SOCKET, else yours, else the system's)\n"
          "      --json          print the result as JSON\n"
          "      --timeout SECONDS  longest wait for the answer (default: 30, or for ever)\n"
          "      --help, --version\n"
          "\n"
          "Exit status: 0 done; 1 the daemon reports an error, or its health or\n"
          "store is not good; 64 usage; 69 no daemon; 74 I/O error; 77 forbidden.\n",
          stdout);
}

static const struct usage *find_usage(const char *command) {
    for (size_t i = 0; i < sizeof(usages) / sizeof(usages[0]); i++) {
        if (strcmp(usages[i].command, command) == 0) {
            return &usages[i];
        }
    }
    return NULL;
}

static enum outcome take_number(struct term *term, const char *name, const char *text,
                                int64_t least, int64_t *value) {
    if (options_int64(text, value) && *value >= least) {
        return 0;
    }
    term_say(term, "%s takes a number from %lld on, not '%s'", name, (long long)least, text);
    return OUTCOME_USAGE;
}

static const struct {
    int option;
    const char *name;
} own_options[] = {
    {'n', "-n"},
    {OPT_SOURCE, "--source"},
    {OPT_OUTPUT, "--output"},
    {OPTIONS_PID, "--pid"},
    {OPT_CATEGORY, "--category"},
    {OPT_MESSAGE, "--message"},
    {OPT_REGEX, "--regex"},
    {OPT_KIND, "--kind"},
    {OPT_COUNT, "--count"},
    {OPT_INTERVAL, "--interval"},
};

static const char *note_given(struct ctl_options *options, int option) {
    size_t i = 0;
    while (own_options[i].option != option) {
        i++;
    }
    options->given |= 1u << i;
    return own_options[i].name;
}

static enum outcome take_interval(struct ctl_options *options, struct term *term) {
    if (options_seconds(optarg, &options->interval_ms) && options->interval_ms >= 100 &&
        options->interval_ms <= 86400000) {
        return 0;
    }
    term_say(term, "--interval takes 0.1 to 86400 seconds, not '%s'", optarg);
    return OUTCOME_USAGE;
}

// Takes one of the options that belong to a command.
static enum outcome take_own(struct ctl_options *options, struct term *term, int option) {
    const char *name = note_given(options, option);
    uint32_t pid = 0;
    enum outcome result;
    switch (option) {
    case 'n':
        return take_number(term, name, optarg, 0, &options->lines);
    case OPT_SOURCE:
        return take_number(term, name, optarg, 1, &options->source);
    case OPT_COUNT:
        return take_number(term, name, optarg, 1, &options->count);
    case OPT_INTERVAL:
        return take_interval(options, term);
    case OPTIONS_PID:
        result = options_pid(term, optarg, &pid);
        options->pid = pid;
        return result;
    case OPT_CATEGORY:
        options->category = optarg;
        return 0;
    case OPT_MESSAGE:
        options->message = optarg;
        return 0;
    case OPT_REGEX:
        options->regex = optarg;
        return 0;
    case OPT_KIND:
        options->kind = optarg;
        return 0;
    default:
        options->output = optarg;
        return 0;
    }
}

static enum outcome take_option(struct ctl_options *options, struct term *term, int option) {
    switch (option) {
    case OPT_SOCKET:
        options->socket = optarg;
        return 0;
    case OPT_JSON:
        options->json = true;
        return 0;
    case OPT_TIMEOUT:
        if (options_seconds(optarg, &options->timeout_ms) && options->timeout_ms <= INT_MAX) {
            return 0;
        }
        term_say(term, "--timeout takes seconds, not '%s'", optarg);
        return OUTCOME_USAGE;
    case 'h':
    case 'V':
        return options_answer(term, option, print_help);
    case '?':
        return options_refuse(term);
    default:
        return take_own(options, term, option);
    }
}

// Whether the list, words with a blank before and after each, has this word.
static bool lists(const char *list, const char *word) {
    char padded[32];
    return snprintf(padded, sizeof(padded), " %s ", word) < (int)sizeof(padded) &&
           strstr(list, padded);
}

static bool is_allowed(const struct usage *usage, const char *name) {
    return usage && lists(usage->options, name);
}

static enum outcome check_command(const struct ctl_options *options, struct term *term) {
    const struct usage *usage = find_usage(options->command);
    for (size_t i = 0; i < sizeof(own_options) / sizeof(own_options[0]); i++) {
        if ((options->given & 1u << i) && !is_allowed(usage, own_options[i].name)) {
            term_say(term, "'%s' does not take the option %s", options->command,
                     own_options[i].name);
            return OUTCOME_USAGE;
        }
    }
    if (options->lines == 0 && strcmp(options->command, "tail") != 0) {
        term_say(term, "-n takes a number from 1 on, not '0'");
        return OUTCOME_USAGE;
    }
    bool takes = usage && usage->operand;
    if (options->operand && !takes) {
        term_say(term, "'%s' stands alone; '%s' is too much", options->command, options->operand);
        return OUTCOME_USAGE;
    }
    bool given = options->operand && *options->operand;
    if (!given && takes && usage->required) {
        term_say(term, "'%s' needs a %s; see 'nvtxt-ctl --help'", options->command, usage->operand);
        return OUTCOME_USAGE;
    }
    int64_t value;
    return options->operand && usage->is_number
               ? take_number(term, options->command, options->operand, 1, &value)
               : OUTCOME_DONE;
}

enum outcome ctl_options_parse(struct ctl_options *options, struct term *term, int argc,
                               char **argv) {
    static const struct option table[] = {
        {"socket", required_argument, NULL, OPT_SOCKET},
        {"control-socket", required_argument, NULL, OPT_SOCKET},
        {"json", no_argument, NULL, OPT_JSON},
        {"timeout", required_argument, NULL, OPT_TIMEOUT},
        {"lines", required_argument, NULL, 'n'},
        {"source", required_argument, NULL, OPT_SOURCE},
        {"output", required_argument, NULL, OPT_OUTPUT},
        {"pid", required_argument, NULL, OPTIONS_PID},
        {"category", required_argument, NULL, OPT_CATEGORY},
        {"message", required_argument, NULL, OPT_MESSAGE},
        {"regex", required_argument, NULL, OPT_REGEX},
        {"kind", required_argument, NULL, OPT_KIND},
        {"count", required_argument, NULL, OPT_COUNT},
        {"interval", required_argument, NULL, OPT_INTERVAL},
        OPTIONS_TAIL,
    };
    *options = (struct ctl_options){.lines = -1, .pid = -1, .timeout_ms = -2};
    int option;
    while ((option = getopt_long(argc, argv, "n:", table, NULL)) != -1) {
        enum outcome result = take_option(options, term, option);
        if (result != 0) {
            return result;
        }
    }
    if (argc == optind || argc - optind > 2) {
        term_say(term, argc == optind ? "a command is missing; 'nvtxt-ctl --help' lists them"
                                      : "one command is expected");
        return OUTCOME_USAGE;
    }
    options->command = argv[optind];
    options->operand = argv[optind + 1]; // NULL after the last one
    if (options->timeout_ms < -1) {
        options->timeout_ms = lists(patient, options->command) ? -1 : ANSWER_MS;
    }
    return check_command(options, term);
}

static void set_text(json_t *arguments, const char *name, const char *text) {
    if (text) {
        json_object_set_new(arguments, name, json_string(text));
    }
}

static void set_number(json_t *arguments, const char *name, int64_t value, bool given) {
    if (given) {
        json_object_set_new(arguments, name, json_integer(value));
    }
}

// All digits: its number.
static void set_category(json_t *arguments, const char *category) {
    int64_t number;
    bool numbered = category && options_int64(category, &number) && number >= 0;
    if (numbered) {
        set_number(arguments, "category", number, true);
    } else {
        set_text(arguments, "category_name", category);
    }
}

// The absolute path, because the daemon has another current folder. NULL for a path that is not
// UTF-8: the daemon answers then that it is missing.
static json_t *absolute_path(const char *path) {
    char folder[PATH_MAX];
    if (*path == '/' || !getcwd(folder, sizeof(folder))) {
        return json_string(path);
    }
    return json_sprintf("%s/%s", folder, path);
}

json_t *ctl_options_arguments(const struct ctl_options *options) {
    const struct usage *usage = find_usage(options->command);
    json_t *arguments = json_object();
    int64_t number = 0;
    if (options->operand && usage->is_number) {
        options_int64(options->operand, &number); // checked before
        set_number(arguments, usage->operand, number, true);
    } else if (options->operand && strcmp(usage->operand, "file") == 0) {
        json_object_set_new(arguments, usage->operand, absolute_path(options->operand));
    } else if (options->operand) {
        set_text(arguments, usage->operand, options->operand);
    }
    bool tail = strcmp(options->command, "tail") == 0; // it needs several requests for its lines
    set_number(arguments, "limit", options->lines, options->lines >= 0 && !tail);
    set_number(arguments, "source", options->source, options->source > 0);
    set_number(arguments, "pid", options->pid, options->pid >= 0);
    set_category(arguments, options->category);
    set_text(arguments, "message", options->message);
    set_text(arguments, "kind", options->kind);
    return arguments;
}
