// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report html`: everything that a page shows is computed here first, as the other commands
// compute it; then report/page writes it from start to end.
#include <math.h>
#include <stdlib.h>

#include "client/report/command/judging.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "report/render/render_source.h"

// A source whose file is at hand.
struct making_file {
    struct report_file_text text;
    struct report_source_page page;
    struct report_table table;
};

struct making {
    struct report_job *job;
    struct report_loaded loaded;
    struct report_chosen chosen;
    struct report_scopes *scopes;
    struct report_sheet sheet;
    struct report_source_columns columns;
    struct making_file *files; // owned
    size_t file_count;
    struct report_page_lines *lines; // owned; those of the page
    struct report_table names, tree, logs;
    struct report_patterns *patterns; // what the table borrows from
    struct report_paths paths;
    struct report_overview *overviews;
    struct nvtxt_buf command_line;
    struct report_page page;
};

static int take_file(struct making *making, const struct report_source *source) {
    struct making_file *file = &making->files[making->file_count++];
    int r =
        report_source_columns_page(&making->columns, making->job, source, &file->text, &file->page);
    r = r ?: report_source_page_columns(&file->table, &file->page, NULL, false);
    r = r ?: report_source_page_rows(&file->table, &file->page, false);
    making->lines[making->page.line_count++] = (struct report_page_lines){source, &file->table};
    return r;
}

static int take_files(struct making *making) {
    const struct report_capture *capture = making->job->capture;
    int r = report_source_columns_init(&making->columns, &making->loaded, making->job,
                                       making->sheet.metrics);
    making->files = calloc(capture->source_count + 1, sizeof(*making->files));
    making->lines = calloc(capture->source_count + 1, sizeof(*making->lines));
    making->page.lines = making->lines;
    r = r == 0 && (!making->files || !making->lines) ? nvtxt_origin(-ENOMEM) : r;
    for (size_t i = 0; i < capture->source_count && r == 0; i++) {
        r = capture->sources[i].file.data ? take_file(making, &capture->sources[i]) : 0;
    }
    return r;
}

// ---- Memory -------------------------------------------------------------------------------------

// What a page takes at its peak, with what was loaded, as measured over stores of a million events
// with one name and one thread, with a million of each, with names of 20 MB, and with a million
// names that are not selected.
#define BYTES_BASE 33554432.0
#define BYTES_EVENT 160.0
#define BYTES_NAME 750.0
#define BYTES_OTHER_NAME 120.0 // that the page does not have
#define BYTES_THREAD 410.0
#define COPIES_OF_NAMES 12.0
#define MIB 1048576.0

// How many names the page has: those of selected events and of what is around these. `has` is by
// name, `seen` by event; both are false.
static size_t mark_names(const struct report_model *model, bool *has, bool *seen) {
    const struct report_event *events = model->capture->events;
    size_t count = 0;
    for (size_t i = 0; i < model->count; i++) {
        uint32_t at = events[i].flags & REPORT_SELECTED ? (uint32_t)i : REPORT_NONE;
        for (; at != REPORT_NONE && !seen[at]; at = report_shown_under(model, at)) {
            seen[at] = true;
            count += !has[events[at].name];
            has[events[at].name] = true;
        }
    }
    return count;
}

static double bytes_needed(const struct report_capture *capture, const bool *has) {
    double bytes = BYTES_BASE + BYTES_EVENT * (double)capture->event_count +
                   BYTES_THREAD * (double)capture->thread_count;
    for (size_t i = 0; i < capture->name_count; i++) {
        double text = (double)capture->messages[capture->names[i].message].len;
        bytes += has[i] ? BYTES_NAME + COPIES_OF_NAMES * text : BYTES_OTHER_NAME + text;
    }
    return bytes;
}

// A page of few names and threads takes little more than what was loaded, which was looked at.
static int check_memory(const struct report_job *job) {
    const struct report_capture *capture = job->capture;
    double most = (double)job->options->max_memory;
    bool *has = calloc(capture->name_count + capture->event_count + 1, sizeof(*has));
    if (!has) {
        return nvtxt_origin(-ENOMEM);
    }
    size_t names = mark_names(job->model, has, has + capture->name_count);
    double bytes = bytes_needed(capture, has);
    double all = BYTES_BASE + BYTES_EVENT * (double)capture->event_count;
    free(has);
    if (job->options->max_memory == 0 || bytes <= most || bytes < 2 * all) {
        return OUTCOME_DONE;
    }
    term_say(job->term,
             "a page of %zu names and %zu threads needs %.0f MiB of memory and may have %.0f KiB: "
             "allow more with --max-memory %.0fM, or take a part, as with --nvtx-include or --last",
             names, capture->thread_count, ceil(bytes / MIB), most / 1024, ceil(bytes / MIB));
    return OUTCOME_SYSTEM;
}

static int compute(struct making *making) {
    const struct report_job *job = making->job;
    report_job_keep_memory();
    making->page.model = job->model;
    making->page.max_events = (size_t)job->options->max_events;
    int r = report_page_begin(&making->page);
    r = r ?: report_scopes_new(&making->scopes, job->model, REPORT_SCOPE_CAPTURE);
    if (r != 0) {
        return r;
    }
    making->sheet = (struct report_sheet){.job = making->job,
                                          .loaded = &making->loaded,
                                          .chosen = &making->chosen,
                                          .scope = report_scopes_at(making->scopes, 0)};
    r = report_sheet_fill(&making->sheet);
    r = r == 0 && making->job->options->resolved.count > 0 ? take_files(making) : r;
    return r ?: report_files_sort_messages(&making->loaded.files, &making->loaded.messages);
}

// The patterns of lines of logs, if there are lines.
static int take_logs(struct making *making) {
    const struct report_capture *capture = making->job->capture;
    const struct report_pattern_view view = {
        .capture = capture, .blocks = true, .most = REPORT_PAGE_PATTERNS};
    int r = report_patterns_new(&making->patterns, REPORT_PATTERNS_KEPT);
    r = r ?: report_patterns_take(making->patterns, capture);
    if (r == 0 && report_patterns_lines(making->patterns) > 0) {
        r = report_pattern_table(&making->logs, making->patterns, &view);
        making->page.logs = &making->logs;
    }
    return r;
}

static int take_summary(struct making *making) {
    static const double percentiles[] = {90, 99};
    static const char *const percentile_names[] = {"90", "99"};
    const struct report_stats_options sums = {.percentiles = percentiles,
                                              .percentile_names = percentile_names,
                                              .percentile_count = 2,
                                              .most_rows = REPORT_PAGE_NAMES};
    const struct report_stats_options options = {.most_rows = REPORT_PAGE_TREE_ROWS,
                                                 .paths = &making->paths};
    const struct report_model *model = making->job->model;
    making->paths.most = REPORT_PAGE_PATHS;
    making->page.overviews = making->overviews = report_overviews(model);
    for (char *const *word = making->job->options->arguments; *word; word++) {
        nvtxt_buf_add_string(&making->command_line, making->command_line.len > 0 ? " " : "");
        nvtxt_buf_add_string(&making->command_line, *word);
    }
    if (!making->overviews || nvtxt_buf_failed(&making->command_line)) {
        return nvtxt_origin(-ENOMEM);
    }
    making->page.command_line =
        (struct nvtxt_slice){making->command_line.data, making->command_line.len};
    making->page.title = making->job->options->title;
    making->page.names = &making->names;
    making->page.tree = &making->tree;
    making->page.paths = &making->paths;
    int r = report_stats_make(&making->names, report_stats_find("nvtx_sum"), model, &sums);
    return r ?: report_stats_make(&making->tree, report_stats_find("nvtx_tree"), model, &options);
}

// Of many pages the first one says it.
static void say_merged(struct report_job *job, size_t single) {
    const struct report_options *options = job->options;
    size_t selected = job->model->selected;
    if (job->round && job->round->said_merged) {
        return;
    }
    if (job->round && !options->follow_bounded) {
        term_say(job->term,
                 "note: there are more than %d events now: %zu of %zu are drawn singly, as with "
                 "--max-events %d",
                 REPORT_OPTIONS_FOLLOW_EVENTS, single, selected, REPORT_OPTIONS_FOLLOW_EVENTS);
    } else {
        term_say(job->term, "note: %zu of %zu events are drawn singly; see --max-events", single,
                 selected);
    }
    if (job->round) {
        job->round->said_merged = true;
    }
}

static int write_page(struct making *making) {
    const struct report_round *round = making->job->round;
    struct report_page_follow follow;
    size_t single;
    if (round && round->interval_ms > 0) {
        follow =
            (struct report_page_follow){round->interval_ms, nvtxt_realtime_ns(), round->newest_ns};
        making->page.follow = &follow;
    }
    making->page.sections = making->sheet.sections;
    making->page.section_count = making->sheet.count;
    making->page.results = &making->sheet.results;
    making->page.messages = &making->loaded.messages;
    making->page.refused =
        (struct nvtxt_slice){making->job->refused.data, making->job->refused.len};
    int r = report_page_write(&making->job->out, &making->page, &single);
    if (r == 0 && making->job->model->selected > making->page.max_events) {
        say_merged(making->job, single);
    }
    return r;
}

static void free_making(struct making *making) {
    for (size_t i = 0; i < making->file_count; i++) {
        report_table_deinit(&making->files[i].table);
        report_source_page_deinit(&making->files[i].page);
        report_file_text_deinit(&making->files[i].text);
    }
    free(making->files);
    free(making->lines);
    report_source_columns_deinit(&making->columns);
    report_table_deinit(&making->names);
    report_table_deinit(&making->tree);
    report_table_deinit(&making->logs);
    report_patterns_free(making->patterns);
    report_paths_deinit(&making->paths);
    report_page_end(&making->page);
    report_sheet_deinit(&making->sheet);
    report_scopes_free(making->scopes);
    free(making->overviews);
    nvtxt_buf_deinit(&making->command_line);
    report_chosen_deinit(&making->chosen);
    report_loaded_close(&making->loaded);
}

static int check_follow(const struct report_job *job) {
    bool is_first = job->round && job->round->is_first && !job->options->follow_bounded;
    size_t events = job->capture->event_count;
    return is_first && events > REPORT_OPTIONS_FOLLOW_EVENTS
               ? (int)report_follow_refuse(job->term, events)
               : OUTCOME_DONE;
}

int report_command_html(struct report_job *job) {
    struct making making = {.job = job};
    int r = check_follow(job);
    r = r ?: check_memory(job);
    r = r ?: report_loaded_open(&making.loaded, job);
    r = r ?: report_loaded_choose(&making.loaded, job, &making.chosen);
    r = r ?: report_judging_check(job, &making.loaded);
    r = r ?: compute(&making);
    r = r ?: take_summary(&making);
    r = r ?: take_logs(&making);
    r = r ?: write_page(&making);
    if (r == 0) {
        report_loaded_say(&making.loaded, job);
        report_loaded_raise(&making.loaded, job);
    }
    free_making(&making);
    return r;
}
