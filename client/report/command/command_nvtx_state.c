// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report nvtx-state FILE...`: the NVTX ranges around each kernel result. A file is looked at
// as a whole before any of it is printed; of one that is broken only a message is. The others are
// printed all the same.
#include "client/common/outcome.h"
#include "client/report/job.h"
#include "report/ncurep/matching.h"
#include "report/render/listing.h"

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
        int r = report_state_open(&listing->state, &result);
        r = r ?: report_matching_take(&listing->matching, &listing->state, &fault, &taken);
        if (r != 0) {
            return r > 0 ? (int)report_options_refuse(listing->job->term, &fault) : r;
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
    int r = write_results(listing, report);
    report_listing_json_end(&listing->json);
    return r;
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
    int r = report ? write_file(listing, path, report) : 0;
    report_ncurep_free(report);
    return r;
}

static bool something_was_printed(const struct listing *listing) {
    return listing->json.out || listing->text.begun;
}

int report_command_nvtx_state(struct report_job *job) {
    enum report_format format = job->options->format;
    struct listing listing = {.job = job,
                              .text = {.out = &job->out, .markdown = format == REPORT_MARKDOWN},
                              .is_json = format == REPORT_JSON};
    int r = report_matching_init(&listing.matching, &job->options->selection);
    for (size_t i = 0; i < job->store_count && r == 0; i++) {
        r = take_file(&listing, job->stores[i]);
    }
    if (r == 0 && listing.json.out) {
        report_json_end_array(&listing.json);
        report_json_end(&listing.json);
    }
    if (r == 0 && !something_was_printed(&listing)) {
        r = (int)job->level; // no file is left
    } else if (r == 0) {
        profile_note_unused(job->term, &listing.matching, &listing.gathered);
    }
    report_matching_deinit(&listing.matching);
    report_state_deinit(&listing.state);
    report_gathered_deinit(&listing.gathered);
    return r;
}
