// SPDX-License-Identifier: Apache-2.0
//
// The command merge: files into a copy of IN, which is a store or an SQLite export of Nsight
// Systems. IN itself is only read. An export has a timeline of its own, whose time 0 is the
// beginning of its session. The upper bits of globalTid are the target of a thread; when an export
// has several targets, the user must choose one.
//
// Times of a mapping are nanoseconds of the export, as `info` prints them. All other times are Unix
// times: the beginning of the session is subtracted from them. An export that does not say when it
// began (none before 2022 does) takes them unchanged, and a message says so.
#include "client/import/import_job.h"

#include <inttypes.h>
#include <unistd.h>

#include "client/common/out_file.h"
#include "client/common/outcome.h"
#include "protocol/base/clock.h"
#include "store/copy/copy.h"

struct merge {
    const struct import_job *job;
    struct term *term;
    struct load_options load; // the job's, with the export's origin
};

// ---- The copy -----------------------------------------------------------------------------------

static int on_step(void *context, uint64_t done, uint64_t total) {
    const struct merge *merge = context;
    if (!merge->job->quiet && total > 0) {
        term_progress(merge->term, nvtxt_monotonic_ms(), "%.0f%% copied: %s",
                      100.0 * (double)done / (double)total, merge->job->input);
    }
    return signals_count() > 0; // ends the copy
}

static enum outcome outcome_of(int r) {
    switch (r) {
    case STORE_BUSY:
        return OUTCOME_LATER;
    case STORE_NEWER:
    case STORE_FOREIGN:
    case STORE_CORRUPT:
    case STORE_EMPTY:
        return OUTCOME_BAD_DATA;
    case STORE_NO_SPACE:
    case STORE_IO:
        return OUTCOME_IO;
    default:
        return OUTCOME_NO_INPUT;
    }
}

static enum outcome copy_input(struct merge *merge, const struct out_file *out,
                               enum store_copy_kind *kind) {
    const struct store_copy_watch watch = {.on_step = on_step, .context = merge};
    char why[1024] = "";
    int r =
        store_copy(merge->job->input, out->temp, out_file_mode(), &watch, kind, why, sizeof(why));
    term_wipe(merge->term);
    if (r == STORE_DONE) {
        return OUTCOME_DONE;
    }
    if (signals_count() > 0) {
        return OUTCOME_STOPPED;
    }
    if (why[0]) {
        term_say(merge->term, "%s", why);
    }
    return outcome_of(r);
}

// ---- Where events go ----------------------------------------------------------------------------

static enum outcome choose_target(const struct merge *merge, const struct store_export_facts *facts,
                                  uint16_t *target) {
    char list[STORE_TARGETS_MAX * 10 + 1] = "";
    size_t at = 0;
    if (merge->job->has_target || facts->target_count <= 1) {
        *target = merge->job->has_target     ? merge->job->target
                  : facts->target_count == 1 ? facts->targets[0]
                                             : 0;
        return 0;
    }
    for (size_t i = 0; i < facts->target_count; i++) {
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%d:%d", i ? ", " : "",
                               facts->targets[i] >> 8, facts->targets[i] & 0xff);
    }
    term_say(merge->term,
             "%s has rows of several targets (%s): say whose the events are with --target HW:VM",
             merge->job->input, list);
    return OUTCOME_USAGE;
}

static void choose_timeline(struct merge *merge, const struct store_export_facts *facts,
                            int64_t *zero_ns) {
    struct load_options *load = &merge->load;
    bool mapped = load->mapping.mapping.mode != NVTXT_MAPPING_NONE;
    *zero_ns = mapped ? 0 : facts->has_session ? facts->session_ns : load->origin_ns;
    if (!mapped && !facts->has_session && !load->has_origin) {
        term_say(merge->term,
                 "%s does not say when its session began (TARGET_INFO_SESSION_START_TIME): times "
                 "are taken as its own; if they are Unix times, give that of its time 0 with "
                 "--origin NS",
                 merge->job->input);
    }
    load->no_clock = !facts->has_session && !load->has_origin;
    if (!load->has_origin && facts->has_session) {
        load->origin_ns = facts->session_ns;
    }
}

static enum outcome open_export(struct merge *merge, struct import *import, const char *path) {
    struct store_nsys *nsys;
    struct store_nsys_place place = {.prolong = merge->job->prolong};
    char why[1024];
    int r = store_nsys_open(&nsys, path, merge->job->input, why, sizeof(why));
    if (r != STORE_DONE && signals_count() > 0) {
        return OUTCOME_STOPPED;
    }
    if (r != STORE_DONE) {
        term_say(merge->term, "%s", why);
        return r < 0 || r == STORE_FAILED ? outcome_of_error(r, OUTCOME_BAD_DATA) : outcome_of(r);
    }
    const struct store_export_facts *facts = store_nsys_facts(nsys);
    place.prolong = place.prolong || facts->is_copy;
    enum outcome outcome = choose_target(merge, facts, &place.target);
    if (outcome == OUTCOME_DONE) {
        choose_timeline(merge, facts, &place.zero_ns);
    }
    if (outcome == OUTCOME_DONE && store_nsys_place(nsys, &place) != STORE_DONE) {
        outcome = signals_count() > 0 ? OUTCOME_STOPPED : OUTCOME_BAD_DATA;
    }
    if (outcome == OUTCOME_BAD_DATA) {
        term_say(merge->term, "%s", store_nsys_error(nsys));
    }
    if (outcome != OUTCOME_DONE) {
        store_nsys_close(nsys);
        return outcome;
    }
    import_open_export_take(import, nsys, &merge->load, merge->term);
    return 0;
}

// ---- What became of it --------------------------------------------------------------------------

// A prolonged session leaves out only events whose times do not fit into the export's time.
static void print_outside(const struct merge *merge, const struct store_nsys *nsys) {
    const struct store_nsys_counts *counts = store_nsys_counts(nsys);
    const struct store_export_facts *facts = store_nsys_facts(nsys);
    char number[TERM_COUNT_SIZE];
    if (merge->job->prolong || facts->is_copy || !facts->has_window) {
        term_say(merge->term,
                 "%s event%s left out: in the time of %s, from the beginning of its session on, "
                 "signed 64-bit nanoseconds do not hold them",
                 term_count(number, counts->outside), counts->outside == 1 ? " was" : "s were",
                 merge->job->input);
        return;
    }
    term_say(merge->term,
             "%s event%s outside the session of %s, %" PRId64 " to %" PRId64 " in its own time, %s "
             "left out; keep such events with --update-report-time",
             term_count(number, counts->outside), counts->outside == 1 ? "" : "s",
             merge->job->input, facts->first_ns, facts->last_ns,
             counts->outside == 1 ? "was" : "were");
    if (counts->events == 0) {
        term_say(merge->term,
                 "no event is inside: they lie between %" PRId64 " and %" PRId64
                 "; is the clock right? See --origin and --mode",
                 counts->outside_first_ns, counts->outside_last_ns);
    }
}

static void print_counts(const struct merge *merge, const struct store_nsys *nsys) {
    const struct store_nsys_counts *counts = store_nsys_counts(nsys);
    char number[TERM_COUNT_SIZE];
    if (counts->outside > 0) {
        print_outside(merge, nsys);
    }
    if (counts->payloads > 0) {
        term_say(merge->term, "%s payload%s could not be kept: %s has no column for them",
                 term_count(number, counts->payloads), counts->payloads == 1 ? "" : "s",
                 merge->job->input);
    }
    if (counts->resources > 0) {
        term_say(merge->term,
                 "%s name%s of resources and counters could not be kept: an export has no table "
                 "for them",
                 term_count(number, counts->resources), counts->resources == 1 ? "" : "s");
    }
    if (counts->names > 0) {
        term_say(merge->term,
                 "%s name%s not taken: %s names the same otherwise, and its names stand",
                 term_count(number, counts->names), counts->names == 1 ? " was" : "s were",
                 merge->job->input);
    }
}

// ---- The command --------------------------------------------------------------------------------

static enum outcome load_all(struct merge *merge, struct import *import) {
    import->quiet = merge->job->quiet;
    enum outcome status = import_files(import, merge->job);
    if (status <= OUTCOME_FAULTS) {
        enum outcome r = import_finish(import);
        if (r == 0 && import->nsys) {
            print_counts(merge, import->nsys);
        }
        status = r ?: status;
    }
    import_abandon(import);
    return status;
}

// Fills the temporary file. With DONE and FAULTS it is kept.
static enum outcome fill_store(struct merge *merge, const struct out_file *out) {
    struct import import;
    enum store_copy_kind kind;
    enum outcome status = copy_input(merge, out, &kind);
    if (status != 0) {
        return status;
    }
    if (kind == STORE_COPY_EXPORT) {
        status = open_export(merge, &import, out->temp);
    } else {
        import_ignore_target(merge->job, merge->term);
        status = import_open(&import, out->temp, &merge->load, merge->term);
    }
    int held = out_file_hold(out);
    status = status ?: load_all(merge, &import);
    close(held);
    return status;
}

static enum outcome check_job(const struct import_job *job, struct term *term) {
    const char *missing = !job->input            ? "a store or an export to merge into: -i IN"
                          : job->file_count == 0 ? "files to load: -n FILE..."
                          : !job->output         ? "a file to make: -o OUT"
                                                 : NULL;
    if (missing) {
        term_say(term, "merge needs %s", missing);
        return arguments_refuse(term);
    }
    if (input_is_same(job->input, job->output)) {
        term_say(term,
                 "%s and %s are the same file, and the input is never changed: name another -o",
                 job->input, job->output);
        return OUTCOME_USAGE;
    }
    return 0;
}

enum outcome import_merge(const struct import_job *job, struct term *term) {
    struct merge merge = {.job = job, .term = term, .load = job->load};
    struct out_file out;
    enum outcome status = check_job(job, term);
    status = status ?: import_begin_output(job, true, &out, term);
    if (status != 0) {
        return status;
    }
    status = fill_store(&merge, &out);
    if (status <= OUTCOME_FAULTS) {
        enum outcome r = out_file_publish(&out, term);
        return r ?: status;
    }
    out_file_discard(&out);
    return status;
}
