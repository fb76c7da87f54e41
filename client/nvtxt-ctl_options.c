// SPDX-License-Identifier: Apache-2.0
//
// A command that the table does not know is sent as it is, without arguments: a newer daemon may
// know it.
#include "client/nvtxt-ctl_options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "client/options.h"
#include "client/term.h"

enum { OPT_SOCKET = OPTIONS_OWN, OPT_JSON, OPT_TIMEOUT, OPT_SOURCE, OPT_OUTPUT };

#define ANSWER_MS 30000 // a daemon that runs answers at once; behind a slow disk, in seconds

// These end when the daemon has done it, however long that takes.
static const char patient[] = " flush checkpoint rotate snapshot ";

// What may stand behind a command: an operand, which becomes the argument of this name, and the
// options of its own.
static const struct usage {
    const char *command;
    const char *operand; // NULL: none
    bool is_number;
    bool required;
    const char *options; // each between blanks
} usages[] = {
    {"diagnostics", NULL, false, false, " -n --source "},
    {"metrics", NULL, false, false, " --output "},
    {"disconnect", "source", true, true, ""},
    {"log-level", "level", false, false, ""},
};

static void print_help(void) {
    fputs("Usage: nvtxt-ctl [OPTION]... COMMAND [ARGUMENT]\n"
          "Asks a running nvtxtd over its control socket.\n"
          "\n"
          "Commands:\n"
          "  status, sources, health     how it is, who is connected, what was lost\n"
          "  diagnostics [-n N] [--source ID]\n"
          "                              the last faults in lines\n"
          "  metrics [--output FILE]     totals and figures for Prometheus\n"
          "  flush, checkpoint, rotate, reload\n"
          "                              do it, and say what became of it\n"
          "  log-level [LEVEL]           tell or set how much is logged\n"
          "  disconnect SOURCE           cut a source's connection\n"
          "  help                        what the daemon knows\n"
          "\n"
          "      --socket PATH   the control socket (default: control.sock beside\n"
          "                      $NVTXT_SOCKET, else the system's, else yours)\n"
          "      --json          print the result as JSON\n"
          "      --timeout SECONDS  longest wait for the answer (default: 30, or for ever)\n"
          "      --help, --version\n"
          "\n"
          "Exit status: 0 done; 1 the daemon reports an error, or its health\n"
          "is not good; 64 usage; 69 no daemon; 74 I/O error.\n",
          stdout);
}

static const struct usage *find_usage(const char *command) {
    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++) {
        if (strcmp(usages[i].command, command) == 0) {
            return &usages[i];
        }
    }
    return NULL;
}

static int take_number(struct term *term, const char *name, const char *text, int64_t least,
                       int64_t *value) {
    if (options_int64(text, value) && *value >= least) {
        return 0;
    }
    term_say(term, "%s takes a number from %lld on, not '%s'", name, (long long)least, text);
    return EX_USAGE;
}

// One of the options that belong to a command.
static int take_own(struct ctl_options *options, struct term *term, int option) {
    const char *name = option == 'n' ? "-n" : option == OPT_SOURCE ? "--source" : "--output";
    if (options->given_count < (int)(sizeof options->given / sizeof options->given[0])) {
        options->given[options->given_count++] = name;
    }
    switch (option) {
    case 'n':
        return take_number(term, name, optarg, 1, &options->lines);
    case OPT_SOURCE:
        return take_number(term, name, optarg, 1, &options->source);
    default:
        options->output = optarg;
        return 0;
    }
}

// Returns 0, EX_USAGE, or -1.
static int take_option(struct ctl_options *options, struct term *term, int option) {
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
        return EX_USAGE;
    case 'h':
        print_help();
        return -1;
    case 'V':
        options_version(term);
        return -1;
    case '?':
        return options_refuse(term);
    default:
        return take_own(options, term, option);
    }
}

// Whether the list, each between blanks, has the word.
static bool lists(const char *list, const char *word) {
    char padded[32];
    return snprintf(padded, sizeof padded, " %s ", word) < (int)sizeof padded &&
           strstr(list, padded);
}

static bool is_allowed(const struct usage *usage, const char *name) {
    return usage && lists(usage->options, name);
}

static int check_command(const struct ctl_options *options, struct term *term) {
    const struct usage *usage = find_usage(options->command);
    for (int i = 0; i < options->given_count; i++) {
        if (!is_allowed(usage, options->given[i])) {
            term_say(term, "'%s' does not take the option %s", options->command, options->given[i]);
            return EX_USAGE;
        }
    }
    bool takes = usage && usage->operand;
    if (options->operand && !takes) {
        term_say(term, "'%s' stands alone; '%s' is too much", options->command, options->operand);
        return EX_USAGE;
    }
    if (!options->operand && takes && usage->required) {
        term_say(term, "'%s' needs a %s; see 'nvtxt-ctl --help'", options->command, usage->operand);
        return EX_USAGE;
    }
    int64_t value;
    return options->operand && usage->is_number
               ? take_number(term, options->command, options->operand, 1, &value)
               : 0;
}

int ctl_options_parse(struct ctl_options *options, struct term *term, int argc, char **argv) {
    static const struct option table[] = {
        {"socket", required_argument, NULL, OPT_SOCKET},
        {"control-socket", required_argument, NULL, OPT_SOCKET},
        {"json", no_argument, NULL, OPT_JSON},
        {"timeout", required_argument, NULL, OPT_TIMEOUT},
        {"lines", required_argument, NULL, 'n'},
        {"source", required_argument, NULL, OPT_SOURCE},
        {"output", required_argument, NULL, OPT_OUTPUT},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct ctl_options){.lines = -1, .timeout_ms = -2};
    int option;
    while ((option = getopt_long(argc, argv, "n:", table, NULL)) != -1) {
        int result = take_option(options, term, option);
        if (result != 0) {
            return result;
        }
    }
    if (argc == optind || argc - optind > 2) {
        term_say(term, argc == optind ? "a command is missing; 'nvtxt-ctl --help' lists them"
                                      : "one command is expected");
        return EX_USAGE;
    }
    options->command = argv[optind];
    options->operand = argv[optind + 1]; // NULL behind the last one
    if (options->timeout_ms < -1) {
        options->timeout_ms = lists(patient, options->command) ? -1 : ANSWER_MS;
    }
    return check_command(options, term);
}

json_t *ctl_options_arguments(const struct ctl_options *options) {
    const struct usage *usage = find_usage(options->command);
    json_t *arguments = json_object();
    int64_t number = 0;
    if (options->operand && usage->is_number) {
        options_int64(options->operand, &number); // was looked at before
        json_object_set_new(arguments, usage->operand, json_integer(number));
    } else if (options->operand) {
        json_object_set_new(arguments, usage->operand, json_string(options->operand));
    }
    if (options->lines >= 0) {
        json_object_set_new(arguments, "limit", json_integer(options->lines));
    }
    if (options->source) {
        json_object_set_new(arguments, "source", json_integer(options->source));
    }
    return arguments;
}
