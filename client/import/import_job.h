// SPDX-License-Identifier: Apache-2.0
//
// What nvtxt-import is asked to do, and the commands that do it. A command makes one file, whole or
// not at all: it is written under a temporary name beside its place.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/import/import.h"

struct out_file;

struct import_job {
    const char *input;  // -i
    const char *output; // -o
    const char **files; // behind -n, or folders
    int file_count;
    bool force;      // OUT may stand there already
    bool quiet;      // no diagnostics, no progress
    bool has_target; // `target` was given: upper 16 bits of globalTid
    uint16_t target;
    bool prolong; // --update-report-time
    struct load_options load;
};

// Each returns the program's exit status.
int import_create(const struct import_job *job, struct term *term);
int import_merge(const struct import_job *job, struct term *term);
int import_collect(const struct import_job *job, struct term *term);

// Begins the file that a command makes: the mapping is sound, what stands at OUT may be replaced,
// what killed imports left beside it is gone. `exports`: an export of Nsight Systems may be
// replaced too. Returns 0, or an exit status after a sentence; then there is nothing to discard.
int import_begin_output(const struct import_job *job, bool exports, struct out_file *out,
                        struct term *term);

// Loads the job's files. A file that cannot be read, or has errors, does not keep the others from
// being loaded. Returns 0, 1 when there was one, EX_NOINPUT when none could be read at all, or a
// status that ends the import; each but 0 after a sentence.
int import_files(struct import *import, const struct import_job *job);

// Opens a file and loads it: 0, 1, or a status that ends the import, after a sentence. `*loaded`
// says whether it could be opened.
int import_file(struct import *import, const char *path, bool *loaded);

// For what makes a store, whose globalTid has no target. Says so when one was given.
void import_ignore_target(const struct import_job *job, struct term *term);
