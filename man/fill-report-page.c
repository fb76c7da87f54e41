// SPDX-License-Identifier: Apache-2.0
//
// Makes the manual pages of nvtxt-report from their templates, as fill-page does with the others:
//
//   {{reports}}              the items of a list of the reports of `stats`, with their columns
//
// Not installed.
#include <stdio.h>

#include "man/template.h"
#include "report/stats/reports.h"

static void fill_reports(const char *name) {
    (void)name;
    for (size_t i = 0; i < report_stats_report_count; i++) {
        const struct report_stats_report *report = &report_stats_reports[i];
        printf(".It Cm %s\n", report->name);
        for (size_t j = 0; j < report->column_count; j++) {
            template_put(report->columns[j].title);
            puts(j + 1 < report->column_count ? "," : ".");
        }
    }
}

static const struct template_table tables[] = {
    {"reports", false, fill_reports},
    {0},
};

int main(int argc, char **argv) {
    return template_fill(argc, argv, tables);
}
