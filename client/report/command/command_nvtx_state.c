// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report nvtx-state FILE...`: the NVTX ranges around each kernel result. A file is looked at
// as a whole before any of it is printed; of one that is broken only a message is. The others are
// printed all the same.
#include <errno.h>
#include <stdlib.h>

#include "client/common/signals.h"
#include "client/report/job.h"
#include "client/report/profile.h"
#include "report/ncurep/gathered.h"
#include "report/ncurep/matching.h"
#include "report/render/ncurep/listing_json.h"
#include "report/render/ncurep/listing_text.h"
#include "report/select/filter.h"
#include "report/select/notes.h"

struct listing {
    struct report_job *job;
    struct report_matching matching;
    struct report_state state;
    struct report_gathered gathered; // while some expression was true in no result
    struct report_json json;
    struct report_listing_text text;
    bool is_json; // else text
};

static int write_results(struct listing *listing, const struct report_ncurep *report) {
    struct report_ncurep_cursor cursor = {.blocks = {.at = 0}};
    struct report_ncurep_result result;
    struct report_listed listed = {.result = &result, .state = &listing->state};
    struct report_fault fault = {0};
    struct nvtxt_slice bytes;
    for (; report_ncurep_next(report, &cursor, &bytes); listed.index++) {
        bool taken;
        if (listing->job->out.error || signals_came()) {
            break;
        }
        report_ncurep_result_read(bytes, &result);
        int rc = report_state_open(&listing->state, &result);
        rc = rc ? rc : report_matching_take(&listing->matching, &listing->state, &fault, &taken);
        if (rc != 0) {
            return rc > 0 ? (int)report_options_refuse(listing->job->term, &fault) : rc;
        }
        if (report_matching_is_unused(&listing->matching)) {
            report_gathered_add(&listing->gathered, &listing->state);
        }
        if (taken && listing->is_json) {
            report_listing_json_result(&listing->json, &listed);
        } else if (taken) {
            report_listing_text_result(&listing->text, &listed);
        }
    }
    return 0;
}

static int write_file(struct listing *listing, const char *path,
                      const struct report_ncurep *report) {
    if (!listing->is_json) {
        report_listing_text_begin(&listing->text, path, report);
        return write_results(listing, report);
    }
    if (!listing->json.out) {
        report_json_begin(&listing->json, &listing->job->out, "nvtx-state");
        report_json_array(&listing->json, "files");
    }
    report_listing_json_begin(&listing->json, path, report);
    int rc = write_results(listing, report);
    report_listing_json_end(&listing->json);
    return rc;
}

// A file that cannot be read is no reason not to print the others.
static int take_file(struct listing *listing, const char *path) {
    struct report_ncurep *report;
    enum outcome outcome =
        profile_open(&report, listing->job->term, path, listing->job->options->max_memory);
    if (outcome == OUTCOME_STOPPED) {
        return OUTCOME_STOPPED;
    }
    report_job_raise(listing->job, outcome);
    int rc = report ? write_file(listing, path, report) : 0;
    report_ncurep_free(report);
    return rc;
}

static bool something_was_printed(const struct listing *listing) {
    return listing->json.out || listing->text.begun;
}

// Expressions that were true in no result, with what was perhaps meant. Returns 0, a code of
// report/select (nothing was said), or -ENOMEM.
static int explain_unused(const struct listing *listing, const struct report_capture *capture) {
    const struct report_selection *selection = &listing->job->options->selection;
    struct report_filter_set set = {.count = 0};
    struct report_fault fault;
    struct nvtxt_buf notes = {0};
    int rc = report_filter_set_init(&set, capture, selection, &fault);
    uint64_t *seen = calloc(set.words + 1, sizeof(*seen));
    rc = rc == 0 && !seen ? -ENOMEM : rc;
    for (size_t i = 0; rc == 0 && i < set.count; i++) {
        size_t bit = set.filters[i].final;
        seen[bit / 64] |= (uint64_t)listing->matching.seen[i] << (bit % 64);
    }
    if (rc == 0) {
        const struct report_outcome outcome = {.capture = capture,
                                               .selection = selection,
                                               .filters = &set,
                                               .seen = seen,
                                               .fitted = REPORT_FITS_ALL,
                                               .selected = 1,
                                               .of_results = true};
        rc = report_notes_write(&outcome, &notes);
    }
    if (rc == 0) {
        report_job_print_notes(listing->job->term, &notes);
    }
    nvtxt_buf_deinit(&notes);
    report_filter_set_deinit(&set);
    free(seen);
    return rc;
}

static void note_unused(const struct listing *listing) {
    struct report_capture capture;
    if (report_matching_is_unused(&listing->matching) &&
        report_gathered_capture(&listing->gathered, &capture) &&
        explain_unused(listing, &capture) == 0) {
        return;
    }
    const struct report_selection *selection = &listing->job->options->selection;
    for (size_t i = 0; i < selection->includes_count + selection->excludes_count; i++) {
        const bool exclude = i >= selection->includes_count;
        const struct report_filter *filter =
            exclude ? selection->excludes[i - selection->includes_count] : selection->includes[i];
        if (!listing->matching.seen[i]) {
            term_say(listing->job->term, "note: --nvtx-%s '%s' selects nothing: no result has it",
                     exclude ? "exclude" : "include", filter->text);
        }
    }
}

int report_command_nvtx_state(struct report_job *job) {
    enum report_format format = job->options->format;
    struct listing listing = {.job = job,
                              .text = {.out = &job->out, .markdown = format == REPORT_MARKDOWN},
                              .is_json = format == REPORT_JSON};
    int rc = report_matching_init(&listing.matching, &job->options->selection);
    for (size_t i = 0; i < job->store_count && rc == 0; i++) {
        rc = take_file(&listing, job->stores[i]);
    }
    if (rc == 0 && listing.json.out) {
        report_json_end_array(&listing.json);
        report_json_end(&listing.json);
    }
    if (rc == 0 && !something_was_printed(&listing)) {
        rc = (int)job->level; // no file is left
    } else if (rc == 0) {
        note_unused(&listing);
    }
    report_matching_deinit(&listing.matching);
    report_state_deinit(&listing.state);
    report_gathered_deinit(&listing.gathered);
    return rc;
}
