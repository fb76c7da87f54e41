// SPDX-License-Identifier: Apache-2.0
//
// The first bytes tell a report file from a store; a pipe is not asked for them.
#include "client/report/job.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "report/select/filter.h"
#include "report/select/filter_set.h"

static bool begins_as_one(const char *path) {
    struct stat stat;
    char bytes[REPORT_NCUREP_FIRST];
    bool is_one = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) &&
        read(fd, bytes, sizeof(bytes)) == sizeof(bytes)) {
        is_one = report_ncurep_begins((struct nvtxt_slice){bytes, sizeof(bytes)});
    }
    if (fd >= 0) {
        close(fd);
    }
    return is_one;
}

bool profile_is(const char *path) {
    return nvtxt_ends_with(path, ".ncu-rep") || nvtxt_ends_with(path, ".ncu-repz") ||
           begins_as_one(path);
}

static enum outcome refuse(struct term *term, const char *path, int code,
                           const struct report_ncurep_fault *fault) {
    switch (code) {
    case REPORT_NCUREP_STOPPED:
        return OUTCOME_STOPPED;
    case REPORT_NCUREP_BROKEN:
        term_say(term, "%s: offset %" PRIu64 ": %s", path, fault->offset, fault->what);
        return OUTCOME_BAD_DATA;
    default:
        term_say(term, "cannot read %s: %s", path, code < 0 ? strerror(-code) : fault->what);
        return code == REPORT_NCUREP_NO_INPUT                ? OUTCOME_NO_INPUT
               : code == REPORT_NCUREP_TOO_LARGE || code < 0 ? OUTCOME_SYSTEM
                                                             : OUTCOME_IO;
    }
}

enum outcome profile_open(struct report_ncurep **profile, struct term *term, const char *path,
                          uint64_t max_memory) {
    const struct report_ncurep_options options = {.max_memory = max_memory,
                                                  .interrupted = signals_came};
    struct report_ncurep_fault fault;
    int r = report_ncurep_open(profile, path, &options, &fault);
    return r == 0 ? OUTCOME_DONE : refuse(term, path, r, &fault);
}

// ---- Notes on filters ---------------------------------------------------------------------------

// Expressions that were true in no result, with what was perhaps meant. Returns 0, a code of
// report/select (nothing was said), or -ENOMEM.
static int explain_unused(struct term *term, const struct report_matching *matching,
                          const struct report_capture *capture) {
    const struct report_selection *selection = matching->selection;
    struct report_filter_set set = {.count = 0};
    struct report_fault fault;
    struct nvtxt_buf notes = {0};
    int r = report_filter_set_init(&set, capture, selection, &fault);
    uint64_t *seen = calloc(set.words + 1, sizeof(*seen));
    r = r == 0 && !seen ? nvtxt_origin(-ENOMEM) : r;
    for (size_t i = 0; r == 0 && i < set.count; i++) {
        size_t bit = set.filters[i].final;
        seen[bit / 64] |= (uint64_t)matching->seen[i] << (bit % 64);
    }
    if (r == 0) {
        const struct report_outcome outcome = {.capture = capture,
                                               .selection = selection,
                                               .filters = &set,
                                               .seen = seen,
                                               .fitted = REPORT_FITS_ALL,
                                               .selected = 1,
                                               .of_results = true};
        r = report_notes_write(&outcome, &notes);
    }
    if (r == 0) {
        report_options_print_notes(term, &notes);
    }
    nvtxt_buf_deinit(&notes);
    report_filter_set_deinit(&set);
    free(seen);
    return r;
}

void profile_note_unused(struct term *term, const struct report_matching *matching,
                         const struct report_gathered *gathered) {
    struct report_capture capture;
    if (report_matching_is_unused(matching) && report_gathered_capture(gathered, &capture) &&
        explain_unused(term, matching, &capture) == 0) {
        return;
    }
    const struct report_selection *selection = matching->selection;
    for (size_t i = 0; i < selection->includes_count + selection->excludes_count; i++) {
        const bool exclude = i >= selection->includes_count;
        const struct report_filter *filter =
            exclude ? selection->excludes[i - selection->includes_count] : selection->includes[i];
        if (!matching->seen[i]) {
            term_say(term, "note: --nvtx-%s '%s' selects nothing: no result has it",
                     exclude ? "exclude" : "include", filter->text);
        }
    }
}

// ---- The report files of a job ------------------------------------------------------------------

// Whether options ask for what only events have.
static bool selects_events(const struct report_selection *selection) {
    return selection->domain_includes_count > 0 || selection->domain_excludes_count > 0 ||
           selection->within_count > 0 || selection->within_none || selection->has_since ||
           selection->has_until || selection->has_last || selection->pids_count > 0 ||
           selection->tids_count > 0 || selection->sources_count > 0 ||
           selection->categories_count > 0 || selection->kinds != 0 ||
           selection->colors_count > 0 || selection->match || selection->payloads_count > 0 ||
           selection->has_min || selection->has_max || selection->has_iterations ||
           selection->skip_iterations > 0;
}

static enum outcome refuse_words(const struct report_job *job) {
    for (size_t i = 0; i < job->store_count; i++) {
        if (!profile_is(job->stores[i])) {
            term_say(job->term,
                     "%s is no report file of Nsight Compute: one run reads stores or such files",
                     job->stores[i]);
            return OUTCOME_USAGE;
        }
    }
    if (selects_events(&job->options->selection) || job->options->scope != REPORT_SCOPE_CAPTURE) {
        term_say(job->term, "a report file of Nsight Compute has results, and no events: of the "
                            "options that select, it takes --nvtx-include, --nvtx-exclude, "
                            "--kernel and --result");
        return OUTCOME_USAGE;
    }
    return OUTCOME_DONE;
}

static enum outcome open_one(struct report_job *job, const struct report_launches_wish *wish,
                             size_t index) {
    const char *path = job->stores[index];
    struct report_ncurep *profile;
    struct report_ncurep_fault why;
    struct report_fault wrong = {0};
    enum outcome outcome = profile_open(&profile, job->term, path, job->options->max_memory);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    int r = report_launches_new(&job->launches[index], profile, nvtxt_slice_of(path), wish, &why,
                                &wrong);
    if (r == REPORT_NCUREP_TOO_LARGE || r < 0) {
        return refuse(job->term, path, r, &why);
    }
    for (size_t i = 0; r == 0 && i < job->launches[index]->count; i++) {
        job->launches[index]->list[i].given.of_many = job->store_count > 1;
    }
    return r == 0 ? OUTCOME_DONE : report_options_refuse(job->term, &wrong);
}

// A number that no file has.
static enum outcome check_numbers(const struct report_job *job) {
    uint64_t most = 0;
    for (size_t i = 0; i < job->store_count; i++) {
        uint64_t count = job->launches[i]->result_count;
        most = count > most ? count : most;
    }
    for (size_t i = 0; i < job->options->result_count; i++) {
        uint64_t number = job->options->results[i];
        if (number >= most) {
            term_say(job->term,
                     "--result %" PRIu64 ": there is none; the %s has %" PRIu64
                     " result%s, counted from 0",
                     number, job->store_count > 1 ? "largest file" : "file", most,
                     most == 1 ? "" : "s");
            return OUTCOME_USAGE;
        }
    }
    return OUTCOME_DONE;
}

static bool is_any(const struct report_job *job) {
    size_t count = 0;
    for (size_t i = 0; i < job->store_count; i++) {
        count += job->launches[i]->count;
    }
    if (count == 0 && job->options->kernel_count > 0) {
        term_say(job->term, "note: no result is selected; 'nvtxt-report nvtx-state FILE' has the "
                            "names of all kernels");
    }
    return count > 0;
}

enum outcome profiles_open(struct report_job *job, bool *any) {
    struct report_matching matching;
    struct report_gathered gathered = {0};
    const struct report_launches_wish wish = {.matching = &matching,
                                              .gathered = &gathered,
                                              .names = job->options->kernels,
                                              .name_count = job->options->kernel_count,
                                              .numbers = job->options->results,
                                              .number_count = job->options->result_count};
    enum outcome outcome = refuse_words(job);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    job->launches = calloc(job->store_count + 1, sizeof(*job->launches));
    int r = report_matching_init(&matching, &job->options->selection);
    if (r != 0 || !job->launches) {
        term_say(job->term, "%s", strerror(ENOMEM));
        outcome = OUTCOME_SYSTEM;
    }
    for (size_t i = 0; outcome == OUTCOME_DONE && i < job->store_count; i++) {
        outcome = open_one(job, &wish, i);
    }
    outcome = outcome ?: check_numbers(job);
    if (outcome == OUTCOME_DONE) {
        profile_note_unused(job->term, &matching, &gathered);
        *any = is_any(job);
    }
    report_matching_deinit(&matching);
    report_gathered_deinit(&gathered);
    return outcome;
}

void profiles_close(struct report_job *job) {
    for (size_t i = 0; job->launches && i < job->store_count; i++) {
        report_launches_free(job->launches[i]);
    }
    free(job->launches);
}
