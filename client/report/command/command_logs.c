// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report logs`: the patterns of lines of logs, or with --pattern the lines of one.
#include "client/report/command/loaded.h"
#include "protocol/base/origin.h"
#include "report/logs/values.h"

// ---- Patterns -----------------------------------------------------------------------------------

static void say_none(struct report_job *job) {
    term_say(job->term, report_has_logs(job->capture)
                            ? "note: no line of a log is selected"
                            : "note: there are no logs: no source has levels. nvtxt-send --text "
                              "FILE records one");
    if (job->options->selection.expect_some) {
        report_job_raise(job, OUTCOME_FAULTS);
    }
}

static void say_notes(const struct report_job *job, const struct report_table *table) {
    for (size_t i = 0; i < table->note_count; i++) {
        term_say(job->term, "note: %s: %s", table->name, table->notes[i]);
    }
}

static int write_patterns(struct report_job *job, struct report_patterns *patterns) {
    const enum report_format format = job->options->format;
    bool people = format == REPORT_TEXT || format == REPORT_MARKDOWN;
    const struct report_pattern_view view = {
        .capture = job->capture, .blocks = people, .most = REPORT_PATTERNS_SHOWN};
    struct report_table table;
    struct report_json json;
    if (format == REPORT_JSON) {
        report_json_begin(&json, &job->out, "logs");
        report_pattern_json(&json, patterns, &view);
        report_json_end(&json);
        return 0;
    }
    int r = report_pattern_table(&table, patterns, &view);
    if (r == 0) {
        if (!people) {
            say_notes(job, &table);
        }
        report_job_table(job, &table);
    }
    report_table_deinit(&table);
    return r;
}

static int count_patterns(struct report_job *job) {
    int r = 0;
    if (!job->patterns) {
        r = report_patterns_new(&job->patterns, REPORT_PATTERNS_KEPT);
        r = r ?: report_patterns_take(job->patterns, job->capture);
    }
    if (r == 0 && report_patterns_lines(job->patterns) == 0) {
        say_none(job);
    }
    return r ?: write_patterns(job, job->patterns);
}

// ---- The lines of a pattern ---------------------------------------------------------------------

static int write_table(struct report_job *job, const struct report_values *values,
                       int (*make)(struct report_table *table,
                                   const struct report_values *values)) {
    struct report_table table;
    int r = make(&table, values);
    if (r == 0) {
        report_job_table(job, &table);
    }
    report_table_deinit(&table);
    return r;
}

static int write_values(struct report_job *job, const struct report_values *values) {
    struct report_json json;
    if (job->options->format == REPORT_JSON) {
        report_json_begin(&json, &job->out, "logs");
        report_values_json(&json, values);
        report_json_end(&json);
        return 0;
    }
    int r = write_table(job, values, report_values_figures_table);
    nvtxt_out_bytes(&job->out, "\n", 1);
    return r ?: write_table(job, values, report_values_lines_table);
}

static void say_no_line(struct report_job *job, const struct report_values *values) {
    if (!report_has_logs(job->capture)) {
        say_none(job);
        return;
    }
    struct nvtxt_slice pattern = report_mask_pattern(&values->wanted);
    term_say(job->term,
             "note: --pattern '%.*s' matches no selected line; 'nvtxt-report logs' lists the "
             "patterns",
             (int)pattern.len, pattern.data);
    if (job->options->selection.expect_some) {
        report_job_raise(job, OUTCOME_FAULTS);
    }
}

static int show_pattern(struct report_job *job) {
    struct report_values values;
    int r = report_values_init(&values, job->capture, nvtxt_slice_of(job->options->pattern));
    if (r == 0 && values.count == 0) {
        say_no_line(job, &values);
    }
    r = r ?: write_values(job, &values);
    report_values_deinit(&values);
    return r;
}

int report_command_logs(struct report_job *job) {
    return job->options->pattern ? show_pattern(job) : count_patterns(job);
}
