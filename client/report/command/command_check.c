// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report check`: all rules, whatever section they are of, on the whole capture, or on each
// result of report files. The exit status comes of the worst message, which JSON has before all
// others: so everything is judged first.
#include <stdlib.h>

#include "client/report/command/judging.h"
#include "protocol/base/origin.h"

static enum report_level level_of(const struct report_options *options) {
    return (enum report_level)(REPORT_LEVEL_OK + options->fail_on);
}

// What the rules said of each scope.
struct judgement {
    const struct report_scope *scope;
    struct report_metrics *metrics; // owned; charts of results are of it
    struct report_results results;
};

struct judgements {
    struct report_job *job;
    struct report_loaded *loaded;
    struct judgement *list; // owned
    size_t count;
};

static enum report_level worst_of(const struct judgements *all) {
    enum report_level worst = REPORT_LEVEL_NONE;
    for (size_t i = 0; i < all->count; i++) {
        const struct report_results *results = &all->list[i].results;
        for (size_t k = 0; k < results->count; k++) {
            enum report_level level = report_result_worst(&results->results[k]);
            worst = level > worst ? level : worst;
        }
    }
    return worst;
}

static void write_json(const struct judgements *all) {
    struct report_json json;
    enum report_level worst = worst_of(all);
    report_json_begin(&json, &all->job->out, "check");
    report_json_text(&json, "failOn", report_level_name(level_of(all->job->options)));
    report_json_text(&json, "worst", worst == REPORT_LEVEL_NONE ? NULL : report_level_name(worst));
    report_json_array(&json, "rules");
    for (size_t i = 0; i < all->count; i++) {
        const struct judgement *one = &all->list[i];
        for (size_t k = 0; k < one->results.count; k++) {
            report_render_rule_json(&json, &one->results.results[k],
                                    one->scope->given ? one->scope : NULL);
        }
    }
    report_json_end_array(&json);
    report_json_end(&json);
}

// A result has a heading above what is said of it.
static int write_scope(struct report_job *job, const struct judgement *one, bool first) {
    const struct report_options *options = job->options;
    const size_t limit = report_job_view(job).limit;
    bool markdown = options->format == REPORT_MARKDOWN;
    int r = 0;
    if (one->scope->given) {
        nvtxt_out_bytes(&job->out, "\n", !first);
        r = report_job_title(job, one->scope);
        nvtxt_out_bytes(&job->out, "\n", markdown);
    }
    bool off = report_results_off(&one->results);
    if (off) {
        report_render_rules_off(&job->out, markdown);
    }
    for (size_t i = 0; !off && i < one->results.count; i++) {
        if (markdown) {
            report_render_rule_markdown(&job->out, &one->results.results[i], limit);
        } else {
            report_render_rule_text(&job->out, &one->results.results[i], options->rule_details,
                                    options->full_names, limit);
        }
    }
    return r;
}

static int write_text(const struct judgements *all) {
    struct nvtxt_out *out = &all->job->out;
    enum report_level worst = worst_of(all), level = level_of(all->job->options);
    bool any = false;
    int r = 0;
    for (size_t i = 0; i < all->count && r == 0; i++) {
        const struct judgement *one = &all->list[i];
        any |= one->scope->given || one->results.count > 0;
        r = write_scope(all->job, one, i == 0);
    }
    nvtxt_out_bytes(out, "\n", any);
    NVTXT_OUT_LITERAL(out, "The worst message: ");
    nvtxt_out_slice(out, nvtxt_slice_of(report_level_name(worst)));
    nvtxt_out_slice(out, worst >= level
                             ? NVTXT_SLICE("; that fails the check (--fail-on ")
                             : NVTXT_SLICE("; that does not fail the check (--fail-on "));
    nvtxt_out_slice(out, nvtxt_slice_of(report_level_name(level)));
    NVTXT_OUT_LITERAL(out, ").\n");
    return r;
}

// As JUnit XML or as commands of GitHub.
static int write_ci(const struct judgements *all) {
    struct report_job *job = all->job;
    struct report_checked *checked = calloc(all->count + 1, sizeof(*checked));
    if (!checked) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct judgement *one = &all->list[i];
        checked[i] = (struct report_checked){
            .scope = one->scope->given ? one->scope->given->name : nvtxt_slice_of(job->stores[0]),
            .results = one->results.results,
            .count = one->results.count,
        };
    }
    if (job->options->format == REPORT_JUNIT) {
        report_render_check_junit(&job->out, checked, all->count, level_of(job->options));
    } else {
        report_render_check_github(&job->out, checked, all->count, level_of(job->options));
    }
    free(checked);
    return 0;
}

static int write_all(const struct judgements *all) {
    switch (all->job->options->format) {
    case REPORT_JSON:
        write_json(all);
        return 0;
    case REPORT_JUNIT:
    case REPORT_GITHUB:
        return write_ci(all);
    default:
        return write_text(all);
    }
}

static int judge_scope(struct judgements *all, const struct report_rules_wanted *wanted,
                       const struct report_scope *scope) {
    struct judgement *one = &all->list[all->count++];
    one->scope = scope;
    int r = report_loaded_enter(all->loaded, all->job, scope);
    r = r ?: report_metrics_new(&one->metrics, all->job->model, scope, all->loaded->definitions);
    return r
               ?: report_judging_apply(all->job, all->loaded->rules, one->metrics, wanted,
                                       &one->results);
}

static int judge_scopes(struct judgements *all, const struct report_scopes *scopes) {
    struct report_rules_wanted wanted;
    size_t count = report_scopes_count(scopes);
    int r = report_judging_begin(all->job, all->loaded->rules, &wanted);
    all->list = calloc(count + 1, sizeof(*all->list));
    r = r == 0 && !all->list ? nvtxt_origin(-ENOMEM) : r;
    for (size_t i = 0; i < count && r == 0; i++) {
        r = judge_scope(all, &wanted, report_scopes_at(scopes, i));
    }
    r = r ?: write_all(all);
    if (r == 0 && worst_of(all) >= level_of(all->job->options)) {
        report_job_raise(all->job, OUTCOME_FINDINGS);
    }
    return r;
}

static int judge_all(struct report_job *job, struct report_loaded *loaded) {
    struct report_scopes *scopes = NULL;
    struct judgements all = {.job = job, .loaded = loaded};
    int r = report_job_scopes(job, &scopes);
    r = r ?: judge_scopes(&all, scopes);
    for (size_t i = 0; i < all.count; i++) {
        report_results_free(&all.list[i].results);
        report_metrics_free(all.list[i].metrics);
    }
    free(all.list);
    report_scopes_free(scopes);
    return r;
}

int report_command_check(struct report_job *job) {
    struct report_loaded loaded = {0};
    int r = report_loaded_open(&loaded, job);
    if (r == 0) {
        report_loaded_say(&loaded, job);
        report_loaded_raise(&loaded, job);
        r = judge_all(job, &loaded);
    }
    report_loaded_close(&loaded);
    return r;
}
