// SPDX-License-Identifier: Apache-2.0
//
// Options one by one, then which of them go together. "--" begins a command.
#include "client/send/send_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/send/runs.h"
#include "protocol/base/clock.h"
#include "protocol/lang/names.h"
#include "protocol/text/forms.h"

static void print_help(void) {
    fputs("Usage: nvtxt-send [OPTION]... [FILE]... [-- COMMAND...]  |  --resume DIR\n"
          "Sends NVTXT, logs or a command's run to nvtxtd. '-' or no FILE: stdin.\n"
          "      --mark TEXT, --payload N            send a marker with the present time\n"
          "      --range TEXT -- COMMAND, --steps -- make...  a range; one for each command\n"
          "      --repeat N [--warmup N] [--ignore-failure]   runs of --range, with figures\n"
          "      --nvtx [--record-output] -- COMMAND, --nvtx --print    programs with NVTX\n"
          "      --session-folder DIR  where COMMAND's files *.nvtxt are sent from, kept\n"
          "      --socket PATH        data socket (else $NVTXT_SOCKET, yours, the system's)\n"
          "      --wait[=SECONDS], --timeout SECONDS  wait for a daemon at the start; later\n"
          "      --name NAME, --pid N  name of the input; ProcessId of events without one\n"
          "      --session ID, --session-name TEXT   store FILE once, even if sent again\n"
          "      --spool DIR, --on-full=block|drop   keep unsent lines on disk; when full\n"
          "      --spool-limit SIZE, --spool-sync SECONDS    of one input's spool (1G, off)\n"
          "      --resume DIR, --new-session     send DIR's spools; if closed, as new\n"
          "      --text, --time-format FORMAT  a log, each line a marker; its times\n"
          "      --category NAME, --color COLOR        of the markers, --mark and --range\n"
          "      --journal, --journal-file FILE, --state FILE   send entries, each once\n"
          "  -u, --unit UNIT, -p, --priority LEVEL, -S, --since TIME, -f, --follow  which\n"
          "      --level-pattern REGEX=COLOR|none      colour of lines; none: no usual ones\n"
          "  -q, --quiet, -v, --verbose  print no diagnostics; say which daemon is used\n"
          "      --mode lerp --ns-a A --ns-b B --nvtxt-a a --nvtxt-b b   map times of\n"
          "      --mode lin --ns-a A --freq F --nvtxt-a a  other clocks; --help, --version\n"
          "Exit status: COMMAND's, 126, 127; 0 stored; 1 errors; 64 usage; 65 bad FILE; 66\n"
          "none; 69 no daemon; 73 no spool; 74 I/O; 75 later; 76 refused; 77 forbidden.\n",
          stdout);
}

static int take_on_full(const struct nvtxt_option_value *value) {
    bool drop = strcmp(value->text, "drop") == 0;
    *(bool *)value->field = drop;
    return drop || strcmp(value->text, "block") == 0 ? 0 : NVTXT_WRONG;
}

static int take_payload(const struct nvtxt_option_value *value) {
    *(const char **)value->field = value->text;
    return mark_payload_fits(value->text) ? 0 : NVTXT_WRONG;
}

static int take_color(const struct nvtxt_option_value *value) {
    if (levels_color(value->text, value->field)) {
        return 0;
    }
    const char *near = nvtxt_near(nvtxt_slice_of(value->text), nvtxt_color_name, NULL);
    term_say(value->context,
             "--color takes a colour's name, #RRGGBB, #AARRGGBB or a number, not '%s'%s%s%s",
             value->text, near ? ": did you mean '" : "", near ?: "", near ? "'?" : "");
    return OUTCOME_USAGE;
}

static int take_time_format(const struct nvtxt_option_value *value) {
    const char *fault;
    int r = timestamp_init(value->field, value->text, &fault);
    if (r == 1) {
        term_say(value->context, "--time-format: '%.2s' in '%s' is not known; see nvtxt-send(1)",
                 fault, value->text);
    } else if (r == 2) {
        term_say(value->context,
                 "--time-format takes auto, iso, syslog, epoch, or directives that make a time, "
                 "such as '%%F %%T', not '%s'",
                 value->text);
    }
    return r == 0 ? OUTCOME_DONE : OUTCOME_USAGE;
}

static int take_level_pattern(const struct nvtxt_option_value *value) {
    char fault[256];
    if (levels_add(value->field, value->text, fault, sizeof(fault)) == 0) {
        return 0;
    }
    term_say(value->context, "--level-pattern '%s': %s", value->text, fault);
    return OUTCOME_USAGE;
}

// --session, or --session-name.
static int take_session(const struct nvtxt_option_value *value) {
    struct send_arguments *args = value->field;
    if (args->transfer.repeat) {
        term_say(value->context, "there is one --session or --session-name, not two");
        return OUTCOME_USAGE;
    }
    args->transfer.repeat = true;
    if (strcmp(value->row->name, "session") == 0) {
        return nvtxt_uuid_read(value->text, args->session) ? 0 : NVTXT_WRONG;
    }
    if (!*value->text) {
        return NVTXT_WRONG;
    }
    return session_id_of_name(value->text, geteuid(), args->session);
}

// A time, or how long ago: "-1h".
static int take_since(const struct nvtxt_option_value *value) {
    const char *text = value->text;
    int64_t ns;
    bool ago = *text == '-';
    if (ago ? !nvtxt_duration_parse(text + 1, &ns) : !nvtxt_time_parse(text, &ns)) {
        return NVTXT_WRONG;
    }
    ns = ago ? nvtxt_time_minus(nvtxt_realtime_ns(), ns) : ns;
    *(uint64_t *)value->field = ns > 0 ? (uint64_t)ns / 1000 : 0;
    return 0;
}

static int take_priority(const struct nvtxt_option_value *value) {
    return nvtxt_level_span_parse(nvtxt_slice_of(value->text), value->field) ? 0 : NVTXT_WRONG;
}

// systemd's own names have no such bytes.
static int take_unit(const struct nvtxt_option_value *value) {
    if (!*value->text || strlen(value->text) > 240 || strpbrk(value->text, "*?[]= \t\n/")) {
        return NVTXT_WRONG;
    }
    return nvtxt_option_list_add(value->field, value->text);
}

#define AT(field) offsetof(struct send_arguments, field)

static const struct nvtxt_option rows[] = {
    {.kind = NVTXT_OPTION_GROUP, .at = AT(mapping), .group = arguments_mapping_rows},
    {"category", 0, NVTXT_OPTION_TEXT, .at = AT(text.category), .wanted = "a name"},
    {"color", 0, NVTXT_OPTION_OTHER, .at = AT(text.color), .has = AT(has_color),
     .take = take_color},
    {"level-pattern", 0, NVTXT_OPTION_OTHER, .at = AT(text.levels), .has = AT(has_levels),
     .take = take_level_pattern},
    {"time-format", 0, NVTXT_OPTION_OTHER, .at = AT(text.stamp), .has = AT(text.has_stamp),
     .take = take_time_format},
    {"text", 0, NVTXT_OPTION_FLAG, .at = AT(is_text)},
    {"mark", 0, NVTXT_OPTION_TEXT, .at = AT(mark)},
    {"payload", 0, NVTXT_OPTION_OTHER, .at = AT(payload), .wanted = "a decimal number",
     .take = take_payload},
    {"range", 0, NVTXT_OPTION_TEXT, .at = AT(range)},
    {"repeat", 0, NVTXT_OPTION_NUMBER, .at = AT(repeat), .wanted = "a number of runs, 1 to 100000",
     .least = 1, .most = RUNS_MOST},
    {"warmup", 0, NVTXT_OPTION_NUMBER, .at = AT(warm_ups),
     .wanted = "a number of runs, 0 to 100000", .most = RUNS_MOST},
    {"ignore-failure", 0, NVTXT_OPTION_FLAG, .at = AT(ignore_failure)},
    {"steps", 0, NVTXT_OPTION_FLAG, .at = AT(steps)},
    {"nvtx", 0, NVTXT_OPTION_FLAG, .at = AT(nvtx)},
    {"print", 0, NVTXT_OPTION_FLAG, .at = AT(print)},
    {"journal", 0, NVTXT_OPTION_FLAG, .at = AT(is_journal)},
    {"journal-file", 0, NVTXT_OPTION_TEXT, .at = AT(journal.source), .wanted = "a file or folder"},
    {"unit", 'u', NVTXT_OPTION_OTHER, .at = AT(units), .wanted = "the name of a unit, no pattern",
     .take = take_unit},
    {"priority", 'p', NVTXT_OPTION_OTHER, .at = AT(journal.levels), .has = AT(journal.has_levels),
     .wanted = "a level: " NVTXT_LEVELS_THERE, .take = take_priority},
    {"since", 'S', NVTXT_OPTION_OTHER, .at = AT(since_usec), .has = AT(has_since),
     .wanted = "a time such as 2026-11-21T06:24:00Z, or -1h for an hour ago", .take = take_since},
    {"follow", 'f', NVTXT_OPTION_FLAG, .at = AT(follow)},
    {"state", 0, NVTXT_OPTION_TEXT, .at = AT(state), .wanted = "a file"},
    {"session-folder", 0, NVTXT_OPTION_TEXT, .at = AT(session_folder), .wanted = "a folder"},
    {"record-output", 0, NVTXT_OPTION_FLAG, .at = AT(record_output)},
    {"socket", 0, NVTXT_OPTION_TEXT, .at = AT(socket)},
    {"pid", 0, NVTXT_OPTION_PID, .at = AT(pid), .has = AT(has_pid), .wanted = NVTXT_OPTION_A_PID},
    {"name", 0, NVTXT_OPTION_TEXT, .at = AT(name)},
    {"wait", 0, NVTXT_OPTION_SECONDS, .at = AT(transfer.wait_ms), .has = AT(transfer.wait),
     .wanted = "seconds", .optional = true},
    {"timeout", 0, NVTXT_OPTION_SECONDS, .at = AT(transfer.timeout_ms), .wanted = "seconds"},
    {"spool", 0, NVTXT_OPTION_TEXT, .at = AT(spool), .wanted = "a folder"},
    {"spool-limit", 0, NVTXT_OPTION_BYTES, .at = AT(spool_limit), .wanted = "bytes, at least 4M",
     .least = SPOOL_LIMIT_LEAST},
    {"spool-sync", 0, NVTXT_OPTION_SECONDS, .at = AT(transfer.sync_ms), .wanted = "seconds"},
    {"on-full", 0, NVTXT_OPTION_OTHER, .at = AT(transfer.drop), .wanted = "'block' or 'drop'",
     .take = take_on_full},
    {"resume", 0, NVTXT_OPTION_TEXT, .at = AT(resume), .wanted = "a folder"},
    {"new-session", 0, NVTXT_OPTION_FLAG, .at = AT(transfer.new_session)},
    {"session", 0, NVTXT_OPTION_OTHER, .wanted = "a UUID (any other name is for --session-name)",
     .take = take_session},
    {"session-name", 0, NVTXT_OPTION_OTHER, .wanted = "a name", .take = take_session},
    {"quiet", 'q', NVTXT_OPTION_FLAG, .at = AT(transfer.quiet)},
    {"verbose", 'v', NVTXT_OPTION_FLAG, .at = AT(transfer.verbose)},
    {0},
};

// An option of the log's lines was given, which nothing but lines has a use for.
static bool has_line_options(const struct send_arguments *args) {
    return args->has_levels || args->text.has_stamp;
}

// One that --mark and --range take, too.
static bool has_look(const struct send_arguments *args) {
    return args->text.category || args->has_color;
}

// An option was given that describes a new session.
static bool is_new(const struct send_arguments *args) {
    return args->name || args->has_pid || args->transfer.repeat || args->mark || args->payload ||
           args->range || args->steps || args->nvtx || args->is_text || args->session_folder ||
           args->is_journal || has_line_options(args) || has_look(args) ||
           arguments_mapping_given(&args->mapping);
}

// A sentence about --nvtx and what belongs to it, or NULL.
static const char *find_nvtx_contradiction(const struct send_arguments *args, bool dashes) {
    if ((args->print || args->record_output) && !args->nvtx) {
        return "--print and --record-output belong to --nvtx";
    }
    if (!args->nvtx) {
        return NULL;
    }
    if (*args->files) {
        return "--nvtx takes no FILE: it is followed by '--' and a command, or by --print";
    }
    if (args->is_text) {
        return "--nvtx does not go with --text: a program's NVTX calls are no log; "
               "--record-output records its output, too";
    }
    if (args->print && (dashes || args->record_output || args->range || args->steps ||
                        args->session_folder || args->transfer.repeat)) {
        return "--print goes with --nvtx, --socket and --spool: it prints variables and runs no "
               "command";
    }
    if (!args->print && !args->command) {
        return "--nvtx is followed by '--' and a command, or by --print";
    }
    if (args->record_output && (args->range || args->steps)) {
        return "with --range and --steps no lines are recorded: --record-output has nothing to do";
    }
    if (!args->record_output && has_line_options(args)) {
        return "--level-pattern and --time-format are for a command's output: with --nvtx it is "
               "recorded only with --record-output";
    }
    return NULL;
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
    if (args->repeat > 0 && !args->range) {
        return "--repeat belongs to --range: the runs are ranges of that name";
    }
    if ((args->warm_ups > 0 || args->ignore_failure) && args->repeat == 0) {
        return "--warmup and --ignore-failure belong to --repeat";
    }
    if ((args->range || args->steps) && !args->command) {
        return "--range and --steps are followed by '--' and a command";
    }
    if ((args->range || args->steps) && (args->is_text || has_line_options(args))) {
        return "with --range and --steps no lines are recorded: --text, --level-pattern and "
               "--time-format have nothing to do";
    }
    return NULL;
}

// A sentence about --journal and what belongs to it, or NULL.
static const char *find_journal_contradiction(const struct send_arguments *args, bool dashes) {
    if (!args->is_journal) {
        bool belongs = args->journal.source || args->units.count > 0 || args->journal.has_levels ||
                       args->has_since || args->follow || args->state;
        return belongs ? "--journal-file, --unit, --priority, --since, --follow and --state belong "
                         "to --journal"
                       : NULL;
    }
    if (*args->files || dashes || args->is_text || args->mark || args->range || args->steps ||
        args->nvtx || args->resume) {
        return "--journal takes no FILE, no command, no --text, --mark, --nvtx or --resume";
    }
    if (args->spool || args->transfer.drop || args->transfer.repeat || args->transfer.new_session) {
        return "--journal needs no --spool, --on-full, --session or --new-session: the journal "
               "keeps its entries, and --state the place in it";
    }
    if (args->has_pid || args->text.has_stamp) {
        return "--journal takes no --pid and no --time-format: entries have their own process and "
               "time";
    }
    return NULL;
}

// A sentence about options that do not go together, or NULL.
static const char *find_contradiction(const struct send_arguments *args, bool dashes) {
    bool text = args->is_text || args->command || args->is_journal;
    const char *fault = find_nvtx_contradiction(args, dashes);
    fault = fault ?: find_journal_contradiction(args, dashes);
    fault = fault ?: find_shell_contradiction(args, dashes);
    if (fault) {
        return fault;
    }
    if (args->resume && (*args->files || dashes || args->spool || is_new(args))) {
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
    if (args->session_folder && !args->command) {
        return "--session-folder is followed by '--' and a command";
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
    if (!text && (has_line_options(args) || (has_look(args) && !args->mark))) {
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
    int files = args->file_count;
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
    return arguments_check_mapping(&args->mapping, term, true);
}

// Files move to the front, over what was read already.
static int take_file(struct nvtxt_options *parser, char *word) {
    struct send_arguments *args = parser->values;
    args->files[args->file_count++] = word;
    return 0;
}

enum outcome send_arguments_parse(struct send_arguments *args, struct term *term, int argc,
                                  char **argv) {
    struct arguments_parser parser = {{rows, args, term, .take_word = take_file},
                                      .print_help = print_help};
    args->files = argv + 1;
    enum outcome r = arguments_parse(&parser, argc, argv);
    if (r != 0) {
        return r;
    }
    args->command = parser.options.dashes && optind < argc ? argv + optind : NULL;
    args->files[args->file_count] = NULL;
    return check_arguments(args, term, parser.options.dashes);
}
