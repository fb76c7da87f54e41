// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run: find the stores, read them, put the events in order and select some, open the
// output, run the command, publish. The output is opened late, so that a store that cannot be read
// leaves the old file as it was.
#include "client/report/job.h"

#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/common/input.h"
#include "client/common/result_file.h"
#include "client/locate/find.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "report/model/iterations.h"
#include "store/db/header.h"

void report_job_keep_memory(void) {
#if defined(M_MMAP_THRESHOLD) && defined(M_TRIM_THRESHOLD)
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

void report_job_give_memory(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

void report_job_raise(struct report_job *job, enum outcome level) {
    if (job->level < level) {
        job->level = level;
    }
}

static enum outcome fail(struct term *term, int error) {
    term_say(term, "%s", strerror(nvtxt_origin(-error)));
    return OUTCOME_SYSTEM;
}

// ---- The stores ---------------------------------------------------------------------------------

static enum outcome outcome_of_load(int r) {
    switch (r) {
    case REPORT_BAD_DATA:
        return OUTCOME_BAD_DATA;
    case REPORT_NO_INPUT:
        return OUTCOME_NO_INPUT;
    case REPORT_LOCKED:
        return OUTCOME_LATER;
    case REPORT_IO:
        return OUTCOME_IO;
    case REPORT_INTERRUPTED:
        return OUTCOME_STOPPED;
    default: // too large, or short of memory
        return OUTCOME_SYSTEM;
    }
}

// "stast" is a store to report, and there is none of that name; or the file is of another kind.
static void offer_command(const struct report_job *job, const char *path) {
    const struct report_options *options = job->options;
    bool first = options->words.count > 0 && options->words.words[0] == path;
    if (profile_is(path) && access(path, R_OK) == 0) {
        term_say(job->term, "it is a report file of Nsight Compute: report, metrics, check, diff, "
                            "nvtx-state and serve read it");
    }
    const char *near = first && !options->named ? report_command_near(path) : NULL;
    if (near && access(path, F_OK) != 0) {
        term_say(job->term, "did you mean the command '%s'?", near);
    }
}

// Stores that are read into one capture, here or on a thread of their own.
struct loading {
    const struct report_job *job;
    const char *const *paths;
    size_t count;
    int64_t since_ns, until_ns;
    int64_t threads; // that read rows
    pthread_t thread;
    bool has_thread;
    struct report_capture *capture;
    int r;
    char sentence[REPORT_SENTENCE_BYTES];
};

// Whether names and times of events are all that counts: no table of stats has more.
static bool is_brief(const struct report_options *options) {
    return options->command->bit == REPORT_STATS &&
           !report_selection_looks_at_values(&options->selection);
}

// BASE cannot be read, so nobody waits for NEW.
static atomic_bool given_up;

static bool is_over(void) {
    return atomic_load(&given_up) || signals_came();
}

static int asks_to_stop(void) {
    return is_over();
}

static struct loading loading_of(const struct report_job *job, size_t first, size_t count) {
    struct loading loading = {
        .job = job, .paths = job->stores + first, .count = count, .threads = job->options->threads};
    report_selection_span(&job->options->selection, nvtxt_realtime_ns(), &loading.since_ns,
                          &loading.until_ns);
    return loading;
}

static void *read_stores(void *context) {
    struct loading *loading = context;
    const struct report_load_options wanted = {
        .since_ns = loading->since_ns,
        .until_ns = loading->until_ns,
        .max_memory = loading->job->options->max_memory,
        .threads = loading->threads,
        .brief = is_brief(loading->job->options),
        .interrupted = is_over,
    };
    loading->r =
        report_load(&loading->capture, loading->paths, loading->count, &wanted, loading->sentence);
    return NULL;
}

// Signals are for the thread that waits.
static void start_loading(struct loading *loading) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    loading->has_thread = pthread_create(&loading->thread, NULL, read_stores, loading) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wait_for_loading(struct loading *loading) {
    if (loading->has_thread) {
        pthread_join(loading->thread, NULL);
        loading->has_thread = false;
    }
}

static enum outcome load(struct loading *loading, struct report_capture **capture) {
    if (!loading->has_thread) {
        read_stores(loading);
    }
    wait_for_loading(loading);
    *capture = loading->capture;
    loading->capture = NULL;
    if (loading->r != 0 && loading->r != REPORT_INTERRUPTED) {
        term_say(loading->job->term, "%s", loading->sentence);
        offer_command(loading->job, loading->paths[0]);
    }
    return loading->r == 0 ? OUTCOME_DONE : outcome_of_load(loading->r);
}

static enum outcome select_events(struct report_job *job, struct report_model *model) {
    struct nvtxt_buf notes = {0};
    struct report_fault fault = {0};
    const struct report_selection *selection = &job->options->selection;
    int r = report_select(model, selection, job->since_ns, job->until_ns, &notes, &fault);
    if (job->options->no_excerpts) {
        report_bad_lines_hide(model->capture);
    }
    r = r ?: report_iterations_init(&model->iterations, model->capture, selection);
    enum outcome outcome = r == 0  ? OUTCOME_DONE
                           : r > 0 ? report_options_refuse(job->term, &fault)
                                   : fail(job->term, r);
    report_options_print_notes(job->term, &notes);
    nvtxt_buf_deinit(&notes);
    if (r == 0 && job->options->scope == REPORT_SCOPE_ITERATION && model->iterations.count == 0) {
        term_say(job->term, "note: --scope iteration shows nothing: %s",
                 selection->has_iterations ? "there is no iteration"
                                           : "no iterations declared; --iterations NAME does that");
    }
    if (r == 0 && model->selected == 0 && selection->expect_some) {
        report_job_raise(job, OUTCOME_FAULTS);
    }
    return outcome;
}

static void complain(void *context, const char *sentence) {
    struct report_job *job = context;
    term_say(job->term, "%s", sentence);
    nvtxt_buf_add_string(&job->refused, sentence);
    nvtxt_buf_add_string(&job->refused, "\n");
}

// The files of --resolve-source-file. One that is not that of its source gives no lines.
static enum outcome resolve_files(struct report_job *job, struct report_capture *capture) {
    const struct nvtxt_option_list *files = &job->options->resolved;
    int r = 0;
    for (size_t i = 0; i < files->count && r >= 0; i++) {
        r = report_resolve(capture, files->words[i], job->options->max_memory, signals_came,
                           complain, job);
        if (r == REPORT_RESOLVE_NOTHING || r == REPORT_RESOLVE_NO_INPUT) {
            return r == REPORT_RESOLVE_NOTHING ? OUTCOME_USAGE : OUTCOME_NO_INPUT;
        }
        if (r == REPORT_RESOLVE_TOO_LARGE) {
            return OUTCOME_SYSTEM;
        }
        if (r == REPORT_RESOLVE_STOPPED) {
            return OUTCOME_STOPPED;
        }
        if (r == REPORT_RESOLVE_DIFFERS) {
            report_job_raise(job, OUTCOME_FAULTS);
        }
    }
    return r < 0 ? fail(job->term, r) : OUTCOME_DONE;
}

// The patterns of lines are counted while the stores are read. Not for the lines of one pattern,
// which stand in order of time.
static bool counts_lines(const struct report_job *job) {
    const struct report_options *options = job->options;
    return options->command->bit == REPORT_LOGS && !options->pattern &&
           report_selects_alone(&options->selection);
}

static enum outcome take_lines(struct report_job *job) {
    char sentence[REPORT_SENTENCE_BYTES] = "";
    struct report_fault fault = {0};
    struct lines_wanted wanted = {.stores = job->stores,
                                  .store_count = job->store_count,
                                  .selection = &job->options->selection,
                                  .threads = job->options->threads};
    report_selection_span(wanted.selection, nvtxt_realtime_ns(), &wanted.since_ns,
                          &wanted.until_ns);
    int r = report_patterns_new(&job->patterns, REPORT_PATTERNS_KEPT);
    r = r ?: lines_read(job->patterns, &job->capture, &wanted, sentence, &fault);
    if (r < 0) {
        return fail(job->term, r);
    }
    if (r == LINES_REFUSED) {
        return report_options_refuse(job->term, &fault);
    }
    if (*sentence && r != REPORT_INTERRUPTED) {
        term_say(job->term, "%s", sentence);
        offer_command(job, job->stores[0]);
    }
    return r == 0 ? OUTCOME_DONE : outcome_of_load(r);
}

// Reads the stores into a capture and its model.
static enum outcome take_in(struct report_job *job, struct loading *loading,
                            struct report_capture **capture, struct report_model **model) {
    job->since_ns = loading->since_ns;
    job->until_ns = loading->until_ns;
    enum outcome outcome = load(loading, capture);
    outcome = outcome ?: resolve_files(job, *capture);
    if (outcome == 0) {
        int r = report_model_build(model, *capture);
        outcome = r == 0 ? OUTCOME_DONE : fail(job->term, r);
    }
    return outcome == 0 ? select_events(job, *model) : outcome;
}

// BASE and NEW, NEW on a thread meanwhile. Two names of one store are read one after the other.
static enum outcome take_in_two(struct report_job *job) {
    struct loading base = loading_of(job, 0, 1), new = loading_of(job, 1, 1);
    if (job->options->threads > 1 && strcmp(job->stores[0], job->stores[1]) != 0) {
        store_stranger_ask(asks_to_stop); // also while it is opened
        new.threads /= 2;
        base.threads -= new.threads;
        start_loading(&new);
    }
    enum outcome outcome = take_in(job, &base, &job->capture, &job->model);
    atomic_store(&given_up, outcome != OUTCOME_DONE);
    outcome = outcome ?: take_in(job, &new, &job->new_capture, &job->new_model);
    wait_for_loading(&new);
    report_capture_free(new.capture);
    return outcome;
}

// Whether the command reads report files, and one is among its words.
static bool has_profile(const struct report_job *job) {
    const unsigned readers =
        REPORT_REPORT | REPORT_METRICS | REPORT_CHECK | REPORT_DIFF | REPORT_SERVE;
    bool has = false;
    for (size_t i = 0; i < job->store_count && !has; i++) {
        has = profile_is(job->stores[i]);
    }
    return has && job->options->command->bit & readers;
}

static enum outcome take_in_all(struct report_job *job) {
    if (has_profile(job)) {
        bool any = false;
        enum outcome outcome = profiles_open(job, &any);
        if (!any && job->options->selection.expect_some) {
            report_job_raise(job, OUTCOME_FAULTS);
        }
        return outcome;
    }
    if (job->options->kernel_count + job->options->result_count > 0) {
        term_say(job->term, "--kernel and --result are for report files of Nsight Compute");
        return OUTCOME_USAGE;
    }
    input_raise_descriptors();
    if (counts_lines(job)) {
        return take_lines(job);
    }
    if (job->options->command->bit == REPORT_DIFF && job->store_count > 1) {
        return take_in_two(job);
    }
    struct loading loading = loading_of(job, 0, job->store_count);
    return take_in(job, &loading, &job->capture, &job->model);
}

// ---- The output ---------------------------------------------------------------------------------

static bool is_of_store(const struct report_capture *capture, const char *path) {
    for (size_t i = 0; capture && i < capture->store_count; i++) {
        const struct report_store *store = &capture->stores[i];
        for (size_t j = 0; j < store->segment_count; j++) {
            char segment[PATH_MAX];
            int len = (int)store->segments[j].len;
            snprintf(segment, sizeof(segment), "%.*s", len, store->segments[j].data);
            if (result_file_is_of(path, segment)) {
                return true;
            }
        }
    }
    return false;
}

// A command that takes no stores takes files, which it reads itself.
static bool is_of_word(const struct report_job *job, const char *path) {
    bool found = false;
    for (size_t i = 0; !job->capture && i < job->store_count && !found; i++) {
        found = result_file_is_of(path, job->stores[i]);
    }
    return found;
}

bool report_job_owns(const struct report_job *job, const char *path) {
    return is_of_store(job->capture, path) || is_of_store(job->new_capture, path) ||
           is_of_word(job, path);
}

static enum outcome open_output(struct report_job *job, struct result_file *file) {
    const char *path = job->options->output;
    *file = (struct result_file){.fd = -1};
    if (!path) {
        return 0;
    }
    if (report_job_owns(job, path)) {
        term_say(job->term, "%s belongs to the store itself: choose another name", path);
        return OUTCOME_USAGE;
    }
    return result_file_open(file, job->term, path);
}

// What is left in the buffer goes out. A reader that closes early has all that it wanted.
static enum outcome flush(struct report_job *job) {
    int error = nvtxt_out_flush(&job->out);
    if (error == 0 || error == NVTXT_OUT_CLOSED) {
        return OUTCOME_DONE;
    }
    if (signals_came()) {
        return OUTCOME_STOPPED;
    }
    const char *name = job->options->output ?: "stdout";
    term_say(job->term, "cannot write to %s: %s", name, strerror(nvtxt_origin(-error)));
    return outcome_of_error(error, OUTCOME_IO);
}

static void note_output(const struct report_job *job, enum outcome outcome) {
    if (job->round && (outcome == OUTCOME_IO || outcome == OUTCOME_NO_OUTPUT)) {
        job->round->output_failed = true;
    }
}

// Times of several stores are of one calendar if they count from the same moment.
static bool has_clock(const struct report_capture *capture) {
    bool same = capture && capture->store_count > 0;
    for (size_t i = 0; same && i < capture->store_count; i++) {
        same = capture->stores[i].utc_base_ns == capture->stores[0].utc_base_ns;
    }
    return same;
}

// Text on a terminal is for people, unless --format asks for it. What it is like is asked once: it
// keeps its width to the end.
static void attach_screen(struct report_job *job) {
    const struct report_options *options = job->options;
    size_t width = term_columns(job->out.fd);
    bool is_text = options->format == REPORT_TEXT && options->command->bit != REPORT_SERVE &&
                   options->command->bit != REPORT_HTML;
    if (width == 0 || !is_text || options->has_format) {
        return;
    }
    job->screen = (struct report_screen){
        .width = width,
        .colour = term_has_colour(job->out.fd),
        .full_names = options->full_names,
        .utc = options->utc,
        .has_clock = has_clock(job->capture),
    };
    if (job->screen.has_clock) {
        job->screen.utc_base_ns = job->capture->stores[0].utc_base_ns;
    }
    report_screen_attach(&job->out, &job->screen);
}

static enum outcome publish(struct report_job *job, struct result_file *file) {
    enum outcome outcome = flush(job);
    if (outcome == 0 && file->fd >= 0) {
        outcome = result_file_publish(file, job->term);
    }
    note_output(job, outcome);
    return outcome;
}

static enum outcome run_job(struct report_job *job) {
    struct result_file file;
    enum outcome outcome = open_output(job, &file);
    note_output(job, outcome);
    if (outcome != 0) {
        return outcome;
    }
    int r = nvtxt_out_init(&job->out, file.fd < 0 ? STDOUT_FILENO : file.fd);
    if (r == 0) {
        job->out.interrupted = signals_came;
        attach_screen(job);
        r = job->options->command->run(job);
    }
    outcome = r < 0            ? fail(job->term, r)
              : r > 0          ? (enum outcome)r
              : signals_came() ? OUTCOME_STOPPED
                               : publish(job, &file);
    result_file_discard(&file);
    nvtxt_out_deinit(&job->out);
    return outcome;
}

// ---- The run ------------------------------------------------------------------------------------

// Whether standard output gets the overview, which begins with the store.
static bool is_overview(const struct report_options *options) {
    return options->is_bare && options->command->bit == REPORT_REPORT && !options->output &&
           options->format == REPORT_TEXT && !options->has_format && isatty(STDOUT_FILENO);
}

enum outcome report_job_find(const struct report_options *options, struct term *term, char *path,
                             size_t size) {
    enum outcome outcome = find_store(term, NULL, "name one with --store", path, size);
    if (outcome == 0 && isatty(STDERR_FILENO) && !is_overview(options)) {
        term_say(term, "the store is %s", path);
    }
    return outcome;
}

int report_job_scopes(const struct report_job *job, struct report_scopes **scopes) {
    size_t count = 0;
    if (!job->launches) {
        return report_scopes_new(scopes, job->model, job->options->scope);
    }
    for (size_t i = 0; i < job->store_count; i++) {
        count += job->launches[i]->count;
    }
    const struct report_given **results = calloc(count + 1, sizeof(*results));
    if (!results) {
        return nvtxt_origin(-ENOMEM);
    }
    count = 0;
    for (size_t i = 0; i < job->store_count; i++) {
        for (size_t k = 0; k < job->launches[i]->count; k++) {
            results[count++] = &job->launches[i]->list[k].given;
        }
    }
    int r = report_scopes_of_results(scopes, results, count);
    free(results);
    return r;
}

enum outcome report_job_run(const struct report_options *options, struct term *term,
                            struct report_round *round) {
    char path[PATH_MAX];
    const char *found = path;
    struct report_job job = {.options = options, .term = term, .round = round};
    enum outcome outcome = OUTCOME_DONE;
    if (options->command->bit != REPORT_LIST) {
        job.stores = options->words.words;
        job.store_count = options->words.count;
        if (job.store_count == 0) {
            job.stores = &found;
            job.store_count = 1;
            outcome = report_job_find(options, term, path, sizeof(path));
        }
        if (outcome == OUTCOME_DONE && options->command->bit != REPORT_NVTX_STATE) {
            outcome = take_in_all(&job);
        }
    }
    outcome = outcome ?: run_job(&job);
    report_model_free(job.model);
    report_model_free(job.new_model);
    report_capture_free(job.capture);
    report_capture_free(job.new_capture);
    report_patterns_free(job.patterns);
    profiles_close(&job);
    nvtxt_buf_deinit(&job.refused);
    if (outcome != OUTCOME_DONE && signals_came()) {
        return OUTCOME_STOPPED;
    }
    return outcome ?: job.level;
}
