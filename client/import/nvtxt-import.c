// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-import: its command line, the command info, and its exit status. It loads NVTXT files into
// a store or an export of Nsight Systems without a daemon. It also understands the commands and
// options of Nsight Systems' ImportNvtxt as that program spells them.
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/common/arguments.h"
#include "client/common/outcome.h"
#include "client/common/signals.h"
#include "client/common/term.h"
#include "client/import/import_job.h"
#include "protocol/base/near.h"
#include "store/copy/copy.h"
#include "store/db/stranger.h"

enum { OPT_FORCE = OPTIONS_OWN, OPT_TARGET, OPT_PROLONG };

struct arguments {
    const char *command;
    bool taking_files; // after -n: words are files
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
          "      --update-report-time  keep events outside the export's session; prolong it\n"
          "  -q, --quiet           no diagnostics, no progress\n"
          "      --help, --version\n"
          "Times of another clock (default of a, b: the file's smallest and largest time):\n"
          "      --mode lerp --ns-a A --ns-b B [--nvtxt-a a] [--nvtxt-b b]\n"
          "      --mode lin  --ns-a A --freq F [--nvtxt-a a]\n"
          "Exit status: 0 done; 1 done, but files had errors or cannot be read; 64 usage;\n"
          "65 IN is neither store nor export; 66 nothing to read; 73 OUT cannot be made;\n"
          "74 I/O error; 75 IN is locked.\n",
          stdout);
}

// A word without a dash: the command, a file after -n, or a folder to collect.
static enum outcome take_word(struct arguments *args, struct term *term, const char *word) {
    if (args->taking_files) {
        args->job.files[args->job.file_count++] = word;
    } else if (!args->command) {
        args->command = word;
    } else if (strcmp(args->command, "collect") == 0) {
        args->named_folder = true;
        args->job.files[args->job.file_count++] = word;
    } else {
        term_say(term, "what is '%s'? Files are named after -n", word);
        return options_refuse(term);
    }
    return 0;
}

// "0:1": hardware id and VM id, 8 bits each.
static enum outcome take_target(struct import_job *job, struct term *term, const char *text) {
    char hardware[24];
    const char *colon = strchr(text, ':');
    int64_t ids[2] = {-1, -1};
    if (colon && (size_t)(colon - text) < sizeof(hardware)) {
        memcpy(hardware, text, (size_t)(colon - text));
        hardware[colon - text] = '\0';
        if (!options_int64(hardware, &ids[0]) || !options_int64(colon + 1, &ids[1])) {
            ids[0] = -1;
        }
    }
    if (ids[0] < 0 || ids[0] > 255 || ids[1] < 0 || ids[1] > 255) {
        term_say(term, "--target takes HW:VM, two numbers from 0 to 255, not '%s'", text);
        return OUTCOME_USAGE;
    }
    job->target = (uint16_t)(ids[0] << 8 | ids[1]);
    job->has_target = true;
    return 0;
}

static enum outcome take_option(struct arguments *args, struct term *term, int option,
                                const char *text) {
    struct import_job *job = &args->job;
    int result = 0;
    if (option == 1) {
        return take_word(args, term, text);
    }
    args->taking_files = option == 'n';
    switch (option) {
    case 'c':
        args->command = text;
        break;
    case 'n':
        args->named_files = true;
        job->files[job->file_count++] = text;
        break;
    case 'o':
        job->output = text;
        break;
    case 'i':
        if (job->input) {
            term_say(term, "-i is given twice: %s and %s; one file is read", job->input, text);
            return options_refuse(term);
        }
        job->input = text;
        break;
    case 'q':
        job->quiet = true;
        break;
    case OPT_FORCE:
        job->force = true;
        break;
    case OPT_PROLONG:
        job->prolong = true;
        break;
    case OPT_TARGET:
        result = take_target(job, term, text);
        break;
    default:
        result = load_take_option(&job->load, term, option == 'm' ? OPTIONS_MODE : option, text);
    }
    return result == OPTIONS_OTHER ? options_refuse(term) : (enum outcome)result;
}

static enum outcome parse_arguments(struct arguments *args, struct term *term, int argc,
                                    char **argv) {
    static const struct option table[] = {
        LOAD_OPTIONS,
        {"cmd", required_argument, NULL, 'c'},
        {"nvtxt", required_argument, NULL, 'n'},
        {"output", required_argument, NULL, 'o'},
        {"input", required_argument, NULL, 'i'},
        {"force", no_argument, NULL, OPT_FORCE},
        {"target", required_argument, NULL, OPT_TARGET},
        {"update-report-time", no_argument, NULL, OPT_PROLONG},
        {"update_report_time", no_argument, NULL, OPT_PROLONG},
        {"quiet", no_argument, NULL, 'q'},
        OPTIONS_TAIL,
    };
    int option;
    // With the leading minus getopt returns words in their order, so that -n can take several.
    while ((option = getopt_long(argc, argv, "-c:n:o:i:m:qh", table, NULL)) != -1) {
        enum outcome answered = options_answer(term, option, print_help);
        if (answered != 0) {
            return answered;
        }
        enum outcome result = take_option(args, term, option, optarg);
        if (result != 0) {
            return result;
        }
    }
    for (int i = optind; i < argc; i++) { // after "--"
        enum outcome result = take_word(args, term, argv[i]);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

// ---- info ---------------------------------------------------------------------------------------

// A store answers from its totals; a file that is not a store may be an export.
static enum outcome span_of(const char *path, struct term *term, int64_t *first_ns,
                            int64_t *last_ns) {
    const struct store_options how = {.read_only = true};
    struct store *store;
    struct store_totals totals;
    char why[1024];
    int result = store_open(&store, path, &how, why, sizeof(why));
    if (result == STORE_FOREIGN) {
        result = store_copy_export_span(path, first_ns, last_ns, why, sizeof(why));
    } else if (result == STORE_DONE) {
        result = store_totals_load(store, &totals);
        *first_ns = totals.first_ns;
        *last_ns = totals.last_ns;
        snprintf(why, sizeof(why), "%s", store_error(store));
        store_close(store);
    }
    if (result == STORE_DONE) {
        return OUTCOME_DONE;
    }
    if (stop_count() > 0) {
        return OUTCOME_STOPPED;
    }
    term_say(term, "%s", why);
    return result == STORE_BUSY                   ? OUTCOME_LATER
           : result < 0 || result == STORE_FAILED ? OUTCOME_NO_INPUT
                                                  : OUTCOME_BAD_DATA;
}

static enum outcome run_info(const struct import_job *job, struct term *term) {
    int64_t first_ns;
    int64_t last_ns;
    if (!job->input || job->file_count > 0 || job->output) {
        term_say(term, "info takes one store or export and nothing else: -i IN");
        return options_refuse(term);
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

static enum outcome run(const struct arguments *args, struct term *term) {
    if (!args->command) {
        term_say(term, "a command is missing: create, merge, collect or info");
        return options_refuse(term);
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(args->command, commands[i].name) != 0) {
            continue;
        }
        bool collects = commands[i].run == import_collect;
        if (collects ? args->named_files : args->named_folder) {
            term_say(term, collects ? "collect takes folders, not -n" : "files are named after -n");
            return options_refuse(term);
        }
        return commands[i].run(&args->job, term);
    }
    const char *near = nvtxt_near(nvtxt_slice_of(args->command), command_name, NULL);
    term_say(term, "there is no command '%s'%s%s%s; there are create, merge, collect and info",
             args->command, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    return options_refuse(term);
}

int main(int argc, char **argv) {
    struct term term;
    struct arguments args = {.job.files = calloc((size_t)argc, sizeof(*args.job.files))};
    term_init(&term, "nvtxt-import");
    int result = args.job.files ? stop_init() : -ENOMEM;
    if (result < 0) {
        term_say(&term, "cannot start: %s", strerror(-result));
        free(args.job.files);
        return outcome_exit_status(OUTCOME_SYSTEM);
    }
    stop_soon();
    store_stranger_ask(stop_count);
    enum outcome status = parse_arguments(&args, &term, argc, argv);
    if (status == 0) {
        status = run(&args, &term);
    }
    free(args.job.files);
    return outcome_exit_status(status);
}
