// SPDX-License-Identifier: Apache-2.0
//
// A failed rule is a fault of the run, whatever the others found: so the exit status is raised
// here, where every command passes.
#include "client/report/command/judging.h"

#include "client/common/outcome.h"

static int outcome_of(int r) {
    return r == NVTXT_WRONG               ? (int)OUTCOME_USAGE
           : r == REPORT_RULES_CANNOT_RUN ? (int)OUTCOME_NO_DAEMON
                                          : r;
}

#define BEFORE_TIMES 10 // as long as the span

static int64_t times_before(int64_t from, int64_t to) {
    int64_t length, start;
    return __builtin_sub_overflow(to, from, &length) ||
                   __builtin_mul_overflow(length, BEFORE_TIMES, &length) ||
                   __builtin_sub_overflow(from, length, &start)
               ? INT64_MIN
               : start;
}

static bool has_bad_line(const struct report_capture *capture) {
    for (size_t i = 0; i < capture->event_count; i++) {
        int level = report_line_level(capture, &capture->events[i]);
        if (level != NVTXT_LEVEL_NONE && level <= 3 && // err
            (capture->events[i].flags & REPORT_SELECTED)) {
            return true;
        }
    }
    return false;
}

// What logs said before the span, for the rule about them. It is read only if a bad line is in the
// span, and if it can be read without what is open around an event. A store that cannot be read a
// second time says nothing of it.
static int read_before(struct report_job *job) {
    const struct report_selection *selection = &job->options->selection;
    if (job->patterns || !job->capture || job->since_ns == INT64_MIN ||
        !report_selects_alone(selection) || !has_bad_line(job->capture)) {
        return 0;
    }
    char sentence[REPORT_SENTENCE_BYTES];
    struct report_fault fault = {0};
    struct report_capture *capture = NULL;
    int64_t until = job->until_ns < INT64_MAX ? job->until_ns : job->capture->last_ns;
    const struct lines_wanted wanted = {.stores = job->stores,
                                        .store_count = job->store_count,
                                        .selection = selection,
                                        .since_ns = times_before(job->since_ns, until),
                                        .until_ns = job->since_ns - 1};
    int r = report_patterns_new(&job->patterns, REPORT_PATTERNS_KEPT);
    r = r ?: lines_read(job->patterns, &capture, &wanted, sentence, &fault);
    report_capture_free(capture);
    if (r > 0) {
        report_patterns_free(job->patterns);
        job->patterns = NULL;
    }
    return r < 0 ? r : 0;
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
        .within = options->selection.within_count > 0 && !options->selection.within_none,
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

int report_judging_begin(struct report_job *job, const struct report_rules *rules,
                         struct report_rules_wanted *wanted) {
    char sentence[REPORT_SENTENCE_BYTES];
    int r = check(job, rules, wanted, sentence);
    if (r > 0) {
        term_say(job->term, "%s", sentence);
    }
    r = r ?: read_before(job);
    wanted->before = job->patterns;
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

static int judge(struct report_sheet *sheet) {
    struct report_rules_wanted wanted;
    int r = report_judging_begin(sheet->job, sheet->loaded->rules, &wanted);
    wanted.shown = is_chosen;
    wanted.context = sheet->chosen;
    if (r != 0) {
        return r;
    }
    return report_judging_apply(sheet->job, sheet->loaded->rules, sheet->metrics, &wanted,
                                &sheet->results);
}

int report_sheet_fill(struct report_sheet *sheet) {
    int r = report_loaded_enter(sheet->loaded, sheet->job, sheet->scope);
    r = r
            ?: report_metrics_new(&sheet->metrics, sheet->job->model, sheet->scope,
                                  sheet->loaded->definitions);
    if (r == 0) {
        r = report_loaded_show(sheet->loaded, sheet->chosen, sheet->metrics, &sheet->arena,
                               &sheet->sections, &sheet->count);
    }
    return r ?: judge(sheet);
}

void report_sheet_deinit(struct report_sheet *sheet) {
    report_results_free(&sheet->results);
    report_metrics_free(sheet->metrics);
    store_arena_deinit(&sheet->arena);
}
