// SPDX-License-Identifier: Apache-2.0
//
// Sections are laid out for their groups alone. The groups are sorted by Order, then section, then
// as they stand there.
#include "client/report/command/source_columns.h"

#include <errno.h>
#include <stdlib.h>

#define ALWAYS "SourceMetrics"

struct placed {
    const struct report_shown_group *group;
    size_t section, place; // in their order
};

static int compare(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    if (x->group->order != y->group->order) {
        return x->group->order < y->group->order ? -1 : 1;
    }
    if (x->section != y->section) {
        return x->section < y->section ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

// The groups by Order, then section, then as they stand there.
static int add_groups(struct report_source_columns *to, const struct report_shown_section *sections,
                      size_t count) {
    size_t groups = 0, metrics = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        groups += sections[i].group_count;
        for (size_t j = 0; j < sections[i].group_count; j++) {
            metrics += sections[i].groups[j].metrics.count;
        }
    }
    struct placed *placed = malloc((groups + 1) * sizeof(*placed));
    to->columns = malloc((metrics + 1) * sizeof(*to->columns));
    if (!placed || !to->columns) {
        free(placed);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sections[i].group_count; j++) {
            placed[at++] = (struct placed){&sections[i].groups[j], i, j};
        }
    }
    qsort(placed, groups, sizeof(*placed), compare);
    for (size_t i = 0; i < groups; i++) {
        const struct report_shown_metrics *of = &placed[i].group->metrics;
        for (size_t j = 0; j < of->count; j++) {
            to->columns[to->count++] = of->items[j];
        }
    }
    free(placed);
    return 0;
}

// Those of the options and SourceMetrics, which stands in no basic set.
static int choose(const struct report_loaded *loaded, const struct report_job *job,
                  struct report_chosen *chosen) {
    int r = report_loaded_choose(loaded, job, chosen);
    const struct report_section_entry *always =
        report_sections_find(&loaded->sections, NVTXT_SLICE(ALWAYS));
    if (r != 0 || !always || job->options->sections.count > 0 ||
        report_chosen_has(chosen, NVTXT_SLICE(ALWAYS))) {
        return r;
    }
    const struct report_section_entry **entries =
        realloc(chosen->entries, (chosen->count + 1) * sizeof(*entries));
    if (!entries) {
        return -ENOMEM;
    }
    entries[chosen->count++] = always;
    chosen->entries = entries;
    return 0;
}

static int lay_out(struct report_source_columns *to, struct report_loaded *loaded,
                   struct report_metrics *metrics, const struct report_chosen *chosen) {
    const struct report_show show = {
        .metrics = metrics,
        .definitions = loaded->definitions,
        .sections = &loaded->sections,
        .view = &loaded->view,
        .arena = &to->arena,
        .messages = &loaded->messages,
    };
    struct report_shown_section *shown =
        store_arena_make(&to->arena, (chosen->count + 1) * sizeof(*shown));
    size_t count = 0;
    int r = shown ? 0 : -ENOMEM;
    for (size_t i = 0; i < chosen->count && r == 0; i++) {
        r = report_section_show(&show, chosen->entries[i], &shown[count]);
        count += r == 0;
        r = r == REPORT_NOT_SHOWN ? 0 : r;
    }
    return r == 0 ? add_groups(to, shown, count) : r;
}

int report_source_columns_init(struct report_source_columns *columns, struct report_loaded *loaded,
                               const struct report_job *job, struct report_metrics *metrics) {
    struct report_chosen chosen = {0};
    *columns = (struct report_source_columns){0};
    int r = choose(loaded, job, &chosen);
    r = r == 0 ? lay_out(columns, loaded, metrics, &chosen) : r;
    report_chosen_deinit(&chosen);
    return r;
}

void report_source_columns_deinit(struct report_source_columns *columns) {
    free(columns->columns);
    store_arena_deinit(&columns->arena);
    *columns = (struct report_source_columns){0};
}
