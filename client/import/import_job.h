// SPDX-License-Identifier: Apache-2.0
//
// What nvtxt-import has to do, and the commands that do it. A command makes one file, whole or not
// at all: it is written under a temporary name in the same folder.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/import/import.h"

struct out_file;

struct import_job {
    const char *input;  // -i
    const char *output; // -o
    const char **files; // after -n, or folders
    int file_count;
    bool force;      // OUT may exist already
    bool quiet;      // no diagnostics, no progress
    bool has_target; // `target` was given: upper 16 bits of globalTid
    uint16_t target;
    bool prolong; // --update-report-time
    struct load_options load;
};

enum outcome import_create(const struct import_job *job, struct term *term);
enum outcome import_merge(const struct import_job *job, struct term *term);
enum outcome import_collect(const struct import_job *job, struct term *term);

// Begins the file that a command makes: checks the mapping, checks that an OUT that exists may be
// replaced, and removes the temporary files of killed imports. `exports`: an export of Nsight
// Systems may be replaced too. Unless this returns OUTCOME_DONE, there is nothing to discard.
enum outcome import_begin_output(const struct import_job *job, bool exports, struct out_file *out,
                                 struct term *term);

// Loads the job's files. After a file that cannot be read, or has errors, the others are still
// loaded: the outcome is OUTCOME_FAULTS, or OUTCOME_NO_INPUT when none could be read at all. Any
// other outcome ends the import.
enum outcome import_files(struct import *import, const struct import_job *job);

// Opens a file and loads it: OUTCOME_DONE, OUTCOME_FAULTS, or an outcome that ends the import.
// `*loaded`: it could be opened.
enum outcome import_file(struct import *import, const char *path, bool *loaded);

// For commands that make a store: its globalTid has no target. Prints a message if one was given.
void import_ignore_target(const struct import_job *job, struct term *term);
