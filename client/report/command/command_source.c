// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report source`: the files of the sources, with the metrics of the groups of the shown
// sections as columns. Without --section, SourceMetrics is among them. A source whose file is not
// at hand shows the lines that have diagnostics.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/command/loaded.h"
#include "client/report/command/screen.h"
#include "report/render/render_message.h"
#include "report/render/render_source.h"
#include "report/render/render_table.h"
#include "report/source/file_text.h"

#define ALWAYS "SourceMetrics"

struct listing {
    struct report_job *job;
    struct report_loaded *loaded;
    struct report_metrics *metrics;
    struct store_arena arena;
    struct report_shown_metric *columns; // owned
    size_t column_count;
    struct report_json json;
    bool any; // a file was written
};

// ---- Columns ------------------------------------------------------------------------------------

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
static int add_groups(struct listing *listing, const struct report_shown_section *sections,
                      size_t count) {
    size_t groups = 0, metrics = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        groups += sections[i].group_count;
        for (size_t j = 0; j < sections[i].group_count; j++) {
            metrics += sections[i].groups[j].metrics.count;
        }
    }
    struct placed *placed = malloc((groups + 1) * sizeof(*placed));
    listing->columns = malloc((metrics + 1) * sizeof(*listing->columns));
    if (!placed || !listing->columns) {
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
            listing->columns[listing->column_count++] = of->items[j];
        }
    }
    free(placed);
    return 0;
}

static int make_columns(struct listing *listing, const struct report_chosen *chosen) {
    const struct report_show show = {
        .metrics = listing->metrics,
        .definitions = listing->loaded->definitions,
        .sections = &listing->loaded->sections,
        .view = &listing->loaded->view,
        .arena = &listing->arena,
        .messages = &listing->loaded->messages,
    };
    struct report_shown_section *shown =
        store_arena_make(&listing->arena, (chosen->count + 1) * sizeof(*shown));
    size_t count = 0;
    int r = shown ? 0 : -ENOMEM;
    for (size_t i = 0; i < chosen->count && r == 0; i++) {
        r = report_section_show(&show, chosen->entries[i], &shown[count]);
        count += r == 0;
        r = r == REPORT_NOT_SHOWN ? 0 : r;
    }
    return r == 0 ? add_groups(listing, shown, count) : r;
}

// Those of the options and SourceMetrics, which stands in no basic set.
static int choose(const struct listing *listing, struct report_chosen *chosen) {
    int r = report_loaded_choose(listing->loaded, listing->job, chosen);
    const struct report_section_entry *always =
        report_sections_find(&listing->loaded->sections, NVTXT_SLICE(ALWAYS));
    if (r != 0 || !always || listing->job->options->sections.count > 0 ||
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

// ---- Files --------------------------------------------------------------------------------------

static int write_table(struct listing *listing, const struct report_source_page *page) {
    struct nvtxt_out *out = &listing->job->out;
    const enum report_format format = listing->job->options->format;
    const struct report_table_view view = {.unit_ns = 1, .width = report_screen_width(out->fd)};
    char made[REPORT_SOURCE_NAME];
    struct nvtxt_slice name = report_source_name(page->source, made); // ends with a NUL
    struct report_table table;
    int r = report_source_page_columns(&table, page, name.data, false);
    r = r == 0 ? report_source_page_rows(&table, page, false) : r;
    if (r == 0) {
        nvtxt_out_bytes(out, "\n", listing->any);
        if (format == REPORT_MARKDOWN) {
            report_table_markdown(out, &table, &view);
        } else {
            report_table_text(out, &table, &view);
            report_source_page_diagnostics(out, page);
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
    struct report_file_text text = {0};
    struct report_source_page page = {.source = source,
                                      .text = &text,
                                      .columns = listing->columns,
                                      .column_count = listing->column_count,
                                      .all_lines = listing->job->options->all_lines};
    int r = source->file.data ? report_file_text_read(&text, source->file.data) : 0;
    if (r < 0) {
        term_say(listing->job->term, "cannot read %s: %s", source->file.data, strerror(-r));
        report_file_text_deinit(&text);
        return OUTCOME_NO_INPUT;
    }
    r = report_source_page_fill(&page);
    r = r == 0 ? write_page(listing, table, &page) : r;
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

static int write_separated(struct listing *listing, char separator) {
    const struct report_source_page all = {.columns = listing->columns,
                                           .column_count = listing->column_count};
    const struct report_table_view view = {.unit_ns = 1};
    struct report_table table;
    int r = report_source_page_columns(&table, &all, NULL, true);
    r = r == 0 ? write_files(listing, &table) : r;
    if (r == 0) {
        report_table_separated(&listing->job->out, &table, &view, separator);
    }
    report_table_deinit(&table);
    return r;
}

static int write_all(struct listing *listing) {
    struct report_job *job = listing->job;
    const enum report_format format = job->options->format;
    if (format == REPORT_CSV || format == REPORT_TSV) {
        return write_separated(listing, format == REPORT_CSV ? ',' : '\t');
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
    struct report_chosen chosen = {0};
    struct report_scopes *scopes = NULL;
    struct listing listing = {.job = job, .loaded = &loaded};
    int r = report_loaded_open(&loaded, job);
    r = r == 0 ? choose(&listing, &chosen) : r;
    r = r == 0 ? report_scopes_new(&scopes, job->model, REPORT_SCOPE_CAPTURE) : r;
    r = r == 0 ? report_metrics_new(&listing.metrics, job->model, report_scopes_at(scopes, 0),
                                    loaded.definitions)
               : r;
    r = r == 0 ? make_columns(&listing, &chosen) : r;
    r = r == 0 ? write_all(&listing) : r;
    if (r == 0) {
        report_loaded_say(&loaded, job, 0);
        report_loaded_raise(&loaded, job);
    }
    free(listing.columns);
    report_metrics_free(listing.metrics);
    store_arena_deinit(&listing.arena);
    report_scopes_free(scopes);
    report_chosen_deinit(&chosen);
    report_loaded_close(&loaded);
    return r;
}
