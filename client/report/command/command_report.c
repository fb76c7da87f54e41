// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report report`: a page of sections for each scope. All sections of a page are laid out
// first, since rules see the metrics of the whole page; then they are printed in their order.
// Messages come last: laying out may add some.

#include "client/report/command/judging.h"
#include "client/report/command/wanted_metrics.h"
#include "protocol/base/origin.h"
#include "report/render/render_metric.h"
#include "report/render/render_section.h"

// A page: one scope.
struct page {
    struct report_sheet sheet;
    struct report_json *json;      // NULL: for people
    struct wanted_metrics *wanted; // of --metrics; NULL: none
};

// --- output

// The metrics of --metrics, beside those of sections.
static int write_metrics_json(struct page *page) {
    const struct report_metric *metric;
    int r = 0;
    report_json_array(page->json, "metrics");
    for (size_t i = 0; i < page->wanted->count && r == 0; i++) {
        r = report_metrics_get(page->sheet.metrics, page->wanted->metrics[i]->name, &metric);
        if (r == 0) {
            report_render_metric_json(page->json, metric, NULL);
        }
    }
    report_json_end_array(page->json);
    return r;
}

static int write_json(struct page *page) {
    struct report_json *json = page->json;
    report_json_object(json, NULL);
    report_render_scope_json(json, "scope", page->sheet.scope);
    report_json_array(json, "sections");
    for (size_t i = 0; i < page->sheet.count; i++) {
        report_render_section_json(json, &page->sheet.sections[i], &page->sheet.results);
    }
    report_json_end_array(json);
    report_render_rules_json(json, &page->sheet.results, (struct nvtxt_slice){0});
    int r = page->wanted ? write_metrics_json(page) : 0;
    report_json_end_object(json);
    return r;
}

static struct report_section_view view_of(const struct report_job *job) {
    const struct report_options *options = job->options;
    const size_t limit = report_job_view(job).limit;
    if (options->format == REPORT_MARKDOWN) {
        return (struct report_section_view){.markdown = true,
                                            .base_units = true,
                                            .label = true,
                                            .rule_details = true,
                                            .limit = limit};
    }
    return (struct report_section_view){
        .full_names = options->full_names,
        .base_units = options->base_units,
        .limit = limit,
        .no_header = options->details == REPORT_DETAILS_BODY,
        .no_body = options->details == REPORT_DETAILS_HEADER,
        .instances = options->instances != REPORT_INSTANCES_NONE,
        .instance_ids = options->instances == REPORT_INSTANCES_DETAILS,
        .label = options->metric_name != REPORT_NAME_NAME,
        .name = options->metric_name != REPORT_NAME_LABEL,
        .rule_details = options->rule_details,
        .descriptions = options->descriptions,
    };
}

static int write_metrics(struct page *page, const struct report_section_view *view) {
    size_t count = page->wanted->count;
    struct report_shown_metrics shown = {.count = count};
    shown.items = store_arena_make(&page->sheet.arena, (count + 1) * sizeof(*shown.items));
    int r = shown.items ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; i < count && r == 0; i++) {
        const struct report_metric *metric;
        r = report_metrics_get(page->sheet.metrics, page->wanted->metrics[i]->name, &metric);
        if (r == 0) {
            shown.items[i] = (struct report_shown_metric){.metric = *metric, .label = metric->name};
        }
    }
    return r ?: report_render_metrics(&page->sheet.job->out, &shown, view);
}

static int write_page(struct page *page) {
    const struct report_section_view view = view_of(page->sheet.job);
    struct nvtxt_out *out = &page->sheet.job->out;
    int r = report_job_title(page->sheet.job, page->sheet.scope);
    for (size_t i = 0; i < page->sheet.count && r == 0; i++) {
        const struct report_shown_section *shown = &page->sheet.sections[i];
        r = report_render_section(out, shown, &view);
        if (r == 0) {
            report_render_rules(out, &page->sheet.results, shown->entry->section->identifier.text,
                                &view);
        }
    }
    r = r == 0 && page->wanted ? write_metrics(page, &view) : r;
    report_render_other_rules(out, &page->sheet.results, &view);
    return r;
}

static int run_page(struct page *page) {
    int r = report_sheet_fill(&page->sheet);
    r = r == 0 && page->wanted ? wanted_metrics_enter(page->wanted, page->sheet.scope) : r;
    if (r == 0 && page->json) {
        r = write_json(page);
    } else if (r == 0) {
        r = write_page(page);
    }
    report_sheet_deinit(&page->sheet);
    return r;
}

// --- the command

static int write_pages(struct report_job *job, struct report_loaded *loaded,
                       const struct report_chosen *chosen, const struct report_scopes *scopes,
                       struct wanted_metrics *wanted) {
    struct report_json json;
    bool is_json = job->options->format == REPORT_JSON;
    int r = 0;
    if (is_json) {
        report_json_begin(&json, &job->out, "report");
        report_json_array(&json, "scopes");
    }
    for (size_t i = 0; i < report_scopes_count(scopes) && r == 0 && job->out.error == 0; i++) {
        struct page page = {.sheet = {.job = job,
                                      .loaded = loaded,
                                      .chosen = chosen,
                                      .scope = report_scopes_at(scopes, i)},
                            .json = is_json ? &json : NULL,
                            .wanted = wanted};
        nvtxt_out_bytes(&job->out, "\n", i > 0 && !is_json);
        r = run_page(&page);
    }
    r = r ?: report_files_sort_messages(&loaded->files, &loaded->messages);
    if (is_json) {
        report_json_end_array(&json);
        report_render_messages_json(&json, &loaded->messages);
        report_json_end(&json);
    }
    return r;
}

int report_command_report(struct report_job *job) {
    struct report_loaded loaded;
    struct report_chosen chosen = {0};
    struct report_scopes *scopes = NULL;
    struct wanted_metrics metrics = {0};
    if (report_screen_of(&job->out) && job->options->is_bare && !job->launches) {
        return report_overview_write(job);
    }
    int r = report_loaded_open(&loaded, job);
    r = r ?: report_loaded_choose(&loaded, job, &chosen);
    r = r ?: report_judging_check(job, &loaded);
    r = r ?: report_job_scopes(job, &scopes);
    bool asked = job->options->metrics.count > 0;
    r = r == 0 && asked ? wanted_metrics_init(&metrics, job, &loaded) : r;
    r = r ?: write_pages(job, &loaded, &chosen, scopes, asked ? &metrics : NULL);
    wanted_metrics_deinit(&metrics);
    if (r == 0) {
        report_loaded_say(&loaded, job);
        report_loaded_raise(&loaded, job);
    }
    report_scopes_free(scopes);
    report_chosen_deinit(&chosen);
    report_loaded_close(&loaded);
    return r;
}
