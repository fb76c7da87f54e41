// SPDX-License-Identifier: Apache-2.0
//
// A table says what each command takes. A command that is not in the table is sent unchanged,
// without arguments: a newer daemon may know it.
#include "client/ctl/ctl_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/common/arguments.h"
#include "client/common/term.h"
#include "protocol/base/limits.h"

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
    {"diagnostics", NULL, false, false, " lines source "},
    {"tail", NULL, false, false, " lines pid category message regex kind count utc "},
    {"top", NULL, false, false, " interval count "},
    {"metrics", NULL, false, false, " output "},
    {"disconnect", "source", true, true, ""},
    {"log-level", "level", false, false, ""},
    {"snapshot", "file", false, true, " output "},
    {"where", NULL, false, false, " store "},
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
          "       [--regex RE] [--kind KIND] [--utc]\n"
          "                              events as they are committed\n"
          "  metrics [-o, --output FILE] totals and other numbers for Prometheus\n"
          "  flush, checkpoint, rotate, reload, log-level [LEVEL], disconnect SOURCE, help\n"
          "  snapshot [-o] FILE, verify  copy the store (-o: the file is yours); check it\n"
          "  where [--store]             which daemon and store are used, and why\n"
          "\n"
          "      --socket PATH   the daemon's control or data socket (default:\n"
          "                      $NVTXT_SOCKET, else yours, else the system's)\n"
          "      --json          print the result as JSON\n"
          "      --timeout SECONDS  longest wait for the answer (default: 30, or for ever)\n"
          "      --help, --version\n"
          "\n"
          "Exit status: 0 done; 1 the daemon reports an error, or is not well; 64 usage;\n"
          "65, 66 no store (where); 69 no daemon; 74 I/O error; 77 forbidden.\n",
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

#define AT(field) offsetof(struct ctl_options, field)

static const struct nvtxt_option rows[] = {
    {"socket", 0, NVTXT_OPTION_TEXT, .at = AT(socket), .alias = "control-socket"},
    {"json", 0, NVTXT_OPTION_FLAG, .at = AT(json)},
    {"timeout", 0, NVTXT_OPTION_SECONDS, .at = AT(timeout_ms), .wanted = "seconds",
     .most = INT_MAX},
    {"lines", 'n', NVTXT_OPTION_NUMBER, .at = AT(lines), .has = AT(has[0]),
     .wanted = "a number from 0 on"},
    {"source", 0, NVTXT_OPTION_NUMBER, .at = AT(source), .has = AT(has[1]),
     .wanted = "a number from 1 on", .least = 1},
    {"output", 'o', NVTXT_OPTION_TEXT, .at = AT(output), .has = AT(has[2])},
    {"pid", 0, NVTXT_OPTION_NUMBER, .at = AT(pid), .has = AT(has[3]), .wanted = NVTXT_OPTION_A_PID,
     .most = NVTXT_ID_MAX},
    {"category", 0, NVTXT_OPTION_TEXT, .at = AT(category), .has = AT(has[4])},
    {"message", 0, NVTXT_OPTION_TEXT, .at = AT(message), .has = AT(has[5])},
    {"regex", 0, NVTXT_OPTION_TEXT, .at = AT(regex), .has = AT(has[6])},
    {"kind", 0, NVTXT_OPTION_TEXT, .at = AT(kind), .has = AT(has[7])},
    {"count", 0, NVTXT_OPTION_NUMBER, .at = AT(count), .has = AT(has[8]),
     .wanted = "a number from 1 on", .least = 1},
    {"interval", 0, NVTXT_OPTION_SECONDS, .at = AT(interval_ms), .has = AT(has[9]),
     .wanted = "0.1 to 86400 seconds", .least = 100, .most = 86400000},
    {"store", 0, NVTXT_OPTION_FLAG, .at = AT(only_store), .has = AT(has[10])},
    {"utc", 0, NVTXT_OPTION_FLAG, .at = AT(utc), .has = AT(has[11])},
    {0},
};

// Whether the list, words with a blank before and after each, has this word.
static bool lists(const char *list, const char *word) {
    char padded[32];
    return snprintf(padded, sizeof(padded), " %s ", word) < (int)sizeof(padded) &&
           strstr(list, padded);
}

static enum outcome check_command(const struct ctl_options *options, struct term *term) {
    const struct usage *usage = find_usage(options->command);
    char name[NVTXT_OPTION_NAME_SIZE];
    if (options->only_store && strcmp(options->command, "where") != 0) {
        term_say(term, "--store is an option of 'where' and takes no value; --socket or "
                       "NVTXT_SOCKET names a daemon");
        return OUTCOME_USAGE;
    }
    for (const struct nvtxt_option *row = rows; row->kind != NVTXT_OPTION_END; row++) {
        bool is_set = row->has && *((const bool *)options + row->has);
        if (is_set && !(usage && lists(usage->options, row->name))) {
            term_say(term, "'%s' does not take the option %s", options->command,
                     nvtxt_option_name(row, name));
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
    if (options->output && strcmp(options->output, "-") == 0 && takes) {
        term_say(term, "-o takes a file, not '-': a store cannot be written to stdout");
        return OUTCOME_USAGE;
    }
    bool has_operand = options->operand && *options->operand;
    if (has_operand && options->output) {
        term_say(term, "'%s' takes a %s or -o, not both", options->command, usage->operand);
        return OUTCOME_USAGE;
    }
    if (!has_operand && takes && usage->required && !options->output) {
        term_say(term, "'%s' needs a %s; see 'nvtxt-ctl --help'", options->command, usage->operand);
        return OUTCOME_USAGE;
    }
    int64_t value;
    if (options->operand && usage->is_number &&
        (!nvtxt_option_int64(options->operand, &value) || value < 1)) {
        term_say(term, "%s takes a number from 1 on, not '%s'", options->command, options->operand);
        return OUTCOME_USAGE;
    }
    return 0;
}

enum outcome ctl_options_parse(struct ctl_options *options, struct term *term, int argc,
                               char **argv) {
    *options = (struct ctl_options){.lines = -1, .pid = -1, .timeout_ms = -2};
    struct arguments_parser parser = {{rows, options, .context = term}, .print_help = print_help};
    enum outcome r = arguments_parse(&parser, argc, argv);
    if (r != 0) {
        return r;
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

static void set_number(json_t *arguments, const char *name, int64_t value, bool is_set) {
    if (is_set) {
        json_object_set_new(arguments, name, json_integer(value));
    }
}

// All digits: its number.
static void set_category(json_t *arguments, const char *category) {
    int64_t number;
    bool numbered = category && nvtxt_option_int64(category, &number) && number >= 0;
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
        nvtxt_option_int64(options->operand, &number); // the command line was checked: it is one
        set_number(arguments, usage->operand, number, true);
    } else if (options->operand && strcmp(usage->operand, "file") == 0) {
        json_object_set_new(arguments, usage->operand, absolute_path(options->operand));
    } else if (options->operand) {
        set_text(arguments, usage->operand, options->operand);
    }
    if (strcmp(options->command, "snapshot") == 0 && options->output) {
        set_text(arguments, "into", "descriptor");
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
