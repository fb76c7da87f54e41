// SPDX-License-Identifier: Apache-2.0
//
// Sections are laid out for their groups alone. The groups are sorted by Order, then section, then
// as they stand there.
#include "client/report/command/loaded.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/load/replay.h"
#include "report/render/render_source.h"

#define ALWAYS "SourceMetrics"

struct placed {
    const struct report_shown_group *group;
    size_t section, place; // in their order
};

static int compare(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    int order = NVTXT_ORDER(x->group->order, y->group->order);
    return order ?: NVTXT_ORDER(x->section, y->section) ?: NVTXT_ORDER(x->place, y->place);
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
        return nvtxt_origin(-ENOMEM);
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
    size_t room = chosen->count;
    r = nvtxt_grow(&chosen->entries, &room, chosen->count + 1, sizeof(*chosen->entries));
    if (r == 0) {
        chosen->entries[chosen->count++] = always;
    }
    return r;
}

int report_source_columns_init(struct report_source_columns *columns, struct report_loaded *loaded,
                               const struct report_job *job, struct report_metrics *metrics) {
    struct report_chosen chosen = {0};
    struct report_shown_section *shown;
    size_t count;
    *columns = (struct report_source_columns){0};
    int r = choose(loaded, job, &chosen);
    r = r ?: report_loaded_show(loaded, &chosen, metrics, &columns->arena, &shown, &count);
    r = r ?: add_groups(columns, shown, count);
    report_chosen_deinit(&chosen);
    return r;
}

void report_source_columns_deinit(struct report_source_columns *columns) {
    free(columns->columns);
    store_arena_deinit(&columns->arena);
    *columns = (struct report_source_columns){0};
}

int report_source_columns_page(const struct report_source_columns *columns,
                               const struct report_job *job, const struct report_source *source,
                               struct report_file_text *text, struct report_source_page *page) {
    *text = (struct report_file_text){0};
    *page = (struct report_source_page){.source = source,
                                        .text = text,
                                        .columns = columns->columns,
                                        .column_count = columns->count,
                                        .all_lines = job->options->all_lines};
    int r = source->file.data ? report_file_text_read(text, source->file.data) : 0;
    if (r < 0) {
        term_say(job->term, "cannot read %s: %s", source->file.data, strerror(-r));
        return OUTCOME_NO_INPUT;
    }
    return report_source_page_fill(page);
}
