// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report check`: all rules, whatever section they are of, on the whole capture. The exit
// status comes of the worst message.
#include "client/report/command/judging.h"
#include "client/report/command/loaded.h"
#include "report/metric/metric.h"
#include "report/render/kit/json.h"
#include "report/render/render_rule.h"

static enum report_level level_of(const struct report_options *options) {
    return (enum report_level)(REPORT_LEVEL_OK + options->fail_on);
}

static enum report_level worst_of(const struct report_results *results) {
    enum report_level worst = REPORT_LEVEL_NONE;
    for (size_t i = 0; i < results->count; i++) {
        enum report_level level = report_result_worst(&results->results[i]);
        worst = level > worst ? level : worst;
    }
    return worst;
}

static void write_json(struct report_job *job, const struct report_results *results) {
    struct report_json json;
    enum report_level worst = worst_of(results);
    report_json_begin(&json, &job->out, "check");
    report_json_text(&json, "failOn", report_level_name(level_of(job->options)));
    report_json_text(&json, "worst", worst == REPORT_LEVEL_NONE ? NULL : report_level_name(worst));
    report_json_array(&json, "rules");
    for (size_t i = 0; i < results->count; i++) {
        report_render_rule_json(&json, &results->results[i]);
    }
    report_json_end_array(&json);
    report_json_end(&json);
}

static void write_text(struct report_job *job, const struct report_results *results) {
    bool markdown = job->options->format == REPORT_MARKDOWN;
    bool details = job->options->rule_details;
    enum report_level worst = worst_of(results);
    for (size_t i = 0; i < results->count; i++) {
        if (markdown) {
            report_render_rule_markdown(&job->out, &results->results[i]);
        } else {
            report_render_rule_text(&job->out, &results->results[i], details);
        }
    }
    nvtxt_out_slice(&job->out, nvtxt_slice_of(results->count > 0 ? "\nThe worst message: "
                                                                 : "The worst message: "));
    nvtxt_out_slice(&job->out, nvtxt_slice_of(report_level_name(worst)));
    nvtxt_out_slice(&job->out, nvtxt_slice_of(worst >= level_of(job->options)
                                                  ? "; that fails the check (--fail-on "
                                                  : "; that does not fail the check (--fail-on "));
    nvtxt_out_slice(&job->out, nvtxt_slice_of(report_level_name(level_of(job->options))));
    NVTXT_OUT_LITERAL(&job->out, ").\n");
}

static int judge(struct report_job *job, const struct report_loaded *loaded,
                 struct report_metrics *metrics) {
    struct report_rules_wanted wanted;
    struct report_results results = {0};
    int r = report_judging_begin(job, loaded->rules, &wanted);
    r = r ?: report_judging_apply(job, loaded->rules, metrics, &wanted, &results);
    if (r == 0) {
        if (job->options->format == REPORT_JSON) {
            write_json(job, &results);
        } else {
            write_text(job, &results);
        }
        if (worst_of(&results) >= level_of(job->options)) {
            report_job_raise(job, OUTCOME_FINDINGS);
        }
    }
    report_results_free(&results);
    return r;
}

static int judge_capture(struct report_job *job, const struct report_loaded *loaded) {
    struct report_scopes *scopes = NULL;
    struct report_metrics *metrics = NULL;
    int r = report_scopes_new(&scopes, job->model, REPORT_SCOPE_CAPTURE);
    r = r
            ?: report_metrics_new(&metrics, job->model, report_scopes_at(scopes, 0),
                                  loaded->definitions);
    r = r ?: judge(job, loaded, metrics);
    report_metrics_free(metrics);
    report_scopes_free(scopes);
    return r;
}

int report_command_check(struct report_job *job) {
    struct report_loaded loaded = {0};
    int r = report_loaded_open(&loaded, job);
    if (r == 0) {
        report_loaded_say(&loaded, job, 0);
        report_loaded_raise(&loaded, job);
        r = judge_capture(job, &loaded);
    }
    report_loaded_close(&loaded);
    return r;
}
