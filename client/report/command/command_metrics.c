// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report metrics`: each metric is computed, written and forgotten before the next one, so
// that instances of all events are there for one metric only. For people the values of a scope
// stand in one grid.
#include <errno.h>

#include "client/report/command/loaded.h"
#include "client/report/command/wanted_metrics.h"
#include "client/report/job.h"
#include "report/metric/metric.h"
#include "report/render/kit/grid.h"
#include "report/render/kit/plain.h"
#include "report/render/render_metric.h"
#include "report/render/render_table.h"

struct writing {
    struct report_job *job;
    const struct wanted_metrics *wanted;
    const struct report_scope *scope;
    struct report_metrics *metrics;
    struct report_json *json;
    struct nvtxt_buf scope_text; // "capture", "thread 100:1"
};

// ---- CSV and TSV --------------------------------------------------------------------------------

static void put_number(struct nvtxt_out *out, const struct report_value *value) {
    if (value->type == REPORT_U32 || value->type == REPORT_U64) {
        nvtxt_out_uint(out, value->u64);
    } else if (report_json_na_of(value->real)) {
        nvtxt_out_slice(out, nvtxt_slice_of(report_json_na_of(value->real)));
    } else {
        nvtxt_out_double(out, value->real);
    }
}

// `value` NULL: N/A. `id` NULL: of the metric as a whole.
static void put_line(const struct writing *writing, const struct report_metric *metric,
                     const struct report_id *id, const struct report_value *value) {
    struct nvtxt_out *out = &writing->job->out;
    char separator = writing->job->options->format == REPORT_CSV ? ',' : '\t';
    char digits[REPORT_ID_DIGITS];
    struct nvtxt_slice fields[] = {{writing->scope_text.data, writing->scope_text.len},
                                   nvtxt_slice_of(metric->name),
                                   id ? report_render_id(id, digits) : NVTXT_SLICE(""),
                                   nvtxt_slice_of(metric->unit),
                                   nvtxt_slice_of(report_type_name(metric->type))};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        nvtxt_out_field(out, fields[i], separator);
        nvtxt_out_bytes(out, &separator, 1);
    }
    if (!value) {
        NVTXT_OUT_LITERAL(out, "N/A");
    } else if (value->type == REPORT_STRING) {
        nvtxt_out_field(out, value->string, separator);
    } else {
        put_number(out, value);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void put_lines(const struct writing *writing, const struct report_metric *metric) {
    put_line(writing, metric, NULL, metric->na ? NULL : &metric->value);
    for (size_t i = 0; !metric->na && i < metric->instance_count; i++) {
        put_line(writing, metric, &metric->instances[i].id, &metric->instances[i].value);
    }
}

// ---- Text and Markdown --------------------------------------------------------------------------

static void put_titles(struct writing *writing, struct report_grid *grid) {
    struct nvtxt_out *out = &writing->job->out;
    bool markdown = writing->job->options->format == REPORT_MARKDOWN;
    report_grid_init(grid, 2, 0);
    if (markdown) {
        NVTXT_OUT_LITERAL(out, "## ");
        report_plain_markdown(
            out, (struct nvtxt_slice){writing->scope_text.data, writing->scope_text.len});
        NVTXT_OUT_LITERAL(out, "\n\n");
        report_grid_put(grid, "Metric");
        report_grid_put(grid, "Value");
    } else {
        report_plain_name(out,
                          (struct nvtxt_slice){writing->scope_text.data, writing->scope_text.len});
        NVTXT_OUT_LITERAL(out, ":\n");
    }
}

static void put_row(const struct writing *writing, struct report_grid *grid,
                    const struct report_metric *metric) {
    const struct report_options *options = writing->job->options;
    const struct report_metric_view view = {
        .base_units = options->base_units,
        .instances = options->instances != REPORT_INSTANCES_NONE,
        .instance_ids = options->instances == REPORT_INSTANCES_DETAILS,
        .cuts = options->format == REPORT_TEXT,
    };
    struct nvtxt_buf text = {.len = 0};
    report_render_metric_text(&text, metric, &view);
    for (size_t i = 0; i < metric->note_count; i++) {
        nvtxt_buf_add_string(&text, "  note: ");
        nvtxt_buf_add_string(&text, metric->notes[i]);
    }
    report_grid_put(grid, metric->name);
    report_grid_add(grid, (struct nvtxt_slice){text.data, text.len});
    grid->failed = grid->failed || nvtxt_buf_failed(&text);
    nvtxt_buf_deinit(&text);
}

// ---- All ----------------------------------------------------------------------------------------

static int write_metrics(struct writing *writing, struct report_grid *grid) {
    const struct report_metric *metric;
    int result = 0;
    for (size_t i = 0; !result && i < writing->wanted->count && !writing->job->out.error; i++) {
        result = report_metrics_get(writing->metrics, writing->wanted->metrics[i]->name, &metric);
        if (result) {
            break;
        }
        if (writing->json) {
            report_render_metric_json(writing->json, metric, NULL);
        } else if (grid) {
            put_row(writing, grid, metric);
        } else {
            put_lines(writing, metric);
        }
        report_metrics_forget(writing->metrics);
    }
    return result;
}

static int write_grid(struct writing *writing) {
    struct report_grid grid;
    put_titles(writing, &grid);
    int result = write_metrics(writing, &grid);
    if (!result) {
        result = writing->job->options->format == REPORT_MARKDOWN
                     ? report_grid_markdown(&grid, &writing->job->out)
                     : report_grid_text(&grid, &writing->job->out, 2);
    }
    report_grid_deinit(&grid);
    return result;
}

static int write_json(struct writing *writing) {
    report_json_object(writing->json, NULL);
    report_render_scope_json(writing->json, "scope", writing->scope);
    report_json_array(writing->json, "metrics");
    int result = write_metrics(writing, NULL);
    report_json_end_array(writing->json);
    report_json_end_object(writing->json);
    return result;
}

static int write_scope(struct writing *writing) {
    char digits[REPORT_ID_DIGITS];
    enum report_format format = writing->job->options->format;
    nvtxt_buf_add_string(&writing->scope_text, writing->scope->kind_word);
    if (writing->scope->has_id) {
        struct nvtxt_slice id = report_render_id(&writing->scope->id, digits);
        nvtxt_buf_add_string(&writing->scope_text, " ");
        nvtxt_buf_add(&writing->scope_text, id.data, id.len);
    }
    int result = nvtxt_buf_failed(&writing->scope_text) ? -ENOMEM : 0;
    if (!result) {
        result = writing->json ? write_json(writing)
                 : format == REPORT_TEXT || format == REPORT_MARKDOWN
                     ? write_grid(writing)
                     : write_metrics(writing, NULL);
    }
    nvtxt_buf_deinit(&writing->scope_text);
    return result;
}

static int write_scopes(struct report_job *job, const struct report_loaded *loaded,
                        const struct wanted_metrics *wanted, const struct report_scopes *scopes) {
    struct report_json json;
    enum report_format format = job->options->format;
    struct writing writing = {.job = job, .wanted = wanted};
    writing.json = format == REPORT_JSON ? &json : NULL;
    int result = 0;
    if (writing.json) {
        report_json_begin(&json, &job->out, "metrics");
        report_json_array(&json, "scopes");
    } else if (format == REPORT_CSV || format == REPORT_TSV) {
        nvtxt_out_slice(&job->out, format == REPORT_CSV
                                       ? NVTXT_SLICE("Scope,Metric,Id,Unit,Type,Value\n")
                                       : NVTXT_SLICE("Scope\tMetric\tId\tUnit\tType\tValue\n"));
    }
    for (size_t i = 0; !result && i < report_scopes_count(scopes) && !job->out.error; i++) {
        bool apart = i > 0 && (format == REPORT_TEXT || format == REPORT_MARKDOWN);
        nvtxt_out_bytes(&job->out, "\n", apart);
        writing.scope = report_scopes_at(scopes, i);
        result =
            report_metrics_new(&writing.metrics, job->model, writing.scope, loaded->definitions);
        result = result ? result : write_scope(&writing);
        report_metrics_free(writing.metrics);
        writing.metrics = NULL;
    }
    if (writing.json) {
        report_json_end_array(&json);
        report_json_end(&json);
    }
    return result;
}

static int write_all(struct report_job *job, struct report_loaded *loaded) {
    struct wanted_metrics wanted;
    struct report_scopes *scopes = NULL;
    int result = wanted_metrics_init(&wanted, job, loaded);
    result = result ? result : report_scopes_new(&scopes, job->model, job->options->scope);
    result = result ? result : write_scopes(job, loaded, &wanted, scopes);
    report_scopes_free(scopes);
    wanted_metrics_deinit(&wanted);
    return result;
}

int report_command_metrics(struct report_job *job) {
    struct report_loaded loaded;
    report_job_keep_memory();
    int result = report_loaded_open(&loaded, job);
    if (!result) {
        report_loaded_say(&loaded, job, 0);
        report_loaded_raise(&loaded, job);
        result = write_all(job, &loaded);
    }
    report_loaded_close(&loaded);
    return result;
}
