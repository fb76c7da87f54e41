// SPDX-License-Identifier: Apache-2.0
//
// A failed rule is a fault of the run, whatever the others found: so the exit status is raised
// here, where every command passes.
#include "client/report/command/judging.h"

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
