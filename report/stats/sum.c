// SPDX-License-Identifier: Apache-2.0
//
// The sums of ranges. The ranges of a name and kind stand side by side, so the durations of one
// group after the other are copied into one array, which is as long as the largest group.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/spans.h"
#include "report/model/spread.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

// A group is a name and a kind.
#define STYLES 2

static const char *const style_names[STYLES] = {"PushPop", "StartEnd"};

struct sum {
    struct nvtxt_slice name;
    unsigned style;
    struct report_spread spread;
    const uint64_t *percentiles;
};

struct sums {
    struct report_table *table;
    const struct report_model *model;
    const struct report_stats_options *options;
    bool wanted[STYLES];
    bool shows_style;
    struct report_groups groups;
    struct nvtxt_slice *names;
    uint64_t *durations;
    struct sum *rows;
    size_t row_count;
    unsigned __int128 total;
};

static uint32_t group_of(const void *context, const struct report_event *event) {
    const struct sums *sums = context;
    unsigned style = event->kind == REPORT_START_END;
    bool counts =
        event->kind != REPORT_MARK && !(event->flags & REPORT_OPEN) && sums->wanted[style];
    return counts ? event->name * STYLES + style : REPORT_NONE;
}

static int by_total(const void *left, const void *right) {
    const struct sum *a = left, *b = right;
    int order = NVTXT_ORDER(b->spread.sum, a->spread.sum);
    order = order ?: nvtxt_slice_order(a->name, b->name);
    return order ?: (int)a->style - (int)b->style;
}

static int make_room(struct sums *sums) {
    size_t largest = 0, used = 0;
    for (size_t i = 0; i < sums->groups.group_count; i++) {
        size_t size = report_group_size(&sums->groups, i);
        largest = size > largest ? size : largest;
        used += size > 0;
    }
    sums->names = report_name_texts(sums->model->capture);
    sums->durations = malloc((largest + 1) * sizeof(*sums->durations));
    sums->rows = calloc(used + 1, sizeof(*sums->rows));
    return sums->names && sums->durations && sums->rows ? 0 : nvtxt_origin(-ENOMEM);
}

static int take_group(struct sums *sums, size_t group, size_t size) {
    const uint32_t *events = sums->groups.events + sums->groups.first[group];
    size_t percentiles = sums->options->percentile_count;
    struct sum *sum = &sums->rows[sums->row_count++];
    for (size_t i = 0; i < size; i++) {
        sums->durations[i] = report_duration(&sums->model->capture->events[events[i]]);
    }
    sum->name = sums->names[group / STYLES];
    sum->style = group % STYLES;
    sum->spread = report_spread_of(sums->durations, size);
    sums->total += sum->spread.sum;
    if (percentiles == 0) {
        return 0;
    }
    uint64_t *values =
        store_arena_take(&sums->table->arena, percentiles * sizeof(*values), sizeof(*values));
    sum->percentiles = values;
    for (size_t i = 0; values && i < percentiles; i++) {
        values[i] = report_percentile(sums->durations, size, sums->options->percentiles[i]);
    }
    return values ? 0 : nvtxt_origin(-ENOMEM);
}

static int put_row(struct sums *sums, const struct sum *sum) {
    const struct report_spread *spread = &sum->spread;
    struct report_cell *cell = report_table_row(sums->table);
    if (!cell) {
        return nvtxt_origin(-ENOMEM);
    }
    double share = sums->total > 0 ? 100.0 * (double)spread->sum / (double)sums->total : 0;
    *cell++ = report_cell_real(share);
    *cell++ = report_cell_total(sums->table, spread->sum);
    *cell++ = report_cell_uint(spread->count);
    *cell++ = report_cell_real(spread->avg);
    *cell++ = report_cell_real(spread->median);
    *cell++ = report_cell_uint(spread->min);
    *cell++ = report_cell_uint(spread->max);
    *cell++ = report_cell_real(spread->stddev);
    for (size_t i = 0; i < sums->options->percentile_count; i++) {
        *cell++ = report_cell_uint(sum->percentiles[i]);
    }
    if (sums->shows_style) {
        *cell++ = report_cell_text(nvtxt_slice_of(style_names[sum->style]));
    }
    *cell = report_cell_text(sum->name);
    return 0;
}

static int put_rows(struct sums *sums) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < sums->groups.group_count; i++) {
        size_t size = report_group_size(&sums->groups, i);
        r = size > 0 ? take_group(sums, i, size) : 0;
    }
    if (r == 0) {
        qsort(sums->rows, sums->row_count, sizeof(*sums->rows), by_total);
    }
    size_t most = sums->options->most_rows;
    size_t shown = most > 0 && most < sums->row_count ? most : sums->row_count;
    sums->table->left_out = sums->row_count - shown;
    for (size_t i = 0; r == 0 && i < shown; i++) {
        r = put_row(sums, &sums->rows[i]);
    }
    return r;
}

static int fill_table(struct sums *sums) {
    int r = report_groups_init(&sums->groups, sums->model,
                               sums->model->capture->name_count * STYLES, group_of, sums);
    r = r ?: make_room(sums);
    r = r ?: put_rows(sums);
    if (r == 0) {
        r = report_note_open(sums->table, sums->model,
                             (sums->wanted[0] ? REPORT_KIND(REPORT_PUSH_POP) : 0) |
                                 (sums->wanted[1] ? REPORT_KIND(REPORT_START_END) : 0),
                             "left out");
    }
    report_groups_deinit(&sums->groups);
    free(sums->durations);
    free(sums->rows);
    sums->table->owned = sums->names; // the cells point into it
    return r;
}

int report_nvtx_sum(struct report_table *table, const struct report_model *model,
                    const struct report_stats_options *options) {
    return fill_table(&(struct sums){.table = table,
                                     .model = model,
                                     .options = options,
                                     .wanted = {true, true},
                                     .shows_style = true});
}

int report_nvtx_pushpop_sum(struct report_table *table, const struct report_model *model,
                            const struct report_stats_options *options) {
    return fill_table(&(struct sums){
        .table = table, .model = model, .options = options, .wanted = {true, false}});
}

int report_nvtx_startend_sum(struct report_table *table, const struct report_model *model,
                             const struct report_stats_options *options) {
    return fill_table(&(struct sums){
        .table = table, .model = model, .options = options, .wanted = {false, true}});
}
