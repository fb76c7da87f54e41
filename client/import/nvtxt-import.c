// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-import: its command line, the command info, and its exit status. It loads NVTXT files into
// a store or an export of Nsight Systems without a daemon. It also understands the commands and
// options of Nsight Systems' ImportNvtxt as that program spells them.
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/common/outcome.h"
#include "client/import/import_job.h"
#include "protocol/base/origin.h"
#include "store/copy/copy.h"
#include "store/db/header.h"

struct arguments {
    const char *command;
    bool named_files;  // a -n was given
    bool named_folder; // words that are folders were given
    struct import_job job;
};

static void print_help(void) {
    fputs("Usage: nvtxt-import create -n FILE... -o OUT [OPTION]...\n"
          "       nvtxt-import merge -i IN -n FILE... -o OUT [OPTION]...\n"
          "       nvtxt-import collect [FOLDER]... -o OUT [OPTION]...\n"
          "       nvtxt-import info -i IN\n"
          "Loads NVTXT files. create: into a new store. merge: into a copy of IN (a store,\n"
          "or an SQLite export of Nsight Systems). collect: those of report folders into a\n"
          "new store. info: prints the beginning and the end of IN.\n"
          "  -n, --nvtxt FILE...   files to load, each a source of its own; '-': stdin\n"
          "  -i, --input IN        the store or export to read; it is never changed\n"
          "  -o, --output OUT      the file to make, whole or not at all\n"
          "      --force           replace an OUT that exists\n"
          "      --pid N           ProcessId of events without one (default: 0)\n"
          "      --origin NS       where TimeBase Relative begins (default: 0 or IN's)\n"
          "      --clock=here      the files were written on this machine since it booted\n"
          "      --target HW:VM    target of the events, if IN has several\n"
          "      --no-session-files  collect: without the files of the session's folder\n"
          "      --update-report-time  keep events outside the export's session; prolong it\n"
          "  -q, --quiet           no diagnostics, no progress\n"
          "      --help, --version\n"
          "Times of another clock (default of a, b: the file's smallest and largest time):\n"
          "      --mode lerp --ns-a A --ns-b B [--nvtxt-a a] [--nvtxt-b b]\n"
          "      --mode lin  --ns-a A --freq F [--nvtxt-a a]\n"
          "Exit status: 0 done; 1 files had errors; 64 usage; 65 IN is no store or export;\n"
          "66 nothing to read; 73 OUT cannot be made; 74 I/O error; 75 IN is locked.\n",
          stdout);
}

static void add_file(struct import_job *job, const char *name) {
    job->files[job->file_count++] = name;
}

// A word without a dash: the command, a file after -n, or a folder to collect.
static int take_word(struct nvtxt_options *parser, char *word) {
    struct arguments *args = parser->values;
    if (parser->letter == 'n') {
        add_file(&args->job, word);
    } else if (!args->command) {
        args->command = word;
    } else if (strcmp(args->command, "collect") == 0) {
        args->named_folder = true;
        add_file(&args->job, word);
    } else {
        term_say(parser->context, "what is '%s'? Files are named after -n", word);
        return (int)arguments_refuse(parser->context);
    }
    return 0;
}

static int take_file(const struct nvtxt_option_value *value) {
    add_file(value->field, value->text);
    return 0;
}

static int take_input(const struct nvtxt_option_value *value) {
    const char **input = value->field;
    if (*input) {
        term_say(value->context, "-i is given twice: %s and %s; one file is read", *input,
                 value->text);
        return (int)arguments_refuse(value->context);
    }
    *input = value->text;
    return 0;
}

// "0:1": hardware id and VM id, 8 bits each.
static int take_target(const struct nvtxt_option_value *value) {
    char hardware[24];
    size_t len = strcspn(value->text, ":");
    int64_t ids[2];
    snprintf(hardware, sizeof(hardware), "%.*s", (int)len, value->text);
    if (len >= sizeof(hardware) || !value->text[len] || !nvtxt_option_int64(hardware, &ids[0]) ||
        !nvtxt_option_int64(value->text + len + 1, &ids[1]) || ids[0] < 0 || ids[0] > 255 ||
        ids[1] < 0 || ids[1] > 255) {
        return NVTXT_WRONG;
    }
    *(uint16_t *)value->field = (uint16_t)(ids[0] << 8 | ids[1]);
    return 0;
}

#define AT(field) offsetof(struct arguments, field)

static const struct nvtxt_option rows[] = {
    {.kind = NVTXT_OPTION_GROUP, .at = AT(job.load), .group = load_rows},
    {NULL, 'm', NVTXT_OPTION_OTHER, .at = AT(job.load.mapping.mapping.mode),
     .wanted = "lerp or lin", .take = arguments_take_mode},
    {"cmd", 'c', NVTXT_OPTION_TEXT, .at = AT(command)},
    {"nvtxt", 'n', NVTXT_OPTION_OTHER, .at = AT(job), .has = AT(named_files), .take = take_file},
    {"output", 'o', NVTXT_OPTION_TEXT, .at = AT(job.output)},
    {"input", 'i', NVTXT_OPTION_OTHER, .at = AT(job.input), .take = take_input},
    {"force", 0, NVTXT_OPTION_FLAG, .at = AT(job.force)},
    {"target", 0, NVTXT_OPTION_OTHER, .at = AT(job.target), .has = AT(job.has_target),
     .wanted = "HW:VM, two numbers from 0 to 255", .take = take_target},
    {"update-report-time", 0, NVTXT_OPTION_FLAG, .at = AT(job.prolong),
     .alias = "update_report_time"},
    {"no-session-files", 0, NVTXT_OPTION_FLAG, .at = AT(job.no_session)},
    {"quiet", 'q', NVTXT_OPTION_FLAG, .at = AT(job.quiet)},
    {0},
};

static enum outcome parse_arguments(struct arguments *args, struct term *term, int argc,
                                    char **argv) {
    struct arguments_parser parser = {{rows, args, term, .help = 'h', .take_word = take_word},
                                      .print_help = print_help};
    enum outcome r = arguments_parse(&parser, argc, argv);
    while (r == 0 && optind < argc) { // after "--"
        r = (enum outcome)take_word(&parser.options, argv[optind++]);
    }
    return r;
}

// ---- info ---------------------------------------------------------------------------------------

// A store answers from its totals; a file that is not a store may be an export.
static enum outcome span_of(const char *path, struct term *term, int64_t *first_ns,
                            int64_t *last_ns) {
    const struct store_options how = {.read_only = true};
    struct store *store;
    struct store_totals totals;
    char why[1024];
    int r = store_open(&store, path, &how, why, sizeof(why));
    if (r == STORE_FOREIGN) {
        r = store_copy_export_span(path, first_ns, last_ns, why, sizeof(why));
    } else if (r == STORE_DONE) {
        r = store_totals_load(store, &totals);
        *first_ns = totals.first_ns;
        *last_ns = totals.last_ns;
        snprintf(why, sizeof(why), "%s", store_error(store));
        store_close(store);
    }
    if (r == STORE_DONE) {
        return OUTCOME_DONE;
    }
    if (signals_count() > 0) {
        return OUTCOME_STOPPED;
    }
    term_say(term, "%s", why);
    return r == STORE_BUSY              ? OUTCOME_LATER
           : r < 0 || r == STORE_FAILED ? OUTCOME_NO_INPUT
                                        : OUTCOME_BAD_DATA;
}

static enum outcome run_info(const struct import_job *job, struct term *term) {
    int64_t first_ns;
    int64_t last_ns;
    if (!job->input || job->file_count > 0 || job->output) {
        term_say(term, "info takes one store or export and nothing else: -i IN");
        return arguments_refuse(term);
    }
    enum outcome status = span_of(job->input, term, &first_ns, &last_ns);
    if (status == 0) {
        printf("Analysis start (ns)\t%" PRId64 "\nAnalysis end (ns)\t%" PRId64 "\n", first_ns,
               last_ns);
    }
    if (fflush(stdout) != 0) {
        term_say(term, "cannot write to stdout: %s", strerror(errno));
        return OUTCOME_IO;
    }
    return status;
}

// ---- Commands -----------------------------------------------------------------------------------

static const struct {
    const char *name;
    enum outcome (*run)(const struct import_job *job, struct term *term);
} commands[] = {{"create", import_create},
                {"merge", import_merge},
                {"collect", import_collect},
                {"info", run_info}};

static const char *command_name(const void *context, size_t index) {
    (void)context;
    return index < sizeof(commands) / sizeof(commands[0]) ? commands[index].name : NULL;
}

static enum outcome run_command(const struct arguments *args, struct term *term) {
    if (!args->command) {
        term_say(term, "a command is missing: create, merge, collect or info");
        return arguments_refuse(term);
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(args->command, commands[i].name) != 0) {
            continue;
        }
        bool collects = commands[i].run == import_collect;
        if (collects ? args->named_files : args->named_folder) {
            term_say(term, collects ? "collect takes folders, not -n" : "files are named after -n");
            return arguments_refuse(term);
        }
        if (args->job.no_session && !collects) {
            term_say(term, "--no-session-files belongs to collect");
            return arguments_refuse(term);
        }
        return commands[i].run(&args->job, term);
    }
    const char *near = nvtxt_near(nvtxt_slice_of(args->command), command_name, NULL);
    term_say(term, "there is no command '%s'%s%s%s; there are create, merge, collect and info",
             args->command, near ? ", did you mean '" : "", near ?: "", near ? "'?" : "");
    return arguments_refuse(term);
}

int main(int argc, char **argv) {
    struct term term;
    struct arguments args = {.job.files = calloc((size_t)argc, sizeof(*args.job.files))};
    term_init(&term, "nvtxt-import");
    int r = args.job.files ? signals_init() : nvtxt_origin(-ENOMEM);
    if (r < 0) {
        term_say(&term, "cannot start: %s", strerror(-r));
        free(args.job.files);
        return outcome_exit_status(OUTCOME_SYSTEM);
    }
    signals_stop_soon();
    store_stranger_ask(signals_count);
    enum outcome status = parse_arguments(&args, &term, argc, argv);
    status = status ?: run_command(&args, &term);
    free(args.job.files);
    return outcome_exit_status(status);
}
