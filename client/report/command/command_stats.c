// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report stats`: the reports of -r, one after the other. Each table is computed, written and
// freed before the next one. Notes stand below a table for people and in JSON; the other formats
// are for programs, so there they are messages.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/command/loaded.h"
#include "protocol/base/origin.h"
#include "protocol/base/slice.h"

static const struct report_stats_report *report_at(const struct report_options *options,
                                                   size_t index) {
    return options->reports.count == 0 ? &report_stats_reports[0]
                                       : report_stats_find(options->reports.words[index]);
}

static const char *name_of(const void *context, size_t index) {
    (void)context;
    return index < report_stats_report_count ? report_stats_reports[index].name : NULL;
}

static size_t common_begin(const char *left, const char *right) {
    size_t len = 0;
    while (left[len] && left[len] == right[len]) {
        len++;
    }
    return len;
}

// The name with one or two slips, else that without its "nvtx_", else that with the same beginning.
static const char *nearest(const char *word) {
    char full[64];
    const char *near = nvtxt_near(nvtxt_slice_of(word), name_of, NULL);
    if (!near && (size_t)snprintf(full, sizeof(full), "nvtx_%s", word) < sizeof(full)) {
        near = nvtxt_near(nvtxt_slice_of(full), name_of, NULL);
    }
    for (size_t i = 0, most = sizeof("nvtx_") - 1; !near && i < report_stats_report_count; i++) {
        if (common_begin(word, report_stats_reports[i].name) > most) {
            near = report_stats_reports[i].name;
        }
    }
    return near;
}

static int check_names(const struct report_job *job) {
    const struct report_words *names = &job->options->reports;
    for (size_t i = 0; i < names->count; i++) {
        if (report_stats_find(names->words[i])) {
            continue;
        }
        const char *near = nearest(names->words[i]);
        term_say(job->term,
                 near ? "there is no report '%s'; did you mean '%s'?"
                      : "there is no report '%s': see nvtxt-report list reports",
                 names->words[i], near);
        return OUTCOME_USAGE;
    }
    return 0;
}

static void say_notes(const struct report_job *job, const struct report_table *table) {
    for (size_t i = 0; i < table->note_count; i++) {
        term_say(job->term, "note: %s: %s", table->name, table->notes[i]);
    }
}

// The rows of the folded stacks are all that a flame graph program reads.
static bool is_for_programs(const struct report_table *table) {
    return strcmp(table->name, "nvtx_folded") == 0;
}

static void write_folded(struct report_job *job, const struct report_table *table) {
    const struct report_table_view view = report_job_view(job);
    if (table->row_count == 0) {
        term_say(job->term, "note: %s has no rows", table->name);
    }
    report_table_lines(&job->out, table, &view);
}

static void write_table(struct report_job *job, struct report_json *json,
                        const struct report_table *table, bool first) {
    const struct report_table_view view = report_job_view(job);
    const enum report_format format = job->options->format;
    bool folded = format == REPORT_TEXT && is_for_programs(table);
    if (format == REPORT_JSON) {
        report_table_json(json, table, &view);
        return;
    }
    nvtxt_out_bytes(&job->out, "\n", !first);
    if (folded || (format != REPORT_TEXT && format != REPORT_MARKDOWN)) {
        say_notes(job, table);
    }
    if (folded) {
        write_folded(job, table);
    } else {
        report_job_table(job, table);
    }
}

static int write_report(struct report_job *job, struct report_json *json,
                        const struct report_stats_options *options, size_t index) {
    struct report_table table;
    const struct report_stats_report *report = report_at(job->options, index);
    int r = report_stats_make(&table, report, job->model, options);
    if (r == 0) {
        write_table(job, json, &table, index == 0);
    }
    report_table_deinit(&table);
    return r;
}

static int write_reports(struct report_job *job, const struct report_stats_options *options) {
    struct report_json json;
    size_t count = job->options->reports.count > 0 ? job->options->reports.count : 1;
    int r = 0;
    if (job->options->format == REPORT_JSON) {
        report_json_begin(&json, &job->out, "stats");
        report_json_array(&json, "tables");
    }
    for (size_t i = 0; r == 0 && i < count && job->out.error == 0; i++) {
        r = write_report(job, &json, options, i);
    }
    if (job->options->format == REPORT_JSON) {
        report_json_end_array(&json);
        report_json_end(&json);
    }
    return r;
}

int report_command_stats(struct report_job *job) {
    const struct report_words *words = &job->options->percentiles;
    int r = check_names(job);
    if (r != 0) {
        return r;
    }
    double *percentiles = malloc((words->count + 1) * sizeof(*percentiles));
    if (!percentiles) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < words->count; i++) {
        percentiles[i] = strtod(words->words[i], NULL);
    }
    bool parents_said = false;
    r = write_reports(job, &(struct report_stats_options){
                               .percentiles = percentiles,
                               .percentile_names = (const char *const *)words->words,
                               .percentile_count = words->count,
                               .parents_said = &parents_said,
                           });
    free(percentiles);
    return r;
}
