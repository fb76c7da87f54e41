// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report metrics`: each metric is computed, written and forgotten before the next one, so
// that instances of all events are there for one metric only. For people the values of a scope
// stand in one grid.

#include "client/report/command/wanted_metrics.h"
#include "protocol/base/origin.h"
#include "report/render/render_metric.h"
#include "report/table/plain.h"

struct writing {
    struct report_job *job;
    const struct wanted_metrics *wanted;
    const struct report_scope *scope;
    struct report_metrics *metrics;
    struct report_json *json;
    struct nvtxt_buf scope_text; // "capture", "thread 100:1"
};

// ---- CSV and TSV --------------------------------------------------------------------------------

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
        const struct report_cell cell = report_value_cell(value);
        report_cell_write(out, &cell, nvtxt_out_slice);
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

static void put_scope(const struct writing *writing) {
    struct nvtxt_out *out = &writing->job->out;
    struct nvtxt_slice scope = {writing->scope_text.data, writing->scope_text.len};
    if (writing->job->options->format == REPORT_MARKDOWN) {
        NVTXT_OUT_LITERAL(out, "## ");
        report_plain_markdown(out, scope);
        NVTXT_OUT_LITERAL(out, "\n\n");
    } else {
        report_plain_name(out, scope, writing->job->options->full_names);
        NVTXT_OUT_LITERAL(out, ":\n");
    }
}

static void put_row(const struct writing *writing, struct report_table *table,
                    const struct report_metric *metric) {
    const struct report_options *options = writing->job->options;
    const struct report_metric_view view = {
        .units = options->base_units                    ? REPORT_UNITS_BASE
                 : report_screen_of(&writing->job->out) ? REPORT_UNITS_SHORT
                                                        : REPORT_UNITS_AUTO,
        .instances = options->instances != REPORT_INSTANCES_NONE,
        .instance_ids = options->instances == REPORT_INSTANCES_DETAILS,
        .full_names = options->full_names || options->format != REPORT_TEXT,
        .screen = report_screen_of(&writing->job->out),
    };
    struct nvtxt_buf text = {.len = 0};
    report_render_metric_text(&text, metric, &view);
    for (size_t i = 0; i < metric->note_count; i++) {
        nvtxt_buf_add_string(&text, "  note: ");
        nvtxt_buf_add_string(&text, metric->notes[i]);
    }
    struct report_cell *cells = nvtxt_buf_failed(&text) ? NULL : report_table_row(table);
    table->failed |= !cells;
    if (cells) {
        cells[0] = report_cell_label(table, nvtxt_slice_of(metric->name));
        cells[1] = report_cell_label(table, (struct nvtxt_slice){text.data, text.len});
    }
    nvtxt_buf_deinit(&text);
}

// ---- All ----------------------------------------------------------------------------------------

static int write_metrics(struct writing *writing, struct report_table *table) {
    const struct report_metric *metric;
    size_t limit = table ? 0 : report_job_view(writing->job).limit;
    size_t count = nvtxt_min(limit ?: SIZE_MAX, writing->wanted->count);
    int r = 0;
    for (size_t i = 0; !r && i < count && !writing->job->out.error; i++) {
        r = report_metrics_get(writing->metrics, writing->wanted->metrics[i]->name, &metric);
        if (r) {
            break;
        }
        if (writing->json) {
            report_render_metric_json(writing->json, metric, NULL);
        } else if (table) {
            put_row(writing, table, metric);
        } else {
            put_lines(writing, metric);
        }
        report_metrics_forget(writing->metrics);
    }
    return r;
}

static int write_table(struct writing *writing) {
    static const struct report_column columns[] = {{"Metric", REPORT_COLUMN_LABEL},
                                                   {"Value", REPORT_COLUMN_LABEL}};
    bool markdown = writing->job->options->format == REPORT_MARKDOWN;
    struct report_table_view view = report_job_view(writing->job);
    view.place = REPORT_TABLE_BARE;
    view.indent = markdown ? 0 : 2;
    struct report_table table;
    report_table_init(&table, NULL, columns, 2);
    put_scope(writing);
    int r = write_metrics(writing, &table);
    r = r ?: table.failed ? nvtxt_origin(-ENOMEM) : 0;
    if (r == 0 && markdown) {
        report_table_markdown(&writing->job->out, &table, &view);
    } else if (r == 0) {
        report_table_text(&writing->job->out, &table, &view);
    }
    report_table_deinit(&table);
    return r;
}

static int write_json(struct writing *writing) {
    report_json_object(writing->json, NULL);
    report_render_scope_json(writing->json, "scope", writing->scope);
    report_json_array(writing->json, "metrics");
    int r = write_metrics(writing, NULL);
    report_json_end_array(writing->json);
    report_json_end_object(writing->json);
    return r;
}

static int write_scope(struct writing *writing) {
    enum report_format format = writing->job->options->format;
    report_render_scope_text(&writing->scope_text, writing->scope);
    int r = nvtxt_buf_failed(&writing->scope_text) ? nvtxt_origin(-ENOMEM) : 0;
    if (!r) {
        r = writing->json                                        ? write_json(writing)
            : format == REPORT_TEXT || format == REPORT_MARKDOWN ? write_table(writing)
                                                                 : write_metrics(writing, NULL);
    }
    nvtxt_buf_deinit(&writing->scope_text);
    return r;
}

static int write_scopes(struct report_job *job, struct report_loaded *loaded,
                        struct wanted_metrics *wanted, const struct report_scopes *scopes) {
    struct report_json json;
    enum report_format format = job->options->format;
    struct writing writing = {.job = job, .wanted = wanted};
    writing.json = format == REPORT_JSON ? &json : NULL;
    int r = 0;
    if (writing.json) {
        report_json_begin(&json, &job->out, "metrics");
        report_json_array(&json, "scopes");
    } else if (format == REPORT_CSV || format == REPORT_TSV) {
        nvtxt_out_slice(&job->out, format == REPORT_CSV
                                       ? NVTXT_SLICE("Scope,Metric,Id,Unit,Type,Value\n")
                                       : NVTXT_SLICE("Scope\tMetric\tId\tUnit\tType\tValue\n"));
    }
    for (size_t i = 0; !r && i < report_scopes_count(scopes) && !job->out.error; i++) {
        bool apart = i > 0 && (format == REPORT_TEXT || format == REPORT_MARKDOWN);
        nvtxt_out_bytes(&job->out, "\n", apart);
        writing.scope = report_scopes_at(scopes, i);
        r = report_loaded_enter(loaded, job, writing.scope);
        r = r ?: wanted_metrics_enter(wanted, writing.scope);
        r = r
                ?: report_metrics_new(&writing.metrics, job->model, writing.scope,
                                      loaded->definitions);
        r = r ?: write_scope(&writing);
        report_metrics_free(writing.metrics);
        writing.metrics = NULL;
    }
    if (writing.json) {
        report_json_end_array(&json);
        report_json_end(&json);
    }
    return r;
}

static int write_all(struct report_job *job, struct report_loaded *loaded) {
    struct wanted_metrics wanted;
    struct report_scopes *scopes = NULL;
    int r = wanted_metrics_init(&wanted, job, loaded);
    r = r ?: report_job_scopes(job, &scopes);
    r = r ?: write_scopes(job, loaded, &wanted, scopes);
    report_scopes_free(scopes);
    wanted_metrics_deinit(&wanted);
    return r;
}

int report_command_metrics(struct report_job *job) {
    struct report_loaded loaded;
    report_job_keep_memory();
    int r = report_loaded_open(&loaded, job);
    if (!r) {
        report_loaded_say(&loaded, job);
        report_loaded_raise(&loaded, job);
        r = write_all(job, &loaded);
    }
    report_loaded_close(&loaded);
    return r;
}
