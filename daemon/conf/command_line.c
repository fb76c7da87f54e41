// SPDX-License-Identifier: Apache-2.0
//
// Two walks over the options: the first finds -c and the options that only print something, then
// the file is read, and the second walk sets the keys.
#include "daemon/conf/command_line.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "config.h"
#include "daemon/conf/conf_file.h"
#include "daemon/conf/paths.h"
#include "protocol/base/utf8.h"
#include "protocol/conf/conf_files.h"

#define SAY_BYTES 6144 // a path of PATH_MAX bytes and a sentence round it

enum { OPT_SOCKET = 256, OPT_CONTROL_SOCKET, OPT_STORE, OPT_LOG_LEVEL, OPT_CHECK, OPT_VERSION };

static const struct option long_options[] = {
    {"config", required_argument, NULL, 'c'},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"control-socket", required_argument, NULL, OPT_CONTROL_SOCKET},
    {"store", required_argument, NULL, OPT_STORE},
    {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
    {"check-config", no_argument, NULL, OPT_CHECK},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {0},
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

static enum options_result usage(int *status) {
    *status = EX_USAGE;
    return OPTIONS_FAULT;
}

// The answer was printed.
static enum options_result done(int *status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return OPTIONS_DONE;
    }
    say("cannot write to stdout: %s", strerror(errno));
    *status = EX_IOERR;
    return OPTIONS_FAULT;
}

static const char *key_of(int option) {
    switch (option) {
    case OPT_SOCKET:
        return "Socket";
    case OPT_CONTROL_SOCKET:
        return "ControlSocket";
    case OPT_STORE:
        return "Store";
    case OPT_LOG_LEVEL:
        return "LogLevel";
    default:
        return NULL;
    }
}

static const char *option_name(int option) {
    for (const struct option *at = long_options; at->name; at++) {
        if (at->val == option) {
            return at->name;
        }
    }
    return "?";
}

static enum options_result set(struct conf *config, int option, const char *value, int *status) {
    char why[256] = "a path is expected"; // "" comes from a variable that a script did not set
    const struct conf_key *key = conf_find(key_of(option));
    int r = key->type == CONF_PATH && !*value ? 1 : conf_set(config, key, value, why, sizeof(why));
    if (r == 0) {
        return OPTIONS_RUN;
    }
    if (r < 0) {
        snprintf(why, sizeof(why), "%s", strerror(-r));
    }
    say("bad value '%s' for --%s: %s", value, option_name(option), why);
    return usage(status);
}

static enum options_result bad_option(char **argv, int *status) {
    const char *word = argv[optind - 1];
    if (optopt && optopt < 256) {
        say("option '-%c' is not known or lacks its value; see --help", optopt);
    } else {
        say("option '%s' is not known or lacks its value; see --help", word);
    }
    return usage(status);
}

// One walk over the options. The first one sets no keys.
static enum options_result walk(int argc, char **argv, struct conf *config, bool first,
                                const char **file, bool *check, int *status) {
    optind = 0;
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, "c:h", long_options, NULL)) != -1) {
        switch (option) {
        case 'c':
            *file = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return done(status);
        case OPT_VERSION:
            puts("nvtxtd " PACKAGE_VERSION);
            return done(status);
        case OPT_CHECK:
            *check = true;
            break;
        case '?':
            return bad_option(argv, status);
        default:
            if (!first && set(config, option, optarg, status) != OPTIONS_RUN) {
                return OPTIONS_FAULT;
            }
        }
    }
    if (optind < argc) {
        say("unexpected argument '%s'; see --help", argv[optind]);
        return usage(status);
    }
    return OPTIONS_RUN;
}

// Reads the file of -c, or the usual one if it exists. Returns what conf_file_load() does.
static int load(struct conf *config, const char *file, const struct nvtxt_faults *faults) {
    char usual[PATH_MAX];
    if (file) {
        return conf_file_load(config, file, true, faults);
    }
    paths_config_file(usual, sizeof(usual));
    if (nvtxt_conf_is_hidden(usual)) {
        return 0;
    }
    return conf_file_load(config, usual, false, faults);
}

static int check_whole(const struct conf *config, const struct nvtxt_faults *faults) {
    const struct conf_key *keys[2];
    char why[256];
    if (conf_check(config, keys, why, sizeof(why)) == 0) {
        return 0;
    }
    faults->complain(faults->context, why);
    return 1;
}

// Checks what a start would find out only after it has created folders.
static enum options_result answer_check(const struct conf *config, int *status) {
    char why[512];
    *status = paths_check_socket(config->socket, why, sizeof(why));
    if (*status == 0) {
        *status = paths_check_socket(config->control_socket, why, sizeof(why));
    }
    if (*status == 0) {
        *status = paths_check_groups(config, why, sizeof(why));
    }
    if (*status) {
        complain(NULL, why);
        return OPTIONS_FAULT;
    }
    puts("ok");
    return done(status);
}

enum options_result options_read(int argc, char **argv, struct conf *config, int *status) {
    const struct nvtxt_faults faults = {.complain = complain};
    const char *file = NULL;
    bool check = false;
    *status = 0;
    enum options_result r = walk(argc, argv, config, true, &file, &check, status);
    if (r != OPTIONS_RUN) {
        return r;
    }
    int e = load(config, file, &faults);
    if (e != 0) {
        *status = e < 0 ? EX_NOINPUT : EX_CONFIG;
        return OPTIONS_FAULT;
    }
    r = walk(argc, argv, config, false, &file, &check, status);
    if (r == OPTIONS_RUN && check_whole(config, &faults) != 0) {
        *status = EX_CONFIG;
        return OPTIONS_FAULT;
    }
    return r == OPTIONS_RUN && check ? answer_check(config, status) : r;
}

int options_read_again(int argc, char **argv, struct conf *config,
                       const struct nvtxt_faults *faults) {
    const char *file = NULL;
    bool check;
    int status;
    if (walk(argc, argv, config, true, &file, &check, &status) != OPTIONS_RUN) {
        return 1; // cannot happen: it was good at the start
    }
    int r = load(config, file, faults);
    if (r != 0) {
        return r;
    }
    if (walk(argc, argv, config, false, &file, &check, &status) != OPTIONS_RUN) {
        return 1;
    }
    return check_whole(config, faults);
}
