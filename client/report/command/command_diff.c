// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report diff BASE NEW`: what changed, and whether that is a regression. Of report files the
// durations of kernels are compared. Warnings are messages, and stand in JSON, too.
#include <stdio.h>
#include <stdlib.h>

#include "client/common/input.h"
#include "client/report/command/loaded.h"
#include "protocol/base/origin.h"

#define WARNINGS 3
#define WARNING 128
#define DURATION "gpu__time_duration.sum"

struct warnings {
    char texts[WARNINGS][WARNING];
    const char *list[WARNINGS];
    size_t count;
};

static char *next_warning(struct warnings *warnings) {
    char *text = warnings->texts[warnings->count];
    warnings->list[warnings->count++] = text;
    return text;
}

// What is compared. Of report files: how many results have no duration.
struct sides {
    struct report_durations durations[2];
    struct report_diff_samples kernels[2]; // owned
    size_t without[2];
};

static void find_warnings(const struct report_job *job, const struct sides *sides,
                          struct warnings *warnings) {
    const struct report_durations *base = &sides->durations[0], *new = &sides->durations[1];
    *warnings = (struct warnings){.count = 0};
    if (input_is_same(job->stores[0], job->stores[1])) {
        snprintf(next_warning(warnings), WARNING, "BASE and NEW are the same file");
    }
    if (base->open + new->open > 0) {
        snprintf(next_warning(warnings), WARNING,
                 "open ranges are left out: %zu of BASE, %zu of NEW", base->open, new->open);
    }
    if (sides->without[0] + sides->without[1] > 0) {
        snprintf(next_warning(warnings), WARNING,
                 "results without " DURATION " are left out: %zu of BASE, %zu of NEW",
                 sides->without[0], sides->without[1]);
    }
    for (size_t i = 0; i < warnings->count; i++) {
        term_say(job->term, "warning: %s", warnings->list[i]);
    }
}

static int write_diff(struct report_job *job, const struct report_diff *diff,
                      const struct sides *sides) {
    struct warnings warnings;
    struct report_json json;
    const enum report_format format = job->options->format;
    find_warnings(job, sides, &warnings);
    if (format != REPORT_JSON) {
        const struct report_table_view view = report_job_view(job);
        return report_render_diff_text(&job->out, diff, &view, format == REPORT_MARKDOWN);
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

// Durations in ns; a real number is rounded.
static bool take_duration(const struct report_metric *metric, uint64_t *ns) {
    double real = metric->value.real;
    switch (metric->type) {
    case REPORT_U32:
    case REPORT_U64:
        *ns = metric->value.u64;
        return !metric->na;
    case REPORT_FLOAT:
    case REPORT_DOUBLE:
        *ns = real >= 0 && real < 0x1p63 ? (uint64_t)(real + 0.5) : 0;
        return !metric->na && real >= 0 && real < 0x1p63;
    case REPORT_STRING:
        break;
    }
    return false;
}

static int take_kernels(const struct report_launches *launches, struct report_diff_samples *side,
                        size_t *without) {
    struct store_arena arena = {0};
    int r = 0;
    side->items = calloc(launches->count + 1, sizeof(*side->items));
    for (size_t i = 0; r == 0 && side->items && i < launches->count; i++) {
        const struct report_given *given = &launches->list[i].given;
        struct report_diff_sample *sample = &side->items[side->count];
        struct report_metric metric;
        store_arena_reset(&arena, STORE_CHUNK_BYTES);
        r = given->get(given, DURATION, &arena, &metric);
        bool has = r == 0 && take_duration(&metric, &sample->ns);
        sample->name = given->name;
        side->count += has;
        *without += !has;
        r = r == REPORT_NOT_GIVEN ? 0 : r;
    }
    store_arena_deinit(&arena);
    return side->items ? r : nvtxt_origin(-ENOMEM);
}

static int take_sides(const struct report_job *job, struct sides *sides) {
    const struct report_model *const models[2] = {job->model, job->new_model};
    int r = 0;
    for (size_t i = 0; i < 2 && r == 0; i++) {
        if (!job->launches) {
            r = report_durations_init(&sides->durations[i], models[i]);
            continue;
        }
        r = take_kernels(job->launches[i], &sides->kernels[i], &sides->without[i]);
        r = r ?: report_durations_kernels_init(&sides->durations[i], &sides->kernels[i]);
    }
    return r;
}

int report_command_diff(struct report_job *job) {
    struct report_diff diff = {.rows = NULL};
    struct sides sides = {.without = {0}};
    int r = take_sides(job, &sides);
    r = r ?: report_diff_init(&diff, &sides.durations[0], &sides.durations[1], job->options->gate);
    r = r ?: write_diff(job, &diff, &sides);
    if (r == 0 && diff.verdict == REPORT_DIFF_INCONCLUSIVE) {
        report_job_raise(job, OUTCOME_UNDECIDED);
    } else if (r == 0 && diff.verdict == REPORT_DIFF_REGRESSION && job->options->has_gate) {
        report_job_raise(job, OUTCOME_FINDINGS);
    }
    report_diff_deinit(&diff);
    for (size_t i = 0; i < 2; i++) {
        report_durations_deinit(&sides.durations[i]);
        free(sides.kernels[i].items);
    }
    return r;
}
