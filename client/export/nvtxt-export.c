// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-export: its beginning and its end: signals, messages, exit status. It writes the events of
// a store, or of an SQLite export of Nsight Systems, in formats that other tools read.
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/result_file.h"
#include "client/export/export.h"
#include "client/locate/find.h"
#include "store/db/header.h"

// A reader that closes early has all that it wanted.
static enum outcome run_to_stdout(struct export_command_line *args, struct term *term) {
    args->options.progress = !args->quiet && !isatty(STDOUT_FILENO);
    enum outcome status = export_run(&args->options, term, STDOUT_FILENO, NULL, "stdout");
    return status == OUTCOME_NO_READER ? OUTCOME_DONE : status;
}

// A database needs a regular file: no reader of a pipe is waited for.
static enum outcome refuse_special(struct term *term, const char *output) {
    term_say(term, "cannot create %s: it is no regular file, and a database needs one", output);
    return OUTCOME_NO_OUTPUT;
}

static enum outcome run_to_file(struct export_command_line *args, struct term *term) {
    struct result_file file;
    struct stat found;
    bool makes_file = args->options.format->makes_file;
    enum outcome status = export_check_output(&args->options, term, args->output);
    if (status == 0 && makes_file && stat(args->output, &found) == 0 && S_ISFIFO(found.st_mode)) {
        return refuse_special(term, args->output);
    }
    status = status ?: result_file_open(&file, term, args->output);
    if (status == 0 && makes_file && !file.temp[0]) {
        result_file_discard(&file);
        status = refuse_special(term, args->output);
    }
    if (status != 0) {
        return status;
    }
    args->options.progress = !args->quiet;
    status = export_run(&args->options, term, file.fd, file.temp, args->output);
    if (status <= OUTCOME_FAULTS) {
        enum outcome published = result_file_publish(&file, term);
        return published ?: status;
    }
    result_file_discard(&file);
    return status == OUTCOME_NO_READER ? OUTCOME_DONE : status;
}

int main(int argc, char **argv) {
    struct term term;
    struct export_command_line args;
    term_init(&term, "nvtxt-export");
    int r = signals_init();
    if (r < 0) {
        term_say(&term, "cannot start: %s", strerror(-r));
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
    status = status ?: args.output ? run_to_file(&args, &term) : run_to_stdout(&args, &term);
    export_command_line_deinit(&args);
    return outcome_exit_status(status);
}
