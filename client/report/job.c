// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run, in their order; each has its own clean end.
#include "client/report/job.h"

void report_job_raise(struct report_job *job, enum outcome level) {
    if (job->level < level) {
        job->level = level;
    }
}

enum outcome report_job_run(const struct report_options *options, struct term *term) {
    struct report_job job = {.options = options, .term = term};
    return (enum outcome)options->command->run(&job);
}
