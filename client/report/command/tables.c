// SPDX-License-Identifier: Apache-2.0
//
// What the options say of tables, in each format.
#include "client/report/command/loaded.h"

#include <assert.h>

#include "protocol/base/origin.h"
#include "report/render/render_metric.h"
#include "report/table/plain.h"

struct report_table_view report_job_view(const struct report_job *job) {
    const struct report_options *options = job->options;
    static const uint64_t units[] = {[REPORT_NSEC] = 1,
                                     [REPORT_USEC] = 1000,
                                     [REPORT_MSEC] = 1000000,
                                     [REPORT_SEC] = 1000000000};
    size_t usual = report_screen_of(&job->out) ? REPORT_SCREEN_LIMIT : 0;
    return (struct report_table_view){
        .unit_ns = options->has_time_unit ? units[options->time_unit] : 0,
        .limit = options->has_limit ? (size_t)options->limit : usual,
        .full_names = options->full_names,
    };
}

void report_job_table(struct report_job *job, const struct report_table *table) {
    const struct report_table_view view = report_job_view(job);
    switch (job->options->format) {
    case REPORT_TEXT:
        report_table_text(&job->out, table, &view);
        break;
    case REPORT_MARKDOWN:
        report_table_markdown(&job->out, table, &view);
        break;
    case REPORT_CSV:
        report_table_separated(&job->out, table, &view, ',');
        break;
    case REPORT_TSV:
        report_table_separated(&job->out, table, &view, '\t');
        break;
    case REPORT_JSON:
    case REPORT_JSONL:
    case REPORT_JUNIT:
    case REPORT_GITHUB:
    case REPORT_PAGE:
        assert(false); // its callers write the document around it, too
    }
}

int report_job_title(struct report_job *job, const struct report_scope *scope) {
    bool markdown = job->options->format == REPORT_MARKDOWN;
    struct nvtxt_buf text = {.len = 0};
    report_render_scope_text(&text, scope);
    for (size_t i = 0; i < job->store_count && !scope->has_id; i++) {
        nvtxt_buf_add_string(&text, i > 0 ? ", " : " ");
        nvtxt_buf_add_string(&text, job->stores[i]);
    }
    const struct nvtxt_slice title = {text.data, text.len};
    nvtxt_out_slice(&job->out, markdown ? NVTXT_SLICE("# ") : NVTXT_SLICE("** "));
    if (markdown && scope->has_id) {
        report_plain_markdown(&job->out, title);
    } else {
        report_plain_text(&job->out, title);
    }
    nvtxt_out_slice(&job->out, markdown ? NVTXT_SLICE("\n") : NVTXT_SLICE(":\n"));
    int r = nvtxt_buf_failed(&text) ? nvtxt_origin(-ENOMEM) : 0;
    nvtxt_buf_deinit(&text);
    return r;
}
