// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report nvtx-state FILE...`: the NVTX ranges around each kernel result. A file is looked at
// as a whole before any of it is printed; of one that is broken only a message is. The others are
// printed all the same.
#include "client/common/signals.h"
#include "client/report/job.h"
#include "client/report/profile.h"
#include "report/ncurep/matching.h"
#include "report/render/ncurep/listing_json.h"
#include "report/render/ncurep/listing_text.h"
#include "report/select/filter.h"

struct listing {
    struct report_job *job;
    struct report_matching matching;
    struct report_state state;
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

// An expression that was true in no result.
static void note_unused(const struct listing *listing) {
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
    return rc;
}
