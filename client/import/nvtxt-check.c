// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-check: prints the diagnostics of NVTXT files without a daemon. Each file is a source of its
// own, for the same interpreter as in the daemon; the events are thrown away.
#include <getopt.h>
#include <stdio.h>

#include "client/common/outcome.h"
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
    static const struct nvtxt_option rows[] = {
        {.kind = NVTXT_OPTION_GROUP, .at = offsetof(struct arguments, load), .group = load_rows},
        {"quiet", 'q', NVTXT_OPTION_FLAG, .at = offsetof(struct arguments, quiet)},
        {0},
    };
    struct arguments_parser parser = {{rows, args, .context = term}, .print_help = print_help};
    enum outcome r = arguments_parse(&parser, argc, argv);
    args->files = optind;
    if (r == 0 && optind == argc) {
        term_say(term, "no FILE is given; '-' is stdin");
        return arguments_refuse(term);
    }
    return r ?: arguments_check_mapping(&args->load.mapping, term, false);
}

static enum outcome check_file(const struct arguments *args, struct term *term, const char *path) {
    struct input input;
    struct nvtxt_counters counters;
    int r = input_open(&input, path);
    if (r != 0) {
        term_say(term, "%s: %s", input.name, input_why(r));
        return OUTCOME_NO_INPUT;
    }
    struct diag_print report = {.term = term, .name = input.name, .quiet = args->quiet};
    enum outcome outcome = load_input(&input, &args->load, &report, NULL, &counters);
    diag_print_summary(&report, counters.lines, counters.events, counters.errors,
                       counters.warnings);
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
        enum outcome r = check_file(&args, &term, argv[i]);
        status = r > status ? r : status;
    }
    return outcome_exit_status(status);
}
