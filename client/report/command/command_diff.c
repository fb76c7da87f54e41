// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report diff BASE NEW`: what changed, and whether that is a regression. Warnings are
// messages, and stand in JSON, too.
#include <stdio.h>
#include <sys/stat.h>

#include "client/report/job.h"
#include "client/report/screen.h"
#include "report/render/render_diff.h"

#define WARNINGS 2
#define WARNING 128

struct warnings {
    char texts[WARNINGS][WARNING];
    const char *list[WARNINGS];
    size_t count;
};

static bool is_same_file(const char *left, const char *right) {
    struct stat a, b;
    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static char *next_warning(struct warnings *warnings) {
    char *text = warnings->texts[warnings->count];
    warnings->list[warnings->count++] = text;
    return text;
}

static void find_warnings(const struct report_job *job, const struct report_diff *diff,
                          struct warnings *warnings) {
    *warnings = (struct warnings){.count = 0};
    if (is_same_file(job->stores[0], job->stores[1])) {
        snprintf(next_warning(warnings), WARNING, "BASE and NEW are the same file");
    }
    if (diff->open_base + diff->open_new > 0) {
        snprintf(next_warning(warnings), WARNING,
                 "open ranges are left out: %zu of BASE, %zu of NEW", diff->open_base,
                 diff->open_new);
    }
    for (size_t i = 0; i < warnings->count; i++) {
        term_say(job->term, "warning: %s", warnings->list[i]);
    }
}

static int write_diff(struct report_job *job, const struct report_diff *diff) {
    struct warnings warnings;
    struct report_json json;
    const enum report_format format = job->options->format;
    find_warnings(job, diff, &warnings);
    if (format != REPORT_JSON) {
        return report_render_diff_text(&job->out, diff, report_screen_width(job->out.fd),
                                       format == REPORT_MARKDOWN);
    }
    report_json_begin(&json, &job->out, "diff");
    report_render_diff_json(&json, diff,
                            &(struct report_diff_view){
                                .base = job->stores[0],
                                .new = job->stores[1],
                                .gate = job->options->gate,
                                .warnings = warnings.list,
                                .warning_count = warnings.count,
                            });
    report_json_end(&json);
    return 0;
}

int report_command_diff(struct report_job *job) {
    struct report_diff diff;
    int rc = report_diff_init(&diff, job->model, job->new_model, job->options->gate);
    rc = rc == 0 ? write_diff(job, &diff) : rc;
    if (rc == 0 && diff.verdict == REPORT_DIFF_INCONCLUSIVE) {
        report_job_raise(job, OUTCOME_UNDECIDED);
    } else if (rc == 0 && diff.verdict == REPORT_DIFF_REGRESSION && job->options->has_gate) {
        report_job_raise(job, OUTCOME_FINDINGS);
    }
    report_diff_deinit(&diff);
    return rc;
}
