// SPDX-License-Identifier: Apache-2.0
//
// client/report/command: the commands of nvtxt-report, one file each, and what several of them
// need: files of sections and rules, judging, the width of the screen. They take the job that the
// frame has prepared, call report/, and write to its output. They own what they compute while they
// run. One thread. They open no store and make no exit status.
//
// This header is what comes from files and options beside the stores: definitions of metrics,
// sections, rules, and the messages about them.
#pragma once

#include "client/report/job.h"
#include "report/judge/rules.h"
#include "report/metric/definitions.h"
#include "report/section/choose.h"

struct report_loaded {
    struct report_filter_view view;
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

// Chooses the sections of --section and --set. Returns as above.
int report_loaded_choose(const struct report_loaded *loaded, const struct report_job *job,
                         struct report_chosen *chosen);

// Prints the messages on stderr, from index `first` on.
void report_loaded_say(const struct report_loaded *loaded, const struct report_job *job,
                       size_t first);

// For an option that names nothing: first the messages, as the file that has it may be broken, then
// the sentence. Returns the exit status.
int report_loaded_refuse(const struct report_loaded *loaded, const struct report_job *job,
                         const char *sentence);

// Raises the exit status to FAULTS if there are errors.
void report_loaded_raise(const struct report_loaded *loaded, struct report_job *job);
