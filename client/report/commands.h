// SPDX-License-Identifier: Apache-2.0
//
// The commands of nvtxt-report: what each takes, and the function that runs it. To add one, write
// client/report/command/command_NAME.c and a line here.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report_job;

// One bit each: the table of options says which commands take an option.
enum report_command_bit {
    REPORT_REPORT = 1,
    REPORT_SUMMARY = 2,
    REPORT_STATS = 4,
    REPORT_EVENTS = 8,
    REPORT_METRICS = 16,
    REPORT_SOURCE = 32,
    REPORT_DIFF = 64,
    REPORT_CHECK = 128,
    REPORT_LIST = 256,
    REPORT_HTML = 512,
    REPORT_SERVE = 1024,
    REPORT_NVTX_STATE = 2048,
    REPORT_LOGS = 4096,
};

enum report_format {
    REPORT_TEXT,
    REPORT_CSV,
    REPORT_TSV,
    REPORT_JSON,
    REPORT_JSONL,
    REPORT_MARKDOWN,
    REPORT_JUNIT,
    REPORT_GITHUB,
    REPORT_PAGE, // html
};

#define REPORT_PLAIN (1 << REPORT_TEXT | 1 << REPORT_JSON)
#define REPORT_CI (REPORT_PLAIN | 1 << REPORT_MARKDOWN | 1 << REPORT_JUNIT | 1 << REPORT_GITHUB)
#define REPORT_TABLE (REPORT_PLAIN | 1 << REPORT_CSV | 1 << REPORT_TSV | 1 << REPORT_MARKDOWN)

#define REPORT_COMPARED (REPORT_CI | 1 << REPORT_PAGE)

#define REPORT_TABLE_OF_EVENTS                                                                     \
    (REPORT_PLAIN | 1 << REPORT_CSV | 1 << REPORT_TSV | 1 << REPORT_JSONL)

// Its bit and name; the end of its function's name; its formats, each 1 << enum report_format; its
// words, and the least and most of them; what it does, for --help. In the order of --help.
#define REPORT_COMMANDS(X)                                                                         \
    X(REPORT_REPORT, "report", report, REPORT_PLAIN | 1 << REPORT_MARKDOWN, "STORE...", 0,         \
      SIZE_MAX, "sections and the results of rules")                                               \
    X(REPORT_SUMMARY, "summary", summary, REPORT_PLAIN | 1 << REPORT_MARKDOWN, "STORE...", 0,      \
      SIZE_MAX, "stores with their counts, sources with their errors")                             \
    X(REPORT_EVENTS, "events", events, REPORT_TABLE_OF_EVENTS, "STORE...", 0, SIZE_MAX,            \
      "the selected events, one each")                                                             \
    X(REPORT_STATS, "stats", stats, REPORT_TABLE, "STORE...", 0, SIZE_MAX,                         \
      "tables; default nvtx_sum")                                                                  \
    X(REPORT_LOGS, "logs", logs, REPORT_TABLE, "STORE...", 0, SIZE_MAX,                            \
      "patterns of the lines of logs")                                                             \
    X(REPORT_METRICS, "metrics", metrics, REPORT_TABLE, "STORE...", 0, SIZE_MAX,                   \
      "values of metrics")                                                                         \
    X(REPORT_SOURCE, "source", source, REPORT_TABLE, "STORE...", 0, SIZE_MAX,                      \
      "counters of each line of NVTXT files")                                                      \
    X(REPORT_HTML, "html", html, 1 << REPORT_TEXT, "STORE...", 0, SIZE_MAX,                        \
      "one page, for browsers")                                                                    \
    X(REPORT_CHECK, "check", check, REPORT_CI, "STORE...", 0, SIZE_MAX,                            \
      "rules alone, for timers and CI")                                                            \
    X(REPORT_DIFF, "diff", diff, REPORT_COMPARED, "BASE NEW", 2, 2,                                \
      "what changed between two stores, a verdict")                                                \
    X(REPORT_LIST, "list", list, REPORT_PLAIN | 1 << REPORT_MARKDOWN,                              \
      "sections|sets|rules|metrics|reports", 1, 1, "what there is")                                \
    X(REPORT_SERVE, "serve", serve, 1 << REPORT_TEXT, "STORE|FILE.ncu-rep", 0, 1,                  \
      "requests and replies for scripts, JSON lines")                                              \
    X(REPORT_NVTX_STATE, "nvtx-state", nvtx_state, REPORT_PLAIN | 1 << REPORT_MARKDOWN, "FILE...", \
      1, SIZE_MAX, "open ranges of each result in a .ncu-rep")

struct report_command {
    const char *name;
    enum report_command_bit bit;
    unsigned formats;
    const char *words;
    size_t least, most;
    const char *what;
    // Returns 0 when the output is whole; above 0 an enum outcome, after a sentence; or -errno.
    // What is below OUTCOME_USAGE is raised with report_job_raise() instead.
    int (*run)(struct report_job *job);
};

// Ends with a row without a name.
extern const struct report_command report_commands[];

// The command of that name; NULL: there is none.
const struct report_command *report_command_find(const char *name);

// The command whose name is nearly that; NULL: there is none.
const char *report_command_near(const char *name);

#define X(bit, name, function, formats, words, least, most, what)                                  \
    int report_command_##function(struct report_job *job);
REPORT_COMMANDS(X)
#undef X
