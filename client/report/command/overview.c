// SPDX-License-Identifier: Apache-2.0
//
// What `nvtxt-report` without a command shows on a terminal: what the stores are, what took
// longest, what is wrong, what to ask next. It fits 25 lines: where stores and commands take more
// of them than those of one store at 80 columns, fewer names and findings are shown.
#include <stdio.h>
#include <stdlib.h>

#include "client/report/command/judging.h"
#include "protocol/base/origin.h"
#include "protocol/text/shown.h"
#include "report/table/links.h"
#include "report/table/plain.h"

#define STORES 2
#define NAMES 5
#define FINDINGS 4
#define COMMANDS 4
#define LINES 25
#define NAMES_HEAD 4    // an empty line, the headline, titles, their units
#define FINDINGS_HEAD 2 // an empty line, the headline
#define COMMANDS_HEAD 2
#define TEXTS_AT 42 // where the text beside a command begins, if there is room
#define TEXT 30     // its columns, at most

// ---- What it is ---------------------------------------------------------------------------------

static void put_count(struct nvtxt_out *out, const char *before, uint64_t count, const char *one) {
    char number[REPORT_NUMBER];
    report_number_uint(number, count);
    nvtxt_out_format(out, "%s%s %s%s", before, number, one, count == 1 ? "" : "s");
}

static void put_span(struct nvtxt_out *out, const struct report_store *store,
                     const struct report_overview *of) {
    char length[NVTXT_SHOWN_TIME];
    const struct report_screen *screen = report_screen_of(out);
    int64_t first = nvtxt_time_plus(of->first_ns, store->utc_base_ns);
    int64_t last = nvtxt_time_plus(of->last_ns, store->utc_base_ns);
    nvtxt_shown_length(length, nvtxt_time_minus(last, first));
    NVTXT_OUT_LITERAL(out, "  ");
    if (screen && report_screen_is_calendar(screen, of->first_ns)) {
        report_screen_moment(out, first, NULL);
        NVTXT_OUT_LITERAL(out, " to ");
        report_screen_moment(out, last, &first);
        NVTXT_OUT_LITERAL(out, ", ");
    }
    nvtxt_out_format(out, "%s long\n", length);
}

static void put_store(struct report_job *job, const struct report_store *store,
                      const struct report_overview *of) {
    struct nvtxt_out *out = &job->out;
    report_screen_style(out, REPORT_STYLE_BOLD);
    report_plain_text(out, store->path);
    report_screen_style(out, REPORT_STYLE_NONE);
    NVTXT_OUT_LITERAL(out, "\n");
    put_count(out, "  ", of->events, "event");
    put_count(out, ": ", of->pushpop + of->startend, "range");
    put_count(out, ", ", of->marks, "mark");
    put_count(out, "; ", of->threads, "thread");
    nvtxt_out_format(out, " of %zu process%s\n", of->processes, of->processes == 1 ? "" : "es");
    if (of->has_events) {
        put_span(out, store, of);
    }
}

// `*lines`: that it takes.
static int put_stores(struct report_job *job, size_t *lines) {
    const struct report_capture *capture = job->capture;
    const struct report_screen *screen = report_screen_of(&job->out);
    struct report_overview *overviews = report_overviews(job->model);
    const size_t begin = job->out.len;
    for (size_t i = 0; overviews && i < nvtxt_min(capture->store_count, STORES); i++) {
        put_store(job, &capture->stores[i], &overviews[i]);
    }
    if (overviews && capture->store_count > STORES) {
        nvtxt_out_format(&job->out, "and %zu more\n", capture->store_count - STORES);
    }
    if (screen && job->out.len > begin) {
        *lines = report_screen_lines(
            screen, (struct nvtxt_slice){job->out.data + begin, job->out.len - begin});
    }
    free(overviews);
    return overviews ? 0 : nvtxt_origin(-ENOMEM);
}

static void put_headline(struct report_job *job, const char *text) {
    NVTXT_OUT_LITERAL(&job->out, "\n");
    report_screen_styled(&job->out, REPORT_STYLE_BOLD, text);
    NVTXT_OUT_LITERAL(&job->out, "\n");
}

// ---- What took longest --------------------------------------------------------------------------

// Some columns of a report of `stats`.
struct choice {
    const char *report, *headline;
    size_t columns[5], count;
};

static const struct choice ranges = {"nvtx_sum",
                                     "What took longest",
                                     {0, 1, 2, 6, 9},
                                     5}, // share, total, number, longest, name
    marks = {"nvtx_mark_sum", "What came most often", {0, 1, 8}, 3};

// Makes the table of ranges, or of marks where there is no range. Of both: no rows, nothing is
// shown.
static int make_choice(struct report_job *job, struct report_table *table,
                       const struct choice **choice) {
    static const struct report_stats_options options = {.percentile_count = 0};
    *choice = &ranges;
    int r = report_stats_make(table, report_stats_find(ranges.report), job->model, &options);
    if (r == 0 && table->row_count == 0) {
        report_table_deinit(table);
        *choice = &marks;
        r = report_stats_make(table, report_stats_find(marks.report), job->model, &options);
    }
    return r;
}

// Writes the first rows of it.
static int put_choice(struct report_job *job, const struct choice *choice,
                      const struct report_table *all, size_t most) {
    struct report_table few = {0};
    struct report_column *columns = report_table_columns(&few, choice->count);
    for (size_t i = 0; columns && i < choice->count; i++) {
        columns[i] = all->columns[choice->columns[i]];
    }
    for (size_t row = 0; columns && row < nvtxt_min(all->row_count, most); row++) {
        struct report_cell room[REPORT_TABLE_MADE];
        const struct report_cell *from = report_table_cells(all, row, room);
        struct report_cell *cells = report_table_row(&few);
        for (size_t i = 0; cells && i < choice->count; i++) {
            cells[i] = from[choice->columns[i]];
        }
    }
    int r = few.failed ? nvtxt_origin(-ENOMEM) : 0;
    if (r == 0 && all->row_count > 0) {
        const struct report_table_view view = {
            .place = REPORT_TABLE_WITHIN, .indent = 2, .full_names = job->options->full_names};
        put_headline(job, choice->headline);
        report_table_text(&job->out, &few, &view);
    }
    report_table_deinit(&few);
    return r;
}

// ---- What is wrong ------------------------------------------------------------------------------

static void put_finding(struct report_job *job, const struct report_rule_message *message) {
    struct nvtxt_out *out = &job->out, line;
    if (nvtxt_out_init(&line, -1) != 0) {
        out->error = nvtxt_origin(-ENOMEM);
        return;
    }
    nvtxt_out_format(&line, "%s: ", report_level_name(message->level));
    report_link_write(&line, message->title, nvtxt_out_slice);
    nvtxt_out_slice(&line, message->title.len > 0 && message->text.len > 0 ? NVTXT_SLICE(": ")
                                                                           : NVTXT_SLICE(""));
    report_link_write(&line, message->text, nvtxt_out_slice);
    const struct report_screen *screen = report_screen_of(out);
    char shown[4 * REPORT_SCREEN_MOST];
    size_t width = screen ? screen->width - 2 : REPORT_SCREEN_MOST;
    nvtxt_shown_fit(shown, sizeof(shown), (struct nvtxt_slice){line.data, line.len}, width);
    NVTXT_OUT_LITERAL(out, "  ");
    report_screen_styled(out, report_level_style(message->level), shown);
    NVTXT_OUT_LITERAL(out, "\n");
    nvtxt_out_deinit(&line);
}

static size_t count_findings(const struct report_results *results) {
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct report_result *result = &results->results[i];
        for (size_t k = 0; k < result->message_count; k++) {
            count += result->messages[k].level >= REPORT_LEVEL_OPTIMIZATION;
        }
    }
    return count;
}

// Errors first, then warnings, then what could be faster.
static void put_findings(struct report_job *job, const struct report_results *results,
                         size_t most) {
    size_t count = 0, all = count_findings(results);
    put_headline(job, "What is wrong");
    for (int level = REPORT_LEVEL_ERROR; level >= REPORT_LEVEL_OPTIMIZATION; level--) {
        for (size_t i = 0; i < results->count; i++) {
            const struct report_result *result = &results->results[i];
            for (size_t k = 0; k < result->message_count; k++) {
                if ((int)result->messages[k].level == level && count++ < most) {
                    put_finding(job, &result->messages[k]);
                }
            }
        }
    }
    if (all == 0) {
        NVTXT_OUT_LITERAL(&job->out, "  nothing that a rule knows\n");
    } else if (all > most) {
        report_screen_style(&job->out, REPORT_STYLE_DIM);
        nvtxt_out_format(&job->out, "  \xE2\x80\xA6 %zu more (nvtxt-report check)\n", all - most);
    }
}

// ---- What to ask next ---------------------------------------------------------------------------

static bool is_plain_word(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./-+,:@%=";
    return *word && word[strspn(word, plain)] == '\0';
}

// The stores as they were given, for a shell; what was found is found again.
static void put_words(struct nvtxt_out *line, const struct report_options *options) {
    for (size_t i = 0; i < options->words.count; i++) {
        const char *word = options->words.words[i];
        NVTXT_OUT_LITERAL(line, " ");
        if (is_plain_word(word)) {
            nvtxt_out_slice(line, nvtxt_slice_of(word));
            continue;
        }
        NVTXT_OUT_LITERAL(line, "'");
        for (; *word; word++) {
            nvtxt_out_slice(line,
                            *word == '\'' ? NVTXT_SLICE("'\\''") : (struct nvtxt_slice){word, 1});
        }
        NVTXT_OUT_LITERAL(line, "'");
    }
}

static int begin_command(struct nvtxt_out *line, const struct report_job *job,
                         const char *command) {
    int r = nvtxt_out_init(line, -1);
    if (r == 0) {
        nvtxt_out_format(line, "  nvtxt-report %s", command);
        put_words(line, job->options);
    }
    return r;
}

static void put_command(struct report_job *job, const char *command, const char *text) {
    struct nvtxt_out *out = &job->out, line;
    const struct report_screen *screen = report_screen_of(out);
    if (begin_command(&line, job, command) != 0) {
        out->error = nvtxt_origin(-ENOMEM);
        return;
    }
    const struct nvtxt_slice words = {line.data, line.len};
    size_t used = report_plain_width(words), at = nvtxt_max(used + 2, TEXTS_AT);
    report_plain_text(out, words);
    if (screen && at + TEXT <= screen->width) {
        report_plain_blanks(out, at - used);
        report_screen_styled(out, REPORT_STYLE_DIM, text);
    }
    NVTXT_OUT_LITERAL(out, "\n");
    nvtxt_out_deinit(&line);
}

static bool has_builds(const struct report_job *job) {
    static const struct report_stats_options options = {.percentile_count = 0};
    const struct report_stats_report *report = report_stats_find("step_tree");
    struct report_table table;
    bool has = false;
    if (report) {
        has = report_stats_make(&table, report, job->model, &options) == 0 && table.row_count > 0;
        report_table_deinit(&table);
    }
    return has;
}

// The first ones that fit what is there. Returns how many.
struct next {
    const char *command, *text;
};

static size_t choose_next(const struct report_job *job, bool any_range,
                          struct next chosen[COMMANDS]) {
    const struct {
        bool fits;
        struct next next;
    } all[] = {
        {has_builds(job), {"stats -r step_tree", "the build as a tree"}},
        {report_has_logs(job->capture), {"logs", "patterns of the lines of logs"}},
        {any_range, {"stats", "all names with their times"}},
        {true, {"events", "events one by one"}},
        {true, {"report", "sections and all rules"}},
        {true, {"html", "a page for a browser"}},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && count < COMMANDS; i++) {
        if (all[i].fits) {
            chosen[count++] = all[i].next;
        }
    }
    return count;
}

// ---- All of it ----------------------------------------------------------------------------------

// What was found is borrowed.
struct screenful {
    size_t store_lines, next_count;
    struct next next[COMMANDS];
    const struct report_results *results;
    size_t names, findings; // the most that are shown
};

static size_t lines_of_next(const struct report_job *job, const struct screenful *all) {
    const struct report_screen *screen = report_screen_of(&job->out);
    size_t lines = COMMANDS_HEAD;
    for (size_t i = 0; screen && i < all->next_count; i++) {
        struct nvtxt_out line;
        if (begin_command(&line, job, all->next[i].command) == 0) {
            lines += report_screen_lines(screen, (struct nvtxt_slice){line.data, line.len});
            nvtxt_out_deinit(&line);
        }
    }
    return lines;
}

// One line less: of what is longest, of commands last. Returns false if each has one only.
static bool shorten(struct screenful *all) {
    if (all->names + all->findings == 2) {
        return all->next_count > 1 && all->next_count-- > 0;
    }
    if (all->findings > 1 && (all->names <= all->findings || all->names == 1)) {
        all->findings--;
    } else {
        all->names--;
    }
    return true;
}

static void fit(const struct report_job *job, struct screenful *all) {
    size_t found = count_findings(all->results), lines;
    do {
        size_t shown = nvtxt_max(nvtxt_min(found, all->findings), 1) + (found > all->findings);
        lines = all->store_lines + NAMES_HEAD + all->names + FINDINGS_HEAD + shown +
                lines_of_next(job, all);
    } while (lines > LINES && shorten(all));
}

static int put_all(struct report_job *job, struct screenful *all) {
    struct report_table table = {0};
    const struct choice *choice;
    int r = make_choice(job, &table, &choice);
    if (r == 0) {
        all->next_count = choose_next(job, choice == &ranges, all->next);
        fit(job, all);
        r = put_choice(job, choice, &table, all->names);
    }
    if (r == 0) {
        put_findings(job, all->results, all->findings);
        put_headline(job, "What to ask next");
        for (size_t i = 0; i < all->next_count; i++) {
            put_command(job, all->next[i].command, all->next[i].text);
        }
    }
    report_table_deinit(&table);
    return r;
}

static int judge(struct report_job *job, struct report_loaded *loaded,
                 const struct report_scope *scope, struct screenful *all) {
    struct report_rules_wanted wanted;
    struct report_results results = {0};
    struct report_metrics *metrics = NULL;
    int r = report_judging_begin(job, loaded->rules, &wanted);
    r = r ?: report_loaded_enter(loaded, job, scope);
    r = r ?: report_metrics_new(&metrics, job->model, scope, loaded->definitions);
    r = r ?: report_judging_apply(job, loaded->rules, metrics, &wanted, &results);
    if (r == 0) {
        all->results = &results;
        r = put_all(job, all);
    }
    report_results_free(&results);
    report_metrics_free(metrics);
    return r;
}

int report_overview_write(struct report_job *job) {
    struct screenful all = {.names = NAMES, .findings = FINDINGS};
    struct report_loaded loaded = {0};
    struct report_scopes *scopes = NULL;
    int r = put_stores(job, &all.store_lines);
    r = r ?: report_loaded_open(&loaded, job);
    r = r ?: report_job_scopes(job, &scopes);
    if (r == 0) {
        report_loaded_say(&loaded, job);
        report_loaded_raise(&loaded, job);
        r = judge(job, &loaded, report_scopes_at(scopes, 0), &all);
    }
    report_scopes_free(scopes);
    report_loaded_close(&loaded);
    return r;
}
