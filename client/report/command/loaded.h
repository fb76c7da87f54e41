// SPDX-License-Identifier: Apache-2.0
//
// client/report/command: the commands of nvtxt-report, one file each, and what several of them
// need: files of sections and rules, judging, the width of the screen. They take the job that the
// frame has prepared, call report/, and write to its output. They own what they compute while they
// run. One thread. They open no store and make no exit status.
//
// This header is what comes from files and options beside the stores: definitions of metrics,
// sections, rules, and the messages about them; and what several commands write.
#pragma once

#include "client/report/job.h"
#include "report/metric/definitions.h"
#include "report/section/sections.h"

struct report_file_text;
struct report_source_page;

struct report_loaded {
    struct report_section_filter_view view;
    struct report_files files;
    struct report_definitions *definitions;
    struct report_sections sections;
    struct report_rules *rules;
    struct report_runner *runner; // of rules in Python; NULL: the command needs none
    struct report_messages messages;
};

// Reads --metrics-from, --define, then all files of sections and rules. Returns 0, an enum outcome
// after a sentence, or -errno. Close it in any case.
int report_loaded_open(struct report_loaded *loaded, struct report_job *job);
void report_loaded_close(struct report_loaded *loaded); // fine when zeroed

// Before a scope is looked at: of a result, its metrics are listed, and the filters take the
// architecture of its device. Returns 0 or -ENOMEM.
int report_loaded_enter(struct report_loaded *loaded, const struct report_job *job,
                        const struct report_scope *scope);

// Chooses the sections of --section and --set. Returns as above.
int report_loaded_choose(const struct report_loaded *loaded, const struct report_job *job,
                         struct report_chosen *chosen);

// Lays out the chosen sections, those that have something to show: `*shown` is in the arena.
// Returns 0 or -errno.
int report_loaded_show(struct report_loaded *loaded, const struct report_chosen *chosen,
                       struct report_metrics *metrics, struct store_arena *arena,
                       struct report_shown_section **shown, size_t *count);

// Prints the messages on stderr.
void report_loaded_say(const struct report_loaded *loaded, const struct report_job *job);

// For an option that names nothing: first the messages, as the file that has it may be broken, then
// the sentence. Returns the exit status.
int report_loaded_refuse(const struct report_loaded *loaded, const struct report_job *job,
                         const char *sentence);

// Raises the exit status to FAULTS if there are errors.
void report_loaded_raise(const struct report_loaded *loaded, struct report_job *job);

// ---- Tables: in the format of the job, as wide as the terminal that reads them ------------------

// How tables are written: with the unit, the limit and the names of the options.
struct report_table_view report_job_view(const struct report_job *job);

// Writes a table as text, Markdown, CSV or TSV.
void report_job_table(struct report_job *job, const struct report_table *table);

// Writes the heading of a scope, for people: "process 100"; the capture has the names of its
// stores. Returns 0 or -ENOMEM.
int report_job_title(struct report_job *job, const struct report_scope *scope);

// ---- Columns ------------------------------------------------------------------------------------

// The columns that lines of sources have: the metrics of the groups of the shown sections. Without
// --section, SourceMetrics is among them.
struct report_source_columns {
    struct report_shown_metric *columns; // owned
    size_t count;
    struct store_arena arena;
};

// `metrics` is borrowed. Returns 0, an enum outcome after a sentence, or -errno; deinit it in any
// case.
int report_source_columns_init(struct report_source_columns *columns, struct report_loaded *loaded,
                               const struct report_job *job, struct report_metrics *metrics);
void report_source_columns_deinit(struct report_source_columns *columns); // fine when zeroed

// Reads the file of a source, if it is at hand, into `text`, and fills its page. Returns as above;
// deinit both in any case.
int report_source_columns_page(const struct report_source_columns *columns,
                               const struct report_job *job, const struct report_source *source,
                               struct report_file_text *text, struct report_source_page *page);
