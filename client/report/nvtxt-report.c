// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-report: its beginning and its end: signals, and the exit status.
#include <string.h>

#include "client/report/job.h"

int main(int argc, char **argv) {
    struct report_options options;
    struct term term;
    term_init(&term, "nvtxt-report");
    int r = signals_init();
    if (r < 0) {
        term_say(&term, "cannot start: %s", strerror(-r));
        return outcome_exit_status(OUTCOME_SYSTEM);
    }
    signals_stop_soon();
    enum outcome status = report_options_parse(&options, &term, report_help_print, argc, argv);
    if (status == 0 && options.follow_ms > 0) {
        status = report_follow(&options, &term);
    } else if (status == 0) {
        status = report_job_run(&options, &term, NULL);
    }
    report_options_deinit(&options);
    return outcome_exit_status(status);
}
