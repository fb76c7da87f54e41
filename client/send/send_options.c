// SPDX-License-Identifier: Apache-2.0
//
// Options one by one, then which of them go together. "--" begins a command.
#include "client/send/send_options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/send/mark.h"
#include "client/session/session_id.h"
#include "client/spool/spool.h"
#include "protocol/base/near.h"
#include "protocol/lang/colors.h"

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
    OPT_SESSION,
    OPT_SESSION_NAME,
    OPT_TEXT,
    OPT_MARK,
    OPT_PAYLOAD,
    OPT_RANGE,
    OPT_STEPS,
    OPT_CATEGORY, // this and the next three say how a log is read
    OPT_COLOR,
    OPT_LEVEL_PATTERN,
    OPT_TIME_FORMAT,
};

static void print_help(void) {
    fputs("Usage: nvtxt-send [OPTION]... [FILE]... [-- COMMAND...]  |  --resume DIR\n"
          "Sends NVTXT, logs or a command's run to nvtxtd. '-' or no FILE: stdin.\n"
          "      --mark TEXT, --payload N            send a marker with the present time\n"
          "      --range TEXT -- COMMAND, --steps -- make...  a range; one for each command\n"
          "      --socket PATH        data socket (else $NVTXT_SOCKET, yours, the system's)\n"
          "      --wait[=SECONDS]     wait for a daemon at the start\n"
          "      --timeout SECONDS    longest wait for the daemon later (default: for ever)\n"
          "      --name NAME, --pid N  name of the input; ProcessId of events without one\n"
          "      --session ID, --session-name TEXT   store FILE once, even if sent again\n"
          "      --spool DIR          keep unsent lines on disk; needs no daemon\n"
          "      --spool-limit SIZE, --spool-sync SECONDS    of one input's spool (1G, off)\n"
          "      --on-full=block|drop  when spool or memory is full (default: block)\n"
          "      --resume DIR, --new-session     send DIR's spools; if closed, as new\n"
          "      --text               the input is a log: each line becomes a marker\n"
          "      --time-format FORMAT  times in it: auto, iso, syslog, epoch, '%F %T'...\n"
          "      --category NAME, --color COLOR        of the markers, --mark and --range\n"
          "      --level-pattern REGEX=COLOR|none      colour of lines; none: no usual ones\n"
          "  -q, --quiet, -v, --verbose  print no diagnostics; say which daemon is used\n"
          "      --mode lerp --ns-a A --ns-b B --nvtxt-a a --nvtxt-b b   map times of\n"
          "      --mode lin  --ns-a A --freq F --nvtxt-a a               another clock\n"
          "      --help, --version\n"
          "Exit status: COMMAND's (126, 127: it cannot run); else 0 stored; 1 with errors,\n"
          "drops; 64 usage; 65 bad spool, other FILE, a log; 66 no FILE; 69 no daemon;\n"
          "73 no spool; 74 I/O error; 75 try again later; 76 refused; 77 forbidden.\n",
          stdout);
}

static enum outcome refuse_value(struct term *term, const char *option, const char *wanted,
                                 const char *text) {
    term_say(term, "--%s takes %s, not '%s'", option, wanted, text);
    return OUTCOME_USAGE;
}

static enum outcome take_seconds(struct term *term, const char *option, const char *text,
                                 int64_t *ms) {
    *ms = -1;
    return text && !options_seconds(text, ms) ? refuse_value(term, option, "seconds", text)
                                              : OUTCOME_DONE;
}

static enum outcome take_spool_option(struct send_arguments *args, struct term *term, int option,
                                      const char *text) {
    switch (option) {
    case OPT_SPOOL:
        args->spool = text;
        return *text ? OUTCOME_DONE : refuse_value(term, "spool", "a folder", text);
    case OPT_SPOOL_LIMIT:
        return options_bytes(text, &args->spool_limit) && args->spool_limit >= SPOOL_LIMIT_LEAST &&
                       args->spool_limit <= INT64_MAX
                   ? OUTCOME_DONE
                   : refuse_value(term, "spool-limit", "bytes, at least 4M", text);
    case OPT_SPOOL_SYNC:
        return take_seconds(term, "spool-sync", text, &args->transfer.sync_ms);
    case OPT_ON_FULL:
        args->transfer.drop = strcmp(text, "drop") == 0;
        return args->transfer.drop || strcmp(text, "block") == 0
                   ? OUTCOME_DONE
                   : refuse_value(term, "on-full", "'block' or 'drop'", text);
    default:
        args->resume = text;
        return *text ? OUTCOME_DONE : refuse_value(term, "resume", "a folder", text);
    }
}

static enum outcome take_shell_option(struct send_arguments *args, struct term *term, int option,
                                      const char *text) {
    args->is_new = true;
    switch (option) {
    case OPT_MARK:
        args->mark = text;
        return 0;
    case OPT_RANGE:
        args->range = text;
        return 0;
    case OPT_STEPS:
        args->steps = true;
        return 0;
    default:
        args->payload = text;
        return mark_payload_fits(text) ? OUTCOME_DONE
                                       : refuse_value(term, "payload", "a decimal number", text);
    }
}

static enum outcome take_color(struct textlog_options *options, struct term *term,
                               const char *text) {
    if (levels_color(text, &options->color)) {
        return 0;
    }
    const char *near = nvtxt_near(nvtxt_slice_of(text), nvtxt_color_name, NULL);
    term_say(term, "--color takes a colour's name, #RRGGBB, #AARRGGBB or a number, not '%s'%s%s%s",
             text, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    return OUTCOME_USAGE;
}

static enum outcome take_time_format(struct textlog_options *options, struct term *term,
                                     const char *text) {
    const char *fault;
    int result = timestamp_init(&options->stamp, text, &fault);
    options->has_stamp = result == 0;
    if (result == 1) {
        term_say(term, "--time-format: '%.2s' in '%s' is not known; see nvtxt-send(1)", fault,
                 text);
    } else if (result == 2) {
        term_say(term,
                 "--time-format takes auto, iso, syslog, epoch, or directives that make a time, "
                 "such as '%%F %%T', not '%s'",
                 text);
    }
    return result == 0 ? OUTCOME_DONE : OUTCOME_USAGE;
}

static enum outcome take_log_option(struct textlog_options *options, struct term *term, int option,
                                    const char *text) {
    char fault[256];
    switch (option) {
    case OPT_CATEGORY:
        if (!*text) {
            term_say(term, "--category takes a name, which cannot be empty");
            return OUTCOME_USAGE;
        }
        options->category = text;
        return 0;
    case OPT_COLOR:
        return take_color(options, term, text);
    case OPT_LEVEL_PATTERN:
        if (levels_add(&options->levels, text, fault, sizeof(fault)) == 0) {
            return 0;
        }
        term_say(term, "--level-pattern '%s': %s", text, fault);
        return OUTCOME_USAGE;
    default:
        return take_time_format(options, term, text);
    }
}

static enum outcome take_textopt(struct send_arguments *args, struct term *term, int option,
                                 const char *text) {
    args->has_color |= option == OPT_COLOR;
    if (option == OPT_COLOR || option == OPT_CATEGORY) {
        args->has_look = true;
    } else {
        args->has_textopt = true;
    }
    return take_log_option(&args->text, term, option, text);
}

static enum outcome take_session(struct send_arguments *args, struct term *term, int option,
                                 const char *text) {
    if (args->transfer.repeat) {
        term_say(term, "there is one --session or --session-name, not two");
        return OUTCOME_USAGE;
    }
    args->transfer.repeat = true;
    if (option == OPT_SESSION) {
        return session_id_read(text, args->session)
                   ? OUTCOME_DONE
                   : refuse_value(term, "session", "a UUID (any other name is for --session-name)",
                                  text);
    }
    if (!*text) {
        return refuse_value(term, "session-name", "a name", text);
    }
    return session_id_of_name(text, geteuid(), args->session) < 0 ? OUTCOME_SYSTEM : OUTCOME_DONE;
}

static enum outcome take_option(struct send_arguments *args, struct term *term, int option,
                                const char *text) {
    switch (option) {
    case OPT_SOCKET:
        args->socket = text;
        return 0;
    case OPT_NAME:
        args->name = text;
        args->is_new = true;
        return 0;
    case OPTIONS_PID:
        args->is_new = args->has_pid = true;
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
    case OPT_SESSION:
    case OPT_SESSION_NAME:
        args->is_new = true;
        return take_session(args, term, option, text);
    case 'q':
        args->transfer.quiet = true;
        return 0;
    case OPT_MARK:
    case OPT_PAYLOAD:
    case OPT_RANGE:
    case OPT_STEPS:
        return take_shell_option(args, term, option, text);
    case 'v':
        args->transfer.verbose = true;
        return 0;
    case OPT_TEXT:
        args->is_text = args->is_new = true;
        return 0;
    default:
        break;
    }
    args->is_new = true;
    if (option >= OPT_CATEGORY) {
        return take_textopt(args, term, option, text);
    }
    int result = options_take_mapping(&args->mapping, term, option, text);
    return result == OPTIONS_OTHER ? options_refuse(term) : (enum outcome)result;
}

// A sentence about options for a shell that do not go together, or NULL.
static const char *find_shell_contradiction(const struct send_arguments *args, bool dashes) {
    if (args->mark && (*args->files || dashes || args->is_text || args->range || args->steps)) {
        return "--mark says all there is to say: it takes no FILE, no command, no --text, --range "
               "or --steps";
    }
    if (args->payload && !args->mark) {
        return "--payload belongs to --mark";
    }
    if ((args->range || args->steps) && !args->command) {
        return "--range and --steps are followed by '--' and a command";
    }
    if ((args->range || args->steps) && (args->is_text || args->has_textopt)) {
        return "with --range and --steps no lines are recorded: --text, --level-pattern and "
               "--time-format have nothing to do";
    }
    return NULL;
}

// A sentence about options that do not go together, or NULL.
static const char *find_contradiction(const struct send_arguments *args, bool dashes) {
    bool text = args->is_text || args->command;
    const char *fault = find_shell_contradiction(args, dashes);
    if (fault) {
        return fault;
    }
    if (args->resume && (*args->files || dashes || args->spool || args->is_new)) {
        return "--resume goes on with the sessions of a spool: it takes no FILE, no command and no "
               "option that describes a new session";
    }
    if (args->transfer.repeat && args->spool) {
        return "--session does not go with --spool, which keeps the session of its input itself: "
               "--resume goes on with it";
    }
    if (args->transfer.repeat && args->mark) {
        return "--session does not go with --mark, which is no FILE";
    }
    if (args->transfer.repeat && args->command) {
        return "--session is for input that can be sent again, and a command's output cannot";
    }
    if (args->transfer.repeat && args->transfer.drop) {
        return "--session does not go with --on-full=drop: lines that are left out would be "
               "missed when the rest is sent again";
    }
    if (dashes && !args->command) {
        return "'--' has to be followed by a command";
    }
    if (args->command && *args->files) {
        return "a FILE and a command do not go together";
    }
    if (args->command && args->has_pid) {
        return "--pid does not go with a command: its events bear its own process";
    }
    if (!text && (args->has_textopt || (args->has_look && !args->mark))) {
        return "--category, --color, --level-pattern and --time-format need --text or a command: "
               "NVTXT says these things itself";
    }
    if ((text || args->mark) && args->mapping.mapping.mode != NVTXT_MAPPING_NONE) {
        return "--mode is for the times of NVTXT: those of a log need no mapping";
    }
    return NULL;
}

static enum outcome check_arguments(const struct send_arguments *args, struct term *term,
                                    bool dashes) {
    const char *fault = find_contradiction(args, dashes);
    int files = 0;
    while (args->files[files]) {
        files++;
    }
    if (fault) {
        term_say(term, "%s", fault);
        return OUTCOME_USAGE;
    }
    if (args->transfer.repeat && files > 1) {
        term_say(term, "--session is the session of one FILE, but there are %d files", files);
        return OUTCOME_USAGE;
    }
    if (args->name && files > 1) {
        term_say(term, "--name names one input, but there are %d files", files);
        return OUTCOME_USAGE;
    }
    return options_check_mapping(&args->mapping, term, true);
}

enum outcome send_arguments_parse(struct send_arguments *args, struct term *term, int argc,
                                  char **argv) {
    static const struct option table[] = {
        OPTIONS_MAPPING,
        {"category", required_argument, NULL, OPT_CATEGORY},
        {"color", required_argument, NULL, OPT_COLOR},
        {"level-pattern", required_argument, NULL, OPT_LEVEL_PATTERN},
        {"time-format", required_argument, NULL, OPT_TIME_FORMAT},
        {"text", no_argument, NULL, OPT_TEXT},
        {"mark", required_argument, NULL, OPT_MARK},
        {"payload", required_argument, NULL, OPT_PAYLOAD},
        {"range", required_argument, NULL, OPT_RANGE},
        {"steps", no_argument, NULL, OPT_STEPS},
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
        {"session", required_argument, NULL, OPT_SESSION},
        {"session-name", required_argument, NULL, OPT_SESSION_NAME},
        {"quiet", no_argument, NULL, 'q'},
        {"verbose", no_argument, NULL, 'v'},
        OPTIONS_TAIL,
    };
    const char *value = NULL;
    char **file = argv + 1; // files move to the front, over what was read already
    int option;
    while ((option = getopt_long(argc, argv, "-qv", table, NULL)) != -1) {
        enum outcome answered = options_answer(term, option, print_help);
        if (answered != 0) {
            return answered;
        }
        if (option == 1) { // an operand
            *file++ = optarg;
            continue;
        }
        value = optarg;
        enum outcome result = take_option(args, term, option, optarg);
        if (result != 0) {
            return result;
        }
    }
    // "--" may also be the value of the last option.
    bool dashes = argv[optind - 1] != value && strcmp(argv[optind - 1], "--") == 0;
    args->command = dashes && optind < argc ? argv + optind : NULL;
    *file = NULL;
    args->files = argv + 1;
    return check_arguments(args, term, dashes);
}
