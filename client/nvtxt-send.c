// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-send: sends NVTXT from files or stdin to a daemon and waits until it is committed. Options
// and the order of the files, or of the spools that were left behind, are here; everything else is
// in transfer.
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "client/input.h"
#include "client/options.h"
#include "client/paths.h"
#include "client/session_id.h"
#include "client/spool.h"
#include "client/stop.h"
#include "client/term.h"
#include "client/transfer.h"
#include "client/window.h"
#include "config.h"
#include "protocol/nvtxt.h"

enum {
    OPT_SOCKET = OPTIONS_OWN,
    OPT_NAME,
    OPT_WAIT,
    OPT_TIMEOUT,
    OPT_SPOOL,
    OPT_SPOOL_LIMIT,
    OPT_SPOOL_SYNC,
    OPT_ON_FULL,
    OPT_RESUME,
    OPT_NEW_SESSION,
};

struct arguments {
    struct transfer_options transfer;
    struct options_mapping mapping;
    const char *socket;
    const char *name; // NULL: the file's
    uint32_t pid;
    bool is_new;        // an option was given that describes a new session
    const char *spool;  // folder; NULL: none
    const char *resume; // folder; NULL: new sessions are sent
    uint64_t spool_limit;
    int files; // index of the first FILE
};

static void print_help(void) {
    fputs("Usage: nvtxt-send [OPTION]... [FILE]...   or   nvtxt-send --resume DIR\n"
          "Sends NVTXT to nvtxtd and waits until it is committed. '-' or no FILE: stdin.\n"
          "\n"
          "      --socket PATH       the daemon's data socket (default: $NVTXT_SOCKET,\n"
          "                          else the system's, else yours)\n"
          "      --wait[=SECONDS]    wait for a daemon at the start\n"
          "      --timeout SECONDS   longest wait for the daemon later (default: for ever)\n"
          "      --name NAME         what the store calls the input (default: FILE)\n"
          "      --pid N             ProcessId where the input gives none (default: own)\n"
          "      --spool DIR         keep on disk what is not committed; no daemon is fine\n"
          "      --spool-limit SIZE  of one input's spool (default: 1G)\n"
          "      --spool-sync SECONDS  have it on the disk itself so often (default: never)\n"
          "      --on-full=block|drop  when spool or memory is full (default: block)\n"
          "      --resume DIR        send what is left in DIR's spools\n"
          "      --new-session       go on in another one when the daemon closed this one\n"
          "  -q, --quiet             no diagnostics, no progress\n"
          "      --help, --version\n"
          "Times of another clock:\n"
          "      --mode lerp --ns-a A --ns-b B --nvtxt-a a --nvtxt-b b\n"
          "      --mode lin  --ns-a A --freq F --nvtxt-a a\n"
          "Exit status: 0 stored; 1 stored, but the input had errors or lines were dropped;\n"
          "64 usage; 65 a spool is broken; 66 a FILE cannot be read; 69 no daemon; 73 no\n"
          "spool can be made; 74 I/O error; 75 try again later, or with --resume.\n",
          stdout);
}

static int refuse_value(struct term *term, const char *option, const char *wanted,
                        const char *text) {
    term_say(term, "--%s takes %s, not '%s'", option, wanted, text);
    return EX_USAGE;
}

static int take_seconds(struct term *term, const char *option, const char *text, int64_t *ms) {
    *ms = -1;
    return text && !options_seconds(text, ms) ? refuse_value(term, option, "seconds", text) : 0;
}

static int take_spool_option(struct arguments *args, struct term *term, int option,
                             const char *text) {
    switch (option) {
    case OPT_SPOOL:
        args->spool = text;
        return 0;
    case OPT_SPOOL_LIMIT:
        return options_bytes(text, &args->spool_limit) && args->spool_limit >= SPOOL_LIMIT_LEAST &&
                       args->spool_limit <= INT64_MAX
                   ? 0
                   : refuse_value(term, "spool-limit", "bytes, at least 4M", text);
    case OPT_SPOOL_SYNC:
        return take_seconds(term, "spool-sync", text, &args->transfer.sync_ms);
    case OPT_ON_FULL:
        args->transfer.drop = strcmp(text, "drop") == 0;
        return args->transfer.drop || strcmp(text, "block") == 0
                   ? 0
                   : refuse_value(term, "on-full", "'block' or 'drop'", text);
    default:
        args->resume = text;
        return 0;
    }
}

static int take_option(struct arguments *args, struct term *term, int option, const char *text) {
    switch (option) {
    case OPT_SOCKET:
        args->socket = text;
        return 0;
    case OPT_NAME:
        args->name = text;
        args->is_new = true;
        return 0;
    case OPTIONS_PID:
        args->is_new = true;
        return options_pid(term, text, &args->pid);
    case OPT_WAIT:
        args->transfer.wait = true;
        return take_seconds(term, "wait", text, &args->transfer.wait_ms);
    case OPT_TIMEOUT:
        return take_seconds(term, "timeout", text, &args->transfer.timeout_ms);
    case OPT_SPOOL:
    case OPT_SPOOL_LIMIT:
    case OPT_SPOOL_SYNC:
    case OPT_ON_FULL:
    case OPT_RESUME:
        return take_spool_option(args, term, option, text);
    case OPT_NEW_SESSION:
        args->transfer.new_session = true;
        return 0;
    case 'q':
        args->transfer.quiet = true;
        return 0;
    default:
        break;
    }
    args->is_new = true;
    int result = options_take_mapping(&args->mapping, term, option, text);
    return result == 1 ? options_refuse(term) : result;
}

// Options that do not go together.
static int check_arguments(const struct arguments *args, struct term *term, int files) {
    if (args->resume && (files > 0 || args->spool || args->is_new)) {
        term_say(term, "--resume goes on with the sessions of a spool: it takes no FILE and no "
                       "option that describes a new session");
        return EX_USAGE;
    }
    if (args->name && files > 1) {
        term_say(term, "--name names one input, but there are %d files", files);
        return EX_USAGE;
    }
    return options_check_mapping(&args->mapping, term, true);
}

// Returns 0, EX_USAGE, or -1 when there is nothing more to do.
static int parse_arguments(struct arguments *args, struct term *term, int argc, char **argv) {
    static const struct option table[] = {
        OPTIONS_MAPPING,
        {"socket", required_argument, NULL, OPT_SOCKET},
        {"pid", required_argument, NULL, OPTIONS_PID},
        {"name", required_argument, NULL, OPT_NAME},
        {"wait", optional_argument, NULL, OPT_WAIT},
        {"timeout", required_argument, NULL, OPT_TIMEOUT},
        {"spool", required_argument, NULL, OPT_SPOOL},
        {"spool-limit", required_argument, NULL, OPT_SPOOL_LIMIT},
        {"spool-sync", required_argument, NULL, OPT_SPOOL_SYNC},
        {"on-full", required_argument, NULL, OPT_ON_FULL},
        {"resume", required_argument, NULL, OPT_RESUME},
        {"new-session", no_argument, NULL, OPT_NEW_SESSION},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "q", table, NULL)) != -1) {
        if (option == 'h') {
            print_help();
            return -1;
        }
        if (option == 'V') {
            options_version(term);
            return -1;
        }
        int result = take_option(args, term, option, optarg);
        if (result != 0) {
            return result;
        }
    }
    args->files = optind;
    return check_arguments(args, term, argc - optind);
}

// ---- New sessions -------------------------------------------------------------------------------

static int send_session(struct arguments *args, struct term *term, struct input *input,
                        const struct nvtxt_hello *hello) {
    struct spool spool = {.dir_fd = -1};
    if (!args->spool) {
        return transfer_run(&args->transfer, input, NULL, hello, term);
    }
    int result = spool_create(&spool, args->spool, hello, args->spool_limit);
    if (result < 0) {
        term_say(term, "no spool can be made: %s", spool.fault);
        result = EX_CANTCREAT;
    } else {
        result = transfer_run(&args->transfer, input, &spool, hello, term);
    }
    spool_close(&spool);
    return result;
}

static int send_file(struct arguments *args, struct term *term, const char *path) {
    struct input input;
    int result = input_open(&input, path);
    if (result < 0) {
        term_say(term, "%s: %s", input.name, strerror(-result));
        return EX_NOINPUT;
    }
    struct nvtxt_hello hello = {
        .protocol = NVTXT_PROTOCOL_VERSION,
        .client = "nvtxt-send " PACKAGE_VERSION,
        .has_pid = true,
        .pid = args->pid,
        .mapping = args->mapping.mapping,
        .diagnostics = !args->transfer.quiet,
    };
    snprintf(hello.name, sizeof hello.name, "%s", args->name ? args->name : input.name);
    result = session_id_make(hello.session);
    if (result < 0) {
        term_say(term, "no random numbers for a session id: %s", strerror(-result));
        result = EX_OSERR;
    } else {
        result = send_session(args, term, &input, &hello);
    }
    input_close(&input);
    return result;
}

// A file that is missing or has errors does not keep the others from being sent, and a spool takes
// them also without a daemon; else what goes wrong with the daemon ends it. The worst decides the
// exit status.
static int send_files(struct arguments *args, struct term *term, char **paths) {
    static char *only_stdin[] = {"-", NULL};
    int status = 0;
    for (char **path = *paths ? paths : only_stdin; *path; path++) {
        int result = send_file(args, term, *path);
        bool kept = args->spool && result == EX_TEMPFAIL;
        if (result > 1 && result != EX_NOINPUT && result != EX_IOERR && !kept) {
            return result;
        }
        status = result > status ? result : status;
        if (stop_count() > 0 && path[1]) {
            term_say(term, "stopped before %s", path[1]);
            return 128 + stop_signal();
        }
    }
    return status;
}

// ---- Sessions that were left behind -------------------------------------------------------------

static int resume_session(struct arguments *args, struct term *term, const char *session) {
    struct spool spool;
    struct nvtxt_hello hello;
    int result = spool_open(&spool, args->resume, session, &hello);
    if (result < 0 || result == SPOOL_BAD) {
        term_say(term, "%s", spool.fault);
        result = result < 0 ? EX_IOERR : EX_DATAERR;
    } else if (result == SPOOL_BUSY) {
        result = 0; // its sender is alive, or another one resumes it
    } else if (result == SPOOL_NONE) {
        spool_remove(&spool);
        result = 0;
    } else {
        struct input input = {.name = hello.name, .fd = -1, .ended = true};
        if (*spool.fault) {
            term_say(term, "%s", spool.fault);
        }
        result = transfer_run(&args->transfer, &input, &spool, &hello, term);
    }
    spool_close(&spool);
    return result;
}

// A session that cannot be sent keeps the others from it only when there is no daemon.
static int resume(struct arguments *args, struct term *term) {
    char **sessions;
    int count = spool_list(args->resume, &sessions);
    int status = 0;
    if (count < 0) {
        term_say(term, "%s: %s", args->resume, strerror(-count));
        return EX_NOINPUT;
    }
    args->transfer.resume = true;
    for (int i = 0; i < count && status != EX_UNAVAILABLE && stop_count() == 0; i++) {
        int result = resume_session(args, term, sessions[i]);
        status = result > status || result == EX_UNAVAILABLE ? result : status;
    }
    for (int i = 0; i < count; i++) {
        free(sessions[i]);
    }
    free(sessions);
    return stop_count() > 0 && status < 128 ? 128 + stop_signal() : status;
}

int main(int argc, char **argv) {
    struct term term;
    term_init(&term, "nvtxt-send");
    struct arguments args = {
        .transfer = {.wait_ms = -1, .timeout_ms = -1, .sync_ms = -1, .window_bytes = WINDOW_LIMIT},
        .pid = (uint32_t)getpid(),
        .spool_limit = SPOOL_LIMIT,
    };
    int result = parse_arguments(&args, &term, argc, argv);
    if (result != 0) {
        return result < 0 ? 0 : result;
    }
    char path[PATH_MAX];
    args.transfer.socket = paths_data_socket(args.socket, path, sizeof path);
    if (!paths_socket_fits(args.transfer.socket)) {
        term_say(&term, "'%s' cannot be a socket's path: it must have 1 to %d bytes",
                 args.transfer.socket, PATHS_SOCKET_MAX);
        return EX_USAGE;
    }
    result = stop_init();
    if (result < 0) {
        term_say(&term, "cannot catch signals: %s", strerror(-result));
        return EX_OSERR;
    }
    return args.resume ? resume(&args, &term) : send_files(&args, &term, argv + args.files);
}
