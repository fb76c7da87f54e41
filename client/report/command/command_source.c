// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report source`: the files of the sources, with the metrics of the groups of the shown
// sections as columns. Without --section, SourceMetrics is among them. A source whose file is not
// at hand shows the lines that have diagnostics.
#include "client/report/command/loaded.h"
#include "report/load/replay.h"
#include "report/render/render_source.h"

struct listing {
    struct report_job *job;
    struct report_loaded *loaded;
    struct report_metrics *metrics;
    struct report_source_columns columns;
    struct report_json json;
    bool any; // a file was written
};

// ---- Files --------------------------------------------------------------------------------------

static int write_table(struct listing *listing, const struct report_source_page *page) {
    struct nvtxt_out *out = &listing->job->out;
    char made[REPORT_SOURCE_NAME];
    struct nvtxt_slice name = report_source_name(page->source, made); // ends with a NUL
    struct report_table table;
    int r = report_source_page_columns(&table, page, name.data, false);
    r = r ?: report_source_page_rows(&table, page, false);
    if (r == 0) {
        nvtxt_out_bytes(out, "\n", listing->any);
        report_job_table(listing->job, &table);
        if (listing->job->options->format == REPORT_TEXT) {
            report_source_page_diagnostics(out, page, listing->job->options->full_names);
        }
    }
    report_table_deinit(&table);
    return r;
}

// `table` has the rows of all files; NULL: each file is written alone.
static int write_page(struct listing *listing, struct report_table *table,
                      const struct report_source_page *page) {
    if (report_source_page_is_empty(page)) {
        return 0;
    }
    int r = 0;
    if (table) {
        r = report_source_page_rows(table, page, true);
    } else if (listing->job->options->format == REPORT_JSON) {
        report_source_page_json(&listing->json, page);
    } else {
        r = write_table(listing, page);
    }
    listing->any = true;
    return r;
}

static int write_file(struct listing *listing, struct report_table *table,
                      const struct report_source *source) {
    struct report_file_text text;
    struct report_source_page page;
    int r = report_source_columns_page(&listing->columns, listing->job, source, &text, &page);
    r = r ?: write_page(listing, table, &page);
    report_source_page_deinit(&page);
    report_file_text_deinit(&text);
    return r;
}

static int write_files(struct listing *listing, struct report_table *table) {
    const struct report_capture *capture = listing->job->capture;
    int r = 0;
    for (size_t i = 0; i < capture->source_count && r == 0 && !listing->job->out.error; i++) {
        r = write_file(listing, table, &capture->sources[i]);
    }
    return r;
}

static int write_separated(struct listing *listing) {
    const struct report_source_page all = {.columns = listing->columns.columns,
                                           .column_count = listing->columns.count};
    struct report_table table;
    int r = report_source_page_columns(&table, &all, NULL, true);
    r = r ?: write_files(listing, &table);
    if (r == 0) {
        report_job_table(listing->job, &table);
    }
    report_table_deinit(&table);
    return r;
}

static int write_all(struct listing *listing) {
    struct report_job *job = listing->job;
    const enum report_format format = job->options->format;
    if (format == REPORT_CSV || format == REPORT_TSV) {
        return write_separated(listing);
    }
    if (format != REPORT_JSON) {
        int r = write_files(listing, NULL);
        if (r == 0 && !listing->any) {
            NVTXT_OUT_LITERAL(&job->out, "No line has events or messages. To see the lines of "
                                         "events, name their files: --resolve-source-file\n");
        }
        return r;
    }
    report_json_begin(&listing->json, &job->out, "source");
    report_json_array(&listing->json, "files");
    int r = write_files(listing, NULL);
    report_json_end_array(&listing->json);
    report_render_messages_json(&listing->json, &listing->loaded->messages);
    report_json_end(&listing->json);
    return r;
}

int report_command_source(struct report_job *job) {
    struct report_loaded loaded;
    struct report_scopes *scopes = NULL;
    struct listing listing = {.job = job, .loaded = &loaded};
    int r = report_loaded_open(&loaded, job);
    r = r ?: report_scopes_new(&scopes, job->model, REPORT_SCOPE_CAPTURE);
    if (r == 0) {
        r = report_metrics_new(&listing.metrics, job->model, report_scopes_at(scopes, 0),
                               loaded.definitions);
    }
    r = r ?: report_source_columns_init(&listing.columns, &loaded, job, listing.metrics);
    r = r ?: write_all(&listing);
    if (r == 0) {
        report_loaded_say(&loaded, job);
        report_loaded_raise(&loaded, job);
    }
    report_source_columns_deinit(&listing.columns);
    report_metrics_free(listing.metrics);
    report_scopes_free(scopes);
    report_loaded_close(&loaded);
    return r;
}
