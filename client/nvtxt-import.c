// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-import: NVTXT files into a store without a daemon, and what a store holds. The commands and
// options of Nsight Systems' ImportNvtxt are understood in its own spelling as well.
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "client/import.h"
#include "client/options.h"
#include "client/out_file.h"
#include "client/stop.h"
#include "client/term.h"

enum { OPT_FORCE = OPTIONS_OWN };

struct arguments {
    const char *command;
    const char *output; // -o
    const char *input;  // -i
    const char **files; // -n, as many as argv has words; owned
    int file_count;
    bool taking_files; // behind -n: words are files
    bool force;
    bool quiet;
    struct load_options load;
};

static void print_help(void) {
    fputs("Usage: nvtxt-import create -n FILE... -o STORE [OPTION]...\n"
          "       nvtxt-import info -i STORE\n"
          "Loads NVTXT files into a new store, one plain SQLite file, without a daemon.\n"
          "\n"
          "  -n, --nvtxt FILE...   files to load, each a source of its own; '-': stdin\n"
          "  -o, --output STORE    the store to make\n"
          "  -i, --input STORE     the store to look at\n"
          "      --force           replace a store that exists\n"
          "      --pid N           ProcessId where a file gives none (default: 0)\n"
          "      --origin NS       what TimeBase Relative counts from (default: 0)\n"
          "      --clock=here      the files were written on this machine since it booted\n"
          "  -q, --quiet           no diagnostics, no progress\n"
          "      --help, --version\n"
          "\n"
          "Times of another clock (a, b: default the file's smallest and largest time):\n"
          "      --mode lerp --ns-a A --ns-b B [--nvtxt-a a] [--nvtxt-b b]\n"
          "      --mode lin  --ns-a A --freq F [--nvtxt-a a]\n"
          "\n"
          "Exit status: 0 done; 1 done, but files had errors; 64 usage; 66 a file cannot be\n"
          "read; 73 STORE cannot be made; 74 I/O error.\n",
          stdout);
}

// A word without a dash: the command, or a file behind -n.
static int take_word(struct arguments *args, struct term *term, const char *word) {
    if (args->taking_files) {
        args->files[args->file_count++] = word;
    } else if (!args->command) {
        args->command = word;
    } else {
        term_say(term, "what is '%s'? Files are named behind -n", word);
        return options_refuse(term);
    }
    return 0;
}

static int take_option(struct arguments *args, struct term *term, int option, const char *text) {
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
        args->files[args->file_count++] = text;
        break;
    case 'o':
        args->output = text;
        break;
    case 'i':
        args->input = text;
        break;
    case 'q':
        args->quiet = true;
        break;
    case OPT_FORCE:
        args->force = true;
        break;
    default:
        result = load_take_option(&args->load, term, option == 'm' ? OPTIONS_MODE : option, text);
    }
    return result == 1 ? options_refuse(term) : result;
}

// Returns 0, EX_USAGE, or -1 when there is nothing more to do.
static int parse_arguments(struct arguments *args, struct term *term, int argc, char **argv) {
    static const struct option table[] = {
        LOAD_OPTIONS,
        {"cmd", required_argument, NULL, 'c'},
        {"nvtxt", required_argument, NULL, 'n'},
        {"output", required_argument, NULL, 'o'},
        {"input", required_argument, NULL, 'i'},
        {"force", no_argument, NULL, OPT_FORCE},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int option;
    // The leading minus hands over words in their place, so that -n can take several.
    while ((option = getopt_long(argc, argv, "-c:n:o:i:m:q", table, NULL)) != -1) {
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
    for (int i = optind; i < argc; i++) { // behind "--"
        int result = take_word(args, term, argv[i]);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

// ---- create -------------------------------------------------------------------------------------

// A file that is missing or has errors does not keep the others from being loaded; of the two the
// missing one decides the exit status. `*loaded` counts the files that were there.
static int import_files(struct import *import, const struct arguments *args, int *loaded) {
    int status = 0;
    for (int i = 0; i < args->file_count; i++) {
        struct input input;
        int result = input_open(&input, args->files[i]);
        if (result < 0) {
            term_say(import->term, "%s: %s", input.name, strerror(-result));
            result = EX_NOINPUT;
        } else {
            result = import_input(import, &input);
            input_close(&input);
            *loaded += 1;
        }
        if (result > 1 && result != EX_NOINPUT) {
            return result;
        }
        status = result > status ? result : status;
    }
    return status;
}

// Loads everything into the temporary file. Returns the exit status; `*good` says whether there is
// a store to keep: not when no file at all could be read.
static int fill(const struct arguments *args, struct term *term, const struct out_file *out,
                bool *good) {
    struct import import;
    int loaded = 0;
    int result = import_open(&import, out->temp, &args->load, term);
    if (result != 0) {
        return result;
    }
    import.quiet = args->quiet;
    int status = import_files(&import, args, &loaded);
    if ((status > 1 && status != EX_NOINPUT) || loaded == 0) {
        import_abandon(&import);
        return status;
    }
    result = import_finish(&import);
    *good = result == 0;
    return result ? result : status;
}

static int run_create(const struct arguments *args, struct term *term) {
    struct out_file out;
    if (args->file_count == 0 || !args->output) {
        term_say(term, "create needs %s",
                 args->output ? "files to load: -n FILE..." : "a store to make: -o STORE");
        return options_refuse(term);
    }
    if (args->input) {
        term_say(term, "create makes a new store; it takes no -i");
        return options_refuse(term);
    }
    int result = options_check_mapping(&args->load.mapping, term, false);
    if (result == 0) {
        result = out_file_init(&out, term, args->output, args->force);
    }
    if (result != 0) {
        return result;
    }
    bool good = false;
    int status = fill(args, term, &out, &good);
    if (good) {
        result = out_file_publish(&out, term);
        return result ? result : status;
    }
    out_file_discard(&out);
    return status;
}

// ---- info ---------------------------------------------------------------------------------------

static int run_info(const struct arguments *args, struct term *term) {
    const struct store_options how = {.read_only = true};
    struct store *store;
    struct store_figures figures;
    char why[1024];
    if (!args->input || args->file_count > 0 || args->output) {
        term_say(term, "info takes one store and nothing else: -i STORE");
        return options_refuse(term);
    }
    int result = store_open(&store, args->input, &how, why, sizeof why);
    if (result != STORE_DONE) {
        term_say(term, "%s", why);
        return result < 0 ? EX_NOINPUT : EX_DATAERR;
    }
    result = store_figures(store, &figures);
    if (result != STORE_DONE) {
        term_say(term, "%s", store_error(store));
    } else {
        printf("Analysis start (ns)\t%" PRId64 "\nAnalysis end (ns)\t%" PRId64 "\n",
               figures.first_ns, figures.last_ns);
    }
    store_close(store);
    if (fflush(stdout) != 0) {
        term_say(term, "cannot write to stdout: %s", strerror(errno));
        return EX_IOERR;
    }
    return result == STORE_DONE ? 0 : EX_DATAERR;
}

static int run(const struct arguments *args, struct term *term) {
    static const struct {
        const char *name;
        int (*run)(const struct arguments *args, struct term *term);
    } commands[] = {{"create", run_create}, {"info", run_info}};
    if (!args->command) {
        term_say(term, "a command is missing: create or info");
        return options_refuse(term);
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(args->command, commands[i].name) == 0) {
            return commands[i].run(args, term);
        }
    }
    term_say(term, "there is no command '%s'; there are create and info", args->command);
    return options_refuse(term);
}

int main(int argc, char **argv) {
    struct term term;
    struct arguments args = {.files = calloc((size_t)argc, sizeof *args.files)};
    term_init(&term, "nvtxt-import");
    int status = args.files ? stop_init() : -ENOMEM;
    if (status < 0) {
        term_say(&term, "cannot start: %s", strerror(-status));
        free(args.files);
        return EX_OSERR;
    }
    status = parse_arguments(&args, &term, argc, argv);
    if (status == 0) {
        status = run(&args, &term);
    }
    free(args.files);
    return status < 0 ? 0 : status;
}
