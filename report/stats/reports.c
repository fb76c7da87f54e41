// SPDX-License-Identifier: Apache-2.0
//
// The table comes from the X-macro of the header. The columns of percentiles are made for one run,
// in the arena of the table, and put after the column of the standard deviation.
#include "report/stats/reports.h"

#include <stdio.h>

#include "protocol/base/origin.h"

#define X(name, percentiles, ...)                                                                  \
    static const struct report_column columns_of_##name[] = {__VA_ARGS__};
REPORT_STATS_REPORTS(X)
#undef X

#define X(name, percentiles, ...)                                                                  \
    {#name, percentiles, columns_of_##name,                                                        \
     sizeof(columns_of_##name) / sizeof(columns_of_##name[0]), report_##name},
const struct report_stats_report report_stats_reports[] = {REPORT_STATS_REPORTS(X)};
#undef X
const size_t report_stats_report_count =
    sizeof(report_stats_reports) / sizeof(report_stats_reports[0]);

const struct report_stats_report *report_stats_find(const char *name) {
    for (size_t i = 0; i < report_stats_report_count; i++) {
        if (strcmp(report_stats_reports[i].name, name) == 0) {
            return &report_stats_reports[i];
        }
    }
    return NULL;
}

static const char *percentile_title(struct report_table *table, const char *name) {
    char title[64];
    int len = snprintf(title, sizeof(title), "P%s (ns)", name);
    return store_arena_copy(&table->arena, title,
                            len < (int)sizeof(title) ? (size_t)len : sizeof(title) - 1);
}

static int add_percentiles(struct report_table *table, const struct report_stats_options *options) {
    size_t more = options->percentile_count, at = 0;
    struct report_column *columns = store_arena_take(
        &table->arena, (table->column_count + more) * sizeof(*columns), sizeof(void *));
    if (!columns) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < table->column_count; i++) {
        columns[at++] = table->columns[i];
        if (strcmp(table->columns[i].title, "StdDev (ns)") != 0) {
            continue;
        }
        for (size_t k = 0; k < more; k++) {
            const char *title = percentile_title(table, options->percentile_names[k]);
            if (!title) {
                return nvtxt_origin(-ENOMEM);
            }
            columns[at++] = (struct report_column){title, REPORT_COLUMN_NUMBER};
        }
    }
    table->columns = columns;
    table->column_count = at;
    return 0;
}

int report_stats_make(struct report_table *table, const struct report_stats_report *report,
                      const struct report_model *model,
                      const struct report_stats_options *options) {
    report_table_init(table, report->name, report->columns, report->column_count);
    bool wider = report->takes_percentiles && options->percentile_count > 0;
    int r = wider ? add_percentiles(table, options) : 0;
    return r ?: report->fill(table, model, options);
}
