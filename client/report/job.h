// SPDX-License-Identifier: Apache-2.0
//
// client/report: the program nvtxt-report. It takes the command line, finds the store, has it read,
// ordered and selected, runs a command on that, and publishes what the command wrote. It owns the
// output, the messages and the exit status; it has one thread, and another one that reads NEW of
// diff. Figures, tables, sections and rules are made in report/; nothing here computes.
//
// This header is what a command gets: the job. A command writes to `out`, in the format of the
// options, and returns; it opens no file of its own and closes none.
#pragma once

#include "client/report/options.h"
#include "protocol/base/buf.h"
#include "protocol/text/out.h"
#include "report/launch/launches.h"
#include "report/logs/patterns.h"

// One page of many: html --follow.
struct report_round {
    int64_t interval_ms; // how often there is a page at most; 0: this is the last one
    int64_t newest_ns;   // when something was committed last; 0: not known
    bool is_first;
    bool said_merged;   // that not all events are drawn singly; each round may set it
    bool output_failed; // set: all was read, but not written
};

struct report_job {
    const struct report_options *options;
    struct report_round *round; // NULL: there is no other
    struct term *term;          // for term_say(): warnings, notes
    const char *const *stores;  // paths as they were given, or the one that was found
    size_t store_count;
    // What is there depends on the words of the command: of `list` nothing; of `diff` the capture
    // of BASE here and that of NEW below, or that of NEW here if it is alone; else one capture of
    // all stores. Selected already.
    struct report_capture *capture;
    struct report_model *model;
    // Of `logs`: what was counted while the stores were read; the capture has no events then. Of
    // commands that judge: the lines before the span.
    struct report_patterns *patterns;
    struct report_capture *new_capture;
    struct report_model *new_model;
    // Of report files of Nsight Compute, in their place: what of each file is looked at, one for
    // each of `stores`. NULL: they are stores.
    struct report_launches **launches;
    int64_t since_ns, until_ns;  // what --since, --until and --last ask for
    struct nvtxt_out out;        // text goes to it in pieces; a failure shows at the end
    struct report_screen screen; // of `out`, if that is text for a terminal
    enum outcome level;          // what the exit status will be at least
    struct nvtxt_buf refused;    // why files of --resolve-source-file were not taken, a line each
};

// For a command that computes many figures: each needs arrays as large as the next one does. They
// take the same memory, which is not given back in between.
void report_job_keep_memory(void);
void report_job_give_memory(void); // after it, when nothing is computed for a while

// The exit status becomes at least that of OUTCOME_FAULTS (1), OUTCOME_FINDINGS (2) or
// OUTCOME_UNDECIDED (3), or of a file that was left out; the output is kept. Has no message of its
// own.
void report_job_raise(struct report_job *job, enum outcome level);

// The scopes of the options: parts of the capture, or the results of report files. Returns 0 or
// -ENOMEM.
int report_job_scopes(const struct report_job *job, struct report_scopes **scopes);

// Whether a path that is to be written is a file of what the job reads.
bool report_job_owns(const struct report_job *job, const char *path);

// Runs the command of the options from its stores to its output. `round`: NULL, or that of one page
// of many.
enum outcome report_job_run(const struct report_options *options, struct term *term,
                            struct report_round *round);

// Finds the store of a command that names none.
enum outcome report_job_find(const struct report_options *options, struct term *term, char *path,
                             size_t size);

// ---- html --follow (follow.c) -------------------------------------------------------------------
//
// Writes a page again and again as its stores grow, until a signal comes; then once more, as a page
// that does not follow. It waits for a change in the folders of the stores, and wakes up for
// nothing else, but where the system does not tell of changes.
enum outcome report_follow(const struct report_options *options, struct term *term);

// Says that so many events want --last or --max-events, and returns USAGE.
enum outcome report_follow_refuse(struct term *term, uint64_t events);

// follow_end.c: says that there is no FILE that could be written again and again, and returns
// USAGE; or returns DONE.
enum outcome report_follow_check_output(const struct report_options *options, struct term *term);

// follow_end.c: the page that is there becomes one that does not follow, as the stores are not
// there to make another.
enum outcome report_follow_end_page(const struct report_options *options, struct term *term);

// ---- Lines of logs (lines.c)
// ---------------------------------------------------------------------
//
// Counts the patterns of logs while stores are read, so that memory grows with neither. It is for a
// selection that each event alone decides about, see report_selects_alone().

struct lines_wanted {
    const char *const *stores;
    size_t store_count;
    const struct report_selection *selection;
    int64_t since_ns, until_ns;
    int64_t threads; // that may read rows
};

enum { LINES_REFUSED = 100 }; // an option of the selection; see the fault

// Returns 0, a code of enum report_load_result with a sentence (REPORT_SENTENCE_BYTES),
// LINES_REFUSED or -errno. The capture has no events then, but all that it says of sources; free it
// in any case.
int lines_read(struct report_patterns *patterns, struct report_capture **capture,
               const struct lines_wanted *wanted, char *sentence, struct report_fault *fault);

// ---- Report files of Nsight Compute among the words of a command --------------------------------

// Whether a file is one by its first bytes, or is to be one by the end of its name.
bool profile_is(const char *path);

// Reads one, with at most so many bytes; report_ncurep_free() it. Says why it cannot; `*profile` is
// NULL then.
enum outcome profile_open(struct report_ncurep **profile, struct term *term, const char *path,
                          uint64_t max_memory);

// Reads those of a job into `launches`, and says what selects nothing. `*any`: a result is
// selected.
enum outcome profiles_open(struct report_job *job, bool *any);
void profiles_close(struct report_job *job); // fine without

// Says which of the filters were true in no result, and what was perhaps meant.
void profile_note_unused(struct term *term, const struct report_matching *matching,
                         const struct report_gathered *gathered);
