// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report summary`: what is in the stores, and what was wrong with what was sent.
#include <stdlib.h>

#include "client/report/command/loaded.h"
#include "protocol/base/origin.h"

int report_command_summary(struct report_job *job) {
    struct report_overview *overviews = report_overviews(job->model);
    if (!overviews) {
        return nvtxt_origin(-ENOMEM);
    }
    if (job->options->format == REPORT_JSON) {
        struct report_json json;
        report_json_begin(&json, &job->out, "summary");
        report_render_summary_json(&json, job->capture, overviews);
        report_json_end(&json);
    } else {
        const struct report_table_view view = report_job_view(job);
        report_render_summary_text(&job->out, job->capture, overviews,
                                   job->options->format == REPORT_MARKDOWN, &view);
    }
    free(overviews);
    return 0;
}
