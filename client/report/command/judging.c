// SPDX-License-Identifier: Apache-2.0
//
// A failed rule is a fault of the run, whatever the others found: so the exit status is raised
// here, where every command passes.
#include "client/report/command/judging.h"

#include <errno.h>

#include "client/common/signals.h"
#include "report/load/load.h"

static int outcome_of(int r) {
    return r == REPORT_RULES_UNKNOWN      ? (int)OUTCOME_USAGE
           : r == REPORT_RULES_CANNOT_RUN ? (int)OUTCOME_NO_DAEMON
                                          : r;
}

static int check(const struct report_job *job, const struct report_rules *rules,
                 struct report_rules_wanted *wanted, char *sentence) {
    const struct report_options *options = job->options;
    *sentence = '\0';
    *wanted = (struct report_rules_wanted){
        .names = (const char *const *)options->rules.words,
        .name_count = options->rules.count,
        .none = options->no_rules,
        .since_ns = job->since_ns,
        .until_ns = job->until_ns,
        .interrupted = signals_came,
    };
    return report_rules_check(rules, wanted, sentence);
}

int report_judging_check(const struct report_job *job, const struct report_loaded *loaded) {
    char sentence[REPORT_SENTENCE_BYTES];
    struct report_rules_wanted wanted;
    int r = check(job, loaded->rules, &wanted, sentence);
    if (r > 0) {
        report_loaded_refuse(loaded, job, sentence);
    }
    return outcome_of(r);
}

int report_judging_begin(const struct report_job *job, const struct report_rules *rules,
                         struct report_rules_wanted *wanted) {
    char sentence[REPORT_SENTENCE_BYTES];
    int r = check(job, rules, wanted, sentence);
    if (r > 0) {
        term_say(job->term, "%s", sentence);
    }
    return outcome_of(r);
}

int report_judging_apply(struct report_job *job, const struct report_rules *rules,
                         struct report_metrics *metrics, const struct report_rules_wanted *wanted,
                         struct report_results *results) {
    int r = report_rules_apply(rules, metrics, wanted, results);
    if (r == 0 && report_results_failed(results)) {
        report_job_raise(job, OUTCOME_FAULTS);
    }
    return r < 0 && signals_came() ? (int)OUTCOME_STOPPED : r;
}

// ---- A sheet ------------------------------------------------------------------------------------

static bool is_chosen(const void *context, struct nvtxt_slice section) {
    return report_chosen_has(context, section);
}

static int lay_out(struct report_sheet *sheet) {
    const struct report_show show = {
        .metrics = sheet->metrics,
        .definitions = sheet->loaded->definitions,
        .sections = &sheet->loaded->sections,
        .view = &sheet->loaded->view,
        .arena = &sheet->arena,
        .messages = &sheet->loaded->messages,
    };
    sheet->sections =
        store_arena_make(&sheet->arena, (sheet->chosen->count + 1) * sizeof(*sheet->sections));
    int r = sheet->sections ? 0 : -ENOMEM;
    for (size_t i = 0; i < sheet->chosen->count && r == 0; i++) {
        r = report_section_show(&show, sheet->chosen->entries[i], &sheet->sections[sheet->count]);
        sheet->count += r == 0;
        r = r == REPORT_NOT_SHOWN ? 0 : r;
    }
    return r;
}

static int judge(struct report_sheet *sheet) {
    struct report_rules_wanted wanted;
    int r = report_judging_begin(sheet->job, sheet->loaded->rules, &wanted);
    wanted.shown = is_chosen;
    wanted.context = sheet->chosen;
    return r
               ?: report_judging_apply(sheet->job, sheet->loaded->rules, sheet->metrics, &wanted,
                                       &sheet->results);
}

int report_sheet_fill(struct report_sheet *sheet) {
    int r = report_metrics_new(&sheet->metrics, sheet->job->model, sheet->scope,
                               sheet->loaded->definitions);
    r = r == 0 ? lay_out(sheet) : r;
    return r == 0 ? judge(sheet) : r;
}

void report_sheet_deinit(struct report_sheet *sheet) {
    report_results_free(&sheet->results);
    report_metrics_free(sheet->metrics);
    store_arena_deinit(&sheet->arena);
}
