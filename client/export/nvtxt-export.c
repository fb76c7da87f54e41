// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-export: its beginning and its end: signals, messages, exit status. It writes the events of
// a store, or of an SQLite export of Nsight Systems, in formats that other tools read.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/common/outcome.h"
#include "client/common/result_file.h"
#include "client/common/signals.h"
#include "client/export/command_line.h"
#include "client/export/export.h"
#include "client/locate/find.h"
#include "store/db/stranger.h"

// A reader that closes early has all that it wanted.
static enum outcome run_to_stdout(struct export_command_line *args, struct term *term) {
    args->options.progress = !args->quiet && !isatty(STDOUT_FILENO);
    enum outcome status = export_run(&args->options, term, STDOUT_FILENO, "stdout");
    return status == OUTCOME_NO_READER ? OUTCOME_DONE : status;
}

static enum outcome run_to_file(struct export_command_line *args, struct term *term) {
    struct result_file file;
    enum outcome status = export_check_output(&args->options, term, args->output);
    if (status == 0) {
        status = result_file_open(&file, term, args->output);
    }
    if (status != 0) {
        return status;
    }
    args->options.progress = !args->quiet;
    status = export_run(&args->options, term, file.fd, args->output);
    if (status <= OUTCOME_FAULTS) {
        enum outcome published = result_file_publish(&file, term);
        return published ? published : status;
    }
    result_file_discard(&file);
    return status == OUTCOME_NO_READER ? OUTCOME_DONE : status;
}

int main(int argc, char **argv) {
    struct term term;
    struct export_command_line args;
    term_init(&term, "nvtxt-export");
    int result = signals_init();
    if (result < 0) {
        term_say(&term, "cannot start: %s", strerror(-result));
        return outcome_exit_status(OUTCOME_SYSTEM);
    }
    signals_stop_soon();
    store_stranger_ask(signals_count);
    enum outcome status = export_command_line_parse(&args, &term, argc, argv);
    char store[PATH_MAX];
    if (status == 0 && !args.options.store) {
        args.options.store = store;
        status = find_store(&term, NULL, "name one with --store", store, sizeof(store));
    }
    if (status == 0) {
        status = args.output ? run_to_file(&args, &term) : run_to_stdout(&args, &term);
    }
    export_command_line_deinit(&args);
    return outcome_exit_status(status);
}
