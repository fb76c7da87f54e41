// SPDX-License-Identifier: Apache-2.0
//
// The command line of nvtxt-report: one table of options that knows which commands take each. What
// the options say that select events is kept by report/select, which reads their values.
#pragma once

#include <stdbool.h>

#include "client/common/arguments.h"
#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/report/commands.h"
#include "report/report.h"

struct report_folder {
    const char *path; // or "builtin"
    bool recursive;
};

#define REPORT_OPTIONS_PYTHON "python3"
#define REPORT_OPTIONS_FOLLOW_EVENTS 200000     // with --follow, more want --last or --max-events
#define REPORT_OPTIONS_PAGE "nvtxt-report.html" // of html without -o

// A list of words: an option that is repeated, or has commas; "\," is a comma.
struct report_words {
    char **words; // owned
    size_t count;
};

struct report_options {
    const struct report_command *command;
    bool named;                      // the command; else it is `report`
    bool is_bare;                    // no command, no option of sections, no iterations
    struct nvtxt_option_list words;  // stores; of `list` what is listed
    struct nvtxt_option_list stores; // of --store, which `words` begin with in the end
    char *const *arguments;          // all of the command line; borrowed; ends with NULL

    struct report_selection selection; // SELECT; owned

    enum report_format format; // --csv is in it, too
    bool has_format;           // then a terminal gets what a pipe gets
    bool csv;
    const char *output; // -o, or the usual name of html; NULL: stdout
    struct report_words sections, sets, metrics, rules;
    struct report_words reports;     // -r
    const char *pattern;             // of logs: the lines of this one; NULL: all patterns
    struct report_words percentiles; // digits, with a point or without: above 0, up to 100
    struct report_folder *folders;   // of sections and rules; none: the search path; owned
    size_t folder_count;
    struct nvtxt_option_list defines;      // NAME=EXPR
    struct nvtxt_option_list metric_files; // --metrics-from
    struct nvtxt_option_list resolved;     // [NAME=]FILE of --resolve-source-file
    bool from_operands;                    // --derived-aggregate operands
    bool no_excerpts;                      // texts of bad lines are left out
    bool no_rules;                         // --apply-rules no
    enum report_sandboxes { REPORT_BOX_AUTO, REPORT_BOX_ALWAYS, REPORT_BOX_NEVER } sandbox;
    double rule_timeout_s;
    const char *python;
    enum report_scope_kind scope;
    uint32_t arch; // 70 of 70 and CC_70; 0: none
    enum report_time_unit { REPORT_NSEC, REPORT_USEC, REPORT_MSEC, REPORT_SEC } time_unit;
    bool has_time_unit; // --timeunit; else a screen chooses
    bool base_units;    // --print-units base
    enum report_details { REPORT_DETAILS_ALL, REPORT_DETAILS_HEADER, REPORT_DETAILS_BODY } details;
    enum report_instances {
        REPORT_INSTANCES_NONE,
        REPORT_INSTANCES_VALUES,
        REPORT_INSTANCES_DETAILS
    } instances;
    enum report_metric_name { REPORT_NAME_LABEL, REPORT_NAME_NAME, REPORT_NAME_BOTH } metric_name;
    bool rule_details;
    bool descriptions;             // of sections: details were asked for
    bool all_lines;                // of source
    bool full_names;               // text cuts none
    bool utc;                      // times of day on a screen; else local
    bool has_limit;                // --limit; else a screen has its own
    int64_t limit;                 // rows of a table; 0: all
    struct report_regex **kernels; // --kernel; owned
    size_t kernel_count;
    uint64_t *results; // --result; owned
    size_t result_count;
    uint64_t max_memory;       // bytes
    int64_t threads;           // that read stores
    int64_t max_events;        // of html: more are merged
    const char *title;         // of a page; NULL: made of the names of the stores
    int64_t follow_ms;         // of html: the interval of --follow; 0: it does not follow
    bool follow_bounded;       // with --last or --max-events
    const char *baseline;      // of diff: BASE; NULL: none
    const char *save_baseline; // ... where NEW becomes one; NULL: nowhere
    bool has_gate;
    double gate; // percent; 2 when it is not given
    enum report_fail_on {
        REPORT_FAIL_OK,
        REPORT_FAIL_OPTIMIZATION,
        REPORT_FAIL_WARNING,
        REPORT_FAIL_ERROR,
    } fail_on;
};

// What --help says of an option; `value` NULL: it takes none.
struct report_option {
    struct nvtxt_option row;
    unsigned commands; // that take it
    const char *value, *text;
};

// Ends with a row of kind NVTXT_OPTION_END.
extern const struct report_option report_options_table[];

const char *report_format_name(enum report_format format);

// Says what is wrong with an option of SELECT, with the place. Returns USAGE.
enum outcome report_options_refuse(struct term *term, const struct report_fault *fault);

// Says each line of notes, of report/select/filter_set.h.
void report_options_print_notes(struct term *term, const struct nvtxt_buf *notes);

// Takes the command line; ANSWERED after --help and --version. `print_help` gets the options so
// far.
enum outcome report_options_parse(struct report_options *options, struct term *term,
                                  void (*print_help)(const void *options), int argc, char **argv);
void report_options_deinit(struct report_options *options);

// Prints what --help says: all that the command takes that is the first word of `values`, a struct
// report_options so far, or one screen on the program.
void report_help_print(const void *values);

// Says what to use here instead of an option of ncu: "--list-sections", "--page=raw". `next` is
// the word behind it, which may be its value; NULL: none is. False: ncu has no such option.
bool report_ncu_option(struct term *term, const char *word, const char *next);
