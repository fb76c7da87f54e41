// SPDX-License-Identifier: Apache-2.0
//
// The options are walked twice: the first walk finds -c and the options that only print something,
// then the file is read, and the second walk sets the keys.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "config.h"
#include "daemon/conf/paths.h"
#include "protocol/base/utf8.h"
#include "protocol/conf/options.h"

#define SAY_BYTES 6144 // a path of PATH_MAX bytes and a sentence round it

struct command_line {
    struct nvtxt_options options; // its functions return an enum options_result
    struct conf config;
    const char *file;
    bool check;
    const struct nvtxt_faults *faults; // of the files
    char **argv;
    int argc;
    int loaded; // of conf_file_load()
    int status; // of the program
};

static const char help[] =
    "Usage: nvtxtd [OPTION]...\n"
    "Takes NVTXT lines over a Unix socket and appends events to an SQLite store.\n"
    "\n"
    "  -c, --config FILE          read this configuration; other options override it\n"
    "      --socket PATH          the data socket\n"
    "      --control-socket PATH  the socket of nvtxt-ctl\n"
    "      --store FILE           the SQLite store\n"
    "      --log-level LEVEL      error, warning, info (default) or debug\n"
    "      --check-config         print the errors of the configuration, and exit\n"
    "      --help                 print this text\n"
    "      --version              print the version\n"
    "\n"
    "Default for root: sockets in /run/nvtxtd, the store in /var/lib/nvtxtd. Default\n"
    "for others: sockets in $XDG_RUNTIME_DIR/nvtxtd (else /tmp/nvtxtd-UID), the store\n"
    "in $XDG_STATE_HOME/nvtxtd (else ~/.local/state/nvtxtd). nvtxtd.conf(5) names the\n"
    "configuration that is read without -c.\n";

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char text[SAY_BYTES], shown[SAY_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    nvtxt_utf8_show(shown, sizeof(shown), nvtxt_slice_of(text));
    fprintf(stderr, "nvtxtd: %s\n", shown);
}

static void complain(void *context, const char *sentence) {
    (void)context;
    say("%s", sentence);
}

static enum options_result usage(struct command_line *line) {
    line->status = EX_USAGE;
    return OPTIONS_FAULT;
}

static enum options_result no_memory(struct command_line *line) {
    say("%s", strerror(ENOMEM));
    line->status = EX_OSERR;
    return OPTIONS_FAULT;
}

// The answer was printed.
static enum options_result done(struct command_line *line) {
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return OPTIONS_DONE;
    }
    say("cannot write to stdout: %s", strerror(errno));
    line->status = EX_IOERR;
    return OPTIONS_FAULT;
}

static int answer(struct nvtxt_options *options, bool wants_help) {
    if (wants_help) {
        fputs(help, stdout);
    } else {
        printf("nvtxtd %s%s\n", PACKAGE_VERSION, nvtxt_options_commit());
    }
    return (int)done((struct command_line *)options);
}

static int refuse(struct nvtxt_options *options, const struct nvtxt_option_fault *fault) {
    switch (fault->kind) {
    case NVTXT_OPTION_UNKNOWN:
    case NVTXT_OPTION_NO_VALUE:
    case NVTXT_OPTION_HAS_VALUE:
        if (fault->letter) {
            say("option '-%c' is not known or lacks its value; see --help", fault->letter);
        } else {
            say("option '%s' is not known or lacks its value; see --help", fault->word);
        }
        break;
    case NVTXT_OPTION_BAD_VALUE:
        say("bad value '%s' for --%s: %s", fault->text, fault->row->name, fault->why);
        break;
    case NVTXT_OPTION_NO_MEMORY:
        return (int)no_memory((struct command_line *)options);
    }
    return (int)usage((struct command_line *)options);
}

// Reads the file of -c, or the usual one if it exists.
static int load(struct conf *config, const char *file, const struct nvtxt_faults *faults) {
    char usual[PATH_MAX];
    if (file) {
        return conf_file_load(config, file, true, faults);
    }
    paths_config_file(usual, sizeof(usual));
    return nvtxt_conf_is_hidden(usual) ? 0 : conf_file_load(config, usual, false, faults);
}

static int prepare(struct nvtxt_options *options) {
    struct command_line *line = (struct command_line *)options;
    if (optind < line->argc) {
        say("unexpected argument '%s'; see --help", line->argv[optind]);
        return (int)usage(line);
    }
    line->loaded = load(&line->config, line->file, line->faults);
    line->status = line->loaded < 0 ? EX_NOINPUT : line->loaded > 0 ? EX_CONFIG : 0;
    return line->loaded ? OPTIONS_FAULT : OPTIONS_RUN;
}

static int check_whole(const struct conf *config, const struct nvtxt_faults *faults) {
    const struct nvtxt_conf_key *keys[2];
    char why[256];
    if (conf_check(config, keys, why, sizeof(why)) == 0) {
        return 0;
    }
    faults->complain(faults->context, why);
    return NVTXT_WRONG;
}

// Checks what a start would find out only after it has created folders.
static enum options_result answer_check(struct command_line *line) {
    const struct conf *config = &line->config;
    char why[512];
    int status = paths_check_socket(config->socket, why, sizeof(why));
    status = status ?: paths_check_socket(config->control_socket, why, sizeof(why));
    status = status ?: paths_check_groups(config, why, sizeof(why));
    line->status = status;
    if (status) {
        complain(NULL, why);
        return OPTIONS_FAULT;
    }
    puts("ok");
    return done(line);
}

#define AT(field) .at = offsetof(struct command_line, field)

static const struct nvtxt_option rows[] = {
    {"config", 'c', NVTXT_OPTION_TEXT, AT(file), .early = true},
    {.kind = NVTXT_OPTION_KEYS, AT(config), .keys = &conf_table},
    {"check-config", 0, NVTXT_OPTION_FLAG, AT(check)},
    {0},
};

static enum options_result read_line(struct command_line *line, int argc, char **argv,
                                     struct conf *config, const struct nvtxt_faults *faults) {
    *line = (struct command_line){
        .options = {rows, line, .help = 'h', .answer = answer, .refuse = refuse,
                    .prepare = prepare},
        .config = *config,
        .faults = faults,
        .argv = argv,
        .argc = argc,
    };
    int r = nvtxt_options_read(&line->options, argc, argv);
    *config = line->config; // its texts may have been replaced
    return (enum options_result)r;
}

enum options_result options_read(int argc, char **argv, struct conf *config, int *status) {
    const struct nvtxt_faults faults = {.complain = complain};
    struct command_line line;
    enum options_result r = read_line(&line, argc, argv, config, &faults);
    if (r == OPTIONS_RUN && check_whole(config, &faults) != 0) {
        line.status = EX_CONFIG;
        r = OPTIONS_FAULT;
    } else if (r == OPTIONS_RUN && line.check) {
        r = answer_check(&line);
    }
    *status = line.status;
    return r;
}

int options_read_again(int argc, char **argv, struct conf *config,
                       const struct nvtxt_faults *faults) {
    struct command_line line;
    if (read_line(&line, argc, argv, config, faults) != OPTIONS_RUN) {
        return line.loaded ?: NVTXT_WRONG; // its options were good at the start
    }
    return check_whole(config, faults);
}
