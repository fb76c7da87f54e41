// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report diff BASE NEW`: what changed, and whether that is a regression. Of report files the
// durations of kernels are compared. Warnings are messages, and stand in JSON, too. NEW is the last
// word; BASE is the word before it, or a baseline; without both, NEW is only saved.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/common/input.h"
#include "client/common/result_file.h"
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

static const char *new_name(const struct report_job *job) {
    return job->stores[job->store_count - 1];
}

static const char *base_name(const struct report_job *job) {
    return job->options->baseline ?: job->stores[0];
}

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
    if (input_is_same(base_name(job), new_name(job))) {
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

// Paths of ranges are compared if both sides are stores.
static int write_page(struct report_job *job, const struct report_diff *diff,
                      const struct sides *sides, const struct report_diff_view *view) {
    const struct report_model *base = job->new_model ? job->model : NULL;
    const struct report_model *new = job->new_model ?: job->model;
    struct report_diff_paths paths = {.list = NULL};
    struct nvtxt_buf line = {0};
    for (char *const *word = job->options->arguments; *word; word++) {
        nvtxt_buf_add_string(&line, line.len > 0 ? " " : "");
        nvtxt_buf_add_string(&line, *word);
    }
    int r = nvtxt_buf_failed(&line) ? nvtxt_origin(-ENOMEM) : 0;
    r = r == 0 && base ? report_diff_paths_init(&paths, base, new) : r;
    const struct report_diff_page page = {
        .diff = diff,
        .view = view,
        .sides = {{view->base, &sides->durations[0], base, job->options->baseline != NULL},
                  {view->new, &sides->durations[1], new, false}},
        .paths = base ? &paths : NULL,
        .command_line = {line.data, line.len},
        .title = job->options->title,
        .limit = !job->options->has_limit   ? REPORT_DIFF_PAGE_ROWS
                 : job->options->limit == 0 ? SIZE_MAX
                                            : (size_t)job->options->limit,
    };
    r = r ?: report_diff_page_write(&job->out, &page);
    report_diff_paths_deinit(&paths);
    nvtxt_buf_deinit(&line);
    return r;
}

static int write_diff(struct report_job *job, const struct report_diff *diff,
                      const struct sides *sides) {
    struct warnings warnings;
    struct report_json json;
    const enum report_format format = job->options->format;
    find_warnings(job, sides, &warnings);
    const struct report_diff_view view = {
        .base = base_name(job),
        .new = new_name(job),
        .gate = job->options->gate,
        .warnings = warnings.list,
        .warning_count = warnings.count,
    };
    if (format == REPORT_PAGE) {
        return write_page(job, diff, sides, &view);
    }
    if (format == REPORT_JUNIT) {
        report_render_diff_junit(&job->out, diff, &view);
    } else if (format == REPORT_GITHUB) {
        report_render_diff_github(&job->out, diff, job->options->has_gate);
    } else if (format == REPORT_JSON) {
        report_json_begin(&json, &job->out, "diff");
        report_render_diff_json(&json, diff, &view);
        report_json_end(&json);
    } else {
        const struct report_table_view table = report_job_view(job);
        return report_render_diff_text(&job->out, diff, &table, format == REPORT_MARKDOWN);
    }
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

// ---- Baselines ----------------------------------------------------------------------------------

// Once read, a text takes several times its bytes.
#define TEXT_SHARE 8

static int read_baseline(const struct report_job *job, struct report_durations *base) {
    const char *path = job->options->baseline;
    char sentence[REPORT_BASELINE_SENTENCE];
    struct input input = {.fd = -1};
    struct nvtxt_buf text = {0};
    int r = input_open(&input, path);
    if (r != 0) {
        term_say(job->term, "cannot read %s: %s", path, input_why(r));
        return OUTCOME_NO_INPUT;
    }
    r = input_read_all(&input, &text, job->options->max_memory / TEXT_SHARE);
    input_close(&input);
    if (r != 0) {
        term_say(job->term, "cannot read %s: %s", path, strerror(-r));
        nvtxt_buf_deinit(&text);
        return OUTCOME_IO;
    }
    r = report_baseline_read(base, (struct nvtxt_slice){text.data ?: "", text.len}, sentence);
    nvtxt_buf_deinit(&text);
    if (r > 0) {
        term_say(job->term, "%s: %s", path, sentence);
        return OUTCOME_BAD_DATA;
    }
    return r;
}

static int write_baseline(struct report_job *job, const struct report_durations *new) {
    struct result_file file;
    struct nvtxt_out out;
    enum outcome outcome = result_file_open(&file, job->term, job->options->save_baseline);
    if (outcome != OUTCOME_DONE) {
        return (int)outcome;
    }
    int r = nvtxt_out_init(&out, file.fd);
    if (r == 0) {
        report_baseline_write(&out, new);
        r = nvtxt_out_flush(&out);
        nvtxt_out_deinit(&out);
    }
    if (r != 0) {
        term_say(job->term, "cannot write to %s: %s", file.name, strerror(nvtxt_origin(-r)));
        outcome = outcome_of_error(r, OUTCOME_IO);
    }
    outcome = outcome ?: result_file_publish(&file, job->term);
    result_file_discard(&file);
    return (int)outcome;
}

// A good baseline is replaced neither by one that is empty nor by a regression that is told as one.
static int save_baseline(struct report_job *job, const struct report_durations *new,
                         const struct report_diff *diff) {
    const char *path = job->options->save_baseline;
    if (!path) {
        return 0;
    }
    if (report_job_owns(job, path)) {
        term_say(job->term, "%s belongs to the store itself: choose another name", path);
        return OUTCOME_USAGE;
    }
    if (new->count == 0) {
        term_say(job->term, "%s is not written: NEW has no %s that are selected", path,
                 new->of_kernels ? "kernels" : "ranges");
        report_job_raise(job, OUTCOME_FAULTS);
        return 0;
    }
    if (job->options->has_gate && diff->verdict == REPORT_DIFF_REGRESSION) {
        term_say(job->term, "%s is not written: NEW is a regression", path);
        return 0;
    }
    return write_baseline(job, new);
}

// ---- The command --------------------------------------------------------------------------------

// A word of the command line, as a side.
static int take_side(const struct report_job *job, struct sides *sides, size_t word, size_t side) {
    if (!job->launches) {
        const struct report_model *model = word == 0 ? job->model : job->new_model;
        return report_durations_init(&sides->durations[side], model);
    }
    int r = take_kernels(job->launches[word], &sides->kernels[side], &sides->without[side]);
    return r ?: report_durations_kernels_init(&sides->durations[side], &sides->kernels[side]);
}

static int take_sides(const struct report_job *job, struct sides *sides) {
    const struct report_durations *base = &sides->durations[0], *new = &sides->durations[1];
    int r = take_side(job, sides, job->store_count - 1, 1);
    if (r == 0 && job->store_count > 1) {
        return take_side(job, sides, 0, 0);
    }
    if (r == 0 && job->options->baseline) {
        r = read_baseline(job, &sides->durations[0]);
        if (r == 0 && base->of_kernels != new->of_kernels) {
            term_say(job->term, "%s is a baseline of %s, and %s has %s: they cannot be compared",
                     base_name(job), base->of_kernels ? "kernels" : "ranges", new_name(job),
                     new->of_kernels ? "kernels" : "ranges");
            r = OUTCOME_USAGE;
        }
    }
    return r;
}

static int compare(struct report_job *job, const struct sides *sides, struct report_diff *diff) {
    const struct report_options *options = job->options;
    int r = report_diff_init(diff, &sides->durations[0], &sides->durations[1], options->gate);
    r = r ?: write_diff(job, diff, sides);
    if (r == 0 && diff->verdict == REPORT_DIFF_INCONCLUSIVE) {
        report_job_raise(job, OUTCOME_UNDECIDED);
    } else if (r == 0 && diff->verdict == REPORT_DIFF_REGRESSION && options->has_gate) {
        report_job_raise(job, OUTCOME_FINDINGS);
    }
    return r;
}

int report_command_diff(struct report_job *job) {
    struct report_diff diff = {.rows = NULL};
    struct sides sides = {.without = {0}};
    const struct report_options *options = job->options;
    bool compares = job->store_count > 1 || options->baseline;
    if (!compares && (options->has_gate || options->output || options->format != REPORT_TEXT)) {
        term_say(job->term, "there is nothing to compare NEW with: name BASE, or --baseline FILE");
        return OUTCOME_USAGE;
    }
    int r = take_sides(job, &sides);
    if (r == 0 && compares) {
        r = compare(job, &sides, &diff);
    }
    r = r ?: save_baseline(job, &sides.durations[1], &diff);
    report_diff_deinit(&diff);
    for (size_t i = 0; i < 2; i++) {
        report_durations_deinit(&sides.durations[i]);
        free(sides.kernels[i].items);
    }
    return r;
}
