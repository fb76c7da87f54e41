// SPDX-License-Identifier: Apache-2.0
//
// Words are taken one after the other; a table knows which names are there already. A group is
// looked for in all sections that count, shown or not.
#include "client/report/command/wanted_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/section/check.h"
#include "report/select/fault.h"
#include "report/select/filter.h"

struct wanting {
    struct wanted_metrics *wanted;
    struct report_job *job;
    const struct report_loaded *loaded;
    struct nvtxt_slice group;
    size_t found; // by the word
    bool *told;   // it names nothing
};

static int add_wanted(struct wanting *wanting, const char *name) {
    struct wanted_metrics *wanted = wanting->wanted;
    struct nvtxt_slice text = nvtxt_slice_of(name);
    uint64_t hash = nvtxt_hash_bytes(text);
    struct wanted_metric *found;
    wanting->found++;
    NVTXT_HASH_FIND(found, node, &wanted->table, hash, strcmp(found->name, name) == 0);
    if (found) {
        return 0;
    }
    if (nvtxt_grow(&wanted->metrics, &wanted->room, wanted->count + 1, sizeof(*wanted->metrics)) <
        0) {
        return nvtxt_origin(-ENOMEM);
    }
    found = store_arena_make(&wanted->arena, sizeof(*found));
    const char *copy = found ? store_arena_copy(&wanted->arena, text.data, text.len) : NULL;
    if (!copy) {
        return nvtxt_origin(-ENOMEM);
    }
    found->name = copy;
    found->missing = !report_metric_exists(wanting->loaded->definitions, name);
    wanted->metrics[wanted->count++] = found;
    return nvtxt_hash_add(&wanted->table, &found->node, hash);
}

static int add_all(struct wanting *wanting) {
    struct report_name_cursor cursor = {.defined = 0};
    const char *name;
    int r = 0;
    while (!r && (name = report_name_next(&cursor, wanting->loaded->definitions))) {
        r = add_wanted(wanting, name);
    }
    return r;
}

static int refuse(const struct wanting *wanting, const char *word, size_t column,
                  const char *sentence) {
    struct report_fault fault = {.option = "metrics", .text = nvtxt_slice_of(word)};
    report_fault_set(&fault, column, "%s", sentence);
    return (int)report_options_refuse(wanting->job->term, &fault);
}

static int add_matching(struct wanting *wanting, const char *word, struct report_regex *regex) {
    struct report_name_cursor cursor = {.defined = 0};
    const char *name;
    int r = 0;
    while (!r && (name = report_name_next(&cursor, wanting->loaded->definitions))) {
        int found = report_regex_search(regex, nvtxt_slice_of(name));
        r = found < 0                      ? found
            : found == REPORT_REGEX_COSTLY ? refuse(wanting, word, 0, "too costly")
            : found == REPORT_REGEX_YES    ? add_wanted(wanting, name)
                                           : 0;
    }
    return r;
}

static int add_regex(struct wanting *wanting, const char *word, size_t prefix) {
    char sentence[REPORT_REGEX_SENTENCE];
    size_t offset;
    struct report_regex *regex;
    int r = report_regex_new(&regex, nvtxt_slice_of(word + prefix), sentence, &offset);
    if (r > 0) {
        return refuse(wanting, word, prefix + offset + 1, sentence);
    }
    if (r == 0) {
        r = add_matching(wanting, word, regex);
        report_regex_free(regex);
    }
    return r;
}

static int add_of_group(void *context, const struct report_section_metric *metric,
                        enum report_metric_place place) {
    struct wanting *wanting = context;
    struct nvtxt_slice rest;
    (void)place;
    for (size_t i = 0; i < metric->groups.count; i++) {
        const struct report_scalar *group = metric->groups.items[i];
        if (nvtxt_slice_equal(group->text, wanting->group)) {
            const struct report_section_filters none = {0};
            struct report_standing standing =
                report_section_filter_choose(metric, none, &wanting->loaded->view);
            bool plain = standing.name && !*report_metric_prefix(standing.name->text, &rest);
            return plain ? add_wanted(wanting, standing.name->text.data) : 0;
        }
    }
    return 0;
}

static int add_group(struct wanting *wanting) {
    const struct report_sections *sections = &wanting->loaded->sections;
    int r = 0;
    for (size_t i = 0; !r && i < sections->count; i++) {
        if (!sections->entries[i].hidden_by) {
            r = report_section_each_metric(sections->entries[i].section, add_of_group, wanting);
        }
    }
    return r;
}

static void say_missing(const struct wanting *wanting, const char *word) {
    const char *near = report_metric_near(wanting->loaded->definitions, nvtxt_slice_of(word));
    if (*wanting->told) {
        return;
    }
    *wanting->told = true;
    term_say(wanting->job->term,
             near                     ? "there is no metric '%s'; did you mean '%s'?"
             : wanting->job->launches ? "there is no metric '%s': see nvtxt-report metrics FILE"
                                      : "there is no metric '%s': see nvtxt-report list metrics",
             word, near);
    report_job_raise(wanting->job, OUTCOME_FAULTS);
}

static int add_word(struct wanting *wanting, const char *word) {
    static const char regex[] = "regex:", group[] = "group:";
    wanting->found = 0;
    if (strncmp(word, regex, sizeof(regex) - 1) == 0) {
        int r = add_regex(wanting, word, sizeof(regex) - 1);
        if (!r && wanting->found == 0) {
            say_missing(wanting, word);
        }
        return r;
    }
    if (strncmp(word, group, sizeof(group) - 1) == 0) {
        wanting->group = nvtxt_slice_of(word + sizeof(group) - 1);
        int r = add_group(wanting);
        if (!r && wanting->found == 0) {
            say_missing(wanting, word);
        }
        return r;
    }
    int r = add_wanted(wanting, word);
    if (!r && !report_metric_exists(wanting->loaded->definitions, word)) {
        say_missing(wanting, word);
    }
    return r;
}

static int collect(struct wanted_metrics *wanted) {
    const struct report_words *words = &wanted->job->options->metrics;
    struct wanting wanting = {.wanted = wanted, .job = wanted->job, .loaded = wanted->loaded};
    int r = words->count == 0 ? add_all(&wanting) : 0;
    for (size_t i = 0; !r && i < words->count; i++) {
        wanting.told = &wanted->told[i];
        r = add_word(&wanting, words->words[i]);
    }
    return r;
}

int wanted_metrics_init(struct wanted_metrics *wanted, struct report_job *job,
                        const struct report_loaded *loaded) {
    *wanted = (struct wanted_metrics){.job = job, .loaded = loaded};
    wanted->told = calloc(job->options->metrics.count + 1, sizeof(*wanted->told));
    return !wanted->told ? nvtxt_origin(-ENOMEM) : job->launches ? 0 : collect(wanted);
}

int wanted_metrics_enter(struct wanted_metrics *wanted, const struct report_scope *scope) {
    if (!scope->given) {
        return 0;
    }
    wanted->count = 0;
    nvtxt_hash_reset(&wanted->table);
    store_arena_reset(&wanted->arena, STORE_CHUNK_BYTES);
    return collect(wanted);
}

void wanted_metrics_deinit(struct wanted_metrics *wanted) {
    nvtxt_hash_deinit(&wanted->table);
    store_arena_deinit(&wanted->arena);
    free(wanted->metrics);
    free(wanted->told);
}
