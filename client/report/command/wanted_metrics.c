// SPDX-License-Identifier: Apache-2.0
//
// Words are taken one after the other; a table knows which names are there already. A group is
// looked for in all sections that count, shown or not.
#include "client/report/command/wanted_metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/metric/names.h"
#include "report/section/check.h"
#include "report/select/fault.h"
#include "report/select/regex.h"

struct wanting {
    struct wanted_metrics *wanted;
    struct report_job *job;
    const struct report_loaded *loaded;
    struct nvtxt_slice group;
    size_t found; // by the word
};

static int add(struct wanting *wanting, const char *name) {
    struct wanted_metrics *wanted = wanting->wanted;
    struct nvtxt_slice text = nvtxt_slice_of(name);
    uint64_t hash = nvtxt_hash_bytes(text);
    struct wanted_metric *found;
    wanting->found++;
    NVTXT_HASH_FIND(found, node, &wanted->table, hash, strcmp(found->name, name) == 0);
    if (found) {
        return 0;
    }
    if (wanted->count == wanted->room) {
        size_t room = wanted->room ? 2 * wanted->room : 64;
        struct wanted_metric **metrics =
            realloc(wanted->metrics, room * sizeof(struct wanted_metric *));
        if (!metrics) {
            return -ENOMEM;
        }
        wanted->metrics = metrics;
        wanted->room = room;
    }
    found = store_arena_make(&wanted->arena, sizeof(*found));
    const char *copy = found ? store_arena_copy(&wanted->arena, text.data, text.len) : NULL;
    if (!copy) {
        return -ENOMEM;
    }
    found->name = copy;
    found->missing = !report_metric_exists(wanting->loaded->definitions, text);
    wanted->metrics[wanted->count++] = found;
    return nvtxt_hash_add(&wanted->table, &found->node, hash);
}

static int add_all(struct wanting *wanting) {
    struct report_name_cursor cursor = {.defined = 0};
    const char *name;
    int result = 0;
    while (!result && (name = report_name_next(&cursor, wanting->loaded->definitions))) {
        result = add(wanting, name);
    }
    return result;
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
    int result = 0;
    while (!result && (name = report_name_next(&cursor, wanting->loaded->definitions))) {
        int found = report_regex_search(regex, nvtxt_slice_of(name));
        result = found < 0                      ? found
                 : found == REPORT_REGEX_COSTLY ? refuse(wanting, word, 0, "too costly")
                 : found == REPORT_REGEX_YES    ? add(wanting, name)
                                                : 0;
    }
    return result;
}

static int add_regex(struct wanting *wanting, const char *word, size_t prefix) {
    char sentence[REPORT_REGEX_SENTENCE];
    size_t offset;
    struct report_regex *regex;
    int result = report_regex_new(&regex, nvtxt_slice_of(word + prefix), sentence, &offset);
    if (result > 0) {
        return refuse(wanting, word, prefix + offset + 1, sentence);
    }
    if (result == 0) {
        result = add_matching(wanting, word, regex);
        report_regex_free(regex);
    }
    return result;
}

static int add_of_group(void *context, const struct report_section_metric *metric,
                        enum report_metric_place place) {
    struct wanting *wanting = context;
    struct nvtxt_slice rest;
    (void)place;
    for (size_t i = 0; i < metric->groups.count; i++) {
        const struct report_scalar *group = metric->groups.items[i];
        if (nvtxt_slice_equal(group->text, wanting->group)) {
            const struct report_joined_filter none = {0};
            struct report_standing standing =
                report_filter_choose(metric, none, &wanting->loaded->view);
            bool plain = standing.name && !*report_metric_prefix(standing.name->text, &rest);
            return plain ? add(wanting, standing.name->text.data) : 0;
        }
    }
    return 0;
}

static int add_group(struct wanting *wanting) {
    const struct report_sections *sections = &wanting->loaded->sections;
    int result = 0;
    for (size_t i = 0; !result && i < sections->count; i++) {
        if (!sections->entries[i].hidden_by) {
            result =
                report_section_each_metric(sections->entries[i].section, add_of_group, wanting);
        }
    }
    return result;
}

static void say_missing(const struct wanting *wanting, const char *word) {
    const char *near = report_metric_near(wanting->loaded->definitions, nvtxt_slice_of(word));
    term_say(wanting->job->term,
             near ? "there is no metric '%s'; did you mean '%s'?"
                  : "there is no metric '%s': see nvtxt-report list metrics",
             word, near);
    report_job_raise(wanting->job, OUTCOME_FAULTS);
}

static int add_word(struct wanting *wanting, const char *word) {
    static const char regex[] = "regex:", group[] = "group:";
    wanting->found = 0;
    if (strncmp(word, regex, sizeof(regex) - 1) == 0) {
        int result = add_regex(wanting, word, sizeof(regex) - 1);
        if (!result && wanting->found == 0) {
            say_missing(wanting, word);
        }
        return result;
    }
    if (strncmp(word, group, sizeof(group) - 1) == 0) {
        wanting->group = nvtxt_slice_of(word + sizeof(group) - 1);
        int result = add_group(wanting);
        if (!result && wanting->found == 0) {
            say_missing(wanting, word);
        }
        return result;
    }
    int result = add(wanting, word);
    if (!result && !report_metric_exists(wanting->loaded->definitions, nvtxt_slice_of(word))) {
        say_missing(wanting, word);
    }
    return result;
}

int wanted_metrics_init(struct wanted_metrics *wanted, struct report_job *job,
                        const struct report_loaded *loaded) {
    const struct report_words *words = &job->options->metrics;
    struct wanting wanting = {.wanted = wanted, .job = job, .loaded = loaded};
    *wanted = (struct wanted_metrics){.count = 0};
    int result = words->count == 0 ? add_all(&wanting) : 0;
    for (size_t i = 0; !result && i < words->count; i++) {
        result = add_word(&wanting, words->words[i]);
    }
    return result;
}

void wanted_metrics_deinit(struct wanted_metrics *wanted) {
    nvtxt_hash_deinit(&wanted->table);
    store_arena_deinit(&wanted->arena);
    free(wanted->metrics);
}
