// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-check: prints the diagnostics of NVTXT files without a daemon. Each file is a source of its
// own, for the same interpreter as in the daemon; the events are thrown away.
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "client/common/arguments.h"
#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/import/load.h"

struct arguments {
    struct load_options load;
    bool quiet;
    int files; // index of the first FILE
};

static void print_help(void) {
    fputs("Usage: nvtxt-check [OPTION]... FILE...\n"
          "Prints the diagnostics of NVTXT files, as file:line:column. '-': stdin.\n"
          "\n"
          "  -q, --quiet         print nothing; only the exit status says it\n"
          "      --pid N         ProcessId of events without one (default: 0)\n"
          "      --origin NS     what TimeBase Relative counts from (default: 0)\n"
          "      --clock=here    the files were written on this machine since it booted\n"
          "      --help, --version\n"
          "\n"
          "Times of another clock:\n"
          "      --mode lerp --ns-a A --ns-b B [--nvtxt-a a] [--nvtxt-b b]\n"
          "      --mode lin  --ns-a A --freq F [--nvtxt-a a]\n"
          "  Default of a and b: the file's smallest and largest time.\n"
          "\n"
          "Exit status: 0 no errors (there may be warnings); 1 errors; 64 usage; 66 a FILE\n"
          "cannot be read.\n",
          stdout);
}

static enum outcome parse_arguments(struct arguments *args, struct term *term, int argc,
                                    char **argv) {
    static const struct option table[] = {
        LOAD_OPTIONS,
        {"quiet", no_argument, NULL, 'q'},
        OPTIONS_TAIL,
    };
    int option;
    int result = 0;
    while (result == 0 && (option = getopt_long(argc, argv, "q", table, NULL)) != -1) {
        enum outcome answered = options_answer(term, option, print_help);
        if (answered != 0) {
            return answered;
        }
        if (option == 'q') {
            args->quiet = true;
            continue;
        }
        result = load_take_option(&args->load, term, option, optarg);
    }
    if (result == OPTIONS_OTHER) {
        return options_refuse(term);
    }
    args->files = optind;
    if (result == 0 && optind == argc) {
        term_say(term, "no FILE is given; '-' is stdin");
        return options_refuse(term);
    }
    return result ? (enum outcome)result : options_check_mapping(&args->load.mapping, term, false);
}

static enum outcome check_file(const struct arguments *args, struct term *term, const char *path) {
    struct input input;
    struct nvtxt_counters counters;
    int result = input_open(&input, path);
    if (result != 0) {
        term_say(term, "%s: %s", input.name, input_why(result));
        return OUTCOME_NO_INPUT;
    }
    struct report report = {.term = term, .name = input.name, .quiet = args->quiet};
    enum outcome outcome = load_input(&input, &args->load, &report, NULL, &counters);
    report_summary(&report, counters.lines, counters.events, counters.errors, counters.warnings);
    input_close(&input);
    return outcome == OUTCOME_DONE && counters.errors > 0 ? OUTCOME_FAULTS : outcome;
}

int main(int argc, char **argv) {
    struct term term;
    struct arguments args = {0};
    term_init(&term, "nvtxt-check");
    enum outcome status = parse_arguments(&args, &term, argc, argv);
    if (status != 0) {
        return outcome_exit_status(status);
    }
    for (int i = args.files; i < argc; i++) {
        enum outcome result = check_file(&args, &term, argv[i]);
        status = result > status ? result : status;
    }
    return outcome_exit_status(status);
}
